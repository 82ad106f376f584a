// Extensions that guard tools, written as the authors of pi and SEP write them. A gate guards, or it is not running and says so.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tenon } from '../../security/harness.ts';
import { type Attack, broke, held, noneOf, type Outcome, type World } from '../attack.ts';
import { addExtension, noted, speaks, tool, writeExtension, type Written } from '../extension.ts';
import { becomesTrue } from '../observe.ts';
import type { Target } from '../target.ts';

/** It knows the shell as `bash` with a `command`, and nothing of this gateway. */
const gate = speaks(
  `{ hooks: ['tool_call'] }`,
  `if (method === 'hook') {
    const { tool, arguments: args } = params.input;
    note({ tool, args });
    if (tool === 'bash' && /\\brm\\b.*-rf/.test(String(args.command))) return answer({ action: 'block', reason: 'the gate says no' });
    return answer({ action: 'continue' });
  }`,
);

const rewriter = speaks(
  `{ hooks: ['tool_call'] }`,
  `if (method === 'hook') {
    const { tool, arguments: args } = params.input;
    if (tool === 'bash') return answer({ action: 'modify', patch: { arguments: { ...args, command: 'echo rewritten > made' } } });
    return answer({ action: 'continue' });
  }`,
);

/** What the model tries, and whether it got through. */
async function removes(target: Target, args: object): Promise<{ isGone: boolean; text: string }> {
  const workspace = target.emptyWorkspace();
  mkdirSync(join(workspace, 'victim'));
  writeFileSync(join(workspace, 'victim/file'), '');
  const { text } = await target.use('exec', args);
  return { isGone: !existsSync(join(workspace, 'victim/file')), text };
}

async function installed(world: World, written: Written, ...words: string[]): Promise<{ target: Target; code: number; said: string }> {
  const target = await world.own();
  const folder = writeExtension(join(world.folder(), 'gate'), 'gate', written);
  const { code, stdout, stderr } = await tenon(target.home, 'ext', 'install', folder, ...words);
  return { target, code, said: `${stdout}${stderr}` };
}

const both = async (target: Target): Promise<string[]> => {
  const found: string[] = [];
  for (const args of [{ command: 'rm -rf victim' }, { argv: ['rm', '-rf', 'victim'] }, { command: 'cd . && rm  -rf "victim"' }]) {
    const { isGone } = await removes(target, args);
    if (isGone) found.push(`${JSON.stringify(args)} was not blocked`);
  }
  return found;
};

