// The host's side of a connection, for tests: it keeps what SEP says of capabilities, contexts and front ends, holds values in
// memory, records what it is asked for, and answers as its script says. Over memory (`createTestHost`) and over the streams of
// a process (`runConformance`).
import { isDeepStrictEqual } from 'node:util';
import {
  errors,
  limits,
  methodOf,
  methodRow,
  methods,
  PROTOCOL_VERSION,
  texts,
  uiKinds,
  uiRequests,
  type SepEventName,
  type SepHookName,
  type SepMethodName,
} from '@tenon/protocol/sep/wire';
import { Peer, RpcError, type Transport } from '../index.ts';
import type { FrameCheck } from './check-frames.ts';
import { allGroups, sampleEntry, samplePolicyCall } from './samples.ts';
import { ScriptedSeams, type SeamScript } from './scripted-seams.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface UiRequest extends Fields {
  readonly kind: string;
}
export interface UiAnswer {
  readonly value?: string;
  readonly confirmed?: boolean;
  readonly text?: string;
  readonly cancelled?: boolean;
}

export interface ScriptedHostOptions extends SeamScript {
  /** It has what Tenon has beyond SEP, all groups on; `seams` of the host holds what came of it. */
  readonly seams?: boolean;
  /** The session that calls are about; `agent:main:test` without it. */
  readonly sessionKey?: string;
  /** What people answer; without it, and where it returns nothing, a dialog is cancelled. */
  onUiRequest?(request: UiRequest): UiAnswer | undefined | Promise<UiAnswer | undefined>;
  /** What `exec/run` does; without it nothing may be run. */
  onExec?(run: { readonly command: string; readonly args: readonly string[]; readonly cwd?: string }): ExecAnswer | Promise<ExecAnswer>;
  /** Answers of any method, instead of those that the host has; throw an `RpcError` to refuse. */
  readonly answers?: Readonly<Record<string, (params: Fields) => unknown>>;
  /** What `initialize` says: over the usual. */
  readonly initialize?: Fields;
  /** The tools that the agent may have: `tools/set_active` narrows them. */
  readonly enabledTools?: readonly string[];
  /** For each call to the extension; otherwise what the protocol says. */
  readonly timeoutMs?: number;
  /** As soon as it is known: what also stands in `faults`. */
  onFault?(fault: string): void;
  /** It has used a method of a group that is off. */
  onDisabled?(method: string, group: string): void;
}
export interface ExecAnswer {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exit_code?: number;
}

