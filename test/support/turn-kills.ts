// Conversations with a real gateway and a real model server that are cut off by kill -9 at a named point, taken up by the
// next start, and compared: with the store, with what was told, and with what the model was asked.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Approval, Entry, EventPayload, Occurrence, Run } from '@tenon/protocol';
import { openStore } from '../../packages/gateway/src/store/open.ts';
import { type ChaosWorld, openChaosWorld } from './chaos.ts';
import { type Link, openLink } from './chaos-link.ts';
import type { GatewayProcess } from './gateway.ts';
import { type ChatBody, type ModelServer, type RecordedRequest, type ServerAnswer, startModelServer } from './model-server.ts';
import { installKeeper, KEEPER } from './plugin-chaos.ts';
import type { Engine } from './stores.ts';
import { checkEnds, checkTranscript } from './turn-oracle.ts';

export const SESSION = 'agent:main:talk';

export interface Found {
  readonly path: readonly Entry[];
  readonly approvals: readonly Approval[];
  readonly runs: ReadonlyMap<string, Run>;
  readonly chat: readonly EventPayload<'chat'>[];
  /** Lines that the program has written. */
  readonly lines: readonly string[];
  readonly requests: readonly ChatBody[];
  /** What the plugin keeps in the session. */
  readonly kept: readonly string[];
  /** What each run was told by the plugin. */
  readonly told: readonly { readonly runId: string; readonly token: string }[];
}

interface Life {
  readonly link: Link;
  readonly workspace: string;
  readonly server: ModelServer;
  /** The first or the second life of the gateway. */
  readonly nth: 1 | 2;
  /** Sends, and checks the answer; false when the gateway is gone. */
  send(runId: string, message: string, more?: object): Promise<boolean>;
  /** Presses a button of the plugin, and checks the answer; undefined when the gateway is gone. */
  press(actionId: string, payload: { token: string; goOn?: boolean }): Promise<{ runId?: string } | undefined>;
  /** Until the run has ended or the gateway is gone. */
  ended(runId: string): Promise<Run | undefined>;
}

interface Story {
  /** The points that it comes by. */
  readonly points: readonly string[];
  readonly settings?: { readonly agent?: string; readonly model?: string };
  /** With the plugin of plugin-chaos.ts. */
  readonly hasPlugin?: true;
  answer(request: RecordedRequest): ServerAnswer;
  /** The same in both lives: what was sent before is sent again under its key. */
  tell(life: Life): Promise<void>;
  check(found: Found, point: string): void;
}

const exec = (command: string): ServerAnswer => ({ calls: [{ id: 'call-x', name: 'exec', arguments: { command } }] });
const APPEND = 'echo ran >> log.txt';
const WAIT = 'echo ran >> log.txt; until test -e go; do sleep 0.01; done';
const INTERRUPTED = /The gateway stopped while this call ran/;

const ofEveryTurn = ['turn.begun', 'turn.before-model', 'turn.model-answered', 'turn.answer-written', 'turn.before-end', 'turn.ended'];

