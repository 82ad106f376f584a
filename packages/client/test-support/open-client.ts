// A client under test: closed when the test ends, its states kept in order.
import type { TestContext } from 'node:test';
import { type Client, type ClientOptions, type ClientState, createClient } from '../src/index.ts';
import type { Peer, ScriptedGateway } from './scripted-gateway.ts';
import type { HelloOk } from '@tenon/protocol';

export function openClient(t: TestContext, options: ClientOptions): Client & { readonly states: ClientState[] } {
  const client = createClient(options);
  const states: ClientState[] = [];
  client.onState((state) => states.push(state));
  // Not awaited: with a clock that stands still, the grace of a peer that is gone would never end.
  t.after(() => void client.close());
  return Object.assign(client, { states });
}

/** Connected, with the gateway's end of the socket in hand. */
export async function meet(client: Client, gateway: ScriptedGateway, hello?: Partial<HelloOk>): Promise<Peer> {
  const opening = client.connect();
  const peer = await gateway.next();
  await peer.welcome(hello);
  await opening;
  return peer;
}

export function nextState<Kind extends ClientState['kind']>(client: Client, kind: Kind): Promise<Extract<ClientState, { kind: Kind }>> {
  return new Promise((resolve) => {
    const off = client.onState((state) => {
      if (state.kind !== kind) return;
      off();
      resolve(state as Extract<ClientState, { kind: Kind }>);
    });
  });
}

/** The next thing that a subscription brings. */
export function nextOf<Value>(subscribe: (listener: (value: Value) => void) => () => void): Promise<Value> {
  return new Promise((resolve) => {
    const off = subscribe((value) => {
      off();
      resolve(value);
    });
  });
}
