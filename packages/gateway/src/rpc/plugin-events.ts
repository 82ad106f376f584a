// What the plugin host tells clients, and by which event.
import type { PluginHostOptions } from '../host/plugin-host.ts';
import type { EventHub } from './events.ts';

export function tellClients(hub: EventHub, said: PluginHostOptions['publish']['said']): PluginHostOptions['publish'] {
  return {
    changed: (payload) => hub.publish('plugins.changed', payload),
    event: (event) => hub.publishOwn(event),
    said,
  };
}
