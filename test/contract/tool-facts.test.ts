// What policies and hooks are told of a call: real places, words and hosts, as the tools of the gateway see them, however the
// call is spelled; and that nothing leads around a policy by being spelled, linked, rewritten or redirected.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { JsonObject } from '@tenon/protocol';
import type { ToolPolicy } from '@tenon/plugin-sdk';
import type { PluginParts } from '../../packages/gateway/src/agent/plugin-tools.ts';
import { passGates } from '../../packages/gateway/src/agent/judge-call.ts';
import { type Judgement, judgeByPolicies } from '../../packages/gateway/src/agent/tool-policies.ts';
import type { Tool } from '../../packages/gateway/src/agent/tools/tool.ts';
import { openTools, type Tools } from '../../packages/gateway/src/agent/tools/tools.ts';
import { createPluginCaller } from '../../packages/gateway/src/host/call-plugin.ts';
import { type Conflict, createConflictReport } from '../../packages/gateway/src/host/conflicts.ts';
import { createContributionRegistry } from '../../packages/gateway/src/host/contribution-registry.ts';
import { createHookRegistry, type HookRegistry } from '../../packages/gateway/src/host/hook-registry.ts';
import { createHookRunner } from '../../packages/gateway/src/host/run-hook.ts';
import { systemClock as clock } from '../../packages/gateway/src/kernel/clock.ts';
import type { Log } from '../../packages/gateway/src/kernel/log.ts';
import { createMetrics } from '../../packages/gateway/src/kernel/metrics.ts';
import { noteTool } from '../support/turns.ts';
import { verifies } from '../support/verifies.ts';

let folder: string;
let workspace: string;
let tools: Tools;
let served: ReturnType<typeof createServer>;

