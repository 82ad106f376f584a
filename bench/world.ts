// What the figures share: a temporary folder, the processes of both sides, and how long to measure. Everything is started
// when it is first asked for and ended when the run ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectParams } from '../test/support/raw-client.ts';
import { type GatewayProcess, type StartOptions, startGatewayProcess } from '../test/support/gateway.ts';
import { type Child, type Jobs, openChild } from './child.ts';
import { alternate, type Measured, type Sides } from './rounds.ts';
import type { jobs as bareSocketJobs } from './processes/bare-socket.ts';
import type { jobs as bareStoreJobs } from './processes/bare-store.ts';
import type { jobs as extensionJobs } from './processes/extensions.ts';
import type { jobs as hookJobs } from './processes/hooks.ts';
import type { jobs as loadJobs } from './processes/load.ts';
import type { jobs as modelJobs } from './processes/model.ts';
import type { jobs as talkJobs } from './processes/talk.ts';

export type Engine = 'sqlite' | 'postgres';

export interface Plan {
  readonly quick: boolean;
  readonly sizes: readonly number[];
  readonly engines: readonly Engine[];
}

export interface World extends AsyncDisposable {
  readonly plan: Plan;
  readonly rounds: number;
  /** How long one side is measured in one round. */
  readonly turnMs: number;
  readonly folder: string;
  load(): Child<typeof loadJobs>;
  bareStore(): Child<typeof bareStoreJobs>;
  model(): Child<typeof modelJobs>;
  talk(): Child<typeof talkJobs>;
  hooks(): Child<typeof hookJobs>;
  extensions(): Child<typeof extensionJobs>;
  /** Its address. */
  bareSocket(): Promise<string>;
  startGateway(options?: StartOptions): Promise<GatewayProcess>;
  /** Opens a connection of the load process that has said hello and gets no events but those named. */
  connect(name: string, gateway: GatewayProcess, events?: readonly string[]): Promise<void>;
  /** Rounds of all sides in turn, shown as progress. */
  alternate<Name extends string>(sides: Sides<Name>, rounds?: number): Promise<Record<Name, number[]>>;
  record(id: string, result: Measured): void;
  closing<Part>(part: Part, close: (part: Part) => unknown): Part;
}

export interface Group {
  readonly name: string;
  readonly what: string;
  run(world: World): Promise<void>;
}

/** What a good answer of the gateway has. */
export const OK = '"ok":true';

export function createWorld(plan: Plan, on: { record(id: string, result: Measured): void; round(done: number, of: number): void }): World {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  const stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const children = new Map<string, Child<Jobs>>();

  function child<Table extends Jobs>(name: string): Child<Table> {
    let known = children.get(name);
    if (!known) {
      known = closing(openChild(join(import.meta.dirname, 'processes', `${name}.ts`)), (opened) => opened.close());
      children.set(name, known);
    }
    return known as unknown as Child<Table>;
  }

  function closing<Part>(part: Part, close: (part: Part) => unknown): Part {
    stack.defer(async () => void (await close(part)));
    return part;
  }

  const world: World = {
    plan,
    folder,
    rounds: plan.quick ? 3 : 9,
    turnMs: plan.quick ? 150 : 500,
    load: () => child('load'),
    bareStore: () => child('bare-store'),
    model: () => child('model'),
    talk: () => child('talk'),
    hooks: () => child('hooks'),
    extensions: () => child('extensions'),
    bareSocket: () => child<typeof bareSocketJobs>('bare-socket').call('url', {}),
    startGateway: async (options) => closing(await startGatewayProcess(options), (gateway) => gateway.remove()),
    async connect(name, gateway, events = []) {
      await world.load().call('open', { name, url: gateway.socketUrl, hello: helloFrame(gateway.token, events) });
    },
    alternate: (sides, rounds = world.rounds) => alternate(rounds, sides, (done) => on.round(done, rounds)),
    record: on.record,
    closing,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  return world;
}

export function helloFrame(token: string, events: readonly string[] = []): string {
  return JSON.stringify({ type: 'req', id: 'hello', method: 'connect', params: connectParams(token, { events }) });
}

export function requestFrame(method: string, params?: object): string {
  return JSON.stringify({ type: 'req', id: '{n}', method, ...(params ? { params } : {}) });
}
