// Plugins that are held back: a gateway that could not get past one while it loaded it comes up without it the next time, under
// a service manager by itself. It stays switched on, so what it guards stays shut, and its reason says how to try again.
import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import type { Known } from './known-plugin.ts';
import type { PluginBlocks } from './plugin-blocks.ts';

export interface PluginHolds {
  /** Before anything is loaded. */
  holdStuck(known: ReadonlyMap<string, Known>): Promise<void>;
  /** Somebody wants it loaded in spite of what it did, or wants it no more. */
  release(plugin: Known, by: string): Promise<void>;
}

export function createPluginHolds(store: Store, clock: Clock, blocks: PluginBlocks): PluginHolds {
  return {
    async holdStuck(known) {
      const stuck = blocks.stuckAtLoad();
      const plugin = stuck && known.get(stuck.plugin);
      if (!stuck || !plugin?.enabled || plugin.held !== undefined) return;
      // On record before anything else: the mark goes as soon as another one blocks the gateway for a moment.
      await store.write('plugins.hold', { pluginId: stuck.plugin, reason: stuck.reason, by: 'gateway', at: clock.now() });
      plugin.held = stuck.reason;
    },
    async release(plugin, by) {
      const { id } = plugin.found.manifest;
      blocks.seen(id);
      if (plugin.held !== undefined) await store.write('plugins.hold', { pluginId: id, by, at: clock.now() });
      plugin.held = undefined;
    },
  };
}
