// Keeps one extension at work. Each process that it starts is a generation; calls go to the one that is ready. One that
// crashes, hangs or does not introduce itself is ended and started again after a while, and after a few times no more,
// until the operator says so. A reload starts the new one beside the old one, which stays if the new one is no good.
import type { ExtensionState } from '@tenon/protocol';
import { limits, methods, restartDelaysMs, texts } from '@tenon/protocol/sep/wire';
import type { Clock, Timer } from '../../kernel/clock.ts';
import type { CrashMemory } from '../../store/plugins.ts';
import { shortText } from '../error-text.ts';
import { createPeer, type Params, type Peer, type PeerFault, type PeerHandler, type RequestOptions } from './connection/peer.ts';
import type { ExtensionProcess, ProcessEnd } from './process/process.ts';
import { NotAnswered } from './connection/rpc-error.ts';

/** One process of the extension, from its introduction on. */
export interface Generation<Introduced> {
  readonly number: number;
  readonly peer: Peer;
  readonly process: ExtensionProcess;
  /** What it said of itself. */
  readonly introduced: Introduced;
}

export interface Crash {
  readonly at: number;
  readonly reason: string;
}

export interface SupervisorOptions<Introduced, Source> {
  readonly clock: Clock;
  /** Between 0 and 1: restarts of many extensions do not fall together. */
  readonly random: () => number;
  /** Starts a process. */
  launch(source: Source, generation: number): ExtensionProcess;
  /** The params of `initialize`. */
  hello(source: Source): Params;
  /** Reads the answer to it. Throws an error that says what is wrong with it. */
  readHello(result: unknown, source: Source): Introduced;
  request(generation: number, method: string): PeerHandler | undefined;
  notification(generation: number, method: string): ((params: Params) => void) | undefined;
  noticed(generation: number, fault: PeerFault, detail: string): void;
  /** What the next gateway must know of it; undefined where there is nothing any more. */
  remember?(memory: CrashMemory | undefined): void;
  /** After every change of the state; `generation` where one has become the current one. */
  changed(state: ExtensionState, reason: string | undefined, generation?: Generation<Introduced>): void;
}

