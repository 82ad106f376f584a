// Conversations in the terminal: the real bundle against a real gateway with the demo model. Through pipes, from scripts, and
// on a pseudo terminal where the system has `script`.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { verifies } from '../support/verifies.ts';
import { writeDesk } from '../support/extensions.ts';
import { cleanEnv, startGatewayProcess, temporaryHome, tenonBin, type GatewayProcess } from '../support/gateway.ts';
import { connectRaw } from '../support/raw-client.ts';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Running {
  readonly pid: number;
  readonly exit: Promise<Ended>;
  /** Resolves with everything that was written so far when it matches. */
  until(pattern: RegExp): Promise<string>;
  /** What was written since the last look. */
  since(): string;
  write(text: string): void;
  end(): void;
  signal(name: NodeJS.Signals): void;
}

const PATIENCE_MS = 30_000;

/** A process whose output can be waited for. */
function run(t: TestContext, command: string, words: readonly string[], env: Record<string, string>, noColour = true): Running {
  const { NO_COLOR: _, ...coloured } = cleanEnv(env);
  const child = spawn(command, words, { env: noColour ? cleanEnv(env) : { ...coloured, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '', all: '' };
  let looked = 0;
  const waiting = new Set<() => void>();
  const take = (name: 'stdout' | 'stderr') => (chunk: Buffer) => {
    written[name] += chunk.toString();
    written.all += chunk.toString();
    for (const check of waiting) check();
  };
  child.stdout.on('data', take('stdout'));
  child.stderr.on('data', take('stderr'));
  child.stdin.on('error', () => {});
  const exit = once(child, 'close').then(([code]) => {
    for (const check of waiting) check();
    return { code: code as number | null, stdout: written.stdout, stderr: written.stderr };
  });
  cleanUp(t, () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  });
  return {
    pid: child.pid!,
    exit,
    since() {
      const text = written.all.slice(looked);
      looked = written.all.length;
      return text;
    },
    until(pattern) {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const timer = setTimeout(() => fail('did not come'), PATIENCE_MS);
      const fail = (why: string) => reject(new Error(`${pattern} ${why}; written was:\n${stripVTControlCharacters(written.all)}`));
      const check = () => {
        if (pattern.test(stripVTControlCharacters(written.all.slice(looked)))) resolve(stripVTControlCharacters(written.all.slice(looked)));
        else if (child.exitCode !== null || child.signalCode !== null) fail('cannot come: it has ended');
      };
      waiting.add(check);
      check();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(check);
      });
    },
    write: (text) => void child.stdin.write(text),
    end: () => void child.stdin.end(),
    signal: (name) => void child.kill(name),
  };
}

