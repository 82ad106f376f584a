// What jobs cost that are not due: 100,000 that run once and 10,000 by a cron expression. Memory beside a gateway without jobs,
// what a look at the store costs, and how late a job begins.
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { openStore } from '../../packages/gateway/src/store/open.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { startGatewayProcess, temporaryHome } from '../../test/support/gateway.ts';
import { connectRaw } from '../../test/support/raw-client.ts';
import { measured } from '../rounds.ts';
import type { Group, World } from '../world.ts';
import { residentMegabytes } from './memory.ts';

const ONCE = 100_000;
const CRON = 10_000;
const SETTLE_MS = 3_000;
const LOOKS = 200;
/** Jobs of which the delay is measured, and how far apart they are due. */
const FIRED = 20;
const APART_MS = 50;

export const schedules: Group = {
  name: 'schedules',
  what: 'schedules',
  async run(world) {
    const homes = { full: await homeWith(world, true), empty: await homeWith(world, false) };
    const rounds = world.plan.quick ? 1 : 5;
    const memory = await world.alternate({ full: () => idle(homes.full), empty: () => idle(homes.empty) }, rounds);
    world.record('schedule.memory', measured(memory.full, memory.empty));
    const looks = await world.alternate({ full: () => look(homes.full), empty: () => look(homes.empty) }, rounds);
    world.record('schedule.tick', measured(looks.full, looks.empty));
    const lag = await world.alternate({ lag: () => lateness(homes.full) }, rounds);
    world.record('schedule.lag', measured(lag.lag));
  },
};

/** The rows are what `cron.add` would have written. */
async function homeWith(world: World, hasJobs: boolean): Promise<string> {
  const home = world.closing(temporaryHome(), (folder) => rmSync(folder, { recursive: true, force: true }));
  await (await startGatewayProcess({ home })).stop();
  if (!hasJobs) return home;
  const database = new DatabaseSync(join(home, globSync('*.db', { cwd: home })[0] ?? ''));
  const far = Date.now() + 30 * 86_400_000;
  const insert = (name: string, count: number, schedule: string) =>
    database.exec(`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into jobs (id, name, agent_id, schedule, message, state, on_miss, overlap, delivery, owner, keep, next_at, revision, created_at, updated_at)
      select '${name}-' || printf('%016d', i), '${name} ' || i, 'main', '${schedule}', 'do it', 'active', '"run"', 'skip', 'announce',
        'token:bench', 0, ${far} + i * 60000, 1, 1, 1 from n`);
  database.exec('pragma synchronous = off; begin');
  insert('once', ONCE, `{"kind":"at","at":${far}}`);
  insert('cron', CRON, '{"kind":"cron","cron":"0 8 * * *","tz":"UTC"}');
  database.exec('commit');
  database.close();
  return home;
}

async function idle(home: string): Promise<number> {
  const gateway = await startGatewayProcess({ home });
  await pause(SETTLE_MS);
  const resident = residentMegabytes(gateway.pid);
  await gateway.stop();
  return resident;
}

/** What one tick reads, in microseconds. */
async function look(home: string): Promise<number> {
  const listener = { events: () => {}, auditHead: () => {}, health: () => {} };
  const store: Store = await openStore({ home, engine: 'sqlite', url: '', maxBytes: 0, now: Date.now() }, listener);
  const began = performance.now();
  for (let n = 0; n < LOOKS; n++) {
    await store.read('jobs.due', { at: Date.now(), limit: 50 });
    await store.read('jobs.nextDue', {});
  }
  const took = performance.now() - began;
  await store.close();
  return (took / LOOKS) * 1_000;
}

/** From when a job is due to when it was taken on: the 99th of a hundred, in milliseconds. */
async function lateness(home: string): Promise<number> {
  await using gateway = await startGatewayProcess({ home });
  const client = await connectRaw(gateway.socketUrl, gateway.token);
  const ids: string[] = [];
  for (let n = 0; n < FIRED; n++) {
    const { payload } = await client.request('cron.add', {
      session: { agentId: 'main', fresh: true },
      schedule: { kind: 'in', delayMs: 500 + n * APART_MS },
      message: 'hello',
    });
    ids.push(payload.job.id);
  }
  const late: number[] = [];
  for (const id of ids) {
    for (;;) {
      const { payload } = await client.request('cron.history', { id });
      const [only] = payload.occurrences as { startedAt?: number; dueAt: number }[];
      if (only?.startedAt !== undefined) {
        late.push(only.startedAt - only.dueAt);
        break;
      }
      await pause(APART_MS);
    }
  }
  await client.close();
  return late.toSorted((a, b) => a - b)[Math.ceil(late.length * 0.99) - 1] ?? 0;
}
