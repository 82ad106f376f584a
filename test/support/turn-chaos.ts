// Many sessions at once with a real gateway and a real model server: random messages in every queue mode, repeats, stops,
// answers to approvals, resets and kill -9. At the end the store, the events, the model and the disk must agree.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Approval, EventPayload, QueueMode, Run } from '@tenon/protocol';
import { queueModes } from '@tenon/protocol';
import { openStore } from '../../packages/gateway/src/store/open.ts';
import { type ChaosWorld, openChaosWorld } from './chaos.ts';
import { type Link, openLink, type Outcome } from './chaos-link.ts';
import type { GatewayProcess } from './gateway.ts';
import { type RecordedRequest, type ServerAnswer, startModelServer } from './model-server.ts';
import { createRandom, type Random } from './random.ts';
import type { Engine } from './stores.ts';
import { checkEnds, checkTranscript } from './turn-oracle.ts';

export interface TurnChaosOptions {
  readonly engine: Engine;
  readonly seed: number;
  readonly kills: number;
  readonly sessions?: number;
  /** What people do before the gateway is killed, at most. */
  readonly actsPerLife?: number;
  readonly onRound?: (done: number) => void;
}

export interface TurnChaosStats {
  sent: number;
  acknowledged: number;
  unknown: number;
  repeated: number;
  aborted: number;
  answered: number;
  reset: number;
  requests: number;
  programs: number;
}

interface Sent {
  readonly runId: string;
  readonly params: { readonly sessionKey: string; readonly message: string; readonly mode: QueueMode; readonly idempotencyKey: string };
  acknowledged: boolean;
}

const PEOPLE = 4;
/** Refusals that somebody who acts at random has to expect. */
const EXPECTED: ReadonlySet<string> = new Set(['CONFLICT', 'NOT_FOUND', 'GONE', 'UNAVAILABLE']);

