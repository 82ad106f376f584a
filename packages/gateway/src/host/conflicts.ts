// Two plugins that change the same thing: who wins is said in the tables, and that they disagree is said here. Every conflict
// is counted; each pair is logged once, because it tends to come with every call.
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';

export interface Conflict {
  /** The hook, or another seam. */
  readonly place: string;
  readonly field: string;
  /** Who had set it, and who wanted it otherwise. */
  readonly plugins: readonly [string, string];
  /** Whose stands. */
  readonly kept: string;
  readonly sessionKey?: string;
  readonly runId?: string;
}

export type ReportConflict = (conflict: Conflict) => void;

const MAX_LOGGED = 1_000;

export function createConflictReport({ log, metrics }: { readonly log: Log; readonly metrics: Metrics }): ReportConflict {
  metrics.describe('tenon_plugin_conflicts_total', 'Times that two plugins changed the same field, by place, field and whose stands.');
  const logged = new Set<string>();
  return (conflict) => {
    const { place, field, plugins, kept } = conflict;
    metrics.count('tenon_plugin_conflicts_total', { place, kept });
    const pair = JSON.stringify([place, field, plugins, kept]);
    if (logged.has(pair) || logged.size >= MAX_LOGGED) return;
    logged.add(pair);
    log.warn(conflict, `two plugins change the same field; that of ${kept} stands`);
  };
}

/** In words, for whoever looks at how one call went. */
export function textOf({ field, plugins: [first, second], kept }: Pick<Conflict, 'field' | 'plugins' | 'kept'>): string {
  return `${first} had set ${field} and ${second} wanted it otherwise; that of ${kept} stands`;
}

/** Follows who has set what, over the answers to one question. */
export class Rewrites {
  readonly #setBy = new Map<string, string>();
  readonly #report: (conflict: Pick<Conflict, 'field' | 'plugins' | 'kept'>) => void;

  constructor(report: (conflict: Pick<Conflict, 'field' | 'plugins' | 'kept'>) => void) {
    this.#report = report;
  }

  /** A plugin wants a field to be this; before and after its answer was taken the field is as it is. */
  note(plugin: string, field: string, wanted: unknown, before: unknown, after: unknown): void {
    const owner = this.#setBy.get(field);
    if (owner !== undefined && owner !== plugin && !isDeepStrictEqual(wanted, before) && !goesOn(wanted, before)) {
      this.#report({ field, plugins: [owner, plugin], kept: isDeepStrictEqual(after, before) ? owner : plugin });
    }
    if (after !== before) this.#setBy.set(field, plugin);
  }
}

/** A text that has the earlier one inside takes nothing away. */
function goesOn(wanted: unknown, before: unknown): boolean {
  return typeof wanted === 'string' && typeof before === 'string' && wanted.includes(before);
}
