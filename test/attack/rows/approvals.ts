// Approve A, run B. The operator is asked about a command, and while the question waits, somebody changes what it would run.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Approval } from '@tenon/protocol';
import { mintToken } from '../../security/harness.ts';
import { connectRaw } from '../../support/raw-client.ts';
import { type Attack, broke, held, noneOf, type Outcome, untried, type World } from '../attack.ts';
import { becomesTrue } from '../observe.ts';

const GOOD = 'echo good > ran\n';
/** Where the script lies in a folder, what it leaves is beside it. */
const EVIL = 'echo evil > harmed\n';

interface Swap {
  readonly args: object;
  /** What lies in the workspace when the question is asked. */
  readonly files: Readonly<Record<string, string>>;
  /** What somebody makes of it while the question waits. */
  readonly swap: Readonly<Record<string, string>>;
  /** Where both leave their marks. */
  readonly marks?: string;
}

function put(workspace: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), content);
    chmodSync(join(workspace, name), 0o755);
  }
}

/** The operator was told that it can still be changed, and cannot allow it for always. */
function saysNotBound({ notBound = [], allowed }: Approval): boolean {
  return notBound.length > 0 && !allowed.includes('allow-always');
}

async function approveThenSwap(world: World, { args, files, swap, marks = '.' }: Swap): Promise<Outcome> {
  const target = await world.shared();
  const workspace = target.emptyWorkspace();
  put(workspace, files);
  const untouched = await target.approve('exec', args, () => {});
  if (!existsSync(join(workspace, marks, 'ran'))) {
    // A Node below /tmp is not seen in the sandbox.
    if (/not found|No such file/.test(untouched.result.text)) return untried(untouched.result.text.slice(0, 200));
    throw new Error(`it does not run at all: ${untouched.result.text.slice(0, 300)}`);
  }
  target.emptyWorkspace();
  put(workspace, files);
  const { question, result } = await target.approve('exec', args, () => put(workspace, swap));
  const evil = existsSync(join(workspace, marks, 'harmed'));
  if (!question) return evil ? broke('it ran without a question') : held(`refused: ${firstLine(result.text)}`);
  if (!evil)
    return existsSync(join(workspace, marks, 'ran')) ? held('what was approved has run') : held(`refused: ${firstLine(result.text)}`);
  return saysNotBound(question)
    ? held(`said to be not bound: ${question.notBound?.join('; ')}`)
    : broke('what was put in its place has run, with the approval of the other');
}

function firstLine(text: string): string {
  return text.split('\n')[0]!.slice(0, 120);
}

const swapOf = (tried: string, swap: Swap): Attack => ({
  id: 'S52',
  tried: `approve, then swap: ${tried}`,
  sandboxed: true,
  run: (world) => approveThenSwap(world, swap),
});

const one = { files: { 'run.sh': GOOD }, swap: { 'run.sh': EVIL } };
const inSub = { files: { 'sub/run.sh': GOOD }, swap: { 'sub/run.sh': EVIL }, marks: 'sub' };
const many = Array.from({ length: 80 }, (_, at) => `f${at}`);

