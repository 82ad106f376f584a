// Many sessions at once with a real gateway, a plugin and a real model server: buttons that keep something and want the next
// turn to be told, repeats of them, messages, models that fail, and kill -9. At the end the state of the plugin, what turns
// were told and what was answered must agree.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventPayload } from '@tenon/protocol';
import { openStore } from '../../packages/gateway/src/store/open.ts';
import { type ChaosWorld, openChaosWorld } from './chaos.ts';
import { type Link, openLink, type Outcome } from './chaos-link.ts';
import type { GatewayProcess } from './gateway.ts';
import { type RecordedRequest, type ServerAnswer, type ServerFault, type ServerRefusal, startModelServer } from './model-server.ts';
import { createRandom, type Random } from './random.ts';
import type { Engine } from './stores.ts';
import { checkEnds, checkTranscript } from './turn-oracle.ts';

export interface PluginChaosOptions {
  readonly engine: Engine;
  readonly seed: number;
  readonly kills: number;
  readonly sessions?: number;
  /** What people do before the gateway is killed, at most. */
  readonly actsPerLife?: number;
  readonly onRound?: (done: number) => void;
}

export interface PluginChaosStats {
  pressed: number;
  acknowledged: number;
  unknown: number;
  repeated: number;
  /** Tokens that a turn was told. */
  told: number;
  turns: number;
}

type Kind = 'add' | 'patch' | 'tell' | 'update';

interface Press {
  readonly kind: Kind;
  readonly token: string;
  readonly sessionKey: string;
  readonly method: string;
  readonly params: object;
  acknowledged: boolean;
  refused: boolean;
}

export const KEEPER = 'keeper';
const PEOPLE = 4;
const TOKEN = /\[\[([\w-]+)\]\]/g;
/** Refusals that somebody who acts at random has to expect. */
const EXPECTED: ReadonlySet<string> = new Set(['CONFLICT', 'UNAVAILABLE']);

/** Those whose whole effect is one commit: a repeat under the same key changes nothing. */
const isAtomic = (kind: Kind) => kind === 'add' || kind === 'patch';
const keeps = (kind: Kind) => kind !== 'tell';
const tells = (kind: Kind) => kind !== 'update';

export function installKeeper(home: string): void {
  cpSync(join(import.meta.dirname, '..', 'fixtures', 'chaos-plugins'), join(home, 'plugins'), { recursive: true });
}

