// Tells plugins what is over: a session that was reset or deleted, or they themselves. What is durable is removed before;
// then session extensions are told, then lifecycles. One that fails or hangs keeps nobody else from being told.
import type { CleanupReason, Lifecycle, SessionExtension } from '@tenon/plugin-sdk';
import type { PluginCaller } from './call-plugin.ts';
import type { PluginScope } from './plugin-scope.ts';
import type { ContributionRegistry, RegisteredItem } from './contribution-registry.ts';

export interface CleanupResult {
  readonly cleanupCount: number;
  readonly failures: readonly { readonly pluginId: string; readonly hookId: string; readonly error: string }[];
}

export const CLEANUP_TIMEOUT_MS = 5_000;

interface Told {
  readonly plugin: string;
  readonly scope: PluginScope;
  readonly hookId: string;
  readonly cleanup: NonNullable<Lifecycle['cleanup']>;
}

/** Who is to be told, of one plugin or of all. Taken before a load ends, because its items are gone after. */
export function cleanupsOf(registry: ContributionRegistry, plugin?: string): readonly Told[] {
  const told = (kind: 'sessionExtension' | 'lifecycle', prefix: string): Told[] =>
    (registry.all(kind) as readonly RegisteredItem<'sessionExtension' | 'lifecycle'>[])
      .filter((each) => plugin === undefined || each.plugin === plugin)
      .flatMap(({ plugin: owner, generation, key, item }) => {
        const { cleanup } = item as SessionExtension | Lifecycle;
        return cleanup ? [{ plugin: owner, scope: { plugin: owner, generation }, hookId: `${prefix}:${key}`, cleanup }] : [];
      });
  return [...told('sessionExtension', 'session'), ...told('lifecycle', 'runtime')];
}

export async function runCleanups(
  told: readonly Told[],
  context: { readonly reason: CleanupReason; readonly sessionKey?: string },
  caller: PluginCaller,
): Promise<CleanupResult> {
  const failures: { pluginId: string; hookId: string; error: string }[] = [];
  for (const { plugin, scope, hookId, cleanup } of told) {
    const answer = await caller.call(
      { plugin, place: 'cleanup', timeoutMs: CLEANUP_TIMEOUT_MS, scope },
      (given: typeof context) => cleanup(given),
      Object.freeze({ ...context }),
      () => ({ value: undefined }),
    );
    if (!answer.ok) failures.push({ pluginId: plugin, hookId, error: answer.message });
  }
  return { cleanupCount: told.length, failures };
}
