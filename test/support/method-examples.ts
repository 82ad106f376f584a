// Params that each method accepts. The one place where a new row of the method table needs an example: it does not
// compile without, and the contract and authority tests take it from here.
import type { MethodName, Params } from '@tenon/protocol';
import { askToPair, createDevice, mintToken } from '../security/harness.ts';
import type { GatewayProcess } from './gateway.ts';
import type { RawClient } from './raw-client.ts';

export interface World {
  readonly gateway: GatewayProcess;
  readonly admin: RawClient;
  /** A number that was not given before. */
  next(): number;
}

/** Params that the method accepts now; asked again, it gives others. */
type Examples = { readonly [Method in MethodName]: (world: World) => Params<Method> | Promise<Params<Method>> };

export const examples: Examples = {
  health: () => ({}),
  status: () => ({}),
  'system.echo': ({ next }) => ({ text: `text ${next()}` }),
  'presence.list': () => ({}),
  'events.subscribe': () => ({ events: ['tick'] }),
  'events.unsubscribe': () => ({ events: ['tick'] }),
  'config.get': () => ({}),
  'config.patch': ({ next }) => ({ set: { 'gateway.shutdownBudgetMs': 20_000 + next() } }),
  'logs.tail': () => ({ limit: 5 }),
  'audit.list': () => ({ limit: 5 }),
  'doctor.run': ({ next }) => ({ fix: next() % 2 === 0 }),
  'gateway.shutdown': ({ next }) => ({ reason: `test ${next()}` }),
  'sessions.list': () => ({ limit: 5, search: 'title' }),
  'sessions.get': async (world) => ({ key: await newSession(world) }),
  'sessions.create': ({ next }) => ({ key: `agent:main:made-${next()}`, title: 'Title', label: 'label', pinned: true }),
  'sessions.patch': async (world) => ({ key: await newSession(world), title: 'Other title', label: null, archived: true, ifRevision: 1 }),
  'sessions.reset': async (world) => ({ key: await newSession(world) }),
  'sessions.delete': async (world) => ({ key: await newSession(world) }),
  'tokens.create': ({ next }) => ({ name: `token ${next()}`, scopes: ['operator.read'] }),
  'tokens.rotate': async ({ admin }) => ({ id: (await mintToken(admin, ['operator.read'])).id }),
  'tokens.revoke': async ({ admin }) => ({ id: (await mintToken(admin, ['operator.read'])).id }),
  'tokens.list': () => ({}),
  'device.pair.list': () => ({}),
  'device.pair.approve': async (world) => ({ requestId: await newPairing(world) }),
  'device.pair.reject': async (world) => ({ requestId: await newPairing(world) }),
  'device.list': () => ({}),
  'device.rename': async (world) => ({ id: await newDevice(world), name: 'another name' }),
  'device.revoke': async (world) => ({ id: await newDevice(world) }),
};

async function newSession({ admin, next }: World): Promise<string> {
  const { payload } = await admin.request('sessions.create', { key: `agent:main:session-${next()}`, title: 'Title' });
  return payload.session.key;
}

function newPairing({ gateway, next }: World): Promise<string> {
  return askToPair(gateway, createDevice(), ['operator.read'], `127.2.${next() % 250}.${next() % 250}`);
}

async function newDevice(world: World): Promise<string> {
  const { payload } = await world.admin.request('device.pair.approve', { requestId: await newPairing(world) });
  return payload.device.id;
}
