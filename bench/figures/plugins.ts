// What plugins cost: a hook with none, one and twenty of them, an action with and without something to keep, and a turn that
// is told all that can wait.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { connectRaw } from '../../test/support/raw-client.ts';
import { type GatewayProcess, temporaryHome } from '../../test/support/gateway.ts';
import { HOOK_PLUGINS } from '../budgets.ts';
import { measured } from '../rounds.ts';
import { type Group, helloFrame, OK, requestFrame, type World } from '../world.ts';
import { createSessions } from './patch.ts';
import { configOf } from './turn.ts';

const SESSIONS = 64;
const IN_FLIGHT = 64;
const PLUGIN = 'bench';

export const plugins: Group = {
  name: 'plugins',
  what: 'plugins',
  async run(world) {
    await hooks(world);
    const url = await world.model().call('url', {});
    const gateway = await startWithPlugin(world, configOf(url));
    await actions(world, gateway);
    await injections(world, gateway);
    await gateway.remove();
  },
};

async function hooks(world: World): Promise<void> {
  for (const plugins of HOOK_PLUGINS) {
    const dispatch = (side: 'hook' | 'bare') => world.hooks().call('dispatch', { plugins, side, forMs: world.turnMs });
    await dispatch('hook');
    const taken = await world.alternate({ hook: () => dispatch('hook'), bare: () => dispatch('bare') });
    world.record(`hook.${plugins}`, measured(taken.hook, taken.bare));
  }
  const hosts = await world.alternate({ host: () => world.hooks().call('testHost', { count: 5 }) });
  world.record('plugin.test-host', measured(hosts.host));
}

async function startWithPlugin(world: World, config: string): Promise<GatewayProcess> {
  const home = temporaryHome();
  cpSync(join(import.meta.dirname, '..', 'plugins'), join(home, 'plugins'), { recursive: true });
  const gateway = await world.startGateway({ home, config: `${config}\n[plugins]\npaths = ["plugins"]\n` });
  await using client = await connectRaw(gateway.socketUrl, gateway.token);
  const { ok, payload, error } = await client.request('plugins.enable', { id: PLUGIN });
  if (!ok || payload.plugin.state !== 'loaded')
    throw new Error(`the plugin is not loaded: ${error?.message ?? JSON.stringify(payload.plugin)}`);
  return gateway;
}

const actionFrame = (actionId: string) =>
  requestFrame('plugins.sessionAction', { pluginId: PLUGIN, actionId, sessionKey: 'agent:main:s{m}', payload: { number: '{n}' } });

async function actions(world: World, gateway: GatewayProcess): Promise<void> {
  const load = world.load();
  await world.connect('tenon', gateway);
  await createSessions(world, 'tenon');
  await load.call('open', { name: 'bare', url: `${await world.bareSocket()}/echo` });
  const act = async (actionId: string, inFlight: number) =>
    load.call('drive', { name: 'tenon', text: actionFrame(actionId), spread: SESSIONS, inFlight, forMs: world.turnMs, marker: OK });
  const echo = async (inFlight: number) =>
    load.call('drive', { name: 'bare', text: actionFrame('look'), spread: SESSIONS, inFlight, forMs: world.turnMs, marker: 'req' });
  await act('look', IN_FLIGHT);
  await act('keep', IN_FLIGHT);
  const one = await world.alternate({ look: async () => (await act('look', 1)).p50, echo: async () => (await echo(1)).p50 });
  world.record('action.p50', measured(one.look, one.echo));
  const many = await world.alternate({
    look: async () => (await act('look', IN_FLIGHT)).rate,
    echo: async () => (await echo(IN_FLIGHT)).rate,
    keep: async () => (await act('keep', IN_FLIGHT)).rate,
    commit: () => world.bareStore().call('groupCommit', { folder: world.folder, group: IN_FLIGHT, forMs: world.turnMs }),
  });
  world.record('action.rate', measured(many.look, many.echo));
  world.record('action.kept.rate', measured(many.keep, many.commit));
  await load.call('close', { prefix: '' });
}

async function injections(world: World, gateway: GatewayProcess): Promise<void> {
  const talk = world.talk();
  await talk.call('open', { socketUrl: gateway.socketUrl, hello: helloFrame(gateway.token, ['agent', 'chat']) });
  const before = { method: 'plugins.sessionAction', params: { pluginId: PLUGIN, actionId: 'tell' } };
  const turns = async (told: boolean) =>
    (await talk.call('turns', { inFlight: 1, forMs: world.turnMs * 2, ...(told ? { before } : {}) })).p50;
  await turns(true);
  const taken = await world.alternate({ told: () => turns(true), plain: () => turns(false) });
  world.record('injections.turn', measured(taken.told, taken.plain));
  await talk.call('close', {});
}