export interface Supervisor<Introduced, Source> {
  readonly state: ExtensionState;
  /** In words, where it is not ready. */
  readonly reason: string | undefined;
  readonly current: Generation<Introduced> | undefined;
  /** When it is started again, in milliseconds from now; undefined where it is not. */
  readonly restartInMs: number | undefined;
  /** Of those that count, the latest last. */
  readonly crashes: readonly Crash[];
  /** Resolves when it is ready or has failed the first time; never rejects. */
  start(source: Source, memory?: CrashMemory): Promise<void>;
  /** The new one takes over when it is ready; undefined, or why it did not. `memory`: of a gateway before, where this is its first start. */
  reload(source: Source, memory?: CrashMemory): Promise<string | undefined>;
  /** To the one that is ready; rejects with RpcError where there is none. */
  request(method: string, params: Params, options: RequestOptions): Promise<unknown>;
  /** Whoever is ready is asked to end, and waited for; resolves when nothing runs any more. */
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 1_000;
const JITTER = 0.2;

interface Running {
  readonly number: number;
  readonly process: ExtensionProcess;
  readonly peer: Peer;
  /** Why the connection closed. */
  closedBecause: string | undefined;
  /** It is on its way out, and its end is no crash. */
  isLeaving: boolean;
  /** It was at work and its connection is gone: the wish that held then. */
  lostAt: number | undefined;
}

export function createSupervisor<Introduced, Source>(options: SupervisorOptions<Introduced, Source>): Supervisor<Introduced, Source> {
  const { clock } = options;
  let state: ExtensionState = 'stopped';
  let reason: string | undefined;
  let current: Generation<Introduced> | undefined;
  let readyAt = 0;
  let generations = 0;
  let lastId = 0;
  let crashes: Crash[] = [];
  let restarts = 0;
  let source: Source | undefined;
  let restart: Timer | undefined;
  let restartAt = 0;
  /** Grows when somebody decides anew what is to happen: what was under way for an older wish gives up. */
  let wish = 0;
  const running = new Set<Running>();

  function enter(next: ExtensionState, why?: string, generation?: Generation<Introduced>): void {
    state = next;
    reason = why;
    options.changed(next, why, generation);
  }

  function launch(from: Source): Running {
    const number = ++generations;
    const process = options.launch(from, number);
    const one: Running = {
      number,
      process,
      closedBecause: undefined,
      isLeaving: false,
      lostAt: undefined,
      peer: createPeer({
        input: process.input,
        output: process.output,
        clock,
        nextId: () => ++lastId,
        request: (method) => (method === 'ping' ? () => ({}) : options.request(number, method)),
        notification: (method) => options.notification(number, method),
        noticed: (fault, detail) => options.noticed(number, fault, detail),
        closed(why) {
          one.closedBecause = why;
          if (one.isLeaving) return;
          if (current?.number === number) lost(one, why);
          // Without a connection it is of no use, whatever it still does.
          process.kill();
        },
      }),
    };
    running.add(one);
    void process.ended.then((end) => {
      one.peer.close(texts.closed);
      running.delete(one);
      if (!one.isLeaving && one.lostAt === wish) crashed(endText(end, one.closedBecause));
    });
    return one;
  }

  /** Nobody is sent to it any more; what has become of it is known when its process has ended. */
  function lost(one: Running, why: string): void {
    if (clock.monotonic() - readyAt >= limits.stableMs.value) forgetCrashes();
    one.lostAt = wish;
    current = undefined;
    enter('restarting', why);
  }

  /** The generation, or why there is none; then nothing of it is running any more. */
  async function introduce(from: Source): Promise<Generation<Introduced> | { readonly failed: string; readonly isFinal: boolean }> {
    const one = launch(from);
    try {
      const result = await one.peer.request('initialize', options.hello(from), { timeoutMs: methods.initialize.timeoutMs });
      const introduced = options.readHello(result, from);
      return { number: one.number, peer: one.peer, process: one.process, introduced };
    } catch (error) {
      const wasClosed = one.peer.isClosed;
      one.isLeaving = true;
      one.process.kill();
      const end = await one.process.ended;
      const text = end.error || wasClosed ? endText(end, one.closedBecause) : `it did not introduce itself: ${shortText(error)}`;
      return { failed: text, isFinal: end.error !== undefined };
    }
  }

  function take(generation: Generation<Introduced>): void {
    current = generation;
    readyAt = clock.monotonic();
    enter('ready', undefined, generation);
    watchSilence(generation);
  }

  async function bring(from: Source): Promise<void> {
    const mine = ++wish;
    restart?.cancel();
    enter('starting');
    const made = await introduce(from);
    if (mine !== wish) {
      if (!('failed' in made)) void end(made);
      return;
    }
    if (!('failed' in made)) return take(made);
    if (made.isFinal) return enter('failed', made.failed);
    crashed(made.failed);
  }

  async function start(from: Source, memory?: CrashMemory): Promise<void> {
    source = from;
    if (!memory) {
      forgetCrashes();
      return bring(from);
    }
    const [mono, wall] = [clock.monotonic(), clock.now()];
    crashes = memory.crashes.map(({ at, reason: why }) => ({ at: mono - Math.max(0, wall - at), reason: why })).filter(isLate(mono));
    restarts = memory.restarts;
    if (memory.down) return enter(memory.down.state, memory.down.reason);
    const last = crashes.at(-1);
    const waitMs = last ? last.at + (restartDelaysMs[restarts - 1] ?? 0) - mono : 0;
    if (!last || waitMs <= 0) return bring(from);
    startLater(from, waitMs, last.reason);
  }

  function forgetCrashes(): void {
    const isAny = crashes.length > 0 || restarts > 0;
    crashes = [];
    restarts = 0;
    if (isAny) options.remember?.(undefined);
  }

  function startLater(from: Source, waitMs: number, why: string): void {
    restartAt = clock.monotonic() + waitMs;
    restart = clock.after(waitMs, () => void bring(from));
    enter('restarting', why);
  }

  /** It stays down, or is started again; both are known to the next gateway. */
  function remember(down?: CrashMemory['down']): void {
    const behind = clock.now() - clock.monotonic();
    options.remember?.({
      crashes: crashes.map(({ at, reason: why }) => ({ at: at + behind, reason: why })),
      restarts,
      ...(down ? { down } : {}),
    });
  }

  function stayDown(next: 'quarantined' | 'failed', why: string): void {
    remember({ state: next, reason: why });
    enter(next, why);
  }

  /** Counts, and sees to what happens next. */
  function crashed(why: string): void {
    const now = clock.monotonic();
    crashes = [...crashes, { at: now, reason: why }].filter(isLate(now));
    const from = source;
    if (from === undefined) return enter('stopped');
    if (crashes.length >= limits.quarantineCrashes.value) {
      const minutes = limits.quarantineWindowMs.value / 60_000;
      return stayDown('quarantined', `it crashed ${crashes.length} times within ${minutes} minutes, at last because ${why}`);
    }
    const delayMs = restartDelaysMs[restarts++];
    if (delayMs === undefined)
      return stayDown('failed', `it crashed again after ${restartDelaysMs.length} restarts, at last because ${why}`);
    remember();
    startLater(from, Math.round(delayMs * (1 + JITTER * options.random())), why);
  }

  /** A process that says nothing for a while is asked whether it is there. */
  function watchSilence({ number, peer, process }: Generation<Introduced>): void {
    let missed = 0;
    const isOver = () => peer.isClosed || current?.number !== number;

    function look(): void {
      if (isOver()) return;
      const silentMs = clock.monotonic() - peer.heardAt;
      if (silentMs < limits.pingIdleMs.value) return void clock.after(limits.pingIdleMs.value - silentMs, look);
      // One that works on a call may do nothing else meanwhile: the deadline of that call says when it was too long. Unless
      // it is stopped, and so cannot work on anything.
      const isAtWork = peer.inFlight > 0 && !process.use()?.isStopped;
      if (peer.isHeldBack || isAtWork) return void clock.after(limits.pingReplyMs.value, look);
      void ping();
    }

    async function ping(): Promise<void> {
      const isThere = await peer.request('ping', {}, { timeoutMs: limits.pingReplyMs.value }).then(
        () => true,
        // An error is an answer too.
        () => clock.monotonic() - peer.heardAt < limits.pingReplyMs.value,
      );
      if (isOver()) return;
      missed = isThere ? 0 : missed + 1;
      if (missed < limits.pingsMissed.value) return look();
      peer.close(`it did not answer ${missed} pings`);
    }

    look();
  }

  /** Asks it to end, waits, and then ends it. */
  async function end(generation: Generation<Introduced>): Promise<void> {
    const one = [...running].find(({ number }) => number === generation.number);
    if (!one) return;
    one.isLeaving = true;
    const { process, peer } = generation;
    let isAsked = false;
    const insist = () => {
      if (!isAsked) process.stop(STOP_GRACE_MS);
      isAsked = true;
    };
    const timer = clock.after(limits.shutdownMs.value, insist);
    // One that refuses is not waited for.
    peer.request('shutdown', {}, { timeoutMs: limits.shutdownMs.value }).catch(insist);
    await process.ended;
    timer.cancel();
  }

  return {
    get state() {
      return state;
    },
    get reason() {
      return reason;
    },
    get current() {
      return current;
    },
    get restartInMs() {
      return state === 'restarting' && restartAt > clock.monotonic() ? restartAt - clock.monotonic() : undefined;
    },
    get crashes() {
      return crashes;
    },
    start,
    async reload(from, memory) {
      const old = current;
      if (!old) {
        await start(from, memory);
        return state === 'ready' ? undefined : (reason ?? state);
      }
      const mine = ++wish;
      const made = await introduce(from);
      if ('failed' in made) return made.failed;
      if (mine !== wish) {
        void end(made);
        return 'something else was decided about it meanwhile';
      }
      source = from;
      forgetCrashes();
      restart?.cancel();
      const left = current;
      take(made);
      // What it was asked before is answered by it, if that does not take too long.
      if (left) void left.peer.drained(limits.shutdownMs.value).then(() => end(left));
      return undefined;
    },
    request(method, params, given) {
      if (current) return current.peer.request(method, params, given);
      return Promise.reject(new NotAnswered('closed', state === 'stopped' ? texts.closed : texts.restarting));
    },
    async stop() {
      wish++;
      source = undefined;
      restart?.cancel();
      const leaving = current;
      current = undefined;
      if (state !== 'stopped') enter('stopped');
      const ends = leaving ? [end(leaving)] : [];
      for (const one of running) {
        if (one.number === leaving?.number) continue;
        // One that is being started, or that a reload has replaced; one that was asked to end before is only waited for.
        if (!one.isLeaving) one.process.stop(STOP_GRACE_MS);
        one.isLeaving = true;
        ends.push(one.process.ended.then(() => {}));
      }
      await Promise.all(ends);
    },
  };
}

/** Whether a crash still counts. */
function isLate(now: number): (crash: Crash) => boolean {
  return ({ at }) => now - at < limits.quarantineWindowMs.value;
}

/** Why a process is no longer there, for people. */
function endText({ code, signal, error, overused }: ProcessEnd, closedBecause: string | undefined): string {
  if (error) return error.code === undefined ? shortText(error) : `it cannot be started (${error.code})`;
  if (overused !== undefined) return overused;
  if (closedBecause !== undefined && signal === 'SIGKILL') return closedBecause;
  if (code === NOT_FOUND) return 'its program was not found (code 127)';
  return signal ? `it ended with ${signal}` : `it ended with code ${code}`;
}

const NOT_FOUND = 127;
