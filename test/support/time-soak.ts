// A process of its own: a virtual day of a gateway with turns, sessions that come and go, and one-shot jobs of operators and of a
// plugin. After the first quarter, when everything that is bounded is full, and after all, it says what is in every map and set
// of the gateway, and how large the process is. Rows are in a file, so that only what is remembered counts. Prints one line of JSON.
//   node --expose-gc --import watch-maps.ts time-soak.ts <jobs in all>
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { definePluginEntry, type RegisterApi } from '@tenon/plugin-sdk';
import { type JsonObject, PLUGIN_API_LEVEL, type Scope } from '@tenon/protocol';
import { checkManifest } from '../../packages/gateway/src/host/discover.ts';
import { createScriptedModel } from '../../packages/gateway/src/model/scripted.ts';
import { openDatabase } from '../../packages/gateway/src/store/sqlite-file.ts';
import { createManualClock } from '../../packages/gateway/src/testing/manual-clock.ts';
import { createStandInTools } from '../../packages/gateway/src/testing/stand-ins.ts';
import { openTestGateway } from '../../packages/gateway/src/testing/test-gateway.ts';
import { liveEntries } from './watch-maps.ts';

const all = Number(process.argv[2] ?? 1_000);
const DAY = 86_400_000;
const HOUR = DAY / 24;
const STARTED_AT = 1_700_000_000_000;
const LANES = 16;
const ROUNDS = Math.max(16, Math.ceil(all / 160));
const PER_ROUND = Math.ceil(all / ROUNDS);
/** Sessions begin anew after so many rounds. */
const LIFE = 4;
const EVERYBODY: readonly Scope[] = ['operator.admin'];
const GRANTS = ['schedule.turns', 'hooks.observe:cron_changed'];

let api: RegisterApi | undefined;
let changes = 0;
function register(given: RegisterApi): void {
  api = given;
  given.on('cron_changed', () => void changes++);
}

let turns = 0;
const clock = createManualClock(STARTED_AT);
const model = createScriptedModel([], {
  clock,
  info: { id: 'test', name: 'Test' },
  async otherwise() {
    // What it was asked is nobody's: it must not look like a leak.
    model.requests.length = 0;
    return ++turns % 11 === 0 ? { failure: { kind: 'invalid_request', message: 'not now' } } : { text: 'done' };
  },
});
const home = mkdtempSync(join(tmpdir(), 'tenon-soak-'));
const { database } = openDatabase({ file: join(home, 'soak.sqlite'), now: STARTED_AT, maxBytes: 0 });
database.exec('pragma synchronous = off');
const manifest = { id: 'soak', name: 'Soak', version: '1.0.0', api: PLUGIN_API_LEVEL, grants: GRANTS };
const gateway = await openTestGateway({
  database,
  filesHome: home,
  clock,
  secrets: {},
  plugin: {
    origin: 'bundled',
    folder: process.cwd(),
    entry: '',
    manifest: checkManifest(JSON.stringify(manifest)),
    exported: definePluginEntry({ id: 'soak', register }),
  },
  models: { list: () => [model.info], defaultId: model.info.id, get: () => model },
  tools: createStandInTools(),
  heard: () => {},
  logged: () => {},
});
const call = (method: string, params: object) => gateway.call(method, params, EVERYBODY) as Promise<JsonObject>;
await call('plugins.enable', { id: 'soak' });

const keyOf = (lane: number, life: number) => `agent:main:soak-${lane}-${life}`;
let jobs = 0;
let sessions = 0;
let messages = 0;

async function settled(): Promise<void> {
  for (let quiet = 0, commits = -1; quiet < 12; ) {
    // A timer of no length is due at once.
    clock.advance(0);
    await turnOfTheLoop();
    const { turns: busy, commits: now } = gateway.busy;
    quiet = busy === 0 && now === commits ? quiet + 1 : 0;
    commits = now;
  }
}

async function round(number: number): Promise<void> {
  const life = Math.floor(number / LIFE);
  const stepMs = Math.floor(DAY / ROUNDS);
  if (number % LIFE === 0) {
    const lanes = Array.from({ length: LANES }, (_, lane) => lane);
    if (life > 0) await Promise.all(lanes.map((lane) => call('sessions.delete', { key: keyOf(lane, life - 1) })));
    await Promise.all(lanes.map((lane) => call('sessions.create', { key: keyOf(lane, life) })));
    sessions += LANES;
  }
  const added: Promise<unknown>[] = [];
  for (let n = 0; n < PER_ROUND && jobs < all; n++, jobs++) {
    const [sessionKey, delayMs] = [keyOf(jobs % LANES, life), 1_000 + ((jobs * 7_919) % Math.max(1_000, stepMs - 2_000))];
    if (jobs % 2 === 0) added.push(api!.session.workflow.scheduleSessionTurn({ sessionKey, message: 'look', delayMs, tag: 'soak' }));
    else added.push(call('cron.add', { session: { key: sessionKey }, schedule: { kind: 'in', delayMs }, message: 'look' }));
  }
  await Promise.all(added);
  for (let lane = 0; lane < LANES; lane += 4, messages++)
    await call('chat.send', { sessionKey: keyOf(lane, life), message: 'hi', idempotencyKey: `message-${number}-${lane}` });
  for (let step = 0; step < 4; step++) {
    clock.advance(Math.ceil(stepMs / 4));
    await settled();
  }
}

async function look() {
  await settled();
  const { jobs: left } = (await call('cron.list', {})) as unknown as { jobs: unknown[] };
  const { occurrences } = (await call('cron.history', { limit: 1 })) as unknown as { occurrences: unknown[] };
  // Past every window, so that nothing is kept because of the time.
  clock.advance(HOUR);
  await settled();
  for (let again = 0; again < 6; again++) {
    globalThis.gc?.();
    await turnOfTheLoop();
  }
  const { rss, heapUsed } = process.memoryUsage();
  return {
    maps: liveEntries(),
    heapMegabytes: heapUsed / 1e6,
    rssMegabytes: rss / 1e6,
    at: clock.now(),
    left: left.length,
    recorded: occurrences.length,
  };
}

// Sessions have begun and gone twice by then.
const warm = Math.max(2 * LIFE + 1, Math.ceil(ROUNDS / 4));
for (let number = 0; number < warm; number++) await round(number);
const first = await look();
for (let number = warm; number < ROUNDS; number++) await round(number);
const last = await look();
await gateway.close();
rmSync(home, { recursive: true, force: true, maxRetries: 10 });
const hours = (last.at - first.at) / HOUR;
const slope = (last.rssMegabytes - first.rssMegabytes) / hours;
const sums = { jobs, turns, sessions, messages, changes, virtualHours: (last.at - STARTED_AT) / HOUR };
process.stdout.write(`${JSON.stringify({ ...sums, slope, first, last })}\n`);
process.exit();
