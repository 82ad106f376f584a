// What a plugin can do for as long as it is loaded, in groups. No call throws: one that was not done says why.
import type { Decision, JsonValue } from '@tenon/protocol';
import type { AttachmentChange, AttachmentChangeOutcome, AttachmentOutcome, SessionAttachment } from './deliveries.ts';
import type { ScheduledTurn, ScheduleOutcome, UnscheduleOutcome } from './later.ts';
import type { Refused } from './values.ts';

/** State of the plugin in one session. */
export interface StateValue {
  readonly value: JsonValue;
  readonly revision: number;
}

export interface SessionState {
  get(sessionKey: string, namespace: string): Promise<StateValue | undefined>;
  /** The same, with the revision of what was removed: null and its revision, or null and 0 where there was never anything. */
  read(
    sessionKey: string,
    namespace: string,
  ): Promise<{ readonly ok: true; readonly value: JsonValue | null; readonly revision: number } | Refused>;
  /** One after another for each session and namespace, on the freshest value; null removes it. Safe from inside any handler of the plugin. */
  update(
    sessionKey: string,
    namespace: string,
    change: (current: JsonValue | undefined) => JsonValue | null | Promise<JsonValue | null>,
  ): Promise<{ readonly ok: true; readonly revision: number } | Refused>;
  /** Only if nobody changed it meanwhile, where a revision is given. */
  patch(
    sessionKey: string,
    namespace: string,
    value: JsonValue | null,
    options?: { readonly ifRevision?: number },
  ): Promise<{ readonly ok: true; readonly revision: number } | Refused>;
  /** Sessions that have a value there. Needs the grant `sessions.list`. */
  list(
    namespace: string,
  ): Promise<readonly { readonly sessionKey: string; readonly value: JsonValue; readonly revision: number }[] | Refused>;
}

export interface Injection {
  readonly sessionKey: string;
  readonly text: string;
  readonly idempotencyKey?: string;
  readonly placement?: 'prepend_context' | 'append_context';
  readonly ttlMs?: number;
  readonly priority?: number;
  readonly metadata?: JsonValue;
}

/** One that goes with a result, into the session of the call. */
export type ResultInjection = Omit<Injection, 'sessionKey'>;

export type Enqueued =
  | { readonly enqueued: true; readonly id: string; readonly sessionKey: string }
  | { readonly enqueued: false; readonly id: string; readonly sessionKey: string; readonly reason: string };

export interface ApprovalQuestion {
  readonly sessionKey: string;
  /** Up to 80 characters. */
  readonly title: string;
  readonly description: string;
  /** Once or not at all, if nothing is said; `deny` is always possible. */
  readonly allowedDecisions?: readonly Decision[];
  /** The operator's own limit, `approvals.expireMs`, stands above it. */
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
}

/** Nobody answered in time: `deny` by `timeout`. Somebody said "always" to the same question before: `allow-always` by `rule`. */
export type ApprovalOutcome = { readonly ok: true; readonly decision: Decision; readonly by: 'person' | 'rule' | 'timeout' } | Refused;

/** What happens next in a session. */
export interface SessionWorkflow {
  /** Told to the agent once, in the next turn of the session. Needs the grant `prompt.inject`. */
  enqueueNextTurnInjection(injection: Injection): Promise<Enqueued>;
  /** One turn without a message, if something waits to be told or `force` is set. Needs the grant `turns.start`. */
  continueAgent(request: {
    readonly sessionKey: string;
    readonly force?: boolean;
  }): Promise<{ readonly ok: true; readonly runId?: string } | Refused>;
  /**
   * Tells every surface that a person is needed, also those that connect later, until one of the actions was carried out, somebody
   * has put it away, or it is taken back. The same title, or `idempotencyKey`, in a session is one call. Needs the grant `people.notify`.
   */
  notifyActionRequired(request: {
    readonly sessionKey: string;
    readonly title: string;
    readonly actions?: readonly { readonly label: string; readonly actionId: string }[];
    readonly idempotencyKey?: string;
  }): Promise<{ readonly ok: true; readonly id: string } | Refused>;
  /** Takes one of its calls back, or all that it has in the session. Needs the grant `people.notify`. */
  withdrawActionRequired(request: {
    readonly sessionKey: string;
    readonly id?: string;
  }): Promise<{ readonly ok: true; readonly withdrawn: number } | Refused>;
  /**
   * Asks the operator, on every surface, and waits for the answer. A question is known by its `idempotencyKey` in its conversation:
   * asked again, also after a restart, it is the same one, and an answer that was given is given again. Without the key it is
   * withdrawn when this load of the plugin ends. Needs the grant `approvals.request`.
   */
  requestApproval(request: ApprovalQuestion): Promise<ApprovalOutcome>;
  /**
   * A turn at a later time, or again and again. It is kept over a restart, and is gone with the session, its reset, and when the
   * plugin is switched off. Needs the grant `schedule.turns`.
   */
  scheduleSessionTurn(turn: ScheduledTurn): Promise<ScheduleOutcome>;
  /** Takes turns back that this plugin has scheduled in the session under the tag. Needs the grant `schedule.turns`. */
  unscheduleSessionTurnsByTag(which: { readonly sessionKey: string; readonly tag: string }): Promise<UnscheduleOutcome>;
  /** Files, text and buttons to where the session came from. Needs the grant `attachments.send`. */
  sendSessionAttachment(attachment: SessionAttachment): Promise<AttachmentOutcome>;
  /**
   * Changes the text and the presentation of what this plugin has sent in the session, where it is shown and in the channel. The
   * same change twice is one. Needs the grant `attachments.send`.
   */
  updateSessionAttachment(change: AttachmentChange): Promise<AttachmentChangeOutcome>;
}

export type Emitted = { readonly emitted: true; readonly stream: string } | { readonly emitted: false; readonly reason: string };

export interface AgentEvents {
  /** The stream is `<plugin id>` or begins with `<plugin id>.`. Needs the grant `events.emit`. */
  emitAgentEvent(event: {
    readonly runId: string;
    readonly sessionKey: string;
    readonly stream: string;
    readonly data: JsonValue;
  }): Emitted;
}

/** What clients of the gateway hear. */
export interface GatewayEvents {
  /**
   * Sends the event `plugin.<plugin id>.<name>`, which was registered with `registerGatewayEvent`, to every client that holds its
   * scope. Whoever is not connected misses it. Needs the grant `events.emit`.
   */
  emit(event: { readonly name: string; readonly data: JsonValue; readonly sessionKey?: string }): { readonly ok: true } | Refused;
}

export interface SecretValue {
  readonly ok: true;
  readonly value: string;
}

/** What the operator keeps for plugins, by name. */
export interface Secrets {
  /** Needs the grant `secrets.use:<name>`. Read anew each time; do not keep it, and do not say it. */
  get(name: string): Promise<SecretValue | Refused>;
}

/** In memory, for as long as the run lasts. */
export interface RunContext {
  /** False when it was not kept: the run is over, or the value cannot be kept. */
  setRunContext(patch: {
    readonly runId: string;
    readonly namespace: string;
    readonly value?: JsonValue;
    readonly unset?: boolean;
  }): boolean;
  getRunContext(place: { readonly runId: string; readonly namespace: string }): JsonValue | undefined;
  clearRunContext(place: { readonly runId: string; readonly namespace?: string }): void;
}

/** This load of the plugin. */
export interface PluginLifecycle {
  /** Aborts when this load of the plugin ends. */
  readonly signal: AbortSignal;
  /** Called when this load ends, unless what is returned is called before. */
  onDispose(undo: () => void): () => void;
}
