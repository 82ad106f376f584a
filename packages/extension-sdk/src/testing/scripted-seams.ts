// What Tenon has beyond SEP, as the scripted host has it: in memory, by the rules of the specification, so that an extension can be
// tested against what it would meet. What it queues, schedules, sends and asks for stands in lists that a test can look at.
import { errors, type SepMethodName } from '@tenon/protocol/sep/wire';
import { RpcError } from '../index.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface StoredState {
  readonly value: unknown;
  readonly revision: number;
}

/** A turn that waits for its time; `fireTurn` of the host lets it be due. */
export interface ScheduledJob extends Fields {
  readonly id: string;
  readonly session_key: string;
  readonly message: string;
  readonly tag?: string;
  readonly name: string;
}

export interface ApprovalAnswer {
  readonly decision: 'allow-once' | 'allow-always' | 'deny';
  readonly by?: 'person' | 'rule' | 'timeout';
}

export interface SeamScript {
  /** What the operator says; without it, and where it returns nothing, nobody answers: deny, by timeout. */
  onApproval?(question: Fields): ApprovalAnswer | undefined | Promise<ApprovalAnswer | undefined>;
}

export class ScriptedSeams {
  /** Waits for the next turn. */
  readonly injections: Fields[] = [];
  readonly jobs: ScheduledJob[] = [];
  /** What was sent, as it is now. */
  readonly deliveries: Fields[] = [];
  /** Calls for people that nobody has answered. */
  readonly notices: Fields[] = [];
  readonly #states = new Map<string, StoredState>();
  readonly #script: SeamScript;
  #count = 0;

  constructor(script: SeamScript) {
    this.#script = script;
  }

  stateOf(sessionKey: string, namespace: string): StoredState {
    return this.#states.get(placeOf(sessionKey, namespace)) ?? { value: null, revision: 0 };
  }

  /** What an answer commits. */
  commit(sessionKey: string, answer: Fields): void {
    if (answer.ok === false) return;
    for (const [namespace, value] of Object.entries((answer.state_patch ?? {}) as Fields)) this.#put(sessionKey, namespace, value);
    for (const injection of (answer.inject ?? []) as readonly Fields[]) this.injections.push({ session_key: sessionKey, ...injection });
  }

  /** Undefined: it is none of these methods. */
  async answer(method: SepMethodName, params: Fields, sessionKey: string): Promise<unknown> {
    const { context: _context, ...given } = params;
    const placed: Fields = { ...given, session_key: sessionKey };
    switch (method) {
      case 'state/get':
        return this.stateOf(sessionKey, String(params.namespace));
      case 'state/patch':
        return this.#patch(sessionKey, params);
      case 'state/list':
        return { sessions: this.#list(String(params.namespace)) };
      case 'injection/enqueue':
        return this.#enqueue(placed);
      case 'turn/continue':
        return { run_id: this.#id('run') };
      case 'schedule/turn':
        return this.#schedule(placed);
      case 'schedule/remove':
        return { removed: removeFrom(this.jobs, ({ session_key, tag }) => session_key === sessionKey && tag === params.tag) };
      case 'attachment/send':
        return this.#send(placed);
      case 'attachment/update':
        return this.#update(placed);
      case 'approval/request':
        return { by: 'person', ...((await this.#script.onApproval?.(placed)) ?? { decision: 'deny', by: 'timeout' }) };
      case 'action_required/notify':
        return { id: this.#note(placed) };
      case 'action_required/withdraw':
        return {
          withdrawn: removeFrom(this.notices, ({ id, session_key }) =>
            params.id === undefined ? session_key === sessionKey : id === params.id,
          ),
        };
      case 'stream/emit':
      case 'gateway_event/emit':
        return {};
      default:
        return undefined;
    }
  }

  #put(sessionKey: string, namespace: string, value: unknown): number {
    const revision = this.stateOf(sessionKey, namespace).revision + 1;
    this.#states.set(placeOf(sessionKey, namespace), { value, revision });
    return revision;
  }

  #patch(sessionKey: string, { namespace, value, if_revision: expected }: Fields): unknown {
    const { revision } = this.stateOf(sessionKey, String(namespace));
    if (expected !== undefined && expected !== revision)
      throw refused('conflict', `The state "${String(namespace)}" is at revision ${revision}, not ${String(expected)}`);
    return { revision: this.#put(sessionKey, String(namespace), value) };
  }

  #list(namespace: string): readonly unknown[] {
    return [...this.#states].flatMap(([place, { value, revision }]) => {
      const [session_key, of] = JSON.parse(place) as [string, string];
      return of === namespace && value !== null ? [{ session_key, value, revision }] : [];
    });
  }

  #enqueue(injection: Fields): unknown {
    const { idempotency_key: key = this.#id('inj'), session_key } = injection;
    if (this.injections.some((each) => each.id === key && each.session_key === session_key))
      throw refused('conflict', 'one with this key waits already');
    this.injections.push({ ...injection, id: key });
    return { id: key, session_key };
  }

  #schedule(turn: Fields): unknown {
    if (['at', 'delay_ms', 'cron'].filter((when) => turn[when] !== undefined).length !== 1)
      throw new RpcError(errors.InvalidParams.code, 'turn/at, delay_ms or cron: exactly one of them says when');
    const job = { name: String(turn.message).slice(0, 80), ...turn, id: this.#id('job') } as unknown as ScheduledJob;
    this.jobs.push(job);
    return { id: job.id, session_key: job.session_key, next_at: Date.now() };
  }

  #send(attachment: Fields): unknown {
    const delivery = { ...attachment, delivery_id: this.#id('dlv'), entry_id: `entry-${this.#count}`, revision: 0 };
    this.deliveries.push(delivery);
    const { delivery_id, entry_id, files = [] } = delivery as { delivery_id: string; entry_id: string; files?: readonly unknown[] };
    return { channel: 'webchat', delivered_to: 'webchat', count: files.length, delivery_id, entry_id, state: 'sent' };
  }

  #update({ delivery_id, text, presentation }: Fields): unknown {
    const index = this.deliveries.findIndex((each) => each.delivery_id === delivery_id);
    const before = this.deliveries[index];
    if (!before) throw new RpcError(errors.InvalidParams.code, 'It has sent no such thing in this session');
    const change = { ...(text === undefined ? {} : { text }), ...(presentation === undefined ? {} : { presentation }) };
    const changed = Object.entries(change).some(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name] ?? null));
    const after = { ...before, ...change, revision: Number(before.revision) + (changed ? 1 : 0) };
    this.deliveries[index] = after;
    return { delivery_id, entry_id: before.entry_id, revision: after.revision, changed, edits: 'done' };
  }

  #note(notice: Fields): string {
    const same = this.notices.find(({ title, session_key }) => title === notice.title && session_key === notice.session_key);
    if (same) return String(same.id);
    const id = this.#id('act');
    this.notices.push({ ...notice, id });
    return id;
  }

  #id(kind: string): string {
    return `${kind}_${String(++this.#count).padStart(16, '0')}`;
  }
}

function refused(reason: string, message: string): RpcError {
  return new RpcError(errors.Refused.code, message, { reason });
}

function placeOf(sessionKey: string, namespace: string): string {
  return JSON.stringify([sessionKey, namespace]);
}

/** How many there were. */
function removeFrom<Item>(list: Item[], isGone: (item: Item) => boolean): number {
  const left = list.filter((each) => !isGone(each));
  const removed = list.length - left.length;
  list.splice(0, list.length, ...left);
  return removed;
}
