// Follows the commits of the store: what runs and sessions that are over leave behind in plugins is cleaned up after. One
// clean-up runs after another, and only so many may wait.
import type { Log } from '../kernel/log.ts';
import { createLanes } from '../kernel/lane.ts';
import type { StoredEvent } from '../store/stream.ts';
import type { ActiveTools } from './active-tools.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import { type CleanUp, cleanupsOf } from './plugin-cleanup.ts';
import type { RunContexts } from './run-context.ts';

export interface SessionEnds {
  committed(batch: readonly StoredEvent[]): void;
  /** Waits until clean-up that `committed` began is done. */
  settled(): Promise<void>;
}

const MAX_WAITING_CLEANUPS = 1_000;

interface Deps {
  readonly registry: ContributionRegistry;
  readonly cleanUp: CleanUp;
  readonly runContexts: RunContexts;
  readonly activeTools: Pick<ActiveTools, 'forgetSession'>;
  readonly log: Log;
}

export function createSessionEnds({ registry, cleanUp, runContexts, activeTools, log }: Deps): SessionEnds {
  const lanes = createLanes();
  let waitingCleanups = 0;

  function sessionEnded(sessionKey: string, reason: 'reset' | 'delete'): void {
    activeTools.forgetSession(sessionKey);
    if (cleanupsOf(registry, { sessionKey }).length === 0) return;
    if (waitingCleanups >= MAX_WAITING_CLEANUPS) {
      log.error({ sessionKey, reason }, 'plugins are not told that a session is over: too many wait to be told');
      return;
    }
    waitingCleanups++;
    void lanes
      .run('cleanups', async () => {
        // Those that are loaded when it is their turn: an older load has been told that it goes, and must not be told more.
        await cleanUp.run({ reason, sessionKey, told: cleanupsOf(registry, { sessionKey }) });
      })
      .finally(() => waitingCleanups--);
  }

  return {
    committed(batch) {
      for (const event of batch) {
        const over = overIn(event);
        if (over?.kind === 'run') runContexts.ended(over.runId);
        else if (over) sessionEnded(over.sessionKey, over.kind);
      }
    },
    settled: () => lanes.run('cleanups', () => Promise.resolve()),
  };
}

type Over = { readonly kind: 'run'; readonly runId: string } | { readonly kind: 'reset' | 'delete'; readonly sessionKey: string };

/** What an event of the store says to be over. */
function overIn({ event, payload, sessionKey }: StoredEvent): Over | undefined {
  if (event === 'chat') {
    if (!payload.includes('"ended"')) return undefined;
    const { kind, runId } = JSON.parse(payload) as { kind: string; runId?: string };
    return kind === 'ended' && runId !== undefined ? { kind: 'run', runId } : undefined;
  }
  if (event !== 'sessions.changed' || sessionKey === null) return undefined;
  const { reason } = JSON.parse(payload) as { reason: string };
  return reason === 'reset' || reason === 'delete' ? { kind: reason, sessionKey } : undefined;
}