export async function runPluginChaos(options: PluginChaosOptions): Promise<PluginChaosStats> {
  const { engine, seed, kills, sessions = 8, actsPerLife = 40, onRound } = options;
  const random = createRandom(seed);
  const stats: PluginChaosStats = { pressed: 0, acknowledged: 0, unknown: 0, repeated: 0, told: 0, turns: 0 };
  const twice: string[] = [];
  let isWell = false;
  const models = createRandom(seed + 7);
  await using server = await startModelServer({
    otherwise(request) {
      const tokens = tokensIn(request);
      if (new Set(tokens).size < tokens.length) twice.push(tokens.join(' '));
      return isWell ? { text: 'Well.' } : answerTo(models);
    },
  });
  await using world = await openChaosWorld(engine, { settings: settingsOf(server.url) });
  installKeeper(world.home);
  const pressed: Press[] = [];
  const keys = Array.from({ length: sessions }, (_, n) => `agent:main:kept-${n}`);
  await prepare(world, keys);

  for (let life = 0; life < kills; life++) {
    const gateway = await world.start();
    const people = Array.from({ length: PEOPLE }, (_, n) => createRandom(seed + 1_000 * (life + 1) + n));
    let left = 1 + random.below(actsPerLife);
    const links = await Promise.all(people.map(() => openLink(gateway)));
    await Promise.all(
      people.map(async (own, n) => {
        const link = links[n]!;
        while (left-- > 0 && link.isOpen) await act(link, own, keys, pressed, stats);
        // The last one to act pulls the plug, a few turns of the loop later.
        if (left === -1) {
          for (let turns = own.below(60); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
          gateway.child.kill('SIGKILL');
        }
        await link.closed;
      }),
    );
    await gateway.kill();
    onRound?.(life + 1);
  }

  isWell = true;
  const last = await world.start();
  await settle(last, keys);
  assert.equal(await last.stop(), 0, last.stderr());
  await compare(world, keys, pressed, stats);
  assert.deepEqual(twice, [], 'a model was told a token twice at once');
  return stats;
}

export function settingsOf(url: string): string {
  return `
[model]
attempts = 1
[plugins]
paths = ["plugins"]
[[models]]
id = "local"
provider = "openai-compatible"
baseUrl = "${url}"
`;
}

async function prepare(world: ChaosWorld, keys: readonly string[]): Promise<void> {
  const gateway = await world.start();
  const link = await openLink(gateway);
  const enabled = await link.request('plugins.enable', { id: KEEPER });
  assert.ok(enabled.kind === 'answered' && enabled.payload.plugin.state === 'loaded', JSON.stringify(enabled));
  for (const key of keys) assert.equal((await link.request('sessions.create', { key })).kind, 'answered');
  await link.cut();
  assert.equal(await gateway.stop(), 0, gateway.stderr());
}

async function act(link: Link, random: Random, keys: readonly string[], pressed: Press[], stats: PluginChaosStats): Promise<void> {
  const dice = random.next();
  const sessionKey = random.pick(keys);
  if (dice < 0.5) {
    const one = press(random, sessionKey, pressed.length);
    pressed.push(one);
    stats.pressed++;
    const outcome = await link.request(one.method, one.params);
    if (outcome.kind === 'answered' && outcome.payload.ok !== false) one.acknowledged = true;
    else if (outcome.kind === 'unknown') stats.unknown++;
    else {
      expected(outcome);
      one.refused = true;
    }
  } else if (dice < 0.65) {
    const before = pressed.filter(({ kind, refused }) => isAtomic(kind) && !refused);
    if (before.length === 0) return;
    const one = random.pick(before);
    const outcome = await link.request(one.method, one.params);
    if (outcome.kind === 'answered') {
      one.acknowledged = true;
      stats.repeated++;
    } else expected(outcome);
  } else {
    const message = `message ${random.below(1_000_000)}`;
    const outcome = await link.request('chat.send', { sessionKey, message, idempotencyKey: `run-${random.below(1_000_000_000)}` });
    expected(outcome);
  }
}

function press(random: Random, sessionKey: string, number: number): Press {
  const kind = random.pick<Kind>(['add', 'add', 'patch', 'tell', 'update']);
  const token = `token-${number}-${random.below(1_000_000)}`;
  const idempotencyKey = `key-${token}`;
  const common = { kind, token, sessionKey, acknowledged: false, refused: false };
  if (kind === 'patch') {
    const extension = { plugin: KEEPER, action: 'add', payload: { token } };
    return { ...common, method: 'sessions.patch', params: { key: sessionKey, extension, idempotencyKey } };
  }
  const payload = { token, ...(kind === 'add' && random.chance(0.3) ? { goOn: true } : {}) };
  return { ...common, method: 'plugins.sessionAction', params: { pluginId: KEEPER, actionId: kind, sessionKey, payload, idempotencyKey } };
}

function expected(outcome: Outcome): void {
  if (outcome.kind === 'refused') assert.ok(EXPECTED.has(outcome.error.code), JSON.stringify(outcome.error));
}

/** Every session has a last word, until nothing waits to be told any more. */
async function settle(gateway: GatewayProcess, keys: readonly string[]): Promise<void> {
  const link = await openLink(gateway);
  for (const sessionKey of keys) {
    for (let round = 0; ; round++) {
      const sent = await link.request('chat.send', { sessionKey, message: `last ${round}`, idempotencyKey: `last-${sessionKey}-${round}` });
      assert.ok(sent.kind === 'answered', JSON.stringify(sent));
      const ended = await link.request('agent.wait', { runId: sent.payload.runId, timeoutMs: 60_000 });
      assert.ok(ended.kind === 'answered' && ended.payload.run.state === 'ended', JSON.stringify(ended));
      const { payload } = (await link.request('sessions.get', { key: sessionKey })) as Extract<Outcome, { kind: 'answered' }>;
      if ((payload.session.pendingInjections ?? 0) === 0) break;
      assert.ok(round < 10, `injections of ${sessionKey} are never told`);
    }
  }
  await link.cut();
}

async function compare(
  { engine, home, databaseUrl = '' }: ChaosWorld,
  keys: readonly string[],
  pressed: readonly Press[],
  stats: PluginChaosStats,
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
    const idsOf = (kind: string) => chat.flatMap((each) => (each.kind === kind && each.runId !== undefined ? [each.runId] : []));
    const runIds = idsOf('queued');
    stats.turns = runIds.length;
    checkEnds(
      idsOf('ended').map((runId) => ({ runId })),
      runIds,
      'all sessions',
    );
    /** Token to the runs that were told it. */
    const told = new Map<string, string[]>();
    for (const runId of runIds) {
      for (const { id } of (await store.read('injections.ofRun', { runId })).injections) told.set(id, [...(told.get(id) ?? []), runId]);
    }
    for (const key of keys) {
      const { entries } = await store.read('entries.path', { key, limit: 10_000 });
      checkTranscript(entries, key);
      const { injections } = await store.read('injections.list', { key });
      assert.deepEqual(injections, [], `${key}: something was never told`);
      assert.deepEqual((await store.read('runs.openIn', { key })).runs, [], key);
      const answered = new Set(entries.flatMap((entry) => (isAnswer(entry) && entry.runId !== undefined ? [entry.runId] : [])));
      const { value } = await store.read('pluginState.get', { key, pluginId: KEEPER, namespace: 'kept' });
      checkKept(
        (value ?? []) as string[],
        pressed.filter(({ sessionKey }) => sessionKey === key),
        key,
      );
      for (const one of pressed.filter(({ sessionKey }) => sessionKey === key)) {
        const runs = told.get(one.token) ?? [];
        checkTold(one, runs, ((value ?? []) as string[]).includes(one.token));
        for (const runId of runs) assert.ok(answered.has(runId), `${one.token} was told in ${runId}, which has no answer`);
        stats.told += runs.length;
      }
    }
    stats.acknowledged = pressed.filter(({ acknowledged }) => acknowledged).length;
  } finally {
    await store.close();
  }
}