const swaps: readonly Attack[] = [
  { ...swapOf('sh run.sh', { args: { command: 'sh run.sh' }, ...one }), quick: true },
  swapOf('words in pieces of quotes', { args: { command: `"s"h './r'un.sh` }, ...one }),
  swapOf('sh ./sub/../run.sh', { args: { command: 'sh ./sub/../run.sh' }, files: { 'run.sh': GOOD, 'sub/x': '' }, swap: one.swap }),
  swapOf('./run.sh', {
    args: { command: './run.sh' },
    files: { 'run.sh': `#!/bin/sh\n${GOOD}` },
    swap: { 'run.sh': `#!/bin/sh\n${EVIL}` },
  }),
  { ...swapOf('cd sub && sh run.sh', { args: { command: 'cd sub && sh run.sh' }, ...inSub }), quick: true },
  swapOf('cd sub && sh run.sh, with another run.sh in the workspace', {
    args: { command: 'cd sub && sh run.sh' },
    files: { ...inSub.files, 'run.sh': GOOD },
    swap: inSub.swap,
    marks: 'sub',
  }),
  swapOf('(cd sub; ./run.sh)', {
    args: { command: '(cd sub; ./run.sh)' },
    files: { 'sub/run.sh': `#!/bin/sh\n${GOOD}` },
    swap: { 'sub/run.sh': `#!/bin/sh\n${EVIL}` },
    marks: 'sub',
  }),
  swapOf('sh -c "sh run.sh" as a command', { args: { command: 'sh -c "sh run.sh"' }, ...one }),
  swapOf('sh -c "sh run.sh" as words', { args: { argv: ['sh', '-c', 'sh run.sh'] }, ...one }),
  swapOf('sh -c in sh -c in sh -c', { args: { command: `sh -c "sh -c 'sh -c \\"sh run.sh\\"'"` }, ...one }),
  swapOf('a glob: sh ./r?n.sh', { args: { command: 'sh ./r?n.sh' }, ...one }),
  swapOf('a glob in a folder: for each in sub/*.sh', {
    args: { command: 'for each in sub/*.sh; do sh "$each"; done' },
    files: inSub.files,
    swap: inSub.swap,
  }),
  swapOf('a variable: x=run.sh; sh $x', { args: { command: 'x=run.sh; sh $x' }, ...one }),
  swapOf('80 named files, then the script', {
    args: { command: `cat ${many.join(' ')} && sh run.sh` },
    files: { ...Object.fromEntries(many.map((name) => [name, 'x'])), ...one.files },
    swap: one.swap,
  }),
  swapOf('a script over 1 MiB', {
    args: { command: 'sh run.sh' },
    files: { 'run.sh': `${GOOD}# ${'x'.repeat(1_200_000)}\n` },
    swap: { 'run.sh': `${EVIL}# ${'x'.repeat(1_200_000)}\n` },
  }),
  swapOf('a file that the script sources', {
    args: { command: 'sh run.sh' },
    files: { 'run.sh': '. ./lib.sh\n', 'lib.sh': GOOD },
    swap: { 'lib.sh': EVIL },
  }),
  swapOf('a program that the script starts', {
    args: { command: 'sh run.sh' },
    files: { 'run.sh': 'sh ./inner.sh\n', 'inner.sh': GOOD },
    swap: { 'inner.sh': EVIL },
  }),
  swapOf('standard input: sh < run.sh', { args: { command: 'sh < run.sh' }, ...one }),
  swapOf('a pipe: cat run.sh | sh', { args: { command: 'cat run.sh | sh' }, ...one }),
  swapOf('substitution: sh $(echo run.sh)', { args: { command: 'sh $(echo run.sh)' }, ...one }),
  swapOf('env, nice and nohup in front', { args: { command: 'env X=1 nice sh run.sh' }, ...one }),
  swapOf('a module: node main.js that loads lib.js', {
    args: { argv: [process.execPath, 'main.js'] },
    files: { 'main.js': `require('./lib.js')`, 'lib.js': `require('fs').writeFileSync('ran', '')` },
    swap: { 'lib.js': `require('fs').writeFileSync('harmed', '')` },
  }),
  swapOf('find -exec', { args: { command: 'find sub -name "run.sh" -exec sh {} ";"' }, files: inSub.files, swap: inSub.swap }),
  swapOf('PATH=.: and the name alone', {
    args: { command: 'PATH=.:$PATH mine' },
    files: { mine: `#!/bin/sh\n${GOOD}` },
    swap: { mine: `#!/bin/sh\n${EVIL}` },
  }),
];

