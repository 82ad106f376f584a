// One turn at a time for each session. What waits is in the store; here is only which sessions are at work, and how to
// stop them. Whoever accepts a message says so, and the session's lane looks into the store until nothing waits.
import { GatewayError, type QueueMode, type Run, type RunStream } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { OpenRun } from '../store/run-row.ts';
import type { Store } from '../store/store.ts';
import type { StoredEvent } from '../store/stream.ts';
import { textOf } from './prompt.ts';
import type { Turns } from './service.ts';
import type { TurnControl } from './turn-context.ts';

export interface TurnQueue extends Turns {
  /** Goes on with what a former life left behind. */
  resume(): Promise<void>;
  /** Takes no new work; turns that wait for a model or a person are parked at once, tools may finish within the grace. */
  park(graceMs: number): Promise<void>;
  /** From the store, after the commit. */
  committed(batch: readonly StoredEvent[]): void;
  /** From the turns. */
  said(said: RunStream): void;
  readonly active: number;
}

export interface QueueDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Contract: must not throw. */
  readonly runTurn: (lead: OpenRun, others: readonly OpenRun[], control: TurnControl) => Promise<void>;
  /** Turns at the same time, over all sessions. */
  readonly maxActive: number;
}

interface Lane {
  readonly control: ControlledTurn;
  readonly leadRunId: string;
  /** Whose request the turn serves. */
  readonly principal: string;
  /** Something was accepted since the turn last asked. */
  hasNews: boolean;
}

interface ControlledTurn extends TurnControl {
  stop(reason: string): void;
  park(): void;
  /** The grace is over. */
  cut(): void;
}

const PAGE = 200;
/** A run is queued, then running, then over. */
const MOST_LOOKS = 3;
const LOOK_AGAIN_MS = 2_000;
const STOPPED = 'Stopped by the operator';
const REVOKED = 'The credential that asked for it was revoked';
const INTERRUPTED = 'A newer message interrupted it';