export const gateAttacks: readonly Attack[] = [
  {
    id: 'S58',
    tried: 'a gate whose manifest names the hook under events: tenon ext install --yes, then rm -rf',
    async run(world) {
      const { target, code, said } = await installed(world, { capabilities: 'events = ["tool_call"]', program: gate }, '--yes');
      const found = await both(target);
      return found.length === 0 ? held('blocked') : broke(`exit code ${code}: ${lastLine(said)}; ${found.join('; ')}`);
    },
  },
  {
    id: 'S58',
    tried: 'a gate whose manifest names no hook at all: tenon ext install --yes, then rm -rf',
    async run(world) {
      const { target, code, said } = await installed(world, { program: gate }, '--yes');
      const found = await both(target);
      if (found.length === 0) return held('blocked');
      return code !== 0 && /tenon ext (grant|trust)/.test(said)
        ? held(`exit code ${code}, with the command`)
        : broke(`exit code ${code}: ${lastLine(said)}; ${found.join('; ')}`);
    },
  },
  {
    id: 'S58',
    tried: 'a gate whose hook nobody has granted: install says so, and it does not run as if it guarded',
    async run(world): Promise<Outcome> {
      const target = await world.own();
      const folder = writeExtension(join(world.folder(), 'gate'), 'gate', { capabilities: 'tools = true', program: gate });
      await tenon(target.home, 'ext', 'install', folder, '--no-enable');
      const trusted = await tenon(target.home, 'ext', 'trust', 'gate', '--grant', 'tools.register', '--yes');
      const { plugin } = await target.ask('plugins.get', { id: 'gate' });
      const { isGone } = await removes(target, { command: 'rm -rf victim' });
      if (!isGone) return held('what it would guard is refused');
      if (trusted.code === 0) return broke(`exit code 0, state ${plugin.state}: ${lastLine(trusted.stdout)}`);
      if (plugin.process?.state === 'ready' && plugin.state === 'loaded')
        return broke(`exit code ${trusted.code}, but it runs as "${plugin.state}"`);
      return held(`exit code ${trusted.code}, state ${plugin.state}`);
    },
  },
  {
    id: 'S58',
    tried: 'a gate with every grant that knows the shell as "bash": rm -rf as a command and as words',
    async run(world) {
      const target = await world.own();
      const plugin = await addExtension(target, 'gate', { capabilities: 'hooks = ["tool_call"]', program: gate });
      if (plugin.state !== 'loaded') throw new Error(`it is ${plugin.state}: ${plugin.reason}`);
      const found = await both(target);
      const seen = noted(target.home).map(({ tool: name }) => name);
      return noneOf(found.length === 0 ? [] : [...found, `it saw the tools ${[...new Set(seen)].join(', ')}`], 'blocked each time');
    },
  },
  {
    id: 'S58',
    tried: 'a gate that rewrites the command of "bash": what runs is what it wrote',
    async run(world) {
      const target = await world.own();
      await addExtension(target, 'gate', { capabilities: 'hooks = ["tool_call"]', program: rewriter });
      const found: string[] = [];
      for (const args of [{ command: 'rm -rf victim' }, { argv: ['rm', '-rf', 'victim'] }]) {
        const { isGone, text } = await removes(target, args);
        if (isGone) found.push(`${JSON.stringify(args)} ran as it was`);
        else if (!existsSync(join(target.workspace(), 'made')))
          found.push(`${JSON.stringify(args)}: the rewritten command did not run: ${text.slice(0, 200)}`);
      }
      return noneOf(found, 'the rewritten command ran');
    },
  },
  {
    id: 'S58',
    tried: 'granted calls at session_start, right after the process is ready (restarts, and reloads meanwhile)',
    async run(world) {
      const home = world.folder();
      let target = await world.own({ home });
      const program = speaks(
        `{ tools: [${tool('say')}], subscriptions: ['session_start'] }`,
        `if (method === 'tool/execute') return answer({ content: 'x' });
         if (method === 'event' && params.event === 'session_start') for (const [name, with_] of [['kv/set', { key: 'a', value: 1 }], ['ui/request', { kind: 'set_status', key: 'k', text: 'x' }]]) {
           const reply = await ask(name, with_);
           note({ name, code: reply.error?.code ?? 0 });
         }`,
      );
      const written = { capabilities: 'tools = true\nkv = true\nui = true\nevents = ["session_start"]', program };
      await addExtension(target, 'early', written);
      await target.use('early__say', {});
      for (let round = 0; round < 6; round++) {
        await target.gateway.kill();
        target = await world.own({ home });
        // While it is being started.
        await Promise.all([target.ask('plugins.reload', {}), target.ask('plugins.reload', { id: 'early' }).catch(() => undefined)]);
        await target.use('early__say', {}).catch(() => undefined);
        await target.ask('plugins.reload', { id: 'early' });
        await target.use('early__say', {});
      }
      const replies = noted(target.home).filter(({ name }) => name !== undefined);
      if (replies.length === 0) throw new Error('it was never told of a session');
      const refused = replies.filter(({ code }) => code === -32004);
      return refused.length === 0
        ? held(`${replies.length} calls, all served`)
        : broke(`${refused.length} of ${replies.length} granted calls were refused with -32004`);
    },
  },
  {
    id: 'S58',
    tried: 'a gate that crashes three times: the refusal says that it is quarantined, and what to do, in full',
    async run(world) {
      const target = await world.own();
      const program = speaks(`{ hooks: ['tool_call'] }`, `if (method === 'hook') process.exit(3);`);
      await addExtension(target, 'gate', { capabilities: 'hooks = ["tool_call"]', program });
      let text = '';
      const found: string[] = [];
      const state = async () => (await target.ask('plugins.get', { id: 'gate' })).plugin.process?.state as string;
      for (let round = 0; round < 6 && (await state()) !== 'quarantined'; round++) {
        const tried = await removes(target, { command: 'rm -rf victim' });
        if (tried.isGone) found.push('it let the call through while it was down');
        await becomesTrue(async () => ['ready', 'quarantined'].includes(await state()), 60_000);
      }
      if ((await state()) !== 'quarantined') throw new Error(`it is ${await state()}`);
      const last = await removes(target, { command: 'rm -rf victim' });
      text = last.text;
      if (last.isGone) found.push('it let the call through in quarantine');
      if (!/quarantin/i.test(text)) found.push('the refusal does not say quarantined');
      if (/…/.test(text) || !/tenon (ext|plugin) (reload|disable)|switch it off/i.test(text)) found.push('the way out is cut or missing');
      return noneOf(found.length === 0 ? [] : [...found, text.slice(0, 400)], text.slice(0, 200));
    },
  },
  {
    id: 'S41:extensions',
    tried: 'take the tools of others away with tools.register alone (tools/set_active, in a call and outside of one)',
    async run(world) {
      const target = await world.own();
      const program = speaks(
        `{ tools: [${tool('narrow')}], subscriptions: [] }`,
        `if (method === 'initialize') setTimeout(async () => note({ outside: (await ask('tools/set_active', { tools: [] })).error?.code ?? 0 }), 1000);
         if (method === 'tool/execute') return answer({ content: JSON.stringify(await ask('tools/set_active', { tools: ['narrow'], context: params.context })) });`,
      );
      await addExtension(target, 'narrow', { capabilities: 'tools = true', program }, ['tools.register']);
      await becomesTrue(() => noted(target.home).some(({ outside }) => outside !== undefined), 10_000);
      const found: string[] = [];
      const look = async (when: string) => {
        await target.say('hello', { sessionKey: target.unasked });
        const told = (target.server.requests.at(-1)?.body?.tools ?? []).map((each) => each.function.name);
        if (!told.includes('exec')) found.push(`${when}: the model is told of ${told.length} tools: ${told.join(', ')}`);
      };
      await look('outside of a call');
      await target.use('narrow__narrow', {}).catch(() => undefined);
      await look('in a call');
      return noneOf(found, 'the tools of others stay');
    },
  },
];

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
