// Is the gateway well? One entry per part that is not; every change is announced.
import type { Health } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';

export interface HealthBoard {
  /** What is wrong with a part; undefined when nothing. */
  set(part: string, reason: string | undefined): void;
  snapshot(): Health;
  readonly ok: boolean;
  readonly version: number;
}

export function createHealthBoard(deps: { clock: Clock; startedAt: number; onChange: (health: Health) => void }): HealthBoard {
  const problems = new Map<string, { reason: string; since: number }>();
  let version = 0;
  const board: HealthBoard = {
    set(part, reason) {
      const before = problems.get(part);
      if (before?.reason === reason) return;
      if (reason === undefined) problems.delete(part);
      else problems.set(part, { reason, since: before?.since ?? deps.clock.now() });
      version++;
      deps.onChange(board.snapshot());
    },
    snapshot() {
      const ts = deps.clock.now();
      const base = { ok: problems.size === 0, ts, uptimeMs: Math.max(0, Math.round(deps.clock.monotonic() - deps.startedAt)) };
      if (problems.size === 0) return base;
      return { ...base, problems: [...problems].map(([part, problem]) => ({ part, ...problem })) };
    },
    get ok() {
      return problems.size === 0;
    },
    get version() {
      return version;
    },
  };
  return board;
}