function checkKept(kept: readonly string[], pressed: readonly Press[], key: string): void {
  assert.equal(new Set(kept).size, kept.length, `${key}: a token is kept twice: ${kept}`);
  const known = new Map(pressed.map((one) => [one.token, one]));
  for (const token of kept) {
    const one = known.get(token);
    assert.ok(one && keeps(one.kind) && !one.refused, `${key}: ${token} is kept, and nobody asked for it, or it was refused`);
  }
  for (const { token, kind, acknowledged } of pressed) {
    if (acknowledged && keeps(kind)) assert.ok(kept.includes(token), `${key}: ${token} was acknowledged (${kind}) and is not kept`);
  }
}

function checkTold({ token, kind, acknowledged, refused }: Press, runs: readonly string[], isKept: boolean): void {
  const why = `${token} (${kind}${acknowledged ? ', acknowledged' : ''})`;
  if (!tells(kind) || refused) return assert.deepEqual(runs, [], `${why} was told`);
  assert.ok(runs.length <= 1, `${why} was told in ${runs.length} turns`);
  if (acknowledged) assert.equal(runs.length, 1, `${why} was never told`);
  // What belongs together is there together.
  if (isAtomic(kind)) assert.equal(runs.length === 1, isKept, `${why} is half done`);
}

function isAnswer(entry: { readonly type: string; readonly message?: unknown }): boolean {
  return entry.type === 'message' && (entry.message as { role: string }).role === 'assistant';
}

function answerTo(random: Random): ServerAnswer | ServerRefusal | ServerFault {
  const dice = random.next();
  const gate = () => pause(3);
  if (dice < 0.15) return { status: 500, message: 'not now' };
  if (dice < 0.25) return { fault: 'reset' };
  if (dice < 0.35) return { text: ['Half ', 'of'], gate, after: 'error' };
  if (dice < 0.5)
    return { text: 'I look.', calls: [{ id: `call-${random.below(1_000_000_000)}`, name: 'ls', arguments: { path: '.' } }], gate };
  return { text: ['It ', 'is ', 'done.'], gate };
}

/** What this request tells of: a note stands in the last message, and nowhere else. */
function tokensIn({ text }: RecordedRequest): string[] {
  return [...text.matchAll(TOKEN)].map(([, token]) => token!);
}
