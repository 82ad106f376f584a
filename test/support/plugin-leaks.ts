// A process of its own: many runs with retries of the finish, injections, actions, tools, commands, run context, events, wakes
// and failures, in sessions that come and go. At two moments it says what is in every map and set of the gateway: after the
// first runs, when everything that is bounded is full, and after all. Prints one line of JSON.
//   node --expose-gc --import watch-maps.ts plugin-leaks.ts <runs before> <runs in all>
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { definePluginEntry, type RegisterApi } from '@tenon/plugin-sdk';
import type { JsonObject, Scope } from '@tenon/protocol';
import { PLUGIN_API_LEVEL } from '@tenon/protocol';
import { checkManifest } from '../../packages/gateway/src/host/discover.ts';
import { createScriptedModel } from '../../packages/gateway/src/model/scripted.ts';
import { createStandInTools } from '../../packages/gateway/src/testing/stand-ins.ts';
import { createManualClock } from '../../packages/gateway/src/testing/manual-clock.ts';
import { openTestGateway } from '../../packages/gateway/src/testing/test-gateway.ts';
import { createMemoryDatabase } from '../../packages/gateway/src/store/sqlite-file.ts';
import { liveEntries } from './watch-maps.ts';

const [before = 600, all = 1_200] = process.argv.slice(2).map(Number);
const SESSIONS = 16;
const RUNS_OF_A_SESSION = 6;
const STARTED_AT = 1_700_000_000_000;
const EVERYBODY: readonly Scope[] = ['operator.admin'];

const GRANTS = [
  'tools.register',
  'commands.register',
  'prompt.inject',
  'turns.start',
  'conversation.read',
  'events.follow',
  'events.emit',
  'policy.tools',
  'hooks.intercept:before_tool_call',
  'hooks.intercept:before_prompt_build',
  'hooks.intercept:before_agent_finalize',
  'hooks.observe:agent_end',
];

function register(api: RegisterApi): void {
  api.registerSessionExtension({ namespace: 'count', description: 'How often', project: ({ state }) => state });
  api.registerTool({
    name: 'count',
    description: 'Counts',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    risk: 'read',
    async execute(_, { sessionKey }) {
      await api.session.state.update(sessionKey, 'count', (now) => (typeof now === 'number' ? now : 0) + 1);
      return { content: 'counted' };
    },
  });
  api.registerTrustedToolPolicy({ id: 'all', description: 'Allows', evaluate: () => undefined });
  api.registerCommand({ name: 'again', description: 'Goes on', handler: () => ({ text: 'on', continueAgent: true }) });
  api.registerSessionAction({
    id: 'add',
    handler: ({ payload, state }) => ({
      statePatch: { count: Number(state('count') ?? 0) + 1 },
      inject: [{ text: `told ${JSON.stringify(payload)}` }],
      reply: 'kept',
      ...((payload as { goOn?: boolean }).goOn ? { continueAgent: true } : {}),
    }),
  });
  api.on('before_prompt_build', ({ runId = '', sessionKey = '' }) => {
    api.runContext.setRunContext({ runId, namespace: 'seen', value: { at: runId } });
    if (runId !== '') api.agent.events.emitAgentEvent({ runId, sessionKey, stream: 'leaks', data: { runId } });
    return undefined;
  });
  api.on('before_tool_call', async () => undefined);
  api.on('before_agent_finalize', ({ runId = '', lastAssistantMessage }) =>
    /again/.test(lastAssistantMessage ?? '')
      ? { action: 'revise', reason: 'once more', retry: { instruction: `Say it better (${runId})`, maxAttempts: 1 } }
      : undefined,
  );
  api.on('agent_end', () => undefined);
  api.registerAgentEventSubscription({ id: 'all', handle: () => undefined });
}

