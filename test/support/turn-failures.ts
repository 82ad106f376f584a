// Makes the Nth thing that a turn asks of anybody fail: the store, the hooks, the model, the tools, the operator, the
// folders. What is asked is counted in the order in which it happens, so a run with the same script counts the same.
import { GatewayError } from '@tenon/protocol';
import type { Tool } from '../../packages/gateway/src/agent/tools/tool.ts';
import type { TurnDeps } from '../../packages/gateway/src/agent/turn-context.ts';
import type { Model, ModelEvent } from '../../packages/gateway/src/model/types.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';

/** How it fails. `lost`: it was done, and only the word of it is lost. */
export const manners = ['thrown', 'refused', 'lost'] as const;
export type Manner = (typeof manners)[number];

export interface Failures {
  /** From now on counts from one, and the Nth fails. */
  arm(nth: number, manner: Manner): void;
  disarm(): void;
  /** What was touched since it was armed, in order. */
  readonly touched: readonly string[];
  /** What failed. */
  readonly failed: string | undefined;
  wrap(deps: TurnDeps): TurnDeps;
  wrapStore(store: Store): Store;
}

export function createFailures(model: () => Model): Failures {
  let armed: { nth: number; manner: Manner } | undefined;
  let touched: string[] = [];
  let failed: string | undefined;

  /** Whether this one fails. */
  function isDue(what: string): Manner | undefined {
    if (!armed) return undefined;
    touched.push(what);
    if (touched.length !== armed.nth) return undefined;
    failed = what;
    return armed.manner;
  }

  function errorOf(what: string, manner: Manner): Error {
    return manner === 'refused' ? new GatewayError('STORAGE', `${what} was refused on purpose`) : new Error(`${what} failed on purpose`);
  }

  /** Fails as the thing itself would: at once where it answers at once, else as a promise. */
  function touch<Result>(what: string, call: () => Result): Result {
    const manner = isDue(what);
    if (manner === undefined) return call();
    const error = errorOf(what, manner);
    if (manner !== 'lost') throw error;
    const result = call();
    if (!(result instanceof Promise)) throw error;
    return result.then(() => {
      throw error;
    }) as Result;
  }

  async function touchAsync<Result>(what: string, call: () => Result | Promise<Result>): Promise<Result> {
    return await touch(what, call);
  }

  function wrapStore(store: Store): Store {
    return {
      ...store,
      read: (name, args) => touchAsync(`store.read ${name}`, () => store.read(name, args)),
      write: (name, args, slot) => touchAsync(`store.write ${name}`, () => store.write(name, args, slot)),
    };
  }

  function wrapTool(tool: Tool): Tool {
    return {
      ...tool,
      async prepare(args, place) {
        const prepared = await touchAsync(`prepare ${tool.name}`, () => tool.prepare(args, place));
        return { ...prepared, run: (io) => touchAsync(`run ${tool.name}`, () => prepared.run(io)) };
      },
    };
  }

  async function* stream(...[request, signal]: Parameters<Model['stream']>): AsyncGenerator<ModelEvent, void, undefined> {
    const manner = isDue('model.stream');
    if (manner === 'refused') return yield { type: 'failed', failure: { kind: 'unauthorized', message: 'refused on purpose' } };
    // Against its contract: a model does not throw.
    if (manner === 'thrown') throw errorOf('model.stream', manner);
    for await (const event of model().stream(request, signal)) {
      yield event;
      if (manner === 'lost') return yield { type: 'failed', failure: { kind: 'bad_output', message: 'cut off on purpose' } };
    }
  }

  return {
    arm(nth, manner) {
      armed = { nth, manner };
      touched = [];
      failed = undefined;
    },
    disarm() {
      armed = undefined;
    },
    get touched() {
      return touched;
    },
    get failed() {
      return failed;
    },
    wrapStore,
    wrap(deps) {
      const { hooks, agents, approvals } = deps;
      return {
        ...deps,
        store: wrapStore(deps.store),
        hooks: { ...hooks, has: hooks.has, run: (name, event, options) => touch(`hook ${name}`, () => hooks.run(name, event, options)) },
        models: {
          ...deps.models,
          get: (id) => touch('models.get', () => (id === model().info.id ? { info: model().info, stream } : deps.models.get(id))),
        },
        agents: {
          ...agents,
          get: (id) => touch('agents.get', () => agents.get(id)),
          openWorkspace: (agent) => touch('agents.openWorkspace', () => agents.openWorkspace(agent)),
        },
        approvals: {
          ...approvals,
          ask: (question, signal) => touchAsync('approvals.ask', () => approvals.ask(question, signal)),
          isAlwaysAllowed: (wanted) => touchAsync('approvals.isAlwaysAllowed', () => approvals.isAlwaysAllowed(wanted)),
        },
        tools: deps.tools.map(wrapTool),
        execPolicy: () => touchAsync('execPolicy', deps.execPolicy),
        sandbox: () => touchAsync('sandbox', deps.sandbox),
        publish: (said) => touch('publish', () => deps.publish(said)),
      };
    },
  };
}