export interface Registrations extends Fields {
  readonly tools?: readonly { readonly name: string; readonly description: string; readonly parameters: Fields }[];
  readonly commands?: readonly { readonly name: string; readonly description: string }[];
  readonly flags?: readonly string[];
  readonly subscriptions?: readonly string[];
  readonly hooks?: readonly string[];
  readonly providers?: readonly { readonly name: string; readonly oauth?: boolean; readonly models?: readonly { readonly id: string }[] }[];
}
export interface InitializeResult {
  readonly protocol_version: number;
  readonly extension: { readonly name: string; readonly version: string };
  readonly registrations?: Registrations;
}
export interface ToolOutcome {
  readonly content: string;
  readonly is_error?: boolean;
  readonly details?: unknown;
}
export interface ModelOutcome {
  readonly result: Fields;
  /** The pieces that came before the result. */
  readonly deltas: readonly Fields[];
}
export interface Recorded {
  readonly method: string;
  readonly params: Fields;
}
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export class ScriptedHost {
  /** What the extension has asked for or told, in order; of very many, the latest. */
  readonly calls: Recorded[] = [];
  /** What the extension has sent that the protocol does not allow; a result that it does not allow rejects its call. */
  readonly faults: string[] = [];
  /** What `kv/*` holds. */
  readonly kv = new Map<string, unknown>();
  /** What groups beyond SEP hold, where `seams` is set. */
  readonly seams: ScriptedSeams;
  readonly #peer: Peer;
  readonly #options: ScriptedHostOptions;
  readonly #check: FrameCheck;
  readonly #tokens = new Set<string>();
  #count = 0;
  #initialized: Promise<InitializeResult> | undefined;
  #uiCapabilities: readonly string[] = [];
  #capabilities: Fields = {};

  constructor(transport: Transport, options: ScriptedHostOptions, check: FrameCheck) {
    this.#options = options;
    this.seams = new ScriptedSeams(options);
    this.#check = check;
    this.#peer = new Peer(
      checking(transport, (line) => this.#note(check.line(line))),
      {
        onRequest: (method, params) => this.#answer(method, params),
        onNotification: (method, params) => this.#take(method, params),
      },
      { maxLineBytes: limits.hostLineBytes.value },
    ).start();
  }

  /** The first one counts; every other call begins with it where it was not made. */
  initialize(params: Fields = {}): Promise<InitializeResult> {
    this.#initialized ??= this.#initialize(params);
    return this.#initialized;
  }

  async callTool(name: string, args: Fields = {}, options: CallOptions & { readonly callId?: string } = {}): Promise<ToolOutcome> {
    const params = { call_id: options.callId ?? `call-${++this.#count}`, tool: name, arguments: args };
    return (await this.dispatch('tool/execute', params, options)) as ToolOutcome;
  }

  async callHook(hook: SepHookName | (string & {}), input: Fields = {}, options: CallOptions = {}): Promise<Fields> {
    return (await this.dispatch('hook', { hook, input }, options)) as Fields;
  }

  /** Text is what was typed after the name. */
  async runCommand(name: string, args: string | Fields = '', options: CallOptions = {}): Promise<{ readonly content?: string }> {
    const params = { command: name, arguments: typeof args === 'string' ? { args } : args };
    return (await this.dispatch('command/execute', params, options)) as { content?: string };
  }

  async completeCommand(
    name: string,
    partial = '',
    options: CallOptions = {},
  ): Promise<readonly { readonly value: string; readonly description?: string }[]> {
    const result = (await this.dispatch('command/complete', { command: name, partial }, options)) as { completions?: { value: string }[] };
    return result.completions ?? [];
  }

  async ping(options: CallOptions = {}): Promise<void> {
    await this.request('ping', {}, options);
  }

  /** Resolves when the extension has read it; a handler that waits for something may still run. */
  async sendEvent(event: SepEventName | (string & {}), payload: Fields = {}): Promise<void> {
    await this.initialize();
    const isOutOfBand = event === 'events_lost';
    const context = { token: this.#token(), tier: 'event' };
    this.#peer.notify('event', { event, ...(isOutOfBand ? {} : { seq: this.#count++ }), context, payload });
    await this.ping();
    this.#tokens.delete(context.token);
  }

  /** One call of a model; streams unless it is asked not to. */
  async complete(
    request: { readonly provider: string; readonly model: string } & Fields,
    options: CallOptions = {},
  ): Promise<ModelOutcome> {
    const params = { request_id: `request-${++this.#count}`, messages: [], stream: true, ...request };
    const result = (await this.dispatch('provider/complete', params, options)) as Fields;
    const deltas = this.paramsOf('provider/delta').filter(({ request_id }) => request_id === params.request_id);
    return { result, deltas: deltas.map(({ event }) => event as Fields) };
  }

  async oauthLogin(provider: string, options: CallOptions = {}): Promise<Fields> {
    return (await this.dispatch('provider/oauth_login', { provider }, options)) as Fields;
  }

  async oauthRefresh(provider: string, refreshToken?: string, options: CallOptions = {}): Promise<Fields> {
    const params = { provider, ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }) };
    return (await this.dispatch('provider/oauth_refresh', params, options)) as Fields;
  }

  /** As a button or a program would; what the answer commits is committed. */
  async runAction(action: string, payload?: unknown, options: CallOptions = {}): Promise<Fields> {
    return this.#committed('action/execute', { action, ...(payload === undefined ? {} : { payload }) }, options);
  }

  /** As a change of a session would that asks for it. */
  async runPatchAction(action: string, payload?: unknown, entry: Fields = sampleEntry, options: CallOptions = {}): Promise<Fields> {
    return this.#committed('patch_action/execute', { action, entry, ...(payload === undefined ? {} : { payload }) }, options);
  }

  /** A button whose data is `<namespace>:<payload>`. */
  async press(namespace: string, payload: string, options: CallOptions = {}): Promise<{ readonly text?: string }> {
    const params = { ...this.#place, channel: 'webchat', namespace, payload, client: CLIENT };
    return (await this.dispatch('interaction/press', params, options)) as { text?: string };
  }

  /** What a policy says of a tool call. */
  async decide(policy: string, tool: string, args: Fields = {}, more: Fields = {}): Promise<Fields> {
    const params = { ...this.#place, ...samplePolicyCall, policy, tool, arguments: args, ...more };
    return (await this.dispatch('policy/decide', params)) as Fields;
  }

  /** The first turn that waits is due: it is offered to the handlers of the extension, and gone. Undefined: none waits. */
  async fireTurn(options: CallOptions = {}): Promise<{ readonly handled: boolean; readonly reply?: string } | undefined> {
    const job = this.seams.jobs.shift();
    if (!job) return undefined;
    const { registrations = {} } = await this.initialize();
    const { id: job_id, message, name, tag } = job;
    const due = { ...this.#place, run_id: 'run-due', job_id, name, message, due_at: Date.now(), ...(tag === undefined ? {} : { tag }) };
    for (const { id } of (registrations.scheduled_turns ?? []) as readonly Fields[]) {
      const answer = (await this.dispatch('schedule/due', { ...due, handler: id }, options)) as { handled: boolean; reply?: string };
      if (answer.handled) return answer;
    }
    return { handled: false };
  }

  /** A client calls a method of the gateway that the extension has registered. */
  async callMethod(name: string, params: unknown = {}, options: CallOptions = {}): Promise<unknown> {
    return ((await this.dispatch('gateway_method/call', { name, params, client: CLIENT }, options)) as { result: unknown }).result;
  }

  async shutdown(options: CallOptions = {}): Promise<void> {
    await this.initialize();
    await this.request('shutdown', {}, options);
  }

  close(): Promise<void> {
    return this.#peer.close();
  }

  get isClosed(): boolean {
    return this.#peer.isClosed;
  }

  /** Calls of `session/*`, in order. */
  get sessionCalls(): readonly Recorded[] {
    return this.calls.filter(({ method }) => method.startsWith('session/'));
  }

  get busPublishes(): readonly { readonly topic: string; readonly payload: unknown }[] {
    return this.paramsOf('bus/publish') as unknown as { topic: string; payload: unknown }[];
  }

  get uiRequests(): readonly UiRequest[] {
    return this.paramsOf('ui/request') as unknown as UiRequest[];
  }

  get logs(): readonly { readonly level: string; readonly message: string; readonly fields?: Fields }[] {
    return this.paramsOf('log') as unknown as { level: string; message: string }[];
  }

  /** What was sent for one method. */
  paramsOf(method: SepMethodName): readonly Fields[] {
    return this.calls.filter((call) => call.method === method).map(({ params }) => params);
  }

  /** A call with a context that is good as long as it lasts. */
  async dispatch(method: SepMethodName, params: Fields, options: CallOptions = {}): Promise<unknown> {
    await this.initialize();
    const token = this.#token();
    try {
      return await this.request(method, { ...params, context: { token, tier: methodRow(method).tier ?? 'command' } }, options);
    } finally {
      this.#tokens.delete(token);
    }
  }

  /** Any request; a result that does not fit the protocol rejects. */
  async request(method: SepMethodName, params: Fields, { signal, timeoutMs }: CallOptions = {}): Promise<unknown> {
    const result = await this.#peer.request(method, params, {
      signal,
      timeoutMs: timeoutMs ?? this.#options.timeoutMs ?? methodRow(method).timeoutMs,
    });
    const fault = this.#check.result(method, result);
    if (fault !== undefined) throw new Error(fault);
    return result;
  }

  get #place(): Fields {
    return { session_key: this.#options.sessionKey ?? SESSION, agent_id: 'main' };
  }

  async #committed(method: 'action/execute' | 'patch_action/execute', params: Fields, options: CallOptions): Promise<Fields> {
    const answer = (await this.dispatch(method, { ...this.#place, ...params, client: CLIENT }, options)) as Fields;
    this.seams.commit(String(this.#place.session_key), answer);
    return answer;
  }

  /** That of a context that is good, or the one that is named. */
  #sessionOf({ context, session_key: key }: Fields): string {
    if (typeof key === 'string') return key;
    const { token } = (context ?? {}) as { token?: string };
    if (context !== undefined && !this.#tokens.has(String(token))) throw refusal('ContextViolation', texts.staleContext);
    return String(this.#place.session_key);
  }

  async #initialize(over: Fields): Promise<InitializeResult> {
    const params: Fields = {
      protocol_version: PROTOCOL_VERSION,
      host: { name: 'tenon-test-host', version: '0.0.0' },
      workspace: { root: process.cwd(), trusted: true },
      mode: 'web',
      session: { id: 'test-session' },
      ui_capabilities: uiKinds,
      flags: {},
      ...(this.#options.seams ? { capabilities_enabled: allGroups } : {}),
      ...this.#options.initialize,
      ...over,
    };
    this.#uiCapabilities = (params.ui_capabilities ?? []) as readonly string[];
    this.#capabilities = (params.capabilities_enabled ?? {}) as Fields;
    return (await this.request('initialize', params)) as InitializeResult;
  }

  #token(): string {
    const token = `token-${crypto.randomUUID()}`;
    this.#tokens.add(token);
    return token;
  }

  #note(fault: string | undefined): void {
    if (fault === undefined) return;
    this.#options.onFault?.(fault);
    if (this.faults.length < MOST_FAULTS) this.faults.push(fault);
  }

  #take(spelling: string, params: Fields): void {
    const method = methodOf(spelling);
    if (!method || methods[method].direction === 'to-extension')
      return this.#note(`It has sent the notification "${spelling}", which hosts do not have`);
    this.#note(this.#check.params(method, params));
    this.#record({ method, params });
    const { group } = methodRow(method);
    if (group !== undefined && this.#isOff(group, method)) return;
    const answer = this.#options.answers?.[method];
    if (answer) answer(params);
  }

  async #answer(spelling: string, params: Fields): Promise<unknown> {
    const method = methodOf(spelling);
    if (!method || methods[method].direction === 'to-extension') throw refusal('MethodNotFound', texts.methodNotFound(spelling));
    const fault = this.#check.params(method, params);
    this.#note(fault);
    if (fault !== undefined) throw refusal('InvalidParams', fault);
    this.#record({ method, params });
    const { group, tier } = methodRow(method);
    if (group !== undefined && this.#isOff(group, method)) throw refusal('CapabilityDisabled', texts.disabled(group));
    if (tier === 'command') this.#admit(params.context);
    const scripted = this.#options.answers?.[method];
    if (scripted) return scripted(params);
    return this.#usual(method, params);
  }

  #record(call: Recorded): void {
    if (this.calls.length >= MOST_CALLS) this.calls.shift();
    this.calls.push(call);
  }

  #isOff(group: string, method: string): boolean {
    const isOff = this.#capabilities[group] === false;
    if (isOff) this.#options.onDisabled?.(method, group);
    return isOff;
  }

  #admit(context: unknown): void {
    const { token, tier } = (context ?? {}) as { token?: string; tier?: string };
    if (tier !== 'command') throw refusal('ContextViolation', texts.commandTier);
    if (!this.#tokens.has(String(token))) throw refusal('ContextViolation', texts.staleContext);
  }

  async #usual(method: SepMethodName, params: Fields): Promise<unknown> {
    const key = String(params.key);
    if (method === 'kv/get') return { value: this.kv.get(key) ?? null };
    if (method === 'kv/set') return void this.kv.set(key, params.value);
    if (method === 'kv/delete') return void this.kv.delete(key);
    if (method === 'kv/list') return { keys: [...this.kv.keys()].filter((each) => each.startsWith(String(params.prefix ?? ''))).sort() };
    if (method === 'kv/compare_and_set') return this.#compareAndSet(key, params);
    if (method === 'tools/set_active') {
      const wanted = params.tools as readonly string[];
      return { active: wanted.filter((name) => this.#options.enabledTools?.includes(name) ?? true) };
    }
    if (method === 'session/state') return { state: {} };
    if (method === 'ui/request') return this.#ui(params as UiRequest);
    if (method === 'exec/run') return this.#exec(params);
    const answer = this.#options.seams ? await this.seams.answer(method, params, this.#sessionOf(params)) : undefined;
    if (answer !== undefined) return answer;
    if (methodRow(method).beyond) throw refusal('MethodNotFound', texts.methodNotFound(method));
    return {};
  }

  #compareAndSet(key: string, { expected, value }: Fields): unknown {
    const held = this.kv.get(key) ?? null;
    const isSame = isDeepStrictEqual(held, expected ?? null);
    if (isSame && value === null) this.kv.delete(key);
    else if (isSame) this.kv.set(key, value);
    return { swapped: isSame, value: isSame ? value : held };
  }

  async #ui(request: UiRequest): Promise<UiAnswer> {
    if (!this.#uiCapabilities.includes(request.kind)) throw refusal('NoUI', texts.noUi(request.kind));
    const isDialog = Object.hasOwn(uiRequests, request.kind) && 'answer' in uiRequests[request.kind as keyof typeof uiRequests];
    const answer = await this.#options.onUiRequest?.(request);
    return isDialog ? (answer ?? { cancelled: true }) : {};
  }

  async #exec({ command, args, cwd }: Fields): Promise<ExecAnswer> {
    const { onExec } = this.#options;
    if (!onExec) throw refusal('NotTrusted', 'Nothing may be run here');
    const run = { command: String(command), args: (args ?? []) as readonly string[], ...(typeof cwd === 'string' ? { cwd } : {}) };
    return { stdout: '', stderr: '', exit_code: 0, ...(await onExec(run)) };
  }
}

const SESSION = 'agent:main:test';
const CLIENT = { scopes: ['operator.read', 'operator.write'] };
const MOST_FAULTS = 100;
const MOST_CALLS = 10_000;

function refusal(name: keyof typeof errors, message: string): RpcError {
  return new RpcError(errors[name].code, message);
}

/** The same transport; every line that comes is shown first. */
function checking(transport: Transport, show: (line: string) => void): Transport {
  return {
    ...transport,
    start: (events) =>
      transport.start({
        ...events,
        onLine(line) {
          show(line);
          events.onLine(line);
        },
      }),
  };
}
