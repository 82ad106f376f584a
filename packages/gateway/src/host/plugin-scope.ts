// Whose code runs. Code of a plugin runs in an asynchronous context that names its load, and so does everything that it starts
// from there: timers, promises, sockets, listeners. Where something is thrown that nobody waits for, it is known who it was.
import { AsyncLocalStorage } from 'node:async_hooks';

/** One load of a plugin. */
export interface PluginScope {
  readonly plugin: string;
  readonly generation: number;
}

const scopes = new AsyncLocalStorage<PluginScope | undefined>();

/** Runs it as code of that load. */
export function runAsPlugin<Args extends unknown[], Result>(scope: PluginScope, code: (...args: Args) => Result, ...args: Args): Result {
  return scopes.run(scope, code, ...args);
}

/** Runs it as code of the gateway: what a plugin asks for is done by the gateway, and is the gateway's to answer for. */
export function runAsHost<Args extends unknown[], Result>(code: (...args: Args) => Result, ...args: Args): Result {
  return scopes.run(undefined, code, ...args);
}

/** The load whose code runs now; undefined for code of the gateway. */
export function scopeNow(): PluginScope | undefined {
  return scopes.getStore();
}
