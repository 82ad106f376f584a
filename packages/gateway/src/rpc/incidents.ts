// What was refused at the door: one audit record when it starts, one with the count when it has gone on. A flood of
// attempts must not become a flood of records.
import type { Clock, Timer } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { AuditEntry } from '../store/audit.ts';
import type { JsonValue } from '@tenon/protocol';

export interface Incidents {
  record(kind: string, address: string, details?: JsonValue): void;
  close(): void;
}

const WINDOW_MS = 60_000;
const MAX_OPEN = 200;

export function createIncidents(deps: {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  append: (entry: AuditEntry) => Promise<unknown>;
}): Incidents {
  const open = new Map<string, { repeats: number; timer: Timer }>();
  deps.metrics.describe('tenon_refused_total', 'What was refused before or besides a request, by kind.');

  function append(kind: string, address: string, details: JsonValue): void {
    deps
      .append({ actor: `address:${address}`, action: kind, target: 'gateway', details, at: deps.clock.now() })
      .catch((error: unknown) => deps.log.error({ error, kind }, 'cannot write an audit record'));
  }

  return {
    record(kind, address, details = null) {
      deps.metrics.count('tenon_refused_total', { kind });
      const wide = open.size >= MAX_OPEN && !open.has(`${kind}\n${address}`);
      const from = wide ? 'many' : address;
      const name = `${kind}\n${from}`;
      const known = open.get(name);
      if (known) {
        known.repeats++;
        return;
      }
      deps.log.warn({ kind, address, details }, 'refused');
      append(kind, from, details);
      const entry = {
        repeats: 0,
        timer: deps.clock.after(WINDOW_MS, () => {
          open.delete(name);
          if (entry.repeats > 0) append(kind, from, { repeated: entry.repeats, withinMs: WINDOW_MS });
        }),
      };
      open.set(name, entry);
    },
    close() {
      for (const { timer } of open.values()) timer.cancel();
      open.clear();
    },
  };
}