export async function runTurnChaos(options: TurnChaosOptions): Promise<TurnChaosStats> {
  const { engine, seed, kills, sessions = 12, actsPerLife = 60, onRound } = options;
  const random = createRandom(seed);
  const stats: TurnChaosStats = {
    ...{ sent: 0, acknowledged: 0, unknown: 0, repeated: 0, aborted: 0, answered: 0, reset: 0, requests: 0, programs: 0 },
  };
  const told: string[] = [];
  await using server = await startModelServer({
    otherwise(request) {
      stats.requests++;
      const twice = toldTwice(request);
      if (twice !== undefined) told.push(twice);
      return answerTo(request);
    },
  });
  await using world = await openChaosWorld(engine, { settings: settingsOf(server.url) });
  const workspace = join(world.home, 'workspaces', 'main');
  mkdirSync(workspace, { recursive: true });
  const sent: Sent[] = [];
  const keys = Array.from({ length: sessions }, (_, n) => `agent:main:chaos-${n}`);

  for (let life = 0; life < kills; life++) {
    const gateway = await world.start();
    const acts = 1 + random.below(actsPerLife);
    const people = Array.from({ length: PEOPLE }, (_, n) => createRandom(seed + 1_000 * (life + 1) + n));
    let left = acts;
    // All are there before the first one acts: who pulls the plug does not shut anybody out.
    const links = await Promise.all(people.map((own) => connect(gateway, own, stats)));
    await Promise.all(
      people.map(async (own, n) => {
        const link = links[n]!;
        while (left-- > 0 && link.isOpen) await act(link, own, keys, sent, stats);
        // The last one to act pulls the plug, a few turns of the loop later.
        if (left === -1) {
          for (let turns = own.below(40); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
          gateway.child.kill('SIGKILL');
        }
        await link.closed;
      }),
    );
    await gateway.kill();
    onRound?.(life + 1);
  }

  const last = await world.start();
  await settle(last, sent, stats);
  assert.equal(await last.stop(), 0, last.stderr());
  await compare(world, keys, sent, workspace, stats);
  assert.deepEqual(told, [], 'a model was told something twice');
  return stats;
}

function settingsOf(url: string): string {
  return `
[model]
attempts = 1
[agent]
permissions = "ask"
[exec]
sandbox = "off"
unsandboxed = "policy"
[[models]]
id = "local"
provider = "openai-compatible"
baseUrl = "${url}"
`;
}

/** Answers approvals as they come, some of them late, some not at all. */
async function connect(gateway: GatewayProcess, random: Random, stats: TurnChaosStats): Promise<Link> {
  let link: Link | undefined;
  link = await openLink(gateway, {
    onEvent({ event, payload }) {
      if (event !== 'approval.requested' || !link || random.chance(0.4)) return;
      const { id } = (payload as EventPayload<'approval.requested'>).approval;
      void resolve(link, id, random.pick(['allow-once', 'allow-once', 'deny']), stats);
    },
  });
  return link;
}

async function resolve(link: Link, id: string, decision: string, stats: TurnChaosStats): Promise<void> {
  const outcome = await link.request('approvals.resolve', { id, decision });
  if (outcome.kind === 'answered') stats.answered++;
  else expected(outcome);
}

async function act(link: Link, random: Random, keys: readonly string[], sent: Sent[], stats: TurnChaosStats): Promise<void> {
  const sessionKey = random.pick(keys);
  const dice = random.next();
  if (dice < 0.62) {
    const idempotencyKey = `run-${sent.length}-${random.below(1_000_000)}`;
    const message = `${random.chance(0.1) ? '!echo ' : ''}${idempotencyKey}`;
    const one: Sent = {
      runId: idempotencyKey,
      acknowledged: false,
      params: { sessionKey, message, mode: random.pick(Object.keys(queueModes) as QueueMode[]), idempotencyKey },
    };
    sent.push(one);
    stats.sent++;
    const outcome = await link.request('chat.send', one.params);
    if (outcome.kind === 'answered') one.acknowledged = true;
    else expected(outcome);
    if (outcome.kind === 'unknown') stats.unknown++;
  } else if (dice < 0.74 && sent.length > 0) {
    const one = random.pick(sent);
    const outcome = await link.request('chat.send', one.params);
    if (outcome.kind === 'answered') {
      assert.equal(outcome.payload.runId, one.runId);
      one.acknowledged = true;
      stats.repeated++;
    } else expected(outcome);
  } else if (dice < 0.88) {
    const runId = sent.length > 0 && random.chance(0.5) ? { runId: random.pick(sent).runId } : {};
    const outcome = await link.request('chat.abort', { sessionKey, ...runId });
    if (outcome.kind === 'answered') stats.aborted += (outcome.payload.aborted as string[]).length;
    else expected(outcome);
  } else if (dice < 0.92) {
    const outcome = await link.request('sessions.reset', { key: sessionKey });
    if (outcome.kind === 'answered') stats.reset++;
    else expected(outcome);
  } else {
    const outcome = await link.request('approvals.list', { state: 'pending' });
    if (outcome.kind !== 'answered') return expected(outcome);
    const pending = outcome.payload.approvals as Approval[];
    if (pending.length > 0) await resolve(link, random.pick(pending).id, random.pick(['allow-once', 'deny', 'allow-always']), stats);
  }
}

function expected(outcome: Outcome): void {
  if (outcome.kind === 'refused') assert.ok(EXPECTED.has(outcome.error.code), JSON.stringify(outcome.error));
}

/** Until nothing runs or waits any more. */
async function settle(gateway: GatewayProcess, sent: readonly Sent[], stats: TurnChaosStats): Promise<void> {
  let open: Link | undefined;
  const link = await openLink(gateway, {
    onEvent({ event, payload }) {
      if (event !== 'approval.requested' || !open) return;
      void resolve(open, (payload as EventPayload<'approval.requested'>).approval.id, 'allow-once', stats);
    },
  });
  open = link;
  // Those that were asked before anybody listened.
  for (;;) {
    const outcome = await link.request('approvals.list', { state: 'pending' });
    assert.ok(outcome.kind === 'answered', JSON.stringify(outcome));
    const pending = outcome.payload.approvals as Approval[];
    if (pending.length === 0) break;
    for (const { id } of pending) await resolve(link, id, 'allow-once', stats);
  }
  for (const { runId, acknowledged } of sent) {
    const outcome = await link.request('agent.wait', { runId, timeoutMs: 60_000 });
    if (outcome.kind === 'refused' && outcome.error.code === 'NOT_FOUND') {
      assert.ok(!acknowledged, `${runId} was acknowledged and is gone`);
      continue;
    }
    assert.ok(outcome.kind === 'answered', `${runId}: ${JSON.stringify(outcome)}`);
    assert.equal((outcome.payload.run as Run).state, 'ended', `${runId} does not end`);
  }
  await link.cut();
}

async function compare(
  { engine, home, databaseUrl = '' }: ChaosWorld,
  keys: readonly string[],
  sent: readonly Sent[],
  workspace: string,
  stats: TurnChaosStats,
): Promise<void> {
  const quiet = { events() {}, auditHead() {}, health() {} };
  const store = await openStore({ home, engine, url: databaseUrl, maxBytes: 0, now: Date.now() }, quiet);
  try {
    const chat: EventPayload<'chat'>[] = [];
    for (let after = 0; ; ) {
      const events = await store.read('stream.read', { after, limit: 1_000 });
      for (const { event, payload } of events) if (event === 'chat') chat.push(JSON.parse(payload) as EventPayload<'chat'>);
      const lastOne = events.at(-1);
      if (!lastOne) break;
      after = lastOne.seq;
    }
    const acknowledged = sent.filter((each) => each.acknowledged).map(({ runId }) => runId);
    stats.acknowledged = acknowledged.length;
    const queued = chat.flatMap(({ kind, runId }) => (kind === 'queued' && runId !== undefined ? [runId] : []));
    assert.equal(new Set(queued).size, queued.length, 'a message was taken in twice');
    for (const runId of acknowledged) assert.ok(queued.includes(runId), `${runId} was acknowledged and never taken in`);
    checkEnds(
      chat.flatMap(({ kind, runId }) => (kind === 'ended' && runId !== undefined ? [{ runId }] : [])),
      queued,
      'all sessions',
    );
    const messages = chat.flatMap(({ entry }) => (entry?.type === 'message' && entry.message.role === 'user' ? [entry.runId ?? ''] : []));
    assert.equal(new Set(messages).size, messages.length, 'a message was told twice');
    for (const key of keys) {
      // A session that nobody has written to is not there.
      const path = await store.read('entries.path', { key, limit: 10_000 }).catch(() => undefined);
      if (!path) continue;
      checkTranscript(path.entries, key);
      const { runs } = await store.read('runs.openIn', { key });
      assert.deepEqual(runs, [], key);
    }
    const { approvals } = await store.read('approvals.list', { state: 'pending', limit: 10 });
    assert.deepEqual(approvals, [], 'a question of a run that is over');
  } finally {
    await store.close();
  }
  const file = join(workspace, 'log.txt');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  stats.programs = lines.length;
  assert.equal(new Set(lines).size, lines.length, 'a program was run twice');
}

/** The same for the same conversation, whenever it is asked. */
function answerTo({ body }: RecordedRequest): ServerAnswer {
  const last = body?.messages.at(-1);
  const text = typeof last?.content === 'string' ? last.content : JSON.stringify(last?.content ?? '');
  const token = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const gate = () => pause(5);
  const kind = Number.parseInt(token.slice(0, 4), 16) % 12;
  if (last?.role !== 'user' || kind < 3) return { text: ['It ', 'is ', 'done.'], gate };
  const ls = (n: number) => ({ id: `call-${token}-${n}`, name: 'ls', arguments: { path: '.' } });
  if (kind < 5) return { text: 'I look.', calls: [ls(0)], gate };
  if (kind < 6) return { calls: [ls(0), ls(1)] };
  if (kind < 7) return { calls: [{ id: `call-${token}`, name: 'write', arguments: { path: `${token}.txt`, content: token } }] };
  if (kind < 10)
    return { calls: [{ id: `call-${token}`, name: 'exec', arguments: { command: `echo ${token} >> log.txt; sleep 0.2` } }], gate };
  if (kind < 11) return { text: ['Half ', 'of'], gate, after: 'error' };
  return { calls: [{ id: `call-${token}`, name: 'nothing', arguments: {} }, ls(1)] };
}

/** Each message of a person has a text of its own, each call an id of its own. */
function toldTwice({ body }: RecordedRequest): string | undefined {
  const said = (body?.messages ?? []).flatMap(({ role, content, tool_call_id }) =>
    role === 'user' ? [JSON.stringify(content)] : role === 'tool' ? [`result ${tool_call_id}`] : [],
  );
  return said.find((each, index) => said.indexOf(each) !== index);
}