export function createTurnQueue({ store, clock, log, runTurn, maxActive }: QueueDeps): TurnQueue {
  /** Sessions whose lane is awake, with their turn while one runs. */
  const lanes = new Map<string, Lane | undefined>();
  /** Awake, but as many turns as may run do. */
  const waiting: string[] = [];
  const ends = new Map<string, Set<() => void>>();
  const watchers = new Map<string, Set<(said: RunStream) => void>>();
  let parking = false;
  let isParked = false;
  let running = 0;
  /** Told once, when no turn is at work any more. */
  const idle = new Set<() => void>();

  function accepted(key: string): void {
    if (parking) return;
    const lane = lanes.get(key);
    if (lane) {
      lane.hasNews = true;
      void interruptIfAsked(key, lane);
    } else if (!lanes.has(key)) {
      lanes.set(key, undefined);
      if (running < maxActive) void work(key);
      else waiting.push(key);
    }
  }

  /** Contract: must not throw. Turn after turn until nothing waits. */
  async function work(key: string, resumed?: OpenRun): Promise<void> {
    running++;
    try {
      let lead = resumed;
      for (;;) {
        let others: readonly OpenRun[] = [];
        if (!lead) [lead, ...others] = await nextTurn(key);
        if (!lead || parking) break;
        await runOne(key, lead, others);
        lead = undefined;
      }
    } catch (error) {
      lookAgain(key, error);
      return;
    } finally {
      running--;
      lanes.delete(key);
      const next = parking ? undefined : waiting.shift();
      if (next !== undefined) void work(next);
      if (running === 0) for (const tell of idle) tell();
    }
    // Something may have been accepted after the last look and before the lane was gone.
    if (!parking) await lookOnce(key);
  }

  async function lookOnce(key: string): Promise<void> {
    try {
      const { runs } = await store.read('runs.queued', { key });
      if (runs.length > 0) accepted(key);
    } catch (error) {
      lookAgain(key, error);
    }
  }

  function lookAgain(key: string, error: unknown): void {
    log.error({ error, key }, 'cannot read what waits for a session; it is looked at again soon');
    clock.after(LOOK_AGAIN_MS, () => accepted(key));
  }

  async function runOne(key: string, lead: OpenRun, others: readonly OpenRun[]): Promise<void> {
    const control = createControl(() => takeSteering(key));
    const lane: Lane = { control, leadRunId: lead.run.runId, principal: lead.principal, hasNews: lead.run.state === 'running' };
    lanes.set(key, lane);
    if (parking) control.park();
    await runTurn(lead, others, control);
  }

  /** The first that waits, and those that are told together with it. */
  async function nextTurn(key: string): Promise<OpenRun[]> {
    const { runs } = await store.read('runs.queued', { key });
    const [first] = runs;
    if (!first) return [];
    if (first.run.mode !== 'collect') return [first];
    if (isCommand(first)) return [first];
    // Nobody is overtaken: what is a turn of its own ends the row of those that are told together.
    const end = runs.findIndex(({ run, options }, index) => {
      if (index === 0) return false;
      return run.mode !== 'collect' || run.trigger !== first.run.trigger || hasWishes(options) || isCommand(runs[index]!);
    });
    return end === -1 ? runs : runs.slice(0, end);
  }

  async function takeSteering(key: string): Promise<readonly OpenRun[]> {
    const lane = lanes.get(key);
    if (!lane?.hasNews || parking) return [];
    lane.hasNews = false;
    const { runs } = await store.read('runs.queued', { key });
    return runs.filter((each) => each.run.mode === 'steer' && !isCommand(each));
  }

  /** Contract: must not throw. */
  async function interruptIfAsked(key: string, lane: Lane): Promise<void> {
    try {
      const { runs } = await store.read('runs.queued', { key });
      if (runs.some(({ run }) => run.mode === ('interrupt' satisfies QueueMode)) && lanes.get(key) === lane) lane.control.stop(INTERRUPTED);
    } catch (error) {
      lookAgain(key, error);
    }
  }

  async function abort(key: string, runId?: string): Promise<string[]> {
    const cancelled: string[] = [];
    for (let look = 0; look < MOST_LOOKS; look++) {
      const { runs } = await store.read('runs.openIn', { key });
      const wanted = runId === undefined ? currentOf(runs) : runs.filter(({ run }) => run.runId === runId || run.joined === runId);
      const active = wanted.filter(({ run }) => run.state === 'running');
      if (active.length > 0) return [...(await stopActive(key, active)), ...cancelled];
      if (wanted.length === 0) return cancelled;
      const waiting = wanted.map(({ run }) => run.runId);
      const lane = lanes.get(key);
      if (lane && waiting.includes(lane.leadRunId)) lane.control.stop(STOPPED);
      const ended = await store.write('runs.cancelQueued', { key, runIds: waiting, reason: STOPPED, at: clock.now() });
      cancelled.push(...ended.runs.map((run) => run.runId));
      // What is missing has begun since the store was read: it is looked at once more.
      if (ended.runs.length === waiting.length) return cancelled;
    }
    return cancelled;
  }

  async function stopActive(key: string, active: readonly OpenRun[]): Promise<string[]> {
    if (parking) throw stopping();
    const over = Promise.all(active.map(({ run }) => ended(run.runId)));
    const turn = lanes.get(key);
    // The turn that is meant: another may have begun since the store was read.
    if (turn && active.some(({ run }) => (run.joined ?? run.runId) === turn.leadRunId)) turn.control.stop(STOPPED);
    else
      for (const { run } of active)
        if (run.joined === undefined)
          await store.write('runs.end', { key, runId: run.runId, end: { kind: 'aborted', reason: STOPPED }, at: clock.now() });
    await over;
    return active.map(({ run }) => run.runId);
  }

  /** Resolves when the store says that the run has ended; at once when it has. */
  async function ended(runId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = listen(ends, runId, resolve);
    const { run } = await store.read('runs.get', { runId });
    if (run.state !== 'ended') await promise;
    stop();
  }

  async function wait(runId: string, timeoutMs: number): Promise<{ run: Run; text?: string } | undefined> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = listen(ends, runId, resolve);
    try {
      let { run } = await store.read('runs.get', { runId });
      if (run.state !== 'ended' && timeoutMs > 0 && !isParked) {
        const timer = clock.after(timeoutMs, resolve);
        await promise;
        timer.cancel();
        ({ run } = await store.read('runs.get', { runId }));
      }
      if (run.state !== 'ended' && timeoutMs > 0 && isParked) throw stopping();
      const text = run.state === 'ended' ? await lastText(run) : undefined;
      return { run, ...(text === undefined ? {} : { text }) };
    } finally {
      stop();
    }
  }

  /** What the agent said last in the run, or in the one that told its message. */
  async function lastText(run: Run): Promise<string | undefined> {
    const { entry } = await store.read('entries.lastAnswer', { sessionId: run.sessionId, runId: run.joined ?? run.runId });
    return entry?.type === 'message' ? textOf(entry.message.content) : undefined;
  }

  return {
    accepted,
    abort,
    wait,
    running: (key) => lanes.get(key)?.leadRunId,
    stopFor(principal) {
      for (const lane of lanes.values()) if (lane?.principal === principal) lane.control.stop(REVOKED);
    },
    watch: (runId, listener) => listen(watchers, runId, listener),
    said(said) {
      for (const listener of watchers.get(said.runId) ?? []) listener(said);
    },
    committed(batch) {
      for (const { event, payload } of batch) {
        if (event !== 'chat' || !payload.includes('"ended"')) continue;
        const { kind, runId } = JSON.parse(payload) as { kind: string; runId?: string };
        if (kind === 'ended' && runId !== undefined) for (const tell of ends.get(runId) ?? []) tell();
      }
    },
    async resume() {
      const queued = new Set<string>();
      for (let after: number | undefined; ; ) {
        const { runs, next } = await store.read('runs.open', { limit: PAGE, ...(after === undefined ? {} : { after }) });
        for (const open of runs) {
          if (open.run.state === 'queued') queued.add(open.run.sessionKey);
          else if (open.run.joined === undefined) {
            log.info({ runId: open.run.runId }, 'a turn of a former life goes on');
            lanes.set(open.run.sessionKey, undefined);
            void work(open.run.sessionKey, open);
          }
        }
        if (next === undefined) break;
        after = next;
      }
      for (const key of queued) accepted(key);
    },
    async park(graceMs) {
      parking = true;
      for (const lane of lanes.values()) lane?.control.park();
      if (running > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        idle.add(resolve);
        const grace = clock.after(graceMs, () => {
          for (const lane of lanes.values()) lane?.control.cut();
        });
        await promise;
        grace.cancel();
      }
      // Nothing ends any more: who waits for it is told so, and the gateway need not wait for them.
      isParked = true;
      for (const listeners of ends.values()) for (const tell of listeners) tell();
    },
    get active() {
      return running;
    },
  };
}

