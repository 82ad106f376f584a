// The background services of one load: started in the order in which they were registered, stopped in reverse, each within
// its time. A service that does not start is told of and does not keep the others from it.
import type { Service } from '@tenon/plugin-sdk';
import { placed, type PluginCaller } from './call-plugin.ts';
import type { PluginLoad } from './plugin-load.ts';

export interface ServiceState {
  readonly id: string;
  readonly state: 'starting' | 'running' | 'failed' | 'stopped';
  readonly reason?: string;
}

export interface PluginServices {
  readonly states: readonly ServiceState[];
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createPluginServices(
  load: PluginLoad,
  services: readonly Service[],
  caller: PluginCaller,
  logger: Parameters<Service['start']>[0]['logger'],
): PluginServices {
  const { plugin } = load.facts;
  const states = new Map<string, ServiceState>();
  const nothing = () => ({ value: undefined });

  async function start(service: Service): Promise<void> {
    const { id } = service;
    states.set(id, { id, state: 'starting' });
    const answer = await caller.call(
      { ...placed(plugin, 'service.start'), scope: load.facts },
      (context: Parameters<Service['start']>[0]) => service.start(context),
      { signal: load.signal, logger },
      nothing,
    );
    states.set(id, answer.ok ? { id, state: 'running' } : { id, state: 'failed', reason: answer.message });
  }

  return {
    get states() {
      return [...states.values()];
    },
    async start() {
      for (const service of services) if (load.isLive) await start(service);
    },
    async stop() {
      for (const service of [...services].reverse()) {
        const { id } = service;
        // Also one that did not say that it has started: it may have begun all the same.
        if (!states.has(id) || states.get(id)?.state === 'stopped') continue;
        if (service.stop) {
          await caller.call({ ...placed(plugin, 'service.stop'), scope: load.facts }, () => service.stop?.(), undefined, nothing);
        }
        states.set(id, { id, state: 'stopped' });
      }
    },
  };
}
