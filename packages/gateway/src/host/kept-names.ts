// Names that all plugins share, of plugins that are meant to be there and are not loaded. What each plugin has while it is loaded
// is written down, so that its names stay its own after a restart, too: whoever can make a plugin fail, or change its files,
// must not get its commands and tools by that.
import type { Log } from '../kernel/log.ts';
import type { PluginSettings } from '../store/plugins.ts';
import type { Store } from '../store/store.ts';
import type { ContributionRegistry } from './contribution-registry.ts';

export interface KeptNames {
  /** What the store has. */
  read(settings: readonly PluginSettings[]): void;
  /** Writes down the names of those that are loaded, and keeps those of the ones that are wanted and are not. */
  keep(plugins: Plugins): Promise<void>;
  /** Those of the loaded ones that have names of one that is not loaded: they were first, and lose them when they are loaded anew. */
  takers(plugins: Plugins): readonly string[];
}

interface Plugins {
  readonly wanted: ReadonlySet<string>;
  readonly loaded: readonly string[];
}

export function createKeptNames(store: Store, registry: ContributionRegistry, log: Log): KeptNames {
  let kept = new Map<string, readonly string[]>();

  async function write(pluginId: string, names: readonly string[]): Promise<void> {
    if (names.join('\n') === (kept.get(pluginId) ?? []).join('\n')) return;
    kept.set(pluginId, names);
    // What it is for comes later: a store that is full now keeps nobody from switching something off.
    await store
      .write('plugins.keepNames', { pluginId, names })
      .catch((error: unknown) => log.error({ error, plugin: pluginId }, 'the names of a plugin could not be written down'));
  }

  /** Gives the names that are kept. */
  function reserve({ wanted, loaded }: Plugins): ReadonlySet<string> {
    const absent = [...wanted].filter((id) => !loaded.includes(id));
    for (const id of kept.keys()) registry.reserve(id, absent.includes(id) ? (kept.get(id) ?? []) : []);
    return new Set(absent.flatMap((id) => kept.get(id) ?? []));
  }

  return {
    read(settings) {
      kept = new Map(settings.map(({ pluginId, names = [] }) => [pluginId, names]));
    },
    async keep(plugins) {
      const { wanted, loaded } = plugins;
      for (const id of loaded) await write(id, registry.namesOf(id));
      for (const id of kept.keys()) if (!wanted.has(id)) await write(id, []);
      reserve(plugins);
    },
    takers(plugins) {
      const theirs = reserve(plugins);
      return plugins.loaded.filter((id) => registry.namesOf(id).some((name) => theirs.has(name) && !kept.get(id)?.includes(name)));
    },
  };
}