const stories: Readonly<Record<string, Story>> = {
  'a program that was allowed': {
    points: [...ofEveryTurn, 'approval.asked', 'call.approved', 'call.started', 'call.ran', 'call.finished'],
    settings: { agent: 'permissions = "ask"' },
    answer: ({ body }) => (isAsked(body) ? exec(APPEND) : { text: 'Done.' }),
    tell: sayOnce,
    check({ path, approvals, lines }, point) {
      assert.equal(approvals.length, 1, 'the operator was asked once');
      const [result] = resultsOf(path);
      const isCut = point === 'call.started' || point === 'call.ran';
      const isTold = INTERRUPTED.test(result!.text);
      // A kill in the store may be anywhere: then only what goes together is known.
      if (isTurnPoint(point)) assert.equal(isTold, isCut, result!.text);
      assert.deepEqual(lines, point === 'call.started' || (isTold && lines.length === 0) ? [] : ['ran'], 'it ran once, or not at all');
    },
  },
  'a file that may be written twice': {
    points: ['call.ran', 'call.finished', 'call.approved'],
    settings: { agent: 'permissions = "ask"' },
    answer: ({ body }) =>
      isAsked(body) ? { calls: [{ id: 'call-w', name: 'write', arguments: { path: 'log.txt', content: 'ran' } }] } : { text: 'Done.' },
    tell: sayOnce,
    check({ path, lines }) {
      assert.deepEqual(
        resultsOf(path).map(({ callId, isError }) => ({ callId, isError })),
        [{ callId: 'call-w', isError: false }],
      );
      assert.deepEqual(lines, ['ran']);
    },
  },
  'a command of the person': {
    points: ['bash.started', 'bash.ran', 'bash.written'],
    answer: () => ({ text: 'nobody asks' }),
    async tell({ send, ended }) {
      if (await send('run-1', `!${APPEND}`)) await ended('run-1');
    },
    check({ path, lines, requests }, point) {
      const outputs = path.filter((entry) => entry.type === 'custom_message' && entry.customType === 'bash');
      assert.equal(outputs.length, 1, 'its output is there once');
      assert.deepEqual(lines, point === 'bash.started' ? [] : ['ran']);
      assert.equal(requests.length, 0);
    },
  },
  'a window that is full': {
    points: ['compact.summed', 'compact.written'],
    settings: { model: 'contextWindow = 4096' },
    answer: ({ body }) => (/^Sum up/.test(lastText(body)) ? { text: 'The summary.' } : { text: 'word '.repeat(1_500) }),
    async tell({ send, ended }) {
      for (const [index, message] of ['word '.repeat(1_000), 'word '.repeat(900), 'And then?'].entries()) {
        const runId = `run-${index + 1}`;
        if (!(await send(runId, `${index + 1}: ${message}`)) || !(await ended(runId))) return;
      }
    },
    check({ path }) {
      assert.ok(path.some((entry) => entry.type === 'compaction'));
    },
  },
  'a message that steers': {
    points: ['turn.steered'],
    settings: { agent: 'permissions = "bypass"' },
    answer: ({ body }) => (isAsked(body) && !/careful/.test(lastText(body)) ? exec(WAIT) : { text: 'Done.' }),
    async tell({ send, ended, workspace, nth }) {
      if (!(await send('run-1', 'Please run it'))) return;
      while (nth === 1 && !existsSync(join(workspace, 'log.txt'))) await new Promise((resolve) => setImmediate(resolve));
      if (!(await send('run-2', 'But careful', { mode: 'steer' }))) return;
      writeFileSync(join(workspace, 'go'), '');
      await ended('run-1');
      await ended('run-2');
    },
    check({ path, runs }) {
      assert.equal(runs.get('run-2')?.joined, 'run-1');
      assert.deepEqual(
        path.flatMap((entry) => (entry.type === 'message' ? [entry.message.role] : [])),
        ['user', 'assistant', 'toolResult', 'user', 'assistant'],
      );
    },
  },
  'an answer that was cut off': {
    points: ['turn.partial-kept', 'turn.before-end'],
    answer: () => ({ text: 'Half of it', after: 'error' }),
    tell: sayOnce,
    check({ path, runs }) {
      assert.equal(runs.get('run-1')?.end?.kind, 'failed');
      assert.equal(path.length, 2, 'what had arrived is there once');
    },
  },
  'a button that the agent goes on from': {
    points: ['turn.begun', 'turn.model-answered', 'action.answered', 'action.committed'],
    hasPlugin: true,
    answer: () => ({ text: 'Done.' }),
    async tell({ press, ended }) {
      const pressed = await press('add', { token: 'one', goOn: true });
      if (pressed?.runId !== undefined) await ended(pressed.runId);
    },
    check({ kept, told, path, runs }) {
      assert.deepEqual(kept, ['one'], 'it is kept once');
      assert.equal(runs.size, 1, 'one turn goes on');
      assert.deepEqual(told, [{ runId: [...runs.keys()][0], token: 'one' }]);
      assert.equal(path.filter((entry) => entry.type === 'custom' && entry.customType === 'reply').length, 1, 'its reply is there once');
    },
  },
  'something that the next turn is told': {
    points: ['turn.before-model', 'turn.answer-written', 'injection.enqueued'],
    hasPlugin: true,
    answer: () => ({ text: 'Done.' }),
    async tell({ press, send, ended, nth }) {
      // Only the commit of the queue is behind it: who presses again asks for a second one.
      if (nth === 1 && !(await press('tell', { token: 'one' }))) return;
      if (await send('run-1', 'And now?')) await ended('run-1');
    },
    check({ told }) {
      assert.deepEqual(
        told.map(({ token }) => token),
        ['one'],
        'it is told in exactly one turn',
      );
    },
  },
  'a job that is due': {
    points: [...ofEveryTurn, 'schedule.due', 'schedule.claimed'],
    answer: () => ({ text: 'Done.' }),
    async tell({ link, nth }) {
      const wish = { session: { key: SESSION }, schedule: { kind: 'in', delayMs: 1 }, message: 'Do it now', idempotencyKey: 'job-1' };
      const added = await link.request('cron.add', wish);
      if (added.kind === 'unknown') return;
      assert.ok(added.kind === 'answered', JSON.stringify(added));
      for (;;) {
        const looked = await link.request('cron.history', { id: added.payload.job.id });
        if (looked.kind !== 'answered') return;
        const [only, ...others] = looked.payload.occurrences as Occurrence[];
        assert.deepEqual(others, [], 'it is due once');
        if (only?.endedAt === undefined) {
          await pause(10);
          continue;
        }
        if (nth === 2) assert.deepEqual([only.state, only.attempt], ['done', 1]);
        return;
      }
    },
    check({ runs }) {
      assert.equal(runs.size, 1, 'one turn');
    },
  },
};

