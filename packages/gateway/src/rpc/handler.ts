// What a handler gets and gives. A method without a handler, or a handler without a row, does not compile.
import type { KeyedMethod, MethodName, Params, Result } from '@tenon/protocol';
import type { AgentParts } from '../agent/open-agents.ts';
import type { PluginHost } from '../host/plugin-host.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log, LogBook } from '../kernel/log.ts';
import type { WriteArgs, WriteName, WriteResult } from '../store/operations.ts';
import type { AttachmentFiles } from '../store/attachment-files.ts';
import type { Store } from '../store/store.ts';
import type { ConfigService } from './config-service.ts';
import type { Connection, Connections } from './connections.ts';
import type { Doctor } from './doctor.ts';
import type { EventHub } from './events.ts';
import type { HealthBoard } from './health.ts';
import type { Principal } from './principal.ts';
import type { SignIn } from './signin.ts';
import type { TokenMint } from './token-mint.ts';

/** The parts that handlers work with. */
export interface Services
  extends Pick<
    AgentParts,
    | 'hooks'
    | 'trace'
    | 'models'
    | 'signIns'
    | 'agents'
    | 'allTools'
    | 'turns'
    | 'lanes'
    | 'wake'
    | 'heartbeat'
    | 'composer'
    | 'ui'
    | 'transcripts'
    | 'commands'
    | 'sandbox'
    | 'execPolicy'
    | 'endJobs'
  > {
  readonly store: Store;
  readonly files: AttachmentFiles;
  readonly clock: Clock;
  readonly log: Log;
  readonly logBook: LogBook;
  readonly health: HealthBoard;
  readonly connections: Connections;
  readonly events: EventHub;
  readonly config: ConfigService;
  readonly doctor: Doctor;
  readonly mint: TokenMint;
  readonly signIn: SignIn;
  readonly about: About;
  /** Begins to stop the gateway; the answer to this request still leaves. */
  readonly shutdown: (reason: string) => void;
  readonly plugins: () => PluginHost;
}

export interface About {
  readonly version: string;
  readonly startedAt: number;
  readonly url: () => string;
  readonly warnings: readonly string[];
  readonly auditChain: () => Promise<{ ok: boolean; checked: number; reason?: string }>;
}

declare const committed: unique symbol;

/** What a commit returned. Only `commit` makes one, so a handler with a side effect cannot answer before it is durable. */
export type Committed<Value> = Value & { readonly [committed]: true };

export interface RequestContext extends Services {
  readonly principal: Principal;
  readonly connection: Connection;
  /** Runs the operation and keeps its result as the answer to the idempotency key, in one commit. */
  commit<Name extends WriteName>(name: Name, args: WriteArgs<Name>): Promise<Committed<WriteResult<Name>>>;
  /** For an answer that changes nothing: kept for a repeat where the request has a key, given as it is otherwise. */
  keepAnswer<Answer>(answer: Answer): Promise<Committed<Answer>>;
  /** For a method whose effect lies outside the store: a repeat gets the first answer and has no effect. */
  commitAnswer<Answer>(effect: () => Promise<Answer>): Promise<Committed<Answer>>;
  /** For a commit that something goes before, such as stopping a turn: a repeat gets the first answer, and nothing is stopped again. */
  commitAfter<Answer>(effect: () => Promise<Committed<Answer>>): Promise<Committed<Answer>>;
  /** The actor of an operation on credentials. */
  readonly actor: { readonly actor: string; readonly at: number; readonly held: WriteArgs<'tokens.revoke'>['held'] };
}

type SafeHandler<Method extends MethodName> = (params: Params<Method>, context: RequestContext) => Result<Method> | Promise<Result<Method>>;

type KeyedHandler<Method extends MethodName> =
  | ((params: Params<Method>, context: RequestContext) => Promise<Committed<Result<Method>>>)
  | SecretHandler<Method>
  | DraftHandler<Method>;

/**
 * For an answer that holds a secret, or has another shape than its operation gives: what is stored lacks the secret, and `present`
 * adds it, to the first answer and to a repeat. It must make the same of the same, so it is given nothing that changes.
 */
interface SecretHandler<Method extends MethodName> {
  commit(params: Params<Method>, context: RequestContext): Promise<Committed<unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: what commit returned; the two halves stand side by side in one handler
  present(stored: any, context: PresentContext): Result<Method>;
}

/** The sources of secrets, and whom to tell that a run waits. */
export type PresentContext = Pick<RequestContext, 'mint' | 'signIn' | 'turns'>;

/**
 * For an answer to which something is added after the commit, such as what plugins show. The whole is kept for a repeat; until it is,
 * what was committed is kept as a draft, which a repeat after a crash completes.
 */
interface DraftHandler<Method extends MethodName> {
  /** Whether there is something to add; where not, what is committed is the answer. */
  isDraft(services: Services): boolean;
  commit(params: Params<Method>, context: RequestContext): Promise<Committed<Result<Method>>>;
  complete(draft: Result<Method>, context: RequestContext): Promise<Result<Method>>;
}

export type Handler<Method extends MethodName> = Method extends KeyedMethod ? KeyedHandler<Method> : SafeHandler<Method>;
export type Handlers = { readonly [Method in MethodName]: Handler<Method> };
