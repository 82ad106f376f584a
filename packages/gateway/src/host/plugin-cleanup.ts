// Everything that is cleaned up after a session that was reset or deleted, and after a plugin that goes: what is removed, who
// is told and in which order stand here and nowhere else. What is durable of a session goes in the commit that ends it; of a
// plugin that is switched off, before anybody is told.
import type { CleanupReason, Lifecycle, SchedulerJob } from '@tenon/plugin-sdk';
import type { Log } from '../kernel/log.ts';
import { placed, type PluginCaller } from './call-plugin.ts';
import type { PluginScope } from './plugin-scope.ts';
import type { ContributionRegistry, RegisteredItem } from './contribution-registry.ts';
import type { RunContexts } from './run-context.ts';

export interface CleanupResult {
  readonly cleanupCount: number;
  readonly failures: readonly Failure[];
}

interface Failure {
  readonly pluginId: string;
  readonly hookId: string;
  readonly error: string;
}

interface Told {
  readonly plugin: string;
  readonly scope: PluginScope;
  readonly kind: ToldKind;
  readonly key: string;
  readonly item: object;
  readonly cleanup: NonNullable<Lifecycle['cleanup']>;
}

/** Who is told, in this order, and by which word it is called in a failure. */
const toldKinds = { sessionExtension: 'session', lifecycle: 'runtime', schedulerJob: 'scheduler' } as const;
type ToldKind = keyof typeof toldKinds;

/** Records of jobs whose clean-up is done: each is cleaned up once. One that failed is tried again. */
const cleanedJobs = new WeakSet<object>();

export interface Whose {
  readonly plugin?: string;
  /** Jobs of other sessions go on. */
  readonly sessionKey?: string;
}

/** Who is to be told. Taken before a load ends, because its items are gone after. */
export function cleanupsOf(registry: ContributionRegistry, { plugin, sessionKey }: Whose = {}): readonly Told[] {
  const isOver = (item: SchedulerJob) => !cleanedJobs.has(item) && (sessionKey === undefined || item.sessionKey === sessionKey);
  return (Object.keys(toldKinds) as ToldKind[]).flatMap((kind) =>
    (registry.all(kind) as readonly RegisteredItem<ToldKind>[])
      .filter((each) => plugin === undefined || each.plugin === plugin)
      .filter(({ item }) => kind !== 'schedulerJob' || isOver(item as SchedulerJob))
      .flatMap(({ plugin: owner, generation, key, item }) => {
        const { cleanup } = item;
        return cleanup ? [{ plugin: owner, scope: { plugin: owner, generation }, kind, key, item, cleanup }] : [];
      }),
  );
}

/** Those of a load that was replaced, without jobs that the new one has, too: they go on. */
export function withoutKept(told: readonly Told[], registry: ContributionRegistry): readonly Told[] {
  return told.filter(({ plugin, kind, key }) => kind !== 'schedulerJob' || !registry.find(kind, plugin, key));
}

export interface CleanUp {
  /** Without `removeState`, what is durable went with the session, or stays. Never rejects; what fails is in the log. */
  run(over: Over): Promise<CleanupResult>;
}

export interface Over {
  readonly reason: CleanupReason;
  readonly sessionKey?: string;
  /** The plugin that goes for good. */
  readonly disabled?: string;
  readonly told: readonly Told[];
  readonly removeState?: (() => Promise<void>) | undefined;
}

interface CleanUpDeps {
  readonly caller: PluginCaller;
  readonly runContexts: Pick<RunContexts, 'forget'>;
  readonly log: Log;
}

/**
 * The order of every clean-up: what is durable, then session extensions, lifecycles, jobs, then what is in memory. One that
 * fails or hangs keeps nothing after it from being done; those of one kind are told together, so that many that hang take as
 * long as one.
 */
export function createCleanUp({ caller, runContexts, log }: CleanUpDeps): CleanUp {
  async function tell({ plugin, scope, kind, key, item, cleanup }: Told, context: object): Promise<Failure[]> {
    const answer = await caller.call(
      { ...placed(plugin, 'cleanup'), scope },
      (given: Parameters<typeof cleanup>[0]) => cleanup(given),
      Object.freeze({ ...context }) as Parameters<typeof cleanup>[0],
      () => ({ value: undefined }),
    );
    if (!answer.ok) return [{ pluginId: plugin, hookId: `${toldKinds[kind]}:${key}`, error: answer.message }];
    if (kind === 'schedulerJob') cleanedJobs.add(item);
    return [];
  }

  return {
    async run({ reason, sessionKey, disabled, told, removeState }) {
      const failures: Failure[] = [];
      try {
        await removeState?.();
      } catch (error) {
        const text = error instanceof Error ? error.message : 'something was thrown';
        failures.push({ pluginId: disabled ?? '', hookId: 'session-store', error: text });
      }
      const context = { reason, ...(sessionKey === undefined ? {} : { sessionKey }) };
      for (const kind of Object.keys(toldKinds)) {
        const those = told.filter((each) => each.kind === kind);
        failures.push(...(await Promise.all(those.map((each) => tell(each, context)))).flat());
      }
      if (disabled !== undefined) runContexts.forget(disabled);
      for (const failure of failures) log.warn({ ...failure, ...context }, 'clean-up of a plugin failed');
      return { cleanupCount: told.length, failures };
    },
  };
}