export const approvalAttacks: readonly Attack[] = [
  ...swaps,
  {
    id: 'S52',
    tried: 'approve, then swap: a background job of the agent rewrites sub/x.sh before it is run',
    sandboxed: true,
    async run(world) {
      const target = await world.shared();
      const workspace = target.emptyWorkspace();
      put(workspace, { 'sub/x.sh': GOOD });
      const rewrites = `while [ ! -e go ]; do sleep 0.05; done; echo '${EVIL.trim()}' > sub/x.sh; : > rewritten`;
      await target.approve('exec', { command: rewrites, background: true }, () => {});
      const { question, result } = await target.approve('exec', { command: 'cd sub && sh x.sh' }, async () => {
        writeFileSync(join(workspace, 'go'), '');
        await becomesTrue(() => existsSync(join(workspace, 'rewritten')), 20_000);
      });
      if (!existsSync(join(workspace, 'rewritten'))) throw new Error(`the job did not rewrite it: ${result.text}`);
      if (!existsSync(join(workspace, 'sub/harmed'))) return held(`not run: ${firstLine(result.text)}`);
      return question && saysNotBound(question) ? held('it is said to be not bound') : broke('the rewritten script has run');
    },
  },
  {
    id: 'S55',
    tried: '"always" for cd sub && sh run.sh, then another run.sh',
    sandboxed: true,
    async run(world) {
      const target = await world.shared();
      const workspace = target.emptyWorkspace();
      put(workspace, inSub.files);
      const args = { command: 'cd sub && sh run.sh' };
      const first = await target.approve('exec', args, () => {}, 'allow-always');
      if (!existsSync(join(workspace, 'sub/ran'))) throw new Error(`it does not run: ${first.result.text}`);
      put(workspace, inSub.swap);
      let asked = false;
      // The second time somebody who looks would say no.
      const again = await target.approve('exec', args, () => {
        asked = true;
        rmSync(join(workspace, 'sub/run.sh'));
      });
      if (existsSync(join(workspace, 'sub/harmed'))) return broke('the other script has run without a question');
      return held(asked ? 'asked again' : `refused: ${firstLine(again.result.text)}`);
    },
  },
  {
    id: 'S52',
    tried: 'approve, then swap: the folder of the command for a link to another',
    sandboxed: true,
    quick: true,
    async run(world) {
      const target = await world.shared();
      const workspace = target.emptyWorkspace();
      for (const name of ['a', 'b']) mkdirSync(join(workspace, name));
      const { result } = await target.approve('exec', { command: 'touch made', cwd: 'a' }, () => {
        renameSync(join(workspace, 'a'), join(workspace, 'old'));
        symlinkSync('b', join(workspace, 'a'));
      });
      return existsSync(join(workspace, 'b/made')) ? broke('it ran in the other folder') : held(firstLine(result.text));
    },
  },
  {
    id: 'S52',
    tried: 'approve, then swap: the folder of a file to be written for a link to the home of the gateway',
    quick: true,
    async run(world) {
      const target = await world.shared();
      const workspace = target.emptyWorkspace();
      mkdirSync(join(workspace, 'c'));
      const before = readFileSync(join(target.home, 'tenon.toml'), 'utf8');
      const { result } = await target.approve('write', { path: 'c/tenon.toml', content: 'harmed = true' }, () => {
        rmSync(join(workspace, 'c'), { recursive: true });
        symlinkSync(target.home, join(workspace, 'c'));
      });
      return readFileSync(join(target.home, 'tenon.toml'), 'utf8') === before
        ? held(firstLine(result.text))
        : broke('tenon.toml was written');
    },
  },
  {
    id: 'S53',
    tried: 'a command of 200 KB with its payload at the end, and one that hides its text',
    quick: true,
    async run(world) {
      const target = await world.shared();
      const workspace = target.emptyWorkspace();
      const long = await target.approve('exec', { command: `echo ${'x'.repeat(200_000)}; touch harmed` }, () => {});
      if (long.question) return broke('it was asked about without being shown whole');
      const hidden = [...'\u202e\u2066\u001b'];
      let shown = '';
      const look = (question: Approval) => {
        shown = question.title + question.reason;
      };
      await target.approve('exec', { command: 'echo "a\u202eb\u2066c"; \u001b[2Ktrue' }, look, 'deny');
      if (hidden.some((character) => shown.includes(character))) return broke(`hidden characters are shown as they are: ${shown}`);
      return existsSync(join(workspace, 'harmed')) ? broke('it ran') : held(firstLine(long.result.text));
    },
  },
  {
    id: 'S54',
    tried: 'answer one approval from four sides at once, replay it, answer it without the scope',
    quick: true,
    async run(world) {
      const target = await world.shared();
      target.emptyWorkspace();
      const { token } = await mintToken(target.admin, ['operator.write']);
      await using writer = await connectRaw(target.gateway.socketUrl, token);
      const found: string[] = [];
      const sessionKey = `agent:main:raced-${Date.now()}`;
      target.server.next({ calls: [{ name: 'write', arguments: { path: 'note.txt', content: 'x' } }] }, { text: 'done' });
      const runId = await target.send('go', { sessionKey });
      const { id } = await target.question(runId);
      const resolve = (decision: string, client = target.admin) => client.request('approvals.resolve', { id, decision });
      if ((await resolve('allow-once', writer)).ok) found.push('answered without the scope');
      const answers = await Promise.all(['deny', 'allow-once', 'deny', 'allow-once'].map((decision) => resolve(decision)));
      const valid = answers.filter(({ ok }) => ok).length;
      if (valid !== 1) found.push(`${valid} answers counted`);
      await target.ended(runId);
      for (const decision of ['allow-once', 'deny']) if ((await resolve(decision)).ok) found.push(`${decision} counted afterwards`);
      const isWritten = existsSync(join(target.workspace(), 'note.txt'));
      const isAllowed = answers.find(({ ok }) => ok)?.payload.approval.state === 'allowed';
      if (isWritten !== isAllowed) found.push('what was decided is not what was done');
      return noneOf(found, 'one answer decided');
    },
  },
  {
    id: 'S55',
    tried: 'reach past an allow-list of "echo *" and "git status" (18 spellings)',
    async run(world) {
      const target = await world.own({ config: '[exec]\npolicy = "allow-list"\nallow = ["echo *", "git status"]\n' });
      const spellings: readonly object[] = [
        'echo a; touch harmed',
        'echo a && touch harmed',
        'echo a | sh -c "touch harmed"',
        'echo $(touch harmed)',
        'echo `touch harmed`',
        'echo a > harmed',
        'echo a\ntouch harmed',
        'echo <(touch harmed)',
        'X=$(touch harmed) echo a',
        'git status; touch harmed',
        'git -c core.fsmonitor="touch harmed" status',
        './echo a',
        'env echo a; touch harmed',
        'echo a & touch harmed',
        '"echo" a || touch harmed',
      ]
        .map((command) => ({ command }) as object)
        .concat([{ argv: ['sh', '-c', 'touch harmed'] }, { argv: ['echo\u00a0a', 'x'] }, { argv: ['./echo', 'a'] }]);
      const workspace = target.workspace();
      const found: string[] = [];
      for (const args of spellings) {
        target.emptyWorkspace();
        put(workspace, { echo: '#!/bin/sh\ntouch harmed\n' });
        const sessionKey = `agent:main:listed-${found.length}-${spellings.indexOf(args)}`;
        target.server.next({ calls: [{ name: 'exec', arguments: args }] }, { text: 'done' });
        const runId = await target.send('go', { sessionKey });
        const asked = target.question(runId).then((question) => target.answer(question, 'deny'));
        await Promise.race([asked, target.ended(runId)]);
        await target.ended(runId);
        if (existsSync(join(workspace, 'harmed'))) found.push(JSON.stringify(args));
      }
      return noneOf(found, `${spellings.length} spellings, none ran what is not listed`);
    },
  },
];
