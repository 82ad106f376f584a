// What a handler is given with each call: bound to the context that the host sent, made when it is first looked at, so that
// a call that needs none of it costs nothing.
import type { AsyncLocalStorage } from 'node:async_hooks';
import { groupNames, groups } from '@tenon/protocol/sep/wire';
import type { CallContext } from './definitions.ts';
import type { AskHost, DispatchContext, Host } from './host.ts';
import type { LogLevel, UiKind } from './names.ts';
import type { Params } from './peer.ts';
import { createProgramRuns, type ProgramRuns } from './programs.ts';
import { RpcError } from './rpc-error.ts';
import { createSession, type SessionFacade } from './session.ts';
import { createUi, type Shown, type Ui } from './ui.ts';
import { errorCode } from './wire.ts';

/** What all calls of one connection share. */
export interface CallDeps {
  readonly ask: AskHost;
  readonly shown: Shown;
  host(): Host;
  readonly hasUI: (kind?: UiKind) => boolean;
  readonly log: (level: LogLevel, message: string, fields?: Params) => void;
}

/** An incoming request: its signal is made when it is asked for. */
export interface Signalled {
  readonly signal: AbortSignal;
}

export class Call implements CallContext {
  readonly context: DispatchContext;
  // Properties and not methods: handlers take them apart.
  readonly hasUI: (kind?: UiKind) => boolean;
  readonly log: (level: LogLevel, message: string, fields?: Params) => void;
  readonly #signalled: Signalled;
  readonly #deps: CallDeps;
  #session: SessionFacade | undefined;
  #ui: Ui | undefined;

  constructor(context: DispatchContext, signalled: Signalled, deps: CallDeps) {
    this.context = context;
    this.#signalled = signalled;
    this.hasUI = deps.hasUI;
    this.log = deps.log;
    this.#deps = deps;
  }

  get signal(): AbortSignal {
    return this.#signalled.signal;
  }

  get host(): Host {
    return this.#deps.host();
  }

  get cwd(): string {
    return this.host.workspace.root;
  }

  get session(): SessionFacade {
    this.#session ??= createSession(this.#deps.ask, () => this.context);
    return this.#session;
  }

  get ui(): Ui {
    const { ask, shown, hasUI, log } = this.#deps;
    const about = () => aboutCall(this.host, this.context);
    this.#ui ??= createUi({ ask, shown, hasUI, warn: (message) => log('warn', message), signalOf: () => this.signal, about });
    return this.#ui;
  }

  get exec(): ProgramRuns {
    return createProgramRuns(
      this.#deps.ask,
      () => this.context,
      () => this.signal,
    );
  }
}

let current: AsyncLocalStorage<DispatchContext> | undefined;

/** Runs a handler so that what it calls on the extension object belongs to its call. */
export function within<Result>(context: DispatchContext, run: () => Result): Result {
  // Loaded with the first call: an extension that starts does not wait for it.
  current ??= new (process.getBuiltinModule('node:async_hooks').AsyncLocalStorage)<DispatchContext>();
  return current.run(context, run);
}

/** The call in which this runs. */
export function currentContext(): DispatchContext {
  const context = current?.getStore();
  if (context) return context;
  throw new RpcError(errorCode.ContextViolation, 'No call of the host is being handled here: use the session of a tool, command or hook');
}

/** The same, where a host is asked that may know nothing of it and there need not be one. */
export function aboutCurrent(host: Host): { readonly context?: DispatchContext } {
  return aboutCall(host, current?.getStore());
}

/** Only a host that names groups beyond SEP takes a context with a question. */
function aboutCall({ capabilities }: Host, context: DispatchContext | undefined): { readonly context?: DispatchContext } {
  const isTaken = groupNames.some((group) => 'beyond' in groups[group] && Object.hasOwn(capabilities, group));
  return isTaken && context !== undefined && context.token !== '' ? { context } : {};
}

/** Liberal in reading: a host that sends no context has none to be presented. */
export function readContext(value: unknown): DispatchContext {
  const { token, tier } = (typeof value === 'object' && value !== null ? value : {}) as Partial<DispatchContext>;
  return { token: typeof token === 'string' ? token : '', tier: tier === 'command' ? 'command' : 'event' };
}