describe('conversations in the terminal', () => {
  let gateway: GatewayProcess;
  let home: string;
  before(async () => {
    // Two agents: one that asks as agents do, one that is let do what the tests are not about.
    gateway = await startGatewayProcess({ config: '[[agents]]\nid = "free"\npermissions = "bypass"\n' });
    home = gateway.home;
  });
  after(() => gateway.remove());

  const start = (t: TestContext, ...words: string[]) => run(t, process.execPath, [tenonBin, ...words], { TENON_HOME: home });

  async function tenon(t: TestContext, words: readonly string[], input = ''): Promise<Ended> {
    const running = start(t, ...words);
    running.write(input);
    running.end();
    return running.exit;
  }

  async function data<Result>(t: TestContext, ...words: string[]): Promise<Result> {
    const { code, stdout, stderr } = await tenon(t, [...words, '--json']);
    assert.equal(code, 0, `tenon ${words.join(' ')}: ${stdout}${stderr}`);
    assert.match(stdout, /^[^\n]+\n$/, 'data is one line');
    return JSON.parse(stdout) as Result;
  }

  /** The one question that waits in a session. */
  async function waitingIn(t: TestContext, key: string): Promise<string> {
    const { approvals } = await data<{ approvals: { id: string }[] }>(t, 'approve', 'ls', '--session', key);
    assert.equal(approvals.length, 1);
    return approvals[0]!.id;
  }

  describe('for scripts', () => {
    test('each line that is piped in is a message; answers are on stdout, tools on stderr, nothing is coloured', async (t) => {
      verifies('turns:cli-conversation');
      const { code, stdout, stderr } = await tenon(t, ['chat', '--session', 'piped'], 'What are you?\nList the files\n');
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^I am the demo model of Tenon [^\n]+\n/);
      assert.match(stdout, /The workspace (is empty|has \d+ entr)/);
      assert.match(stderr, /^● ls {2}\S* *.*ok \d+/m);
      assert.equal(stripVTControlCharacters(stdout + stderr), stdout + stderr);
      assert.ok(!stdout.includes('What are you?'), 'what was typed is not an answer');
    });

    test('run prints the final text, or one object with --json', async (t) => {
      const plain = await tenon(t, ['run', 'What are you?', '--quiet']);
      assert.deepEqual([plain.code, plain.stderr], [0, '']);
      assert.match(plain.stdout, /^I am the demo model of Tenon .*\n$/s);
      const result = await data<{
        runId: string;
        sessionKey: string;
        status: string;
        end: { kind: string };
        text: string;
        usage: { input: number; output: number };
        tools: { name: string; isError: boolean }[];
      }>(t, 'run', 'List the files', '--session', 'scripted');
      assert.equal(result.sessionKey, 'agent:main:scripted');
      assert.deepEqual([result.status, result.end.kind], ['completed', 'completed']);
      assert.match(result.text, /The workspace/);
      assert.ok(result.usage.output > 0);
      assert.deepEqual(
        result.tools.map(({ name, isError }) => [name, isError]),
        [['ls', false]],
      );
      const usage = await data<{ total: { calls: number } }>(t, 'usage', '--session', 'scripted');
      assert.equal(usage.total.calls, 2);
    });

    test('run reads the message from stdin, and streams events with --stream-json', async (t) => {
      const piped = await tenon(t, ['run', '-', '--stream-json'], 'What are you?\n');
      assert.equal(piped.code, 0, piped.stderr);
      const lines = piped.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { event: string; payload: { text?: string } });
      assert.ok(lines.some(({ event }) => event === 'agent') && lines.some(({ event }) => event === 'chat'));
      assert.equal(lines.at(-1)?.event, 'result');
      assert.match(lines.at(-1)?.payload.text ?? '', /demo model/);
    });

    test('what cannot be done has its exit code: an unknown model or agent, no right, too much to say', async (t) => {
      verifies('turns:bad-input');
      const unknown = await tenon(t, ['run', 'hello', '--model', 'no-such-model']);
      assert.equal(unknown.code, 1);
      assert.match(unknown.stderr, /no-such-model/);
      assert.equal((await tenon(t, ['run', 'hello', '--agent', 'nobody'])).code, 1);
      const large = await tenon(t, ['run', '-'], 'x'.repeat(10 * 1024 * 1024));
      assert.equal(large.code, 2);
      assert.match(large.stderr, /262144 are allowed/);
      const { token } = await data<{ token: string }>(t, 'token', 'new', '--name', 'looker', '--scope', 'operator.read');
      const denied = run(t, process.execPath, [tenonBin, 'run', 'hello'], { TENON_HOME: home, TENON_TOKEN: token });
      denied.end();
      assert.equal((await denied.exit).code, 4);
    });

    test('a question is answered from a second terminal, and the first answer counts', async (t) => {
      verifies('turns:cli-conversation', 'S54');
      const asking = start(t, 'run', 'Write a note: water the plants', '--session', 'asking');
      asking.end();
      await asking.until(/tenon approve allow \S+/);
      const id = await waitingIn(t, 'asking');
      const shown = await tenon(t, ['approve', 'show', id.slice(0, 8)]);
      assert.match(shown.stdout, /notes\/water-the-plants\.md/);
      assert.match(shown.stdout, /time left .*then it is denied/);
      assert.equal((await data<{ next: string }>(t)).next, 'tenon approve ls');
      const allowed = await tenon(t, ['approve', 'allow', id.slice(0, 8)]);
      assert.equal(allowed.code, 0, allowed.stderr);
      assert.match(allowed.stdout, /allowed once/);
      const { code, stdout, stderr } = await asking.exit;
      assert.equal(code, 0, stderr);
      assert.match(stdout, /the note is in `notes\/water-the-plants\.md`/);
      assert.match(stderr, /allowed once/);
      assert.notEqual((await tenon(t, ['approve', 'deny', id])).code, 0);
      const read = await tenon(t, ['run', 'Read notes/water-the-plants.md', '--session', 'asking', '-q']);
      assert.match(read.stdout, /water the plants/);

      const again = start(t, 'run', 'Write a note: no', '--session', 'asking');
      again.end();
      await again.until(/tenon approve allow \S+/);
      await tenon(t, ['approve', 'deny', await waitingIn(t, 'asking')]);
      assert.match((await again.exit).stdout, /Nothing was done/);
    });

    test('always allows exactly this, until it is forgotten', async (t) => {
      verifies('S55');
      const words = ['run', 'Write a note: the same', '--session', 'always'];
      const first = start(t, ...words);
      first.end();
      await first.until(/tenon approve allow \S+/);
      await tenon(t, ['approve', 'always', await waitingIn(t, 'always')]);
      assert.equal((await first.exit).code, 0);
      const { rules } = await data<{ rules: { id: string }[] }>(t, 'approve', 'rules');
      assert.equal(rules.length, 1);
      assert.equal((await tenon(t, [...words, '--no-wait'])).code, 0);
      await data(t, 'approve', 'forget', rules[0]!.id);
      const waits = await tenon(t, [...words, '--no-wait']);
      assert.equal(waits.code, 6);
      assert.match(waits.stderr, /waits for an approval/);
      const id = await waitingIn(t, 'always');
      assert.ok(waits.stderr.includes(`tenon approve allow ${id}`));
      await tenon(t, ['approve', 'deny', id]);
    });

    test('Ctrl-C stops the run, not only the terminal', async (t) => {
      const running = start(t, 'run', 'Run sleep 300', '--agent', 'free', '--session', 'stopped', '--json');
      running.end();
      const key = 'agent:free:stopped';
      await untilStatus(t, key, 'running');
      running.signal('SIGINT');
      const { code, stdout, stderr } = await running.exit;
      assert.equal(code, 130, stdout + stderr);
      assert.equal((JSON.parse(stdout) as { status: string }).status, 'aborted');
      await untilStatus(t, key, 'idle');
    });

    test('a time limit stops the run', async (t) => {
      const { code, stderr } = await tenon(t, ['run', 'Run sleep 300', '--agent', 'free', '--timeout', '2s']);
      assert.equal(code, 1);
      assert.match(stderr, /had not answered within 2000 ms; it was stopped/);
    });

    test('!command runs a program, /help says what can be done, a mistyped command is not told to the agent', async (t) => {
      const { code, stdout, stderr } = await tenon(t, ['chat', '--agent', 'free', '--verbose'], '!echo from-the-shell\n/help\n/hlep\n');
      assert.equal(code, 1);
      assert.match(stderr, /● exec {2}echo from-the-shell {2}ok[\s\S]*│ from-the-shell/);
      assert.match(stdout, /\/compact/);
      assert.match(stderr, /no command \/hlep: did you mean \/help\?/);
    });

    async function untilStatus(t: TestContext, key: string, status: string): Promise<void> {
      const deadline = Date.now() + PATIENCE_MS;
      for (;;) {
        const shown = await tenon(t, ['session', 'show', key, '--json']);
        if (shown.code === 0 && (JSON.parse(shown.stdout) as { session: { status: string } }).session.status === status) return;
        assert.ok(Date.now() < deadline, `${key} did not become ${status}: ${shown.stdout}${shown.stderr}`);
      }
    }
  });

  describe('what was said', () => {
    test('is printed, exported, imported, forked, rewound and branched', async (t) => {
      await tenon(t, ['chat', '--session', 'past'], 'What are you?\nWhat time is it?\n');
      const history = await tenon(t, ['session', 'history', 'past']);
      assert.match(history.stdout, /^> What are you\?\nI am the demo model[\s\S]*\n> What time is it\?\n/);
      const page = await data<{ entries: { id: string }[]; more?: string }>(t, 'session', 'history', 'past', '-n', '2');
      assert.equal(page.entries.length, 2);
      assert.ok(page.more);
      const all = await data<{ entries: { id: string }[] }>(t, 'session', 'history', 'past', '-n', '2', '--all');
      assert.equal(all.entries.length, 4);

      const folder = mkdtempSync(join(tmpdir(), 'tenon-export-'));
      cleanUp(t, () => removeFolder(folder));
      const file = join(folder, 'past.jsonl');
      await data(t, 'session', 'export', 'past', '-o', file);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      const exported = await tenon(t, ['session', 'export', 'past']);
      assert.equal(exported.stdout, readFileSync(file, 'utf8'));
      assert.equal((await tenon(t, ['session', 'export', 'past', '-o', file])).code, 2);
      const imported = await data<{ entries: number }>(t, 'session', 'import', 'past-2', file);
      assert.ok(imported.entries >= 4);
      assert.match((await tenon(t, ['session', 'history', 'past-2'])).stdout, /What time is it\?/);
      assert.equal((await tenon(t, ['session', 'import', 'past-3', '-'], exported.stdout)).code, 0);
      const broken = await tenon(t, ['session', 'import', 'past-4', '-'], 'not json\n');
      assert.equal(broken.code, 1);

      const fork = await data<{ session: { key: string } }>(t, 'session', 'fork', 'past', '--to', 'past-fork');
      assert.equal(fork.session.key, 'agent:main:past-fork');
      const rewound = await data<{ text: string; leafId: string }>(t, 'session', 'rewind', 'past-fork');
      assert.equal(rewound.text, 'What time is it?');
      const tree = await data<{ nodes: { id: string; current: boolean }[] }>(t, 'session', 'tree', 'past-fork', '--all');
      assert.ok(tree.nodes.some(({ current }) => current) && tree.nodes.some(({ current }) => !current));
      const last = tree.nodes.at(-1)!;
      await data(t, 'session', 'branch', 'past-fork', last.id);
      assert.match((await tenon(t, ['session', 'tree', 'past-fork'])).stdout, new RegExp(`^> .*${last.id}`, 'm'));
      assert.equal((await tenon(t, ['session', 'compact', 'past'])).code, 0);
    });

    test('is imported over HTTP where it is too large for a frame', async (t) => {
      const lines = (await tenon(t, ['session', 'export', 'past'])).stdout.trim().split('\n');
      const at = lines.findLastIndex((line) => line.includes('"role":"user"'));
      const entry = JSON.parse(lines[at]!) as { message: { content: { type: string; text: string }[] } };
      entry.message.content = [{ type: 'text', text: 'long '.repeat(300_000) }];
      const folder = mkdtempSync(join(tmpdir(), 'tenon-import-'));
      cleanUp(t, () => removeFolder(folder));
      const file = join(folder, 'large.jsonl');
      writeFileSync(file, `${lines.with(at, JSON.stringify(entry)).join('\n')}\n`);
      assert.ok(statSync(file).size > 900_000);
      const imported = await data<{ entries: number; session: { title: string } }>(
        t,
        'session',
        'import',
        'large',
        file,
        '--title',
        'Large',
      );
      assert.ok(imported.entries >= 4);
      assert.equal(imported.session.title, 'Large');
    });
  });

  test('models, agents, tools, usage and the address of the page can be read', async (t) => {
    const { models } = await data<{ models: { id: string }[] }>(t, 'model', 'ls');
    assert.ok(models.some(({ id }) => id === 'demo'));
    assert.match((await tenon(t, ['model', 'probe', 'demo'])).stdout, /^demo answers, in \d+ ms\n/);
    const { agents } = await data<{ agents: { id: string }[] }>(t, 'agent', 'ls');
    assert.deepEqual(agents.map(({ id }) => id).toSorted(), ['free', 'main']);
    const catalog = await tenon(t, ['tool', 'ls']);
    assert.match(catalog.stdout, /^exec +exec/m);
    assert.match(catalog.stderr, /^Sandbox: /m);
    await data(t, 'session', 'new', 'tools');
    const effective = await tenon(t, ['tool', 'ls', '--session', 'tools']);
    assert.match(effective.stdout, /^read +read +allow/m);
    assert.match(effective.stdout, /^write +write +ask/m);
    const { url } = await data<{ url: string }>(t, 'ui');
    assert.ok(url.startsWith(gateway.url));
    assert.ok(!url.includes(gateway.token));
    assert.match((await tenon(t, ['status'])).stdout, /^sandbox +\w+: [\s\S]*^page +.*tenon ui/m);
  });

  test('a slash command given to run is carried out, and its reply is the answer', async (t) => {
    verifies('turns:cli-conversation');
    const named = await tenon(t, ['run', '--session', 'slash', '/status']);
    assert.deepEqual([named.code, named.stderr], [0, '']);
    assert.match(named.stdout, /^Session: agent:main:slash \(idle\)\n/);
    const result = await data<{ status: string; text: string; sessionKey: string }>(t, 'run', '/help');
    assert.equal(result.status, 'handled');
    assert.match(result.text, /Try:[\s\S]*Write a note: water the plants/);
    const unknown = await tenon(t, ['run', '/statsu']);
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /There is no command \/statsu: did you mean \/status\?/);
  });

  test('a program that is denied is told of once, and a second answer says who gave the first', async (t) => {
    const chat = start(t, 'chat', '--session', 'denied-program');
    chat.write('!uname -a\n');
    const [, id = ''] = /tenon approve allow (\S+)/.exec(await chat.until(/tenon approve allow \S+ .*\n/)) ?? [];
    assert.equal((await tenon(t, ['approve', 'deny', id])).code, 0);
    chat.end();
    const ended = await chat.exit;
    assert.equal(ended.code, 4);
    const after = ended.stderr.slice(ended.stderr.indexOf('tenon approve allow'));
    assert.equal(after.split('denied').length - 1, 1, after);
    assert.doesNotMatch(after, /operator denied|another way/);
    const again = await tenon(t, ['approve', 'allow', id]);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /was answered already: denied by \S+ \(see: tenon approve show /);
  });

  describe('on a terminal', () => {
    const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

    /** `tenon` on a pseudo terminal of 100 columns. */
    function terminal(t: TestContext, words: readonly string[], env: Record<string, string> = {}): Running {
      const command = `stty cols 100 rows 40; exec ${[process.execPath, tenonBin, ...words].map((word) => `'${word}'`).join(' ')}`;
      return run(t, 'script', ['-qefc', command, '/dev/null'], { TENON_HOME: home, TERM: 'xterm', ...env }, false);
    }

    test('without one, chat neither asks nor colours, whatever the system has', async (t) => {
      const { code, stdout } = await tenon(t, ['chat', '--session', 'no-terminal'], '/quit\n');
      assert.deepEqual([code, stdout], [0, '']);
    });

    test('a message is answered as it comes, a question is asked and answered, and Ctrl-D leaves', { skip: !hasScript }, async (t) => {
      verifies('turns:cli-conversation');
      await tenon(t, ['run', 'What are you?', '--session', 'tty', '-q']);
      const chat = terminal(t, ['chat', '--session', 'tty']);
      const opened = await chat.until(/agent:main:tty at http[\s\S]*I am the demo model[\s\S]*› /);
      assert.match(opened, /What are you\?/);
      chat.since();
      chat.write('List the files\r');
      await chat.until(/● ls {2}[\s\S]*The workspace/);
      chat.since();
      chat.write('Write a note: from the terminal\r');
      const asked = await chat.until(/a allow once · d deny · ! always[\s\S]*answer › /);
      assert.match(asked, /\? .*notes\/from-the-terminal\.md/);
      assert.match(asked, /\? write {2}(\S+ {2})?waits for you/);
      assert.match(asked, /asked by {2,}write of agent main in agent:main:tty/);
      // Enter alone and a word that is no answer are not taken for one.
      chat.since();
      chat.write('\r');
      await chat.until(/Answer with: a allow once/);
      chat.since();
      chat.write('yes\r');
      await chat.until(/Answer with: a allow once/);
      chat.since();
      chat.write('a\r');
      await chat.until(/allowed once[\s\S]*the note is in/);
      chat.since();
      chat.write('\u0004');
      assert.equal((await chat.exit).code, 0);
      const file = join(home, 'chat-history');
      assert.equal(statSync(file).mode & 0o777, 0o600);
      const typed = readFileSync(file, 'utf8');
      assert.match(typed, /"List the files"\n"Write a note: from the terminal"\n/);
      assert.ok(!typed.includes('"a"') && !typed.includes('"yes"'));
    });

    test('two terminals and a script are in step; a question that was answered elsewhere folds', { skip: !hasScript }, async (t) => {
      const [one, two] = [terminal(t, ['chat', '--session', 'step']), terminal(t, ['chat', '--session', 'step', '--plain'])];
      await Promise.all([one.until(/› $/), two.until(/> $/)]);
      one.since();
      two.since();
      one.write('What are you?\r');
      await Promise.all([one.until(/I am the demo model/), two.until(/> What are you\?\r?\nI am the demo model/)]);
      one.since();
      two.since();
      await tenon(t, ['run', 'List the files', '--session', 'step', '-q']);
      await Promise.all([one.until(/› List the files[\s\S]*The workspace/), two.until(/> List the files[\s\S]*The workspace/)]);
      one.since();
      two.since();
      // What is being typed when a question comes is put aside, and comes back.
      one.write('half a mess');
      await one.until(/half a mess/);
      two.write('Write a note: in step\r');
      await Promise.all([one.until(/answer › /), two.until(/answer > /)]);
      one.since();
      two.since();
      two.write('d\r');
      await Promise.all([one.until(/denied by \S+ \(answered elsewhere\)/), two.until(/denied by/)]);
      await one.until(/Nothing was done[\s\S]*(?<!stops it\r?\n)› half a mess$/);
      one.write('\u0003');
      await one.until(/Ctrl-C again, or Ctrl-D, leaves/);
      one.write('\u0003');
      two.write('/quit\r');
      assert.deepEqual([(await one.exit).code, (await two.exit).code], [0, 0]);
    });

    test('Ctrl-C stops the turn and the chat goes on; what is typed meanwhile is queued', { skip: !hasScript }, async (t) => {
      const chat = terminal(t, ['chat', '--agent', 'free', '--session', 'busy']);
      await chat.until(/› $/);
      chat.since();
      chat.write('Run sleep 300\r');
      await chat.until(/exec {2}sleep 300 {2}running/);
      chat.write('What are you?\r');
      await chat.until(/queued: What are you\?/);
      chat.since();
      chat.write('\u0003');
      await chat.until(/stopping the turn/);
      await chat.until(/› What are you\?[\s\S]*I am the demo model/);
      chat.since();
      chat.write('/st\t');
      await chat.until(/\/status {2}\/stop/);
      chat.since();
      chat.write('a\t');
      await chat.until(/› \/status /);
      chat.write('\r');
      await chat.until(/Session: [\s\S]*Agent: /);
      chat.write('/quit\r');
      assert.equal((await chat.exit).code, 0);
    });

    test('a question of an extension is answered in one terminal and folds in the other; what was being typed comes back', {
      skip: !hasScript,
    }, async (t) => {
      verifies('sep:ui', 'sep:commands', 'seed3:commands');
      writeDesk(home, { capabilities: 'ui = true' });
      await using admin = await connectRaw(gateway.socketUrl, gateway.token);
      assert.equal((await admin.request('plugins.reload', {})).ok, true);
      assert.equal((await admin.request('plugins.enable', { id: 'desk' })).payload?.plugin.state, 'loaded');
      const [one, two] = [terminal(t, ['chat', '--session', 'asked']), terminal(t, ['chat', '--session', 'asked', '--plain'])];
      await Promise.all([one.until(/› $/), two.until(/> $/)]);
      one.write('half a thou');
      await one.until(/half a thou/);
      const steps = [
        ['ui.setStatus', 'at work'],
        ['ui.select', 'Which one?', ['red', 'blue']],
        ['ui.confirm', 'Sure?'],
        ['ui.input', 'Name?'],
      ];
      two.write(`/desk:desk ${JSON.stringify(steps)}\r`);
      await Promise.all([one.until(/\? desk asks: Which one\?[\s\S]*1 {2}red[\s\S]*2 {2}blue[\s\S]*answer › $/), two.until(/answer > $/)]);
      one.since();
      two.since();
      one.write('2\r');
      await Promise.all([
        one.until(/\? desk asks: Sure\?/),
        two.until(/\(answered elsewhere\)[\s\S]*\? desk asks: Sure\?[\s\S]*answer > $/),
      ]);
      two.write('perhaps\r');
      await two.until(/Answer with: yes or no/);
      two.since();
      two.write('y\r');
      await two.until(/\? desk asks: Name\?[\s\S]*answer > $/);
      two.write('Ada\r');
      // The command was waiting for these answers, and says what came of them.
      await two.until(/\[null,"blue",true,"Ada"\]/);
      await one.until(/desk: at work[\s\S]*› half a thou$/);
      one.write('\u0003');
      await one.until(/Ctrl-C again, or Ctrl-D, leaves/);
      one.write('\u0003');
      two.write('/quit\r');
      assert.deepEqual([(await one.exit).code, (await two.exit).code], [0, 0]);
    });

    test('colours are for those who want them', { skip: !hasScript }, async (t) => {
      const coloured = terminal(t, ['chat', '--session', 'colours']);
      await coloured.until(/› $/);
      assert.ok(coloured.since().includes('\u001b[2m'));
      const bare = terminal(t, ['chat', '--session', 'colours'], { NO_COLOR: '1' });
      await bare.until(/› $/);
      assert.ok(!bare.since().includes('\u001b[2m'));
      for (const chat of [coloured, bare]) chat.write('/quit\r');
      await Promise.all([coloured.exit, bare.exit]);
    });
  });

  test('a run outlives a gateway that is killed under it, and a question survives with it', async (t) => {
    verifies('S56');
    const own = temporaryHome();
    cleanUp(t, () => removeFolder(own));
    const first = await startGatewayProcess({ home: own });
    cleanUp(t, () => first.remove());
    const running = run(t, process.execPath, [tenonBin, 'run', 'Write a note: after all', '--json'], { TENON_HOME: own });
    running.end();
    const asked = await running.until(/tenon approve allow \S+/);
    const id = /tenon approve allow (\S+)/.exec(asked)![1]!;
    await first.kill();
    await running.until(/The connection to the gateway is gone/);
    const restarted = await startGatewayProcess({ home: own, port: first.port });
    cleanUp(t, () => restarted.remove());
    const allow = run(t, process.execPath, [tenonBin, 'approve', 'allow', id], { TENON_HOME: own });
    allow.end();
    const { code, stderr } = await allow.exit;
    assert.equal(code, 0, stderr);
    const ended = await running.exit;
    assert.equal(ended.code, 0, ended.stderr);
    const result = JSON.parse(ended.stdout) as { text: string; tools: { name: string }[] };
    assert.match(result.text, /notes\/after-all\.md/);
    assert.deepEqual(
      result.tools.map(({ name }) => name),
      ['write'],
    );
  });

  test('a chat outlives a restart of the gateway', async (t) => {
    const own = temporaryHome();
    cleanUp(t, () => removeFolder(own));
    let restarted: GatewayProcess | undefined;
    const first = await startGatewayProcess({ home: own });
    cleanUp(t, async () => {
      await first.remove();
      await restarted?.remove();
    });
    const chat = run(t, process.execPath, [tenonBin, 'chat'], { TENON_HOME: own });
    chat.write('What are you?\n');
    await chat.until(/I am the demo model/);
    chat.since();
    await first.kill();
    await chat.until(/The connection to the gateway is gone/);
    restarted = await startGatewayProcess({ home: own, port: first.port });
    await chat.until(/Connected again/);
    chat.since();
    chat.write('List the files\n');
    await chat.until(/The workspace/);
    chat.end();
    assert.equal((await chat.exit).code, 0);
  });
});
