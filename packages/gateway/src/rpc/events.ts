// Events to clients: after the commit, to every client whose scopes allow it, each in the order of its position.
// A client is live, or it catches up from the store: because it resumes, or because it was too slow to be sent more.
import {
  eventNames,
  eventRow,
  events,
  type EphemeralEvent,
  type EventName,
  type EventPayload,
  limits,
  type PluginEvent,
  type Scope,
  type StateVersion,
} from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { StoredEvent, StreamState } from '../store/stream.ts';
import { createPluginTopics, type PluginTopics } from './plugin-topics.ts';
import type { Principal } from './principal.ts';

/** What the hub needs of a connection. */
export interface EventSink {
  readonly principal: Principal;
  /** Whether `epoch` and `prev` are sent along. */
  readonly resumes: boolean;
  /** What it says that it understands. */
  readonly caps?: readonly string[] | undefined;
  send(frame: Buffer): void;
  bufferedBytes(): number;
  /** What was sent before can still be read for `graceMs`. */
  close(code: number, reason: string, graceMs?: number): void;
}

export interface Subscription {
  subscribe(names: readonly string[]): string[];
  unsubscribe(names: readonly string[]): string[];
  leave(): void;
}

export interface EventHub {
  readonly epoch: string;
  readonly head: number;
  join(
    sink: EventSink,
    options: { names: readonly string[] | undefined; resume: { epoch?: string; seq: number } | undefined },
  ): Subscription;
  /** Whether somebody with this capability and scope is there who gets this event of this session. */
  isHeard(name: EventName, sessionKey: string, by: { readonly capability: string; readonly scope: Scope }): boolean;
  /** From the store, after the commit. */
  committed(batch: readonly StoredEvent[]): void;
  publish<Name extends EphemeralEvent>(event: Name, payload: EventPayload<Name>, stateVersion?: StateVersion): void;
  /** What a plugin says, to those who hold its scope. */
  publishOwn(event: { readonly name: string; readonly scope: Scope; readonly payload: PluginEvent }): void;
  close(): void;
}

interface Client {
  readonly sink: EventSink;
  wanted: ReadonlySet<EventName>;
  readonly ofPlugins: PluginTopics;
  /** live: sent as they come. catching-up: reading from the store. lagging: waits until its buffer drains. */
  state: 'live' | 'catching-up' | 'lagging';
  /** Everything up to here was sent or is not for this client. */
  cursor: number;
  /** The last position that this client was sent. */
  sent: number;
  stalledSince: number;
  bufferedBefore: number;
  /** Where its resume began, until `resumed` has been said. */
  resumedFrom: number | undefined;
}

