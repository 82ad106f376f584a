// Whether people can write to a session now. A control of a plugin that waits for a decision may close the composer while it is
// active; pages and the command line show that, and here it is enforced for every way in. Commands are no messages: they are
// how people decide. Who must say something all the same says so.
import { composerOf, GatewayError } from '@tenon/protocol';
import type { Store } from '../store/store.ts';
import { projectionsOf } from './plugin-sessions.ts';
import type { PluginParts } from './plugin-tools.ts';

export interface Composer {
  /** Whether any plugin ever closes it: if none does, nothing need be asked. */
  mayBeClosed(): boolean;
  /** Throws GatewayError with the code INPUT_SUPPRESSED. */
  requireOpen(sessionKey: string): Promise<void>;
}

export function createComposer({ store, plugins }: { readonly store: Store; readonly plugins: () => PluginParts | undefined }): Composer {
  return {
    mayBeClosed: () => closersOf(plugins()).length > 0,
    async requireOpen(sessionKey) {
      const parts = plugins();
      const closers = closersOf(parts);
      if (!parts || closers.length === 0) return;
      const closed = composerOf(closers, await projectionsOf(sessionKey, store, parts));
      if (!closed) return;
      const { pluginId, descriptorId, mode, reason } = closed;
      const name = parts.get(pluginId)?.name ?? pluginId;
      throw new GatewayError(
        'CONFLICT',
        `${name} waits for a decision, and no message is taken: ${reason}. Decide, or send it with override`,
        {
          details: { code: 'INPUT_SUPPRESSED', pluginId, descriptorId, mode, reason },
        },
      );
    },
  };
}

function closersOf(plugins: PluginParts | undefined) {
  if (!plugins) return [];
  return plugins.registry.all('uiDescriptor').flatMap(({ plugin, item, isLive }) => {
    const closes = item.composer !== undefined && item.composer.mode !== 'normal';
    return closes && isLive && plugins.holds(plugin, 'ui.descriptors') ? [{ ...item, pluginId: plugin }] : [];
  });
}
