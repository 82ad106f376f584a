// The time that the hooks of one turn may take, all handlers added up. When it is used up, handlers whose hook can do without
// them are not asked for the rest of the turn; those that guard something are. The budget is a local of the turn.
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { CallCounts } from './call-counts.ts';
import type { PluginPlace } from './call-plugin.ts';

export interface HookBudget {
  readonly isSpent: boolean;
  spend(plugin: string, ms: number): void;
  /** This handler is not asked because nothing is left. */
  skip(where: PluginPlace): void;
}

export interface BudgetDeps {
  /** 0: as long as they take. */
  readonly limitMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly counts: Pick<CallCounts, 'skipped'>;
}

export const SKIPPED = 'the hooks of this turn have used up their time';

export function createHookBudget(deps: BudgetDeps, about: { readonly runId: string; readonly sessionKey: string }): HookBudget {
  const { limitMs, log, metrics, counts } = deps;
  const spentBy = new Map<string, number>();
  let spentMs = 0;
  let isTold = false;
  return {
    get isSpent() {
      return limitMs > 0 && spentMs >= limitMs;
    },
    spend(plugin, ms) {
      spentMs += ms;
      spentBy.set(plugin, (spentBy.get(plugin) ?? 0) + ms);
    },
    skip(where) {
      const { plugin, place } = where;
      metrics.count('tenon_plugin_hooks_skipped_total', { plugin, place });
      counts.skipped(where);
      if (isTold) return;
      isTold = true;
      const byPlugin = Object.fromEntries([...spentBy].map(([id, ms]) => [id, Math.round(ms)]));
      log.warn({ ...about, limitMs, spentMs: Math.round(spentMs), byPlugin, plugin, place }, `handlers are skipped: ${SKIPPED}`);
    },
  };
}