let requests = 0;
const clock = createManualClock(STARTED_AT);
const model = createScriptedModel([], {
  clock,
  info: { id: 'test', name: 'Test' },
  async otherwise() {
    // What it was asked is nobody's: it must not look like a leak of the heap.
    model.requests.length = 0;
    const step = ++requests % 9;
    if (step === 0) return { failure: { kind: 'invalid_request', message: 'not now' } };
    if (step < 3) return { calls: [{ name: 'count' }] };
    return { text: step === 4 ? 'again' : 'done' };
  },
});
const manifest = { id: 'leaks', name: 'Leaks', version: '1.0.0', api: PLUGIN_API_LEVEL, grants: GRANTS };
const database = createMemoryDatabase(STARTED_AT);
const gateway = await openTestGateway({
  database,
  filesHome: '/nonexistent',
  clock,
  secrets: {},
  plugin: {
    origin: 'bundled',
    folder: process.cwd(),
    entry: '',
    manifest: checkManifest(JSON.stringify(manifest)),
    exported: definePluginEntry({ id: 'leaks', register }),
  },
  models: { list: () => [model.info], defaultId: model.info.id, get: () => model },
  tools: createStandInTools(),
  heard: () => {},
  logged: () => {},
});
const call = (method: string, params: object) => gateway.call(method, params, EVERYBODY) as Promise<JsonObject>;
const enabled = (await call('plugins.enable', { id: 'leaks' })).plugin as unknown as {
  state: string;
  registrations: { accepted: boolean }[];
};
if (enabled.state !== 'loaded' || enabled.registrations.some(({ accepted }) => !accepted)) throw new Error(JSON.stringify(enabled));

let runs = 0;
let refused = 0;

async function live(lane: number): Promise<void> {
  for (let life = 0; runs < goal; life++) {
    const sessionKey = `agent:main:leak-${lane}-${life}`;
    await call('sessions.create', { key: sessionKey });
    for (let turn = 0; turn < RUNS_OF_A_SESSION && runs < goal; turn++) {
      const number = runs++;
      const idempotencyKey = `run-${number}-of-the-leaks`;
      if (number % 3 === 0)
        await act('plugins.sessionAction', {
          pluginId: 'leaks',
          actionId: 'add',
          sessionKey,
          payload: { number, goOn: number % 2 === 0 },
          idempotencyKey: `press-${number}`,
        });
      if (number % 7 === 0) await act('commands.invoke', { sessionKey, text: '/again' });
      await call('chat.send', { sessionKey, message: `message ${number}`, idempotencyKey });
      await call('agent.wait', { runId: idempotencyKey, timeoutMs: 100_000 });
      if (number % 50 === 0) clock.advance(1_000);
    }
    await (life % 2 === 0 ? call('sessions.delete', { key: sessionKey }) : call('sessions.reset', { key: sessionKey })).catch(
      () => refused++,
    );
    if (life % 2 === 1) await call('sessions.delete', { key: sessionKey }).catch(() => refused++);
  }
}

/** Somebody who acts beside turns is refused at times, and that is part of it. */
async function act(method: string, params: object): Promise<void> {
  await call(method, params).catch(() => refused++);
}

async function settled(): Promise<void> {
  for (let quiet = 0, commits = -1; quiet < 50; ) {
    await turnOfTheLoop();
    const { turns, commits: now } = gateway.busy;
    quiet = turns === 0 && now === commits ? quiet + 1 : 0;
    commits = now;
  }
  await gateway.plugins.settled();
  // Past every deadline and window, so that nothing is kept because of the time.
  clock.advance(3_600_000);
  for (let turns = 0; turns < 50; turns++) await turnOfTheLoop();
}

async function look(): Promise<{ maps: ReturnType<typeof liveEntries>; heapMegabytes: number }> {
  await settled();
  for (let round = 0; round < 6; round++) {
    globalThis.gc?.();
    await turnOfTheLoop();
  }
  return { maps: liveEntries(), heapMegabytes: Math.round(process.memoryUsage().heapUsed / 1e5) / 10 };
}

let goal = before;
const lanes = () => Promise.all(Array.from({ length: SESSIONS }, (_, lane) => live(lane)));
await lanes();
const first = await look();
goal = all;
await lanes();
const last = await look();
await gateway.close();
process.stdout.write(`${JSON.stringify({ runs, requests, refused, first, last })}\n`);
process.exit();