function stopping(): GatewayError {
  return new GatewayError('UNAVAILABLE', 'The gateway is stopping; the run goes on when it is back');
}

/** What a person means who says stop: the turn that runs, or the one that is about to. What waits behind it is what they want next. */
function currentOf(runs: readonly OpenRun[]): readonly OpenRun[] {
  const running = runs.filter(({ run }) => run.state === 'running');
  return running.length > 0 ? running : runs.slice(0, 1);
}

/** What a message wants for its own turn. */
function hasWishes({ startsSession: _, by: __, ...wishes }: OpenRun['options']): boolean {
  return Object.keys(wishes).length > 0;
}

/** A command of the person is a turn of its own. */
function isCommand({ content }: OpenRun): boolean {
  return textOf(content).trimStart().startsWith('!');
}

function createControl(takeSteering: () => Promise<readonly OpenRun[]>): ControlledTurn {
  const waits = new AbortController();
  const work = new AbortController();
  let state: 'running' | 'stopped' | 'parked' = 'running';
  let reason = '';
  return {
    waits: waits.signal,
    work: work.signal,
    isStopped: () => state === 'stopped',
    isParked: () => state === 'parked',
    get reason() {
      return reason;
    },
    takeSteering,
    stop(why) {
      if (state !== 'running') return;
      state = 'stopped';
      reason = why;
      waits.abort();
      work.abort();
    },
    park() {
      if (state !== 'running') return;
      state = 'parked';
      waits.abort();
    },
    cut: () => work.abort(),
  };
}

/** Adds a listener and gives what takes it away. */
function listen<Listener>(all: Map<string, Set<Listener>>, name: string, listener: Listener): () => void {
  const own = all.get(name) ?? new Set();
  own.add(listener);
  all.set(name, own);
  return () => {
    own.delete(listener);
    if (own.size === 0) all.delete(name);
  };
}
