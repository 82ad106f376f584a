// Readers that stop reading: nobody else notices, memory stays bounded, and each of them catches up, is closed with a
// reason that can be read, or comes back and misses nothing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openChaosWorld } from '../support/chaos.ts';
import { type Link, openLink } from '../support/chaos-link.ts';
import type { GatewayProcess } from '../support/gateway.ts';
import { Chronicle, Observer } from '../support/ledger-observer.ts';
import { verifies } from '../support/verifies.ts';

const LIVE = 6;
const IN_FLIGHT = 64;
const MB = 1024 * 1024;
const key = 'agent:main:busy';
const title = 'x'.repeat(512);

test('readers that stop reading slow nobody, cost little, and catch up, are closed with 1008, or resume', async (t) => {
  verifies('R08', 'R05');
  await using world = await openChaosWorld('sqlite');
  // A heap that is kept small, so that what grows is what waits for somebody.
  const gateway = await world.start({ env: { NODE_OPTIONS: '--max-old-space-size=64 --max-semi-space-size=2' } });
  const writer = await openLink(gateway);
  await writer.request('sessions.create', { key, idempotencyKey: 'create' });
  const chronicle = new Chronicle();
  const live = Array.from({ length: LIVE }, (_, n) => new Observer(chronicle, `127.0.2.${n + 1}`));
  const [catchesUp, readsTooLate, comesBack] = [1, 2, 3].map((n) => new Observer(chronicle, `127.0.3.${n}`)) as [
    Observer,
    Observer,
    Observer,
  ];
  const slow = [catchesUp, readsTooLate, comesBack];
  await Promise.all([...live, ...slow].map((observer) => observer.connect(gateway)));

  let head = 1;
  const delays: number[] = [];
  let rssMost = 0;
  /** Writes some, and waits until every reader that reads has them. */
  async function write(): Promise<void> {
    const startedAt = performance.now();
    const batch = Array.from({ length: IN_FLIGHT }, (_, n) =>
      writer.request('sessions.patch', { key, idempotencyKey: `k${head + n}`, title }),
    );
    for (const outcome of await Promise.all(batch)) assert.equal(outcome.kind, 'answered');
    head += IN_FLIGHT;
    await Promise.all(live.map((observer) => observer.reach(head)));
    delays.push(performance.now() - startedAt);
    rssMost = Math.max(rssMost, residentBytes(gateway));
  }

  // The same load without anybody slow: what it costs by itself, heap and caches, is not theirs.
  for (let warm = 0; warm < 100; warm++) await write();
  await Promise.all(slow.map((observer) => observer.reach(head)));
  const rssBefore = rssMost;
  const positionBefore = comesBack.position;
  for (const observer of slow) observer.pause();

  while ((await metric(gateway, 'tenon_slow_clients_total')) < slow.length) await write();
  const keptForEach = ((head - positionBefore) * 850) / MB;
  catchesUp.resume();
  await catchesUp.reach(head);

  const startedAt = performance.now();
  while ((await closings(writer)) < 1) await write();
  const tookMs = performance.now() - startedAt;
  // Either may be the first; it reads again while the reason still waits for it.
  for (const observer of [readsTooLate, comesBack]) observer.resume();
  assert.deepEqual(await Promise.race([readsTooLate.closed, comesBack.closed]), { code: 1008, reason: 'slow consumer' });

  await comesBack.cut();
  await comesBack.connect(gateway);
  await comesBack.reach(head);
  assert.ok(comesBack.resumes + comesBack.snapshots === 1, 'it was replayed everything, or told once that it cannot be');

  const p99 = delays.sort((a, b) => a - b)[Math.floor(delays.length * 0.99)]!;
  const grown = (rssMost - rssBefore) / MB;
  t.diagnostic(
    `${head} events; ${keptForEach.toFixed(1)} MB until slow; closed after ${tookMs.toFixed(0)} ms; ` +
      `from ${IN_FLIGHT} writes to the last live reader p99 ${p99.toFixed(0)} ms; memory +${grown.toFixed(0)} MB`,
  );
  assert.ok(grown < 64, `memory grew by ${grown} MB`);
  for (const observer of live) assert.equal(observer.received, head - 1, 'a live reader got everything once');
  await catchesUp.reach(head);
  assert.equal(catchesUp.received, head - 1, 'who reads again in time gets everything once, too');
});

async function metric(gateway: GatewayProcess, name: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${gateway.token}` } })).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

/** How many clients the gateway has lost its patience with. */
async function closings(link: Link): Promise<number> {
  const tail = await link.request('logs.tail', { level: 'warn', limit: 500 });
  assert.ok(tail.kind === 'answered', JSON.stringify(tail));
  return JSON.stringify(tail.payload).split('closing a client that is too slow').length - 1;
}

/** Without what is mapped from the store's file: the system takes that back when it needs it. */
function residentBytes({ pid }: GatewayProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
