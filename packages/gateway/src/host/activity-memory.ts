// The memory that the thread of the gateway writes and the watchdog reads: whole numbers first, times after them.

/** Places of whole numbers: slots of what runs, ran last and is being loaded (0 is nobody), and the beat of the loop. */
export const CELL = { running: 0, last: 1, loading: 2, beat: 3 } as const;
/** Places of times, in milliseconds of the writer's monotonic clock. */
export const TIME = { began: 0 } as const;

const CELL_BYTES = 16;

export function createMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(CELL_BYTES + 8);
}

export function viewsOf(memory: SharedArrayBuffer): { readonly cells: Int32Array; readonly times: Float64Array } {
  return { cells: new Int32Array(memory, 0, CELL_BYTES / 4), times: new Float64Array(memory, CELL_BYTES) };
}

/** A number that stands for a plugin and a place. */
export interface PlaceName {
  readonly slot: number;
  readonly plugin: string;
  readonly place: string;
}

/** What the watchdog is started with. */
export interface WatchData {
  readonly memory: SharedArrayBuffer;
  /** When the monotonic clock of the writer began, since 1970. */
  readonly origin: number;
  readonly blockedAfterMs: number;
  readonly logFile: string;
  readonly markFile: string;
}

export type ToWatchdog =
  | ({ readonly kind: 'name' } & PlaceName)
  /** Code in this folder is this plugin's. */
  | { readonly kind: 'folder'; readonly plugin: string; readonly folder: string };

/** Who blocks, as far as it can be told, and for how long by now. */
export interface Blocked {
  readonly at: number;
  readonly forMs: number;
  /** Without it, nobody can say whose code it is. */
  readonly plugin?: string;
  /** A place where plugins are called, or in words where it is outside of a call. */
  readonly place: string;
  /** File and line in the folder of the plugin. */
  readonly code?: string;
  /** Whoever was called last, where nobody is called now. */
  readonly lastCalled?: string;
}

export type FromWatchdog = { readonly kind: 'up' } | ({ readonly kind: 'blocked' } & Blocked);

/** What is left in the home folder while the loop is stuck. */
export interface BlockedMark extends Blocked {
  readonly pid: number;
}