before(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tenon-facts-')));
  workspace = join(folder, 'work');
  for (const each of ['work/secrets', 'work/open', 'home', 'elsewhere']) mkdirSync(join(folder, each), { recursive: true });
  writeFileSync(join(workspace, 'secrets', 'key'), 'KEY');
  writeFileSync(join(workspace, 'open', 'note'), 'note');
  symlinkSync('secrets', join(workspace, 'innocent'));
  symlinkSync('../secrets/key', join(workspace, 'open', 'link'));
  symlinkSync('secrets/new', join(workspace, 'dangling'));
  served = createServer((request, response) => {
    if (request.url === '/away') response.writeHead(302, { location: 'http://evil.example/page' }).end();
    else response.writeHead(200, { 'content-type': 'text/plain' }).end(`said by ${request.headers.host}`);
  });
  await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve));
  const { port } = served.address() as AddressInfo;
  mkdirSync(join(folder, 'home', 'output'));
  tools = openTools({
    clock,
    settings: { 'exec.sandbox': 'off', 'exec.network': false, 'exec.env': [], 'exec.timeoutMs': 5_000, 'web.allowPrivate': [] },
    env: { HOME: join(folder, 'elsewhere'), PATH: '/usr/bin:/bin' },
    home: join(folder, 'home'),
    outputFolder: join(folder, 'home', 'output'),
    gatewayPort: () => undefined,
    network: {
      resolve: async () => ['93.184.216.34'],
      connect: (_, __, signal) =>
        new Promise((resolve, reject) => {
          const socket = connect({ port, host: '127.0.0.1', signal });
          socket.once('connect', () => resolve(socket));
          socket.once('error', reject);
        }),
      secure: (socket) => socket,
      ownAddresses: () => [],
    },
  });
});
after(async () => {
  await tools.close();
  served.closeAllConnections();
  await new Promise((resolve) => served.close(resolve));
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

const place = () => ({ sessionKey: 'agent:main:x', agentId: 'main', runId: 'run', callId: 'call', workspace });
const toolNamed = (name: string): Tool => tools.tools.find((each) => each.name === name)!;
const factsOf = async (name: string, args: JsonObject) => (await toolNamed(name).facts?.(args, place())) ?? {};

test('a call tells the real places that it is about, whatever links, dots and homes it is spelled with', async () => {
  const key = join(workspace, 'secrets', 'key');
  for (const path of ['secrets/key', 'innocent/key', 'open/../secrets/key', 'open/link', key, './innocent/../innocent/key'])
    assert.ok((await factsOf('read', { path })).derivedPaths?.includes(key), path);
  assert.ok((await factsOf('write', { path: 'dangling', content: '' })).derivedPaths?.includes(join(workspace, 'secrets', 'new')));
  assert.ok((await factsOf('write', { path: 'innocent/a/b', content: '' })).derivedPaths?.includes(join(workspace, 'secrets', 'a', 'b')));
  assert.deepEqual((await factsOf('ls', {})).derivedPaths, [workspace]);
  const patch = '*** Begin Patch\n*** Update File: open/note\n*** Move to: innocent/note\n@@\n-note\n+other\n*** End Patch';
  const moved = (await factsOf('apply_patch', { patch })).derivedPaths ?? [];
  assert.ok(moved.includes(join(workspace, 'open', 'note')) && moved.includes(join(workspace, 'secrets', 'note')));
  assert.ok((await factsOf('read', { path: '../../../../etc/passwd' })).derivedPaths?.some((each) => each.endsWith('/etc/passwd')));
});

test('a program tells its words, the places they may mean and the hosts they name', async () => {
  const key = join(workspace, 'secrets', 'key');
  for (const command of [
    'cat innocent/key',
    'cat<open/link',
    'cd innocent && cat key',
    'sh -c "cat innocent/key"',
    'dd if=innocent/key',
    'tar -C innocent -cf - key',
    `cat ${key}`,
    'cat $PWD/innocent/key',
  ])
    assert.ok((await factsOf('exec', { command })).derivedPaths?.includes(key), command);
  assert.ok((await factsOf('exec', { argv: ['cat', 'key'], cwd: 'innocent' })).derivedPaths?.includes(key));
  const home = await factsOf('exec', { command: 'cat ~/x "$HOME/y"' });
  assert.ok(home.derivedPaths?.includes(join(folder, 'elsewhere', 'x')) && home.derivedPaths.includes(join(folder, 'elsewhere', 'y')));
  const { commandWords, hosts } = await factsOf('exec', { command: 'curl -s https://EVIL.example/x me@ssh.example:a' });
  assert.deepEqual(commandWords, ['curl', '-s', 'https://EVIL.example/x', 'me@ssh.example:a']);
  assert.deepEqual(hosts, ['evil.example', 'ssh.example']);
  assert.deepEqual((await factsOf('web_fetch', { url: 'https://Evil.Example:8443/a' })).hosts, ['evil.example']);
});

test('ending a job is more than reading, per call', async () => {
  assert.equal((await factsOf('process', { action: 'kill', id: 'x' })).risk, 'write');
  assert.equal((await factsOf('process', { action: 'list' })).risk, 'read');
});

function open(hookRegistry: HookRegistry = createHookRegistry()) {
  const registry = createContributionRegistry();
  const conflicts: Conflict[] = [];
  const metrics = createMetrics();
  const logged: unknown[] = [];
  const report = createConflictReport({ log: { warn: (fields: unknown) => logged.push(fields) } as unknown as Log, metrics });
  const reportConflict = (conflict: Conflict) => {
    conflicts.push(conflict);
    report(conflict);
  };
  const caller = createPluginCaller({ clock, metrics, reportFailure: () => {} });
  const plugins: PluginParts = {
    registry,
    caller,
    generation: 1,
    list: () => [],
    get: (id) => ({ name: id }),
    holds: () => true,
    stateOf: () => undefined,
    isActive: () => true,
    missingGuard: () => undefined,
    openRuns: async () => [],
  };
  const hooks = createHookRunner({ registry: hookRegistry, caller, clock, metrics, reportConflict });
  const add = (plugin: string, policy: Partial<ToolPolicy> & Pick<ToolPolicy, 'evaluate'>) =>
    registry.add({ plugin, pluginName: plugin, generation: 1 }, 'toolPolicy', { id: 'p', description: 'x', ...policy });
  const control = { waits: new AbortController().signal, isParked: () => false, isStopped: () => false, reason: '' };
  const turn = {
    deps: { plugins, hooks, reportConflict },
    control,
    workspace,
    session: { key: 'agent:main:x', sessionId: 's' },
    agent: { id: 'main' },
    run: { runId: 'run', trigger: 'user' },
  };
  return {
    add,
    hookRegistry,
    conflicts,
    logged,
    metrics,
    judge: (tool: Tool, args: JsonObject, signal = new AbortController().signal): Promise<Judgement> =>
      judgeByPolicies({ tool, args, place: place(), signal, reportConflict }, plugins),
    pass: (tool: Tool, args: JsonObject) => passGates(turn as never, tool, 'call', args),
  };
}

const secret: ToolPolicy['evaluate'] = ({ derivedPaths = [], workspaceDir }) =>
  derivedPaths.some((path) => path.startsWith(`${workspaceDir}/secrets`)) ? { allow: false, reason: 'secret' } : undefined;

test('passes adjusted trusted policy params to later trusted policies, with facts of their own', async () => {
  verifies('seams:A10');
  const world = open();
  const seen: unknown[] = [];
  world.add('a', { evaluate: () => ({ params: { path: 'innocent/key' } }) });
  world.add('b', { evaluate: ({ params, derivedPaths }) => void seen.push([params, derivedPaths]) });
  world.add('c', { evaluate: secret });
  const judged = await world.judge(toolNamed('read'), { path: 'open/note' });
  assert.deepEqual(judged, { kind: 'denied', plugin: 'c', reason: 'secret' });
  assert.deepEqual(seen, [[{ path: 'innocent/key' }, [join(workspace, 'secrets', 'key'), join(workspace, 'innocent', 'key')]]]);
});

test('clears stale derived paths when trusted policy rewrites remove targets', async () => {
  const world = open();
  const seen: unknown[] = [];
  world.add('a', { evaluate: () => ({ params: {} }) });
  world.add('b', { evaluate: ({ derivedPaths }) => void seen.push(derivedPaths) });
  const judged = await world.judge(toolNamed('ls'), { path: 'secrets' });
  assert.equal(judged.kind, 'passed');
  assert.deepEqual(seen, [[workspace]]);
});

test('does not let trusted policies mutate derived paths for later policies', async () => {
  const world = open();
  const seen: unknown[] = [];
  world.add('a', {
    evaluate: (event) => {
      for (const change of [
        () => (event.derivedPaths as string[]).splice(0),
        () => Object.assign(event, { derivedPaths: [] }),
        () => Object.assign(event.params, { path: 'open/note' }),
      ])
        assert.throws(change, TypeError);
    },
  });
  world.add('b', { evaluate: ({ derivedPaths, params }) => void seen.push([derivedPaths?.length, params]) });
  assert.equal((await world.judge(toolNamed('read'), { path: 'innocent/key' })).kind, 'passed');
  assert.deepEqual(seen, [[2, { path: 'innocent/key' }]]);
});

test('preserves cancellation while deriving a trusted policy rewrite', async () => {
  const world = open();
  const stop = new AbortController();
  const slow: Tool = {
    ...noteTool([], { name: 'slow' }),
    async facts() {
      stop.abort();
      return {};
    },
  };
  world.add('a', { evaluate: () => undefined });
  assert.deepEqual(await world.judge(slow, {}, stop.signal), { kind: 'aborted' });
});

test('a call whose facts cannot be told is denied where a policy would judge it', async () => {
  const world = open();
  const odd: Tool = { ...noteTool([], { name: 'odd' }), facts: () => Promise.reject(new Error('no idea')) };
  assert.equal((await world.judge(odd, {})).kind, 'passed', 'nobody judges it');
  world.add('a', { evaluate: () => undefined });
  assert.equal((await world.judge(odd, {})).kind, 'denied');
});

test('lets later trusted policy blocks override earlier approval requests, and the first approval names its plugin', async () => {
  const world = open();
  const title = { title: 'May it?', description: 'x' };
  world.add('a', { evaluate: () => ({ requireApproval: title }) });
  world.add('b', { evaluate: () => ({ requireApproval: { title: 'Mine?', description: 'y' }, params: { path: 'open/note' } }) });
  const asked = await world.judge(toolNamed('read'), { path: 'open/link' });
  assert.ok(asked.kind === 'passed');
  assert.deepEqual([asked.approval?.plugin, asked.approval?.title, asked.args], ['a', 'May it?', { path: 'open/link' }]);
  assert.deepEqual(
    world.conflicts.map(({ kept }) => kept),
    [],
    'nobody had set the params',
  );
  world.add('c', { evaluate: () => ({ block: true, blockReason: 'no' }) });
  assert.deepEqual(await world.judge(toolNamed('read'), { path: 'open/link' }), { kind: 'denied', plugin: 'c', reason: 'no' });
});

test('scopes trusted policies through canonical tool ids; a matcher that would match nothing is refused', async () => {
  const world = open();
  world.add('a', { matcher: ['read'], evaluate: () => ({ allow: false }) });
  assert.equal((await world.judge(toolNamed('read'), { path: 'x' })).kind, 'denied');
  assert.equal((await world.judge(toolNamed('ls'), {})).kind, 'passed');
  world.add('b', { matcher: ['mytool'], evaluate: () => ({ allow: false }) });
  assert.equal((await world.judge(noteTool([], { name: 'MyTool' }), {})).kind, 'denied', 'an id is a name in lower case');
  // biome-ignore lint/suspicious/noSparseArray: that is what is refused
  for (const matcher of [[], [''], ['*'], ['Write'], ['bash'], ['exec_command'], ['apply-patch'], [5], [, 'read'], 'read']) {
    const added = world.add('c', { matcher: matcher as string[], evaluate: () => undefined });
    assert.deepEqual([added.ok, !added.ok && added.code], [false, 'INVALID'], JSON.stringify(matcher));
  }
});

test('fails closed when a decision is unreadable', async () => {
  const unreadable = Object.defineProperty({}, 'allow', {
    enumerable: true,
    get() {
      throw new Error('no');
    },
  });
  for (const decision of [unreadable, null, 5, 'yes', [], { allow: 'maybe' }, { allow: true, block: true }, { allow: false, params: {} }]) {
    const world = open();
    world.add('a', { evaluate: () => decision as never });
    assert.deepEqual(await world.judge(toolNamed('ls'), {}), {
      kind: 'denied',
      plugin: 'a',
      reason: 'its policy could not judge this call',
    });
  }
});

test('a hook that rewrites a call does not lead around a policy', async () => {
  const world = open();
  const seen: unknown[] = [];
  world.add('guard', { evaluate: secret });
  world.hookRegistry.add('before_tool_call', { plugin: 'a', handler: () => ({ params: { path: 'innocent/key' } }) });
  world.hookRegistry.add('before_tool_call', { plugin: 'b', handler: ({ derivedPaths }) => void seen.push(derivedPaths) });
  assert.deepEqual(await world.pass(toolNamed('read'), { path: 'open/note' }), {
    refused: 'Blocked by guard: secret',
    outcome: 'blocked',
    plugin: 'guard',
  });
  assert.deepEqual(seen, [undefined], 'what was known of other params is not told');
});

test('two plugins that rewrite the same params are on record: counted, logged once, with whose stands', async () => {
  verifies('seams:W17');
  const world = open();
  world.add('a', { evaluate: () => ({ params: { path: 'open/a' } }) });
  world.add('b', { evaluate: () => ({ params: { path: 'open/b' } }) });
  world.hookRegistry.add('before_tool_call', { plugin: 'c', handler: () => ({ params: { path: 'open/c' } }) });
  world.hookRegistry.add('before_tool_call', { plugin: 'd', handler: () => ({ params: { path: 'open/d' } }) });
  world.hookRegistry.add('before_tool_call', { plugin: 'e', handler: () => ({ params: { path: 'open/d' } }) });
  for (const _ of [1, 2]) await world.pass(toolNamed('read'), { path: 'open/note' });
  assert.deepEqual(
    world.conflicts
      .slice(0, 2)
      .map(({ place: at, field, plugins, kept, sessionKey, runId }) => ({ at, field, plugins, kept, sessionKey, runId })),
    [
      { at: 'tool_policy', field: 'params', plugins: ['a', 'b'], kept: 'b', sessionKey: 'agent:main:x', runId: 'run' },
      { at: 'before_tool_call', field: 'params', plugins: ['c', 'd'], kept: 'd', sessionKey: 'agent:main:x', runId: 'run' },
    ],
  );
  assert.equal(world.logged.length, 2, 'each pair once');
  assert.equal(world.metrics.value('tenon_plugin_conflicts_total', { place: 'before_tool_call', kept: 'd' }), 2);
});

test('a page that leads to another host is judged again before it is fetched', async () => {
  verifies('S36', 'S73');
  const io = (judgeAgain: (args: JsonObject) => Promise<void>) => ({ signal: new AbortController().signal, onUpdate() {}, judgeAgain });
  const fetched = await toolNamed('web_fetch').prepare({ url: 'http://good.example/away' }, place());
  const asked: JsonObject[] = [];
  const output = await fetched.run(io(async (args) => void asked.push(args)));
  assert.deepEqual(asked, [{ url: 'http://evil.example/page' }]);
  assert.match(JSON.stringify(output.content), /said by evil\.example/);
  const refuse = io(async () => {
    throw Object.assign(new Error('no such host'), { name: 'ToolError' });
  });
  await assert.rejects(fetched.run(refuse), /no such host/);
});
