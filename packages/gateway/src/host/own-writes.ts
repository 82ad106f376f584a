// What a handler has changed by itself while it was asked: an action may update its state and then return a patch of the same
// state, and must not stand in its own way. Everything that a handler begins runs under the same mark, also across waits.
import { AsyncLocalStorage } from 'node:async_hooks';

export interface OwnWrites {
  /** The revision that the last own write to a namespace of this session left. */
  readonly revisions: ReadonlyMap<string, number>;
  /** Whether it has changed anything at all, here or elsewhere: to ask it again would do that twice. */
  readonly hasWritten: boolean;
  /** Whether something of it is for the next turn. */
  readonly hasQueued: boolean;
}

interface Noted {
  readonly plugin: string;
  readonly sessionKey: string;
  revisions: Map<string, number>;
  hasWritten: boolean;
  hasQueued: boolean;
}

const asked = new AsyncLocalStorage<Noted>();
/** Most calls write nothing. */
const NONE: Map<string, number> = new Map();

/** Runs a call of a plugin and notes what it writes. */
export async function notingWrites<Result>(
  plugin: string,
  sessionKey: string,
  call: () => Promise<Result> | Result,
): Promise<{ readonly result: Result; readonly own: OwnWrites }> {
  const own: Noted = { plugin, sessionKey, revisions: NONE, hasWritten: false, hasQueued: false };
  const result = await asked.run(own, call);
  return { result, own };
}

/** A plugin has written state. */
export function noteState(plugin: string, sessionKey: string, namespace: string, revision: number): void {
  const own = notedOf(plugin);
  if (!own) return;
  own.hasWritten = true;
  if (own.sessionKey !== sessionKey) return;
  if (own.revisions === NONE) own.revisions = new Map();
  own.revisions.set(namespace, revision);
}

/** A plugin has queued something for the next turn. */
export function noteQueued(plugin: string, sessionKey: string): void {
  const own = notedOf(plugin);
  if (!own) return;
  own.hasWritten = true;
  own.hasQueued ||= own.sessionKey === sessionKey;
}

function notedOf(plugin: string): Noted | undefined {
  const own = asked.getStore();
  return own?.plugin === plugin ? own : undefined;
}