async function sayOnce({ send, ended }: Life): Promise<void> {
  if (await send('run-1', 'Please do it')) await ended('run-1');
}

/** Points that a turn comes by; all others belong to the store and the requests. */
export function isTurnPoint(point: string): boolean {
  return /^(turn|call|approval|bash|compact|action|injection|schedule)\./.test(point);
}

/** The one with the most steps, for kills at points of the store. */
export const LONGEST_STORY = 'a program that was allowed';

export function storiesOf(point: string): string[] {
  return Object.keys(stories).filter((name) => stories[name]!.points.includes(point));
}

/** Every story comes by its points once, however slow the machine is; whether it does so once more is found out by waiting. */
const CERTAIN_KILL_MS = 30_000;
const POSSIBLE_KILL_MS = 1_000;

/** 1 when the gateway was killed at the point, 0 when it never came by. Throws when a promise did not hold. */
export async function killTurnAt(name: string, point: string, engine: Engine, nth = 1): Promise<number> {
  const story = stories[name]!;
  await using server = await startModelServer({ otherwise: story.answer });
  await using world = await openChaosWorld(engine, { settings: settingsOf(story, server) });
  const workspace = join(world.home, 'workspaces', 'main');
  mkdirSync(workspace, { recursive: true });
  if (story.hasPlugin) await preparePlugin(world);
  const first = await startArmed(world, `${point}:${nth}`);
  if (first) {
    await live(story, first, { workspace, server, nth: 1 });
    const wasKilled = first.child.signalCode === 'SIGKILL' || (await isKilledSoon(first, nth === 1 ? CERTAIN_KILL_MS : POSSIBLE_KILL_MS));
    await first.kill();
    if (!wasKilled) return 0;
  }
  const second = await world.start();
  await live(story, second, { workspace, server, nth: 2 });
  assert.equal(await second.stop(), 0, second.stderr());
  const found = await lookInto(world, workspace, server);
  const why = `${name}, killed at ${point}`;
  checkTranscript(found.path, why);
  const runIds = [...found.runs.keys()];
  assert.ok(runIds.length > 0);
  checkEnds(
    found.chat.filter(({ kind }) => kind === 'ended').map(({ runId = '' }) => ({ runId })),
    runIds,
    why,
  );
  for (const runId of runIds) {
    assert.equal(found.runs.get(runId)?.state, 'ended', why);
    assert.equal(found.chat.filter((each) => each.kind === 'queued' && each.runId === runId).length, 1, `${why}: taken in once`);
    assert.equal(found.path.filter((entry) => isMessageOf(entry, runId)).length, 1, `${why}: the message of ${runId} is there once`);
  }
  checkLastRequest(found.requests, why);
  story.check(found, point);
  return 1;
}

