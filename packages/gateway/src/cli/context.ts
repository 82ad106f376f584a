// What a command gets to work with. Everything that costs time to load is behind a function here, so that a command
// that fails early, or needs no gateway, does not pay for it.
import type { CallArgs, Client, ClientOptions } from '@tenon/client';
import type { MethodName, Params, Result } from '@tenon/protocol';
import type { Config } from '../config.ts';
import { kebab } from './spec.ts';
import type { CompletionNode } from './completion.ts';
import { askConsent } from './consent.ts';
import { describeFailure, exitCodes, usageError } from './failure.ts';
import type { Globals } from './globals.ts';
import type { Io } from './io.ts';
import type { Output } from './output.ts';
import { readRunning } from './running.ts';
import { findTarget, findToken, type Target } from './target.ts';

export const DEFAULT_TIMEOUT_MS = 10_000;

type Loose<Method extends MethodName> = { readonly [Name in keyof Params<Method>]?: unknown };

export interface CommandContext<Args = unknown, Options = unknown> {
  readonly args: Args;
  readonly options: Options;
  readonly globals: Globals;
  readonly io: Io;
  readonly out: Output;
  /** Read anew each time: a command may just have changed it. */
  config(): Promise<Config>;
  /** The home folder, which needs no settings to be known. Refused where others could have written what is in it. */
  home(): Promise<string>;
  target(): Promise<Target>;
  /** A connected client; closed when the command ends. */
  connect(more?: Pick<ClientOptions, 'events' | 'resume' | 'reconnect' | 'capabilities'>): Promise<Client>;
  /** A client that is not connected yet, for a command that listens from the first frame on. */
  client(more?: Pick<ClientOptions, 'events' | 'resume' | 'reconnect' | 'capabilities'>): Promise<Client>;
  /**
   * Params that the method takes, or a usage error that names the flag. `undefined` counts as left out; `labels` says
   * where a param came from if not from the flag of its name.
   */
  params<Method extends MethodName>(method: Method, given: Loose<Method>, labels?: Record<string, string>): Promise<Params<Method>>;
  /** The same for params of which some are not known yet. */
  check<Method extends MethodName>(method: Method, given: Loose<Method>, labels?: Record<string, string>): Promise<void>;
  /** Checks the params, connects, calls; a method with a side effect gets an idempotency key. */
  call<Method extends MethodName>(
    method: Method,
    given?: Loose<Method>,
    labels?: Record<string, string>,
    /** How long it may take, where nobody said otherwise with --timeout. */
    timeoutMs?: number,
  ): Promise<Result<Method>>;
  /** The same where the answer is nice to have: nothing when it is refused. A gateway that is not there is still a failure. */
  ask<Method extends MethodName>(method: Method, given?: Loose<Method>): Promise<Result<Method> | undefined>;
  /** For what goes over HTTP: the address of the gateway, and the token. */
  http(): Promise<{ readonly url: string; readonly token: string | undefined }>;
  /** Whether a gateway was named, or runs in the home folder: then it is asked, rather than its files read behind its back. */
  hasGateway(): Promise<boolean>;
  consent(deed: string, name: string, yes: boolean): Promise<void>;
  /** Everything that can be typed. */
  words(): Promise<CompletionNode[]>;
}

export interface OwnedContext {
  readonly context: CommandContext;
  close(): Promise<void>;
}

