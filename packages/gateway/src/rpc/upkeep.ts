// What has to happen again and again while the gateway runs, and what can be read off it at any time.
import { statfs } from 'node:fs/promises';
import { limits } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { Store } from '../store/store.ts';
import type { Connections } from './connections.ts';
import type { EventHub } from './events.ts';
import type { HealthBoard } from './health.ts';

const SWEEP_EVERY_MS = 10_000;
const DISK_CHECK_EVERY_MS = 2_000;
/** With the second that a check may take: a store that is away shows within two. */
const STORE_CHECK_EVERY_MS = 500;
const EXPIRY_CHECK_EVERY_MS = 500;
/** With less than this the next write may fail half way through. */
const MIN_FREE_BYTES = 1_048_576;

const KEPT = {
  answerMs: limits.answerRetentionMs.value,
  eventMs: limits.eventRetentionMs.value,
  eventCount: limits.eventRetentionCount.value,
  auditCount: limits.auditRetentionCount.value,
  credentialMs: limits.credentialRetentionMs.value,
  runMs: limits.runRetentionMs.value,
  approvalMs: limits.approvalRetentionMs.value,
  transcriptMs: limits.transcriptRetentionMs.value,
  occurrenceMs: limits.occurrenceRetentionMs.value,
  usageMs: limits.usageRetentionMs.value,
};

interface UpkeepDeps {
  readonly home: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly health: HealthBoard;
  readonly connections: Connections;
  readonly events: EventHub;
}

export function startUpkeep({ home, store, clock, log, health, connections, events }: UpkeepDeps): { stop(): void } {
  const timers = [
    clock.every(limits.tickIntervalMs.value, () => events.publish('tick', { ts: clock.now() })),
    clock.every(EXPIRY_CHECK_EVERY_MS, () => connections.expire(clock.now())),
    clock.every(SWEEP_EVERY_MS, () => void sweep()),
    clock.every(DISK_CHECK_EVERY_MS, () => void checkDisk()),
    clock.every(STORE_CHECK_EVERY_MS, () => void checkStore()),
  ];
  let checking = false;
  let probing = false;

  /** Contract: must not throw. A failure shows in the health of the store. */
  async function sweep(): Promise<void> {
    try {
      while ((await store.write('retention.sweep', { at: clock.now(), keep: KEPT })).more);
    } catch (error) {
      log.warn({ error }, 'cannot remove what is too old');
    }
  }

  /** A store that failed is tried again, so that it is well without a restart once the cause is gone. */
  async function checkDisk(): Promise<void> {
    try {
      const disk = await statfs(home);
      const free = disk.bavail * disk.bsize;
      health.set('disk', free < MIN_FREE_BYTES ? `only ${free} bytes are free` : undefined);
    } catch (error) {
      health.set('disk', `cannot be asked: ${(error as { code?: string }).code ?? 'unknown'}`);
    }
    if (health.ok || probing) return;
    // One at a time: where the database hangs, each would wait for its timeout.
    probing = true;
    await store.write('probe', { at: clock.now() }).catch(() => {});
    probing = false;
  }

  /** Whether the store is in its place and answers, without waiting for somebody to write. */
  async function checkStore(): Promise<void> {
    if (checking) return;
    checking = true;
    health.set('database', await store.check());
    checking = false;
  }

  return {
    stop() {
      for (const timer of timers) timer.cancel();
    },
  };
}

export function registerGauges(
  metrics: Metrics,
  deps: Pick<UpkeepDeps, 'store' | 'clock' | 'health' | 'connections' | 'events'> & { startedAt: number },
): void {
  const { store, clock, health, connections, events, startedAt } = deps;
  metrics.gauge('tenon_connections', 'Authenticated connections.', () => connections.size);
  metrics.gauge('tenon_events_head', 'Position of the last event.', () => events.head);
  metrics.gauge('tenon_healthy', '1 when every part is well.', () => Number(health.ok));
  metrics.gauge('tenon_store_commits', 'Commits since start.', () => store.stats.commits);
  metrics.gauge('tenon_store_operations', 'Operations since start.', () => store.stats.operations);
  metrics.gauge('tenon_store_failures', 'Operations that failed because of the disk or database.', () => store.stats.failed);
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  metrics.gauge('process_uptime_seconds', 'Seconds since start.', () => (clock.now() - startedAt) / 1000);
}