/** Switched on and with its session, before anything is counted. */
async function preparePlugin(world: ChaosWorld): Promise<void> {
  installKeeper(world.home);
  const gateway = await world.start();
  const link = await openLink(gateway);
  const enabled = await link.request('plugins.enable', { id: KEEPER });
  assert.ok(enabled.kind === 'answered' && enabled.payload.plugin.state === 'loaded', JSON.stringify(enabled));
  assert.equal((await link.request('sessions.create', { key: SESSION })).kind, 'answered');
  await link.cut();
  assert.equal(await gateway.stop(), 0, gateway.stderr());
}

function settingsOf({ settings = {} }: Story, server: ModelServer): string {
  return `
[model]
attempts = 1
[agent]
${settings.agent ?? 'permissions = "bypass"'}
[exec]
sandbox = "off"
unsandboxed = "policy"
[plugins]
paths = ["plugins"]
[[models]]
id = "local"
provider = "openai-compatible"
baseUrl = "${server.url}"
${settings.model ?? ''}
`;
}

/** A person talks until everything has ended, or the gateway is gone. */
async function live(story: Story, gateway: GatewayProcess, rest: Pick<Life, 'workspace' | 'server' | 'nth'>): Promise<void> {
  let open: Link | undefined;
  const allow = (id: string) => void open?.request('approvals.resolve', { id, decision: 'allow-once', idempotencyKey: `allow-${id}` });
  const link = await openLink(gateway, {
    onEvent: ({ event, payload }) => event === 'approval.requested' && allow((payload as EventPayload<'approval.requested'>).approval.id),
  }).catch(() => undefined);
  open = link;
  // Killed while somebody came in.
  if (!link) return;
  const waiting = await link.request('approvals.list', { state: 'pending' });
  if (waiting.kind === 'answered') for (const { id } of waiting.payload.approvals as Approval[]) allow(id);
  await story.tell({
    ...rest,
    link,
    async send(runId, message, more = {}) {
      const outcome = await link.request('chat.send', { sessionKey: SESSION, message, idempotencyKey: runId, ...more });
      if (outcome.kind === 'unknown') return false;
      assert.ok(outcome.kind === 'answered', JSON.stringify(outcome));
      assert.equal(outcome.payload.runId, runId);
      return true;
    },
    async press(actionId, payload) {
      const idempotencyKey = `press-${payload.token}`;
      const outcome = await link.request('plugins.sessionAction', {
        pluginId: KEEPER,
        actionId,
        sessionKey: SESSION,
        payload,
        idempotencyKey,
      });
      if (outcome.kind === 'unknown') return undefined;
      assert.ok(outcome.kind === 'answered' && outcome.payload.ok, JSON.stringify(outcome));
      return outcome.payload as { runId?: string };
    },
    async ended(runId) {
      for (;;) {
        const outcome = await link.request('agent.wait', { runId, timeoutMs: 60_000 });
        if (outcome.kind !== 'answered') return undefined;
        const run = outcome.payload.run as Run;
        if (run.state === 'ended') return run;
      }
    },
  });
  await link.cut();
}

