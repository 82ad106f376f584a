// Extensions as the host of plugins has them: found by their manifests, trusted by their files, started from a copy, and with
// what their processes register in the same registries as everything else.
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PluginDetails } from '@tenon/protocol';
import { explain } from '../../packages/protocol/src/validate.ts';
import type { PluginHost } from '../../packages/gateway/src/host/plugin-host.ts';
import { type Clock, systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { type HostWorld, openHostWorld, put, SESSION } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';
import { toolCall, until, withExtensions, writeExtension } from '../support/written-extension.ts';

const BY = { by: 'test' };
/** Restarts come soon. */
const clock: Clock = { ...systemClock, after: (delayMs, call) => systemClock.after(delayMs === 1_100 ? 5 : delayMs, call) };

interface Written {
  readonly manifest?: string;
  readonly registrations?: object;
  readonly answers?: object;
}

const TOOL = { name: 'add', description: 'Adds a note.', parameters: { type: 'object', properties: { text: { type: 'string' } } } };

function write(world: HostWorld, name: string, { manifest = '', registrations = {}, answers }: Written = {}): string {
  const said = answers ? { 'answers.json': JSON.stringify(answers) } : {};
  const files = { 'registrations.json': JSON.stringify(registrations), ...said };
  return writeExtension(world, name, { fixture: 'notes.mjs', manifest, files });
}

const capabilities = (text: string) => `[capabilities]\n${text}`;

/** What an extension said on its standard error. */
function noted({ logged }: HostWorld): Record<string, unknown>[] {
  return logged.flatMap(({ stderr }) => (typeof stderr === 'string' && stderr.startsWith('{') ? [JSON.parse(stderr) as never] : []));
}

function toolOf(host: PluginHost, name: string) {
  const tool = host.registry.findAny('tool', name)?.item;
  assert.ok(tool, `there is no tool ${name}`);
  return tool;
}

const call = (signal?: AbortSignal, updates: string[] = []) => ({
  ...toolCall(signal),
  onUpdate: (text: string) => void updates.push(text),
});

test('G10, G26: an extension is found switched off; once it is on, its tools, commands, hooks and events are those of a plugin', async () => {
  verifies('sep:G10', 'sep:G26');
  await using world = await openHostWorld(clock);
  write(world, 'notes', {
    manifest: capabilities('tools = true\ncommands = true\nhooks = ["tool_call"]\nevents = ["session_start"]'),
    registrations: {
      tools: [TOOL, ...['kv', 'wait'].map((name) => ({ name, description: 'Asks.', parameters: { type: 'object' } })), { name: 5 }],
      commands: [{ name: 'hear', description: 'Hears.' }],
      hooks: ['tool_call'],
      subscriptions: ['session_start', 'widget/none'],
    },
  });
  const host = await world.open(withExtensions);
  const found = host.get('notes');
  assert.deepEqual([found?.state, found?.enabled, found?.process?.state], ['off', false, 'stopped']);
  assert.deepEqual(found?.asked, [
    'tools.register',
    'commands.register',
    'tools.narrow',
    'hooks.intercept:before_tool_call',
    'hooks.observe:session_start',
  ]);
  const on = await host.enable('notes', BY);
  assert.equal(on.state, 'loaded', on.reason);
  assert.deepEqual([on.process?.state, on.process?.sandboxed, on.process?.crashes], ['ready', false, 0]);
  assert.equal(explain(PluginDetails, JSON.parse(JSON.stringify({ ...on, loadedAt: 1 })), 'plugin'), undefined);
  assert.deepEqual(
    on.registrations.map(({ kind, key, accepted }) => `${kind} ${key} ${accepted}`),
    [
      'tool notes__add true',
      'tool notes__kv true',
      'tool notes__wait true',
      'command hear true',
      'hook before_tool_call true',
      'hook session_start true',
    ],
  );
  const hello = noted(world).find(({ initialize }) => initialize)?.initialize as Record<string, Record<string, unknown>>;
  assert.deepEqual(
    Object.entries(hello.capabilities_enabled!).flatMap(([group, isOn]) => (isOn ? [group] : [])),
    ['tools', 'commands', 'active_tools'],
    'G26: only what is declared, granted and served is on',
  );

  const updates: string[] = [];
  const output = await toolOf(host, 'notes__add').execute({ text: 'x' }, call(undefined, updates));
  assert.match(String(output.content), /^add \{"text":"x"\} in .*extension-copies.[0-9a-f]{64}$/);
  assert.deepEqual([output.details, updates], [{ seen: true }, ['half way']]);
  await until(() => world.logged.some(({ message }) => message === 'a tool was used'));
  const asked = await toolOf(host, 'notes__kv').execute({}, call());
  assert.deepEqual(JSON.parse(String(asked.content)), {
    error: { code: -32004, message: "capability 'kv' is disabled", data: { grant: 'extension.use:kv' } },
  });

  const controller = new AbortController();
  const waits = toolOf(host, 'notes__wait').execute({}, call(controller.signal)) as Promise<unknown>;
  await until(() => noted(world).some(({ waiting }) => waiting === 'c1'));
  controller.abort();
  await assert.rejects(waits, /cancelled/);
  await until(() => noted(world).some(({ cancelled }) => cancelled !== undefined));

  const command = host.registry.findAny('command', 'hear')!.item;
  const heard = { ...toolCall(), args: ' all of it ', client: { scopes: [] } };
  assert.deepEqual(await command.handler(heard), { text: 'heard all of it' });
  assert.deepEqual(await command.complete!('lou', heard), [{ text: 'lou!', description: 'louder' }]);

  const outcome = await world.hooks.run('before_tool_call', { sessionKey: SESSION, toolName: 'exec', toolCallId: 'c', params: { a: 1 } });
  assert.equal(outcome.kind, 'done');
  await until(() => noted(world).some(({ hook }) => hook === 'tool_call'));
  assert.deepEqual(noted(world).find(({ hook }) => hook === 'tool_call')?.input, {
    session_key: SESSION,
    tool: 'bash',
    arguments: { a: 1 },
    call_id: 'c',
  });
  await world.hooks.run('session_start', { sessionKey: SESSION, sessionId: 's'.repeat(22), agentId: 'main', reason: 'new' });
  await until(() => noted(world).some(({ event }) => event === 'session_start'));

  const { pid } = host.get('notes')!.process!;
  const off = await host.disable('notes', BY);
  assert.deepEqual([off.state, off.process?.state], ['off', 'stopped']);
  assert.throws(() => process.kill(pid!, 0));
});

test('G2: only an extension that declared the hook blocks while it is down; another that dies changes nothing', async () => {
  verifies('sep:G2');
  await using world = await openHostWorld(clock);
  const exit = { name: 'exit', description: 'Exits.', parameters: { type: 'object' } };
  write(world, 'gate', {
    manifest: capabilities('tools = true\nhooks = ["tool_call"]'),
    registrations: { tools: [exit], hooks: ['tool_call'] },
    answers: { hooks: { tool_call: { action: 'block', reason: 'not today' } } },
  });
  write(world, 'plain', { manifest: capabilities('tools = true'), registrations: { tools: [exit] } });
  const host = await world.open(withExtensions);
  await host.enable('plain', BY);
  const ask = async () => world.hooks.run('before_tool_call', { sessionKey: SESSION, toolName: 'exec', toolCallId: 'c', params: {} });
  await assert.rejects(async () => toolOf(host, 'plain__exit').execute({}, call()), /connection closed/);
  assert.equal((await ask()).kind, 'done');
  await host.enable('gate', BY);
  const blocked = await ask();
  assert.ok(blocked.kind === 'refused' && /not today/.test(blocked.reason), JSON.stringify(blocked));
  await assert.rejects(async () => toolOf(host, 'gate__exit').execute({}, call()), /connection closed/);
  const down = await ask();
  assert.ok(down.kind === 'refused', 'it is closed while its process is being started again');
  await until(() => host.get('gate')?.process?.state === 'ready');
  const back = await ask();
  assert.ok(back.kind === 'refused' && /not today/.test(back.reason));
  assert.equal(host.get('gate')?.process?.crashes, 1);
});

test('what a process registers later stands beside what it said at first, and a restart keeps to what it says then', async () => {
  verifies('sep:registry-update', 'sep:aliases');
  await using world = await openHostWorld(clock);
  const tools = ['more', 'exit'].map((name) => ({ name, description: 'Does.', parameters: { type: 'object' } }));
  write(world, 'notes', { manifest: capabilities('tools = true'), registrations: { tools } });
  const host = await world.open(withExtensions);
  await host.enable('notes', BY);
  assert.deepEqual(JSON.parse(String((await toolOf(host, 'notes__more').execute({}, call())).content)), { result: {} });
  await until(() => host.registry.findAny('tool', 'notes__later') !== undefined);
  for (const name of ['notes__late', 'notes__more']) toolOf(host, name);
  assert.match(String((await toolOf(host, 'notes__late').execute({}, call())).content), /^late/);
  await assert.rejects(async () => toolOf(host, 'notes__exit').execute({}, call()), /connection closed/);
  await until(() => host.get('notes')?.process?.state === 'ready' && host.registry.findAny('tool', 'notes__late') === undefined);
  toolOf(host, 'notes__more');
});

test('G3: what one extension publishes, in either form, is told to every other that follows the bus, while it may publish', async () => {
  verifies('sep:bus', 'sep:G3', 'sep:aliases');
  await using world = await openHostWorld(clock);
  const tools = [{ name: 'publish', description: 'Tells.', parameters: { type: 'object' } }];
  const subscriptions = ['bus/event'];
  write(world, 'teller', { manifest: capabilities('tools = true\nbus = true'), registrations: { tools, subscriptions } });
  write(world, 'mute', { manifest: capabilities('tools = true'), registrations: { tools } });
  write(world, 'hearer', { registrations: { subscriptions } });
  const host = await world.open(withExtensions);
  for (const id of ['teller', 'mute', 'hearer']) assert.equal((await host.enable(id, BY)).state, 'loaded');
  const publish = async (id: string) => JSON.parse(String((await toolOf(host, `${id}__publish`).execute({}, call())).content)) as unknown;
  const heard = () => noted(world).flatMap(({ event, payload }) => (event === 'bus/event' ? [payload] : []));
  const off = { error: { code: -32004, message: "capability 'bus' is disabled", data: { grant: 'extension.use:bus' } } };
  assert.deepEqual(await publish('mute'), off);
  assert.deepEqual(await publish('teller'), { result: {} });
  await until(() => heard().length === 2);
  assert.deepEqual(heard(), [
    { from: 'teller', topic: 'one', payload: { by: 'notification' } },
    { from: 'teller', topic: 'two' },
  ]);
  await host.revoke('teller', ['extension.use:bus'], BY);
  assert.deepEqual(await publish('teller'), off, 'a right that is taken back is gone at once');
});

test('S49, G24: a file that changes after it was trusted stops the extension at the next load, until it is accepted', async () => {
  verifies('sep:G24');
  await using world = await openHostWorld(clock);
  const folder = write(world, 'notes', { manifest: capabilities('tools = true'), registrations: { tools: [TOOL] } });
  const host = await world.open(withExtensions);
  await host.enable('notes', BY);
  put(join(folder, 'lib.mjs'), '// something else');
  assert.match(String((await toolOf(host, 'notes__add').execute({}, call())).content), /^add/, 'what runs is the copy of what was trusted');
  const [changed] = await host.reload('notes', BY);
  assert.deepEqual([changed?.state, changed?.process?.state], ['changed', 'stopped']);
  assert.equal(host.registry.findAny('tool', 'notes__add'), undefined);
  assert.equal((await host.enable('notes', BY)).state, 'loaded');
});

test('S50: it runs from a copy whose files cannot be written, of exactly the files that were trusted', async () => {
  verifies('S50');
  await using world = await openHostWorld(clock);
  write(world, 'notes', { manifest: capabilities('tools = true'), registrations: { tools: [TOOL] } });
  const host = await world.open(withExtensions);
  await host.enable('notes', BY);
  const place = join(world.home, 'extension-copies');
  const [hash = ''] = readdirSync(place);
  assert.deepEqual(readdirSync(join(place, hash)).sort(), ['extension.toml', 'main.mjs', 'registrations.json']);
  // As root everything can be written; what was, is found out before the next start.
  chmodSync(join(place, hash, 'main.mjs'), 0o644);
  writeFileSync(join(place, hash, 'main.mjs'), 'process.exit(9)');
  const [again] = await host.reload('notes', BY);
  assert.equal(again?.state, 'loaded', again?.reason);
  assert.match(String((await toolOf(host, 'notes__add').execute({}, call())).content), /^add .*extension-copies.[0-9a-f]{64}\.1$/);
  await host.close();
  assert.equal(existsSync(place), false, 'nothing is left of them');
});

test('a reload is a new process; one that is no good leaves the old one at work, and says why', async () => {
  await using world = await openHostWorld(clock);
  const folder = write(world, 'notes', { manifest: capabilities('tools = true'), registrations: { tools: [TOOL] } });
  const host = await world.open(withExtensions);
  const first = await host.enable('notes', BY);
  const [second] = await host.reload('notes', BY);
  assert.equal(second?.state, 'loaded');
  assert.notEqual(second?.process?.pid, first.process?.pid);
  put(join(folder, 'main.mjs'), 'process.exit(5);');
  const kept = await host.enable('notes', BY);
  assert.equal(kept.state, 'loaded');
  assert.match(kept.reason ?? '', /the old one stays: it ended with code 5/);
  assert.equal(kept.process?.pid, second?.process?.pid);
  assert.match(String((await toolOf(host, 'notes__add').execute({}, call())).content), /^add/);
});

test('R20: extensions start beside the gateway and beside each other; one that hangs delays nobody, and what it guards is refused', async () => {
  verifies('R20');
  await using world = await openHostWorld(clock);
  write(world, 'good', { manifest: capabilities('tools = true'), registrations: { tools: [TOOL] } });
  write(world, 'hung', { manifest: capabilities('hooks = ["tool_call"]'), answers: { hangs: true } });
  // Trusted and switched on, by a gateway that starts nothing.
  const first = await world.open({ ...withExtensions, safe: true });
  for (const id of ['good', 'hung']) assert.equal((await first.enable(id, BY)).process?.state, 'stopped');
  const host = await world.open(withExtensions);
  assert.equal(host.get('hung')?.state, 'starting');
  await until(() => host.get('good')?.state === 'loaded');
  assert.equal(host.get('hung')?.state, 'starting');
  assert.match(host.missingGuard('before_tool_call')?.reason ?? '', /its process is being started/);
});

test('G25, S32, S39, S51: what cannot be an extension is listed with the reason, and nothing of it runs', async () => {
  verifies('S39', 'sep:G25');
  await using world = await openHostWorld(clock);
  const places: Record<string, [(folder: string) => void, RegExp]> = {
    dotted: [(folder) => put(join(folder, 'extension.toml'), 'name = "a.b"\nversion = "1"\n[run]\ncommand = "node"'), /name/],
    upward: [(folder) => put(join(folder, 'extension.toml'), 'name = "../../x"\nversion = "1"\n[run]\ncommand = "node"'), /name/],
    doubled: [(folder) => put(join(folder, 'extension.toml'), 'name = "a__b"\nversion = "1"\n[run]\ncommand = "node"'), /has __ in it/],
    loader: [
      (folder) =>
        put(join(folder, 'extension.toml'), 'name = "l"\nversion = "1"\n[run]\ncommand = "node"\nenv = { NODE_OPTIONS = "-r ./x" }'),
      /sets NODE_OPTIONS/,
    ],
    broken: [(folder) => put(join(folder, 'extension.toml'), 'name = '), /is not TOML/],
    resting: [
      (folder) => put(join(folder, 'extension.toml'), 'name = "r"\nversion = "1"\ndisabled = true\n[run]\ncommand = "node"'),
      /disabled/,
    ],
    unhooked: [
      (folder) =>
        put(join(folder, 'extension.toml'), 'name = "u"\nversion = "1"\n[run]\ncommand = "node"\n[capabilities]\nhooks = ["tool_cal"]'),
      /no such hook/,
    ],
    linked: [
      (folder) => {
        put(join(folder, 'real.toml'), 'name = "k"\nversion = "1"\n[run]\ncommand = "node"');
        symlinkSync('real.toml', join(folder, 'extension.toml'));
      },
      /extension.toml is a link/,
    ],
    open: [
      (folder) => {
        put(join(folder, 'extension.toml'), 'name = "o"\nversion = "1"\n[run]\ncommand = "node"');
        chmodSync(folder, 0o777);
      },
      /everybody can write/,
    ],
  };
  for (const [name, [make]] of Object.entries(places)) {
    const folder = join(world.home, 'extensions', name);
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    chmodSync(folder, 0o755);
    make(folder);
  }
  write(world, 'fine');
  const packed = join(world.home, 'extensions', 'packed');
  mkdirSync(packed, { mode: 0o755 });
  chmodSync(packed, 0o755);
  const smooth = { run: { command: 'node', args: ['main.mjs'] }, capabilities: { tools: true } };
  put(join(packed, 'package.json'), JSON.stringify({ name: '@who/packed', version: '2.0.0', smooth }));
  symlinkSync(join(world.home, 'extensions', 'fine'), join(world.home, 'extensions', 'alias'));
  const host = await world.open(withExtensions);
  const reasons = new Map(
    host.list().map(({ folder, reason = '', state }) => [folder.split('/').at(-1), state === 'rejected' ? reason : '']),
  );
  for (const [name, [, expected]] of Object.entries(places)) assert.match(reasons.get(name) ?? '', expected, name);
  assert.match(reasons.get('alias') ?? '', /the folder is a link/);
  assert.equal(reasons.get('fine'), '');
  assert.deepEqual(
    [host.get('packed')?.version, host.get('packed')?.asked],
    ['2.0.0', ['tools.register', 'tools.narrow']],
    'package.json says the same',
  );
  assert.equal(existsSync(join(world.home, 'extension-copies')), false);
});

test('one that crashes at each start says when it is started again, ends in quarantine and says why, and a reload tries again', async () => {
  const restarts: { delayMs: number; run: () => void }[] = [];
  const held: Clock = {
    ...systemClock,
    after(delayMs, run) {
      if (delayMs !== 1_100 && delayMs !== 5_500) return systemClock.after(delayMs, run);
      restarts.push({ delayMs, run });
      return { cancel() {} };
    },
  };
  await using world = await openHostWorld(held);
  const folder = write(world, 'notes', { manifest: capabilities('tools = true'), registrations: { tools: [TOOL] } });
  put(join(folder, 'main.mjs'), 'process.exit(3);');
  const host = await world.open(withExtensions);
  const failed = await host.enable('notes', BY);
  assert.deepEqual([failed.state, failed.process?.state], ['failed', 'restarting']);
  assert.match(failed.reason ?? '', /it ended with code 3; it is started again/);
  const inMs = failed.process!.restartAt! - held.now();
  assert.ok(inMs > 0 && inMs <= 1_100, `${inMs} ms`);
  for (const expected of [1_100, 5_500]) {
    await until(() => restarts.length > 0);
    const { delayMs, run } = restarts.shift()!;
    assert.equal(delayMs, expected);
    run();
  }
  await until(() => host.get('notes')?.process?.state === 'quarantined');
  const { reason, process: shut } = host.get('notes')!;
  assert.match(reason ?? '', /it crashed 3 times within 5 minutes, at last because it ended with code 3/);
  assert.deepEqual([shut?.restartAt, shut?.reason, shut?.crashes], [undefined, reason, 3]);
  copyFileSync(join(import.meta.dirname, '../fixtures/extensions/notes.mjs'), join(folder, 'main.mjs'));
  chmodSync(join(folder, 'main.mjs'), 0o644);
  assert.equal((await host.enable('notes', BY)).state, 'loaded');
});

test('a gate that stays down says so, and first of all how to start it again or to do without it', async () => {
  verifies('sep:gate:quarantined');
  const soon: Clock = {
    ...systemClock,
    after: (delayMs, run) => systemClock.after(delayMs === 1_100 || delayMs === 5_500 ? 5 : delayMs, run),
  };
  await using world = await openHostWorld(soon);
  const folder = write(world, 'gate', {
    manifest: capabilities('hooks = ["tool_call"]'),
    registrations: { hooks: ['tool_call'] },
    answers: { hooks: { tool_call: 'exit' } },
  });
  let host = await world.open(withExtensions);
  await host.enable('gate', BY);
  const ask = async () => {
    const outcome = await world.hooks.run('before_tool_call', { sessionKey: SESSION, toolName: 'ls', toolCallId: 'c', params: {} });
    return outcome.kind === 'refused' ? outcome.reason : outcome.kind;
  };
  const told =
    /it is quarantined; start it again with "tenon ext reload gate", or switch it off with "tenon plugin disable gate" \(it crashed 3 times/;
  // It ends at each question.
  for (let crashes = 1; crashes <= 3; crashes++) {
    await ask();
    await until(() => host.get('gate')?.process?.crashes === crashes);
    await until(() => host.get('gate')?.process?.state !== 'restarting' && host.get('gate')?.process?.state !== 'starting');
  }
  assert.match(await ask(), told, 'while its load is there');
  // The next gateway knows, and does not load it.
  host = await world.open(withExtensions);
  await host.started;
  assert.match(host.missingGuard('before_tool_call')?.reason ?? '', told, 'and where it is not');
  // One that goes into quarantine while the gateway is at work, before it was ever loaded.
  put(join(folder, 'main.mjs'), 'process.exit(3);');
  await host.enable('gate', BY);
  await until(() => told.test(host.missingGuard('before_tool_call')?.reason ?? ''));
});

test('G14, G15: the log of an extension can be read from a line on, and what was made nothing of is shown with the reason', async () => {
  verifies('sep:G14', 'sep:G15', 'sep:log');
  await using world = await openHostWorld();
  const registrations = {
    tools: [TOOL, { name: 'half' }],
    subscriptions: ['agent_end', 'turn_end', 'made_up'],
    shortcuts: [{ key: 'f2', command: 'add' }],
  };
  write(world, 'notes', { manifest: capabilities('tools = true\nevents = ["agent_end", "made_up"]'), registrations });
  const host = await world.open(withExtensions);
  assert.deepEqual(host.logs('notes', 0, 10), { lines: [], cursor: 0, dropped: 0 });
  const { process: running, ...plugin } = await host.enable('notes', BY);
  assert.equal(plugin.state, 'loaded', plugin.reason);
  assert.deepEqual(running?.follows, ['agent_end']);
  const omitted = Object.fromEntries(running?.leftOut?.map(({ kind, key, message }) => [`${kind} ${key}`, message]) ?? []);
  assert.match(omitted['tools half']!, /registrations\/tools\/1.*description/);
  assert.match(omitted['subscriptions turn_end']!, /manifest does not name this event/);
  assert.match(omitted['subscriptions made_up']!, /never tells/);
  assert.equal(explain(PluginDetails, JSON.parse(JSON.stringify(host.get('notes'))), 'plugin'), undefined);

  const before = host.logs('notes', 0, 100);
  assert.deepEqual(
    before.lines.filter(({ from }) => from === 'gateway').map(({ level, text }) => `${level} ${text}`),
    ['info starting', `info ready, process ${running?.pid}`],
  );
  await toolOf(host, 'notes__add').execute({ text: 'milk' }, call());
  const since = () => host.logs('notes', before.cursor, 100).lines;
  await until(() => since().some(({ from }) => from === 'log'));
  const said = since().find(({ from }) => from === 'log')!;
  assert.deepEqual([said.level, said.text], ['warn', 'a tool was used {"tool":"add"}']);
  assert.ok(
    before.lines.some(({ from, text }) => from === 'stderr' && text.startsWith('{"initialize"')),
    'its standard error',
  );
  assert.throws(() => host.logs('nobody', 0, 10), /Cannot find plugin "nobody"/);
});
