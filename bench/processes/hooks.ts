// The host without a gateway around it, with real plugins that take part in a hook; and Node's own way to tell as many.
import { EventEmitter } from 'node:events';
import { definePluginEntry } from '@tenon/plugin-sdk';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import { openHostWorld, SESSION, writePlugin } from '../../test/support/plugins.ts';
import { serveJobs } from '../child.ts';
import { median } from '../rounds.ts';

const GRANT = 'hooks.intercept:before_tool_call';
const BATCH = 1_000;

interface Dispatching {
  readonly hook: (event: object) => unknown;
  readonly bare: (event: object) => unknown;
}

const opened = new Map<number, Promise<Dispatching>>();

export const jobs = {
  /** Microseconds of one dispatch with so many plugins that have nothing against it. */
  async dispatch({ plugins, side, forMs }: { plugins: number; side: 'hook' | 'bare'; forMs: number }): Promise<number> {
    let dispatching = opened.get(plugins);
    if (!dispatching) {
      dispatching = open(plugins);
      opened.set(plugins, dispatching);
    }
    const call = (await dispatching)[side];
    const startedAt = performance.now();
    let done = 0;
    while (performance.now() - startedAt < forMs) {
      for (let each = 0; each < BATCH; each++) call(eventOf(each));
      done += BATCH;
    }
    return ((performance.now() - startedAt) * 1000) / done;
  },

  /** Milliseconds from nothing to a plugin that has taken part in a turn, as a test of its author does it. */
  async testHost({ count }: { count: number }): Promise<number> {
    const taken: number[] = [];
    for (let done = 0; done < count; done++) {
      const startedAt = performance.now();
      await using host = await createTestHost(definePluginEntry({ id: 'bench', register: () => {} }));
      await host.send('hello');
      taken.push(performance.now() - startedAt);
    }
    return median(taken);
  },
};

async function open(plugins: number): Promise<Dispatching> {
  const world = await openHostWorld();
  const ids = Array.from({ length: plugins }, (_, number) => `bench-${number}`);
  for (const id of ids) writePlugin(world.place, { id, grants: [GRANT], register: `api.on('before_tool_call', () => undefined);` });
  const host = await world.open();
  for (const id of ids) await host.enable(id, { by: 'bench' });
  const taking = world.hookRegistry.handlers('before_tool_call').length;
  if (taking !== plugins) throw new Error(`${taking} plugins take part, and not ${plugins}`);
  const emitter = new EventEmitter({ captureRejections: false });
  emitter.setMaxListeners(0);
  for (const id of ids) emitter.on('event', (event: { plugin?: string }) => (event.plugin === id ? event : undefined));
  return {
    hook: (event) => world.hooks.run('before_tool_call', event as never),
    bare: (event) => emitter.emit('event', event),
  };
}

function eventOf(number: number): object {
  return {
    toolName: 'ls',
    toolCallId: `call-${number}`,
    params: { path: '.' },
    sessionKey: SESSION,
    agentId: 'main',
    runId: 'run-run-run-run-run',
  };
}

serveJobs(jobs);
