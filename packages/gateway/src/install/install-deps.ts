// What installing needs of the world, passed in so that a test can be the world.
import type { spawn } from 'node:child_process';
import type { InstalledVersion, LockedExtension } from '../host/sep/find/extension-lock.ts';
import type { Clock } from '../kernel/clock.ts';

/** How far it is: what is being done, and of how much. */
export interface Step {
  readonly doing: string;
  readonly done?: number;
  readonly total?: number;
  readonly unit?: 'bytes' | 'files';
}

export interface InstallDeps {
  readonly home: string;
  readonly cwd: string;
  readonly uid: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly spawn: typeof spawn;
  /** Of packages; empty: as npm is set up. */
  readonly registry: string;
  readonly signal: AbortSignal;
  readonly report: (step: Step) => void;
}

export interface FetchDeps extends InstallDeps {
  /** What is installed already. */
  readonly known: readonly LockedExtension[];
}

/** Where exactly files came from. */
export type Origin = Pick<InstalledVersion, 'source' | 'resolved' | 'integrity' | 'commit'>;