/** Undefined when it was killed before it was ready. */
async function startArmed(world: ChaosWorld, fault: string): Promise<GatewayProcess | undefined> {
  try {
    return await world.start({ env: { TENON_FAULT: fault } });
  } catch (error) {
    if ((error as { exit?: { signal?: string } }).exit?.signal === 'SIGKILL') return undefined;
    throw error;
  }
}

/** The end of a turn is answered a moment before the process is killed behind it. */
async function isKilledSoon(gateway: GatewayProcess, withinMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), withinMs);
  void gateway.exited.then(({ signal }) => resolve(signal === 'SIGKILL'));
  const killed = await promise;
  clearTimeout(timer);
  return killed;
}

async function lookInto(world: ChaosWorld, workspace: string, server: ModelServer): Promise<Found> {
  const { engine, home, databaseUrl = '' } = world;
  const quiet = { events() {}, auditHead() {}, health() {} };
  const store = await openStore({ home, engine, url: databaseUrl, maxBytes: 0, now: Date.now() }, quiet);
  try {
    const { entries } = await store.read('entries.path', { key: SESSION, limit: 10_000 });
    const events = await store.read('stream.read', { after: 0, limit: 10_000 });
    const chat = events.flatMap(({ event, payload }) => (event === 'chat' ? [JSON.parse(payload) as EventPayload<'chat'>] : []));
    const runs = new Map<string, Run>();
    for (const { kind, runId } of chat)
      if (kind === 'queued' && runId !== undefined) runs.set(runId, (await store.read('runs.get', { runId })).run);
    const { approvals } = await store.read('approvals.list', { state: 'decided', limit: 100 });
    const file = join(workspace, 'log.txt');
    const lines = existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : [];
    const { value } = await store.read('pluginState.get', { key: SESSION, pluginId: KEEPER, namespace: 'kept' });
    const told: { runId: string; token: string }[] = [];
    for (const runId of runs.keys())
      for (const { id } of (await store.read('injections.ofRun', { runId })).injections) told.push({ runId, token: id });
    const kept = (value ?? []) as string[];
    return {
      path: entries,
      approvals,
      runs,
      chat,
      lines,
      kept,
      told,
      requests: server.requests.flatMap(({ body }) => (body ? [body] : [])),
    };
  } finally {
    await store.close();
  }
}

/** The model is told each message once, and each result right behind its call. */
function checkLastRequest(requests: readonly ChatBody[], why: string): void {
  const last = requests.findLast((body) => !/^Sum up/.test(lastText(body)));
  if (!last) return;
  const said = last.messages.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content));
  assert.equal(new Set(said).size, said.length, `${why}: a message is told twice: ${said}`);
  const results = last.messages.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id);
  assert.equal(new Set(results).size, results.length, `${why}: a result is told twice`);
  const calls = last.messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  assert.deepEqual(results, calls, why);
}

function isMessageOf(entry: Entry, runId: string): boolean {
  return entry.type === 'message' && entry.message.role === 'user' && entry.runId === runId;
}

function resultsOf(path: readonly Entry[]): { callId: string; text: string; isError: boolean }[] {
  return path.flatMap((entry) => {
    if (entry.type !== 'message' || entry.message.role !== 'toolResult') return [];
    const { toolCallId: callId, content, isError } = entry.message;
    return [{ callId, isError, text: content.map((block) => (block.type === 'text' ? block.text : '')).join('') }];
  });
}

/** A person has the last word. */
function isAsked(body: ChatBody | undefined): boolean {
  return body?.messages.at(-1)?.role === 'user';
}

function lastText(body: ChatBody | undefined): string {
  const content = body?.messages.at(-1)?.content;
  if (typeof content === 'string') return content;
  return ((content ?? []) as { text?: string }[]).map(({ text = '' }) => text).join('');
}