interface HubDeps {
  readonly stream: StreamState;
  readonly readStream: (after: number, limit: number) => Promise<readonly StoredEvent[]>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const PAGE = 500;
const LAG_CHECK_MS = 250;

export function createEventHub(deps: HubDeps): EventHub {
  const { epoch } = deps.stream;
  const clients = new Set<Client>();
  let head = deps.stream.head;
  const lagCheck = deps.clock.every(LAG_CHECK_MS, checkLagging);

  function committed(batch: readonly StoredEvent[]): void {
    for (const event of batch) {
      head = Math.max(head, event.seq);
      const encode = createEncoder(event, epoch);
      for (const client of clients) if (client.state === 'live') deliver(client, event, encode);
    }
  }

  function deliver(client: Client, event: StoredEvent, encode: Encoder): void {
    if (event.seq <= client.cursor) return;
    if (!isFor(client, event.event, event.sessionKey)) {
      client.cursor = event.seq;
      return;
    }
    if (isFull(client)) return;
    client.sink.send(encode(client.sink.resumes ? client.sent : undefined));
    deps.metrics.count('tenon_events_sent_total');
    client.cursor = event.seq;
    client.sent = event.seq;
  }

  function publish<Name extends EphemeralEvent>(event: Name, payload: EventPayload<Name>, stateVersion?: StateVersion): void {
    const frame = Buffer.from(JSON.stringify({ type: 'event', event, payload, ...(stateVersion ? { stateVersion } : {}) }));
    const sessionField = eventRow(event).sessionField;
    const sessionKey = sessionField === undefined ? null : ((payload as Record<string, unknown>)[sessionField] as string);
    for (const client of clients) {
      if (!isFor(client, event, sessionKey)) continue;
      if (client.state === 'lagging' || isFull(client)) deps.metrics.count('tenon_events_dropped_total', { event });
      else client.sink.send(frame);
    }
  }

  function publishOwn({ name, scope, payload }: { readonly name: string; readonly scope: Scope; readonly payload: PluginEvent }): void {
    let frame: Buffer | undefined;
    for (const client of clients) {
      const { principal } = client.sink;
      const isOwn = principal.sessionKey === undefined || principal.sessionKey === payload.sessionKey;
      if (!isOwn || !principal.held.has(scope) || !client.ofPlugins.wants(name)) continue;
      frame ??= Buffer.from(JSON.stringify({ type: 'event', event: name, payload }));
      if (client.state === 'lagging' || isFull(client)) deps.metrics.count('tenon_events_dropped_total', { event: 'plugin' });
      else client.sink.send(frame);
    }
  }

  /** Marks a client that has too much waiting; what it misses is read from the store when it has caught its breath. */
  function isFull(client: Client): boolean {
    const buffered = client.sink.bufferedBytes();
    if (buffered <= limits.maxBufferedBytes.value) return false;
    client.state = 'lagging';
    client.stalledSince = deps.clock.monotonic();
    client.bufferedBefore = buffered;
    deps.metrics.count('tenon_slow_clients_total');
    return true;
  }

  function checkLagging(): void {
    for (const client of clients) {
      if (client.state !== 'lagging') continue;
      const buffered = client.sink.bufferedBytes();
      if (buffered < client.bufferedBefore) client.stalledSince = deps.clock.monotonic();
      client.bufferedBefore = buffered;
      if (buffered < limits.maxBufferedBytes.value / 2) void catchUp(client);
      else if (deps.clock.monotonic() - client.stalledSince >= limits.slowConsumerGraceMs.value) {
        deps.log.warn({ principal: client.sink.principal.id, buffered }, 'closing a client that is too slow');
        clients.delete(client);
        client.sink.close(1008, 'slow consumer', limits.slowConsumerFlushMs.value);
      }
    }
  }

  /** Contract: must not throw. Reads pages until the client is where the stream is, then makes it live in the same breath. */
  async function catchUp(client: Client): Promise<void> {
    client.state = 'catching-up';
    try {
      while (clients.has(client) && client.state === 'catching-up') {
        if (client.cursor >= head) return becomeLive(client);
        // Kept, because the client may have lagged and begun to catch up once more while this page was read.
        const after = client.cursor;
        const page = await deps.readStream(after, PAGE);
        if (!clients.has(client)) return;
        // Positions have no gaps: one at the start of a page means that the events in between are kept no longer.
        if (page[0]?.seq !== after + 1) return requireSnapshot(client, 'too-old');
        for (const event of page) {
          deliver(client, event, createEncoder(event, epoch));
          // Set by deliver: the rest of the page is read again when the buffer has drained.
          if ((client.state as Client['state']) === 'lagging') return;
        }
      }
    } catch (error) {
      deps.log.error({ error }, 'cannot read events for a client');
      clients.delete(client);
      client.sink.close(1011, 'cannot read events');
    }
  }

  function becomeLive(client: Client): void {
    client.state = 'live';
    if (client.resumedFrom === undefined) return;
    sendTo(client, 'resumed', { epoch, from: client.resumedFrom, to: client.cursor });
    // The client holds this position now, so the next event refers to it.
    client.sent = client.cursor;
    client.resumedFrom = undefined;
  }

  function requireSnapshot(client: Client, reason: EventPayload<'snapshot-required'>['reason']): void {
    client.cursor = head;
    client.sent = head;
    client.resumedFrom = undefined;
    client.state = 'live';
    deps.metrics.count('tenon_snapshots_required_total', { reason });
    sendTo(client, 'snapshot-required', { reason, epoch, seq: head });
  }

  async function resume(client: Client, wanted: { epoch?: string; seq: number }): Promise<void> {
    if (wanted.epoch !== undefined && wanted.epoch !== epoch) return requireSnapshot(client, 'epoch-changed');
    if (wanted.seq > head) return requireSnapshot(client, 'from-the-future');
    client.cursor = wanted.seq;
    client.sent = wanted.seq;
    client.resumedFrom = wanted.seq;
    await catchUp(client);
  }

  function sendTo<Name extends EphemeralEvent>(client: Client, event: Name, payload: EventPayload<Name>): void {
    if (clients.has(client)) client.sink.send(Buffer.from(JSON.stringify({ type: 'event', event, payload })));
  }

  return {
    epoch,
    get head() {
      return head;
    },
    join(sink, { names, resume: wanted }) {
      const allowed = new Set(eventNames.filter((name) => mayReceive(sink.principal, name)));
      const client: Client = {
        sink,
        wanted: names === undefined ? allowed : new Set([...allowed].filter((name) => names.includes(name))),
        ofPlugins: createPluginTopics(names),
        state: wanted ? 'catching-up' : 'live',
        cursor: head,
        sent: head,
        stalledSince: 0,
        bufferedBefore: 0,
        resumedFrom: undefined,
      };
      clients.add(client);
      if (wanted) void resume(client, wanted);
      return {
        subscribe(more) {
          client.wanted = new Set([...allowed].filter((name) => client.wanted.has(name) || more.includes(name)));
          client.ofPlugins.add(more);
          return [...client.wanted, ...client.ofPlugins.list()];
        },
        unsubscribe(fewer) {
          client.wanted = new Set([...client.wanted].filter((name) => !fewer.includes(name)));
          client.ofPlugins.remove(fewer);
          return [...client.wanted, ...client.ofPlugins.list()];
        },
        leave: () => {
          clients.delete(client);
        },
      };
    },
    isHeard: (name, sessionKey, { capability, scope }) =>
      [...clients].some((client) => {
        const { caps, principal } = client.sink;
        return caps?.includes(capability) === true && principal.held.has(scope) && isFor(client, name, sessionKey);
      }),
    committed,
    publish,
    publishOwn,
    close: () => lagCheck.cancel(),
  };
}

function isFor(client: Client, event: EventName, sessionKey: string | null): boolean {
  if (!client.wanted.has(event)) return false;
  const bound = client.sink.principal.sessionKey;
  return bound === undefined || events[event].scope === 'any' || sessionKey === bound;
}

/** Closed by default: a client bound to one session gets only what names its session, and what is for everybody. */
function mayReceive(principal: Principal, name: EventName): boolean {
  const { scope, sessionField } = eventRow(name);
  if (scope === 'handshake') return false;
  if (scope === 'any') return true;
  return principal.held.has(scope) && (principal.sessionKey === undefined || sessionField !== undefined);
}

type Encoder = (prev: number | undefined) => Buffer;

// Clients see different subsets and so differ in `prev`, but most of them agree: one buffer for each distinct value.
function createEncoder(event: StoredEvent, epoch: string): Encoder {
  const start = `{"type":"event","event":${JSON.stringify(event.event)},"payload":${event.payload},"seq":${event.seq}`;
  let plain: Buffer | undefined;
  let lastPrev = -1;
  let last: Buffer | undefined;
  return (prev) => {
    if (prev === undefined) {
      plain ??= Buffer.from(`${start}}`);
      return plain;
    }
    if (prev !== lastPrev || !last) {
      last = Buffer.from(`${start},"epoch":"${epoch}","prev":${prev}}`);
      lastPrev = prev;
    }
    return last;
  };
}