export function createContext(parsed: Pick<CommandContext, 'args' | 'options' | 'globals' | 'words'>, io: Io, out: Output): OwnedContext {
  const { globals } = parsed;
  const clients: Client[] = [];
  let target: Target | undefined;
  let shared: Promise<Client> | undefined;

  let hasWarned = false;

  /** The settings as far as a client needs them: a tenon.toml that is broken keeps nobody from a gateway that runs. */
  async function clientConfig(): Promise<Config> {
    try {
      return await context.config();
    } catch (error) {
      const { ConfigError, loadConfig } = await import('../config.ts');
      if (!(error instanceof ConfigError) || error.source !== 'file' || !(await context.hasGateway())) throw error;
      if (!hasWarned) out.talk(`tenon.toml cannot be read: ${error.message}; talking to the running gateway`);
      hasWarned = true;
      return loadConfig({ home: globals.home, env: io.env, readFile: false });
    }
  }

  const context: CommandContext = {
    ...parsed,
    io,
    out,
    async config() {
      const { loadConfig } = await import('../config.ts');
      return loadConfig({ home: globals.home, env: io.env });
    },
    async home() {
      const [{ resolveHome }, { checkHome }] = await Promise.all([import('../config.ts'), import('../home.ts')]);
      const home = resolveHome(globals.home, io.env);
      checkHome(home);
      return home;
    },
    async target() {
      target ??= findTarget(globals, io.env, await clientConfig());
      return target;
    },
    async client(more = {}) {
      const [{ createClient }, { WebSocket }, { version }] = await Promise.all([
        import('@tenon/client'),
        import('ws'),
        import('../version.ts'),
      ]);
      const { url } = await context.target();
      const token = await findToken(globals.token, io, await context.target(), await context.home());
      const client = createClient({
        url,
        ...(token === undefined ? {} : { token }),
        // Of the two at hand, the one that says why it cannot connect.
        WebSocket,
        client: { id: 'tenon-cli', version, platform: process.platform, mode: 'cli' },
        requestTimeoutMs: globals.timeout ?? DEFAULT_TIMEOUT_MS,
        reconnect: false,
        ...more,
      });
      clients.push(client);
      return client;
    },
    async connect(more) {
      const client = await context.client(more);
      await client.connect();
      return client;
    },
    async check<Method extends MethodName>(method: Method, given: Loose<Method>, labels: Record<string, string> = {}) {
      const [{ matches, methodRow }, { describeAllowed, show }] = await Promise.all([import('@tenon/protocol'), import('../config.ts')]);
      for (const [name, schema] of Object.entries(methodRow(method).params.properties)) {
        const value = (given as Record<string, unknown>)[name];
        if (value === undefined || matches(schema, value)) continue;
        throw usageError(`${labelOf(name, labels)} cannot be ${show(value)}; it must be ${describeAllowed(schema)}`);
      }
    },
    async params<Method extends MethodName>(method: Method, given: Loose<Method>, labels: Record<string, string> = {}) {
      await context.check(method, given, labels);
      const { methodRow } = await import('@tenon/protocol');
      const params = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const missing = (methodRow(method).params.required as string[] | undefined)?.find((name) => !(name in params));
      if (missing !== undefined) throw usageError(`${labelOf(missing, labels)} is missing`);
      return params as Params<Method>;
    },
    async call<Method extends MethodName>(method: Method, given: Loose<Method> = {}, labels?: Record<string, string>, timeoutMs?: number) {
      const params = await context.params(method, given, labels);
      const { methodRow } = await import('@tenon/protocol');
      const keyed = methodRow(method).repeat === 'keyed' ? { idempotencyKey: crypto.randomUUID(), ...params } : params;
      shared ??= context.connect();
      const client = await shared;
      const patience = globals.timeout ?? timeoutMs;
      const options = patience === undefined ? {} : { timeoutMs: patience };
      return client.call(method, ...([keyed, options] as unknown as CallArgs<Method>));
    },
    async ask<Method extends MethodName>(method: Method, given: Loose<Method> = {}) {
      try {
        return await context.call(method, given);
      } catch (error) {
        if (describeFailure(error).exitCode === exitCodes.unreachable) throw error;
        return undefined;
      }
    },
    async http() {
      const target_ = await context.target();
      const token = await findToken(globals.token, io, target_, await context.home());
      return { url: target_.url.replace(/^ws/, 'http'), token };
    },
    async hasGateway() {
      const named = globals.url !== undefined || globals.port !== undefined || Boolean(io.env.TENON_URL);
      return named || readRunning(await context.home()) !== undefined;
    },
    consent: (deed, name, yes) => askConsent({ deed, name, yes }, io),
  };

  return { context, close: async () => void (await Promise.allSettled(clients.map((client) => client.close()))) };
}

function labelOf(param: string, labels: Record<string, string>): string {
  return labels[param] ?? `--${kebab(param)}`;
}
