// A real gateway with plugins that were written for one test, and an operator who watches: what plugins do in the process of
// the gateway is seen from outside.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { PluginDetails } from '@tenon/protocol';
import { type GatewayProcess, startGatewayProcess, temporaryHome } from './gateway.ts';
import { type PluginSource, writePlugin } from './plugins.ts';
import { connectRaw, type Frame, type RawClient } from './raw-client.ts';

export interface HostileWorld extends AsyncDisposable {
  readonly home: string;
  readonly gateway: GatewayProcess;
  readonly operator: RawClient;
  /** Throws where it is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into the results of every method
  ask(method: string, params?: unknown): Promise<any>;
  /** The method `do` of the plugin: `kinds` of its source says what it can. */
  poke(plugin: string, params?: unknown): Promise<Frame>;
  plugin(id: string): Promise<PluginDetails>;
  /** Asks again and again until it fits. */
  until(id: string, fits: (plugin: PluginDetails) => boolean): Promise<PluginDetails>;
  /** One message, answered by the demo model; resolves when the turn has ended. */
  say(message: string, sessionKey?: string): Promise<{ readonly end: { readonly kind: string } }>;
  /** Kills it and starts it again in the same home. */
  restart(): Promise<void>;
  rewrite(source: PluginSource): void;
}

const GIVEN_UP_MS = 60_000;
const ASKED_EVERY_MS = 10;

/** A plugin whose method `do` runs `body`, with `params`, `api` and `note`. */
export function doer(
  id: string,
  body: string,
  more: { readonly grants?: readonly string[]; readonly register?: string } = {},
): PluginSource {
  return {
    id,
    grants: ['gateway.methods', ...(more.grants ?? [])],
    register: `${more.register ?? ''}
      api.registerGatewayMethod({ name: 'do', handler: async (params) => { ${body} ; return null; } });`,
  };
}

export async function openHostile(
  sources: readonly PluginSource[],
  options: { readonly config?: string; readonly args?: readonly string[] } = {},
): Promise<HostileWorld> {
  const home = temporaryHome();
  const place = join(home, 'plugins');
  mkdirSync(place, { mode: 0o755 });
  for (const source of sources) writePlugin(place, source);
  const start = () =>
    startGatewayProcess({
      home,
      config: `[plugins]\npaths = ["plugins"]\n${options.config ?? ''}`,
      ...(options.args ? { args: options.args } : {}),
    });
  let gateway = await start();
  let operator = await connectRaw(gateway.socketUrl, gateway.token);

  async function ask(method: string, params: unknown = {}) {
    const { ok, payload, error } = await operator.request(method, params);
    if (!ok) throw Object.assign(new Error(`${method}: ${JSON.stringify(error)}`), { error });
    return payload;
  }
  const plugin = async (id: string) => (await ask('plugins.get', { id })).plugin as PluginDetails;

  let runs = 0;
  const world: HostileWorld = {
    home,
    get gateway() {
      return gateway;
    },
    get operator() {
      return operator;
    },
    ask,
    plugin,
    poke: (id, params = {}) => operator.request(`plugin.${id}.do`, params),
    async until(id, fits) {
      for (const deadline = Date.now() + GIVEN_UP_MS; Date.now() < deadline; await pause(ASKED_EVERY_MS)) {
        const now = await plugin(id);
        if (fits(now)) return now;
      }
      throw new Error(`it never came to be: ${JSON.stringify(await plugin(id))}`);
    },
    async say(message, sessionKey = 'agent:main:main') {
      const { runId } = await ask('chat.send', { sessionKey, message, idempotencyKey: `run-${++runs}` });
      return ask('agent.wait', { runId, timeoutMs: 60_000 });
    },
    async restart() {
      await operator.close();
      await gateway.kill();
      gateway = await start();
      operator = await connectRaw(gateway.socketUrl, gateway.token);
    },
    rewrite: (source) => void writePlugin(place, source),
    async [Symbol.asyncDispose]() {
      await operator.close();
      await gateway.remove();
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  try {
    for (const { id } of sources) await ask('plugins.enable', { id });
  } catch (error) {
    await world[Symbol.asyncDispose]();
    throw error;
  }
  return world;
}
