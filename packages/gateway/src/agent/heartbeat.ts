// Heartbeats: every so often each agent that has a prompt file for it looks around, in a session of its own. An answer that is
// exactly HEARTBEAT_OK leaves nothing behind: the session goes back to where it was. Whatever else it says stays.
import { GatewayError, type JsonObject, type Settings } from '@tenon/protocol';
import type { Clock, Timer } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { isTimeZone } from '../kernel/time-zone.ts';
import { QUIET_ANSWER } from '../store/run-origin.ts';
import type { Store } from '../store/store.ts';
import type { StoredEvent } from '../store/stream.ts';
import type { Agent, AgentBook } from './agents.ts';
import { openRhythm, readHeartbeatFile } from './heartbeat-files.ts';
import { textOf } from './prompt.ts';
import { hostZone } from './schedule-times.ts';
import type { Turns } from './service.ts';

const LONGEST_WAIT_MS = 60_000;
/** Of a long absence no more are looked at. */
const MOST_MISSED = 10_000;
/** Entries that one heartbeat may have left and still be taken back. */
const MAX_ENTRIES = 200;

export interface HeartbeatDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly agents: AgentBook;
  readonly turns: Pick<Turns, 'accepted'>;
  readonly settings: Pick<Settings, 'heartbeat.everyMs' | 'heartbeat.hours' | 'heartbeat.tz'>;
  readonly home: string;
}

export type Beat =
  | { readonly begun: true; readonly runId: string; readonly sessionKey: string }
  | { readonly begun: false; readonly reason: string };

const NOT_ENDED: Beat = { begun: false, reason: 'the one before has not ended' };

export interface Heartbeat {
  /** Before turns of a former life go on: their quiet answers are taken back too. */
  resume(): Promise<void>;
  /** What was due while the gateway was down goes on record first. */
  start(): void;
  /** Now, also outside of the active hours. */
  wake(agentId: string): Promise<Beat>;
  /** From the store, after the commit. */
  committed(batch: readonly StoredEvent[]): void;
  /** Resolves when quiet answers that it knows of are gone. */
  settled(): Promise<void>;
  stop(): void;
}

export function heartbeatKey(agentId: string): string {
  return `agent:${agentId}:heartbeat`;
}

export function createHeartbeat({ store, clock, log, agents, turns, settings, home }: HeartbeatDeps): Heartbeat {
  const everyMs = settings['heartbeat.everyMs'];
  /** One of each agent at most. */
  const running = new Map<string, string>();
  const tidying = new Set<Promise<void>>();
  let timer: Timer | undefined;
  let nextAt = 0;
  let isOn = false;
  /** By agent: why its file is of no use, so that it is said once. */
  const unusable = new Map<string, string>();
  const rhythm = openRhythm({ home, everyMs, log });

  function setNext(at: number): void {
    nextAt = at;
    rhythm.keep(at);
  }

  /** Contract: must not throw. */
  async function record(action: string, target: string, details: JsonObject): Promise<void> {
    log.warn(
      { agentId: target, ...details },
      action === 'heartbeat.missed' ? 'heartbeats were missed' : 'what heartbeats need cannot be used',
    );
    await store
      .write('audit.append', { actor: 'gateway', action, target, details, at: clock.now() })
      .catch((error: unknown) => log.error({ error, action }, 'cannot write an audit record'));
  }

  function noteUnusable(agentId: string, reason: string): void {
    if (unusable.get(agentId) === reason) return;
    unusable.set(agentId, reason);
    void record('heartbeat.refused', agentId, { reason });
  }

  /** Those of a former life that would have come since, and the time of the next one: the rhythm goes on. */
  function catchUp(now: number): void {
    const last = rhythm.last();
    if (last === undefined || last > now + everyMs) return setNext(now + everyMs);
    const due = Math.max(0, Math.floor((now - last) / everyMs) + 1);
    setNext(last + due * everyMs);
    const looked = Array.from({ length: Math.min(due, MOST_MISSED) }, (_, index) => last + index * everyMs);
    const times = looked.filter((at) => isWithin(settings['heartbeat.hours'], settings['heartbeat.tz'], at));
    const [first, until] = [times[0], times.at(-1)];
    if (first === undefined || until === undefined) return;
    for (const agent of agents.list()) {
      if ('wrong' in readHeartbeatFile([agent.workspace, home])) continue;
      void record('heartbeat.missed', agent.id, { count: times.length, first, until, reason: 'The gateway was not running' });
    }
  }

  function wait(): void {
    if (!isOn) return;
    timer = clock.after(Math.max(0, Math.min(nextAt - clock.now(), LONGEST_WAIT_MS)), look);
  }

  function look(): void {
    const now = clock.now();
    // A clock that was set back must not make it wait for longer than it would.
    if (nextAt - now > everyMs) setNext(now + everyMs);
    if (now >= nextAt) {
      setNext(now + everyMs);
      if (isWithin(settings['heartbeat.hours'], settings['heartbeat.tz'], now)) for (const agent of agents.list()) void beatAndTell(agent);
    }
    wait();
  }

  async function beatAndTell(agent: Agent): Promise<void> {
    try {
      const beat = await begin(agent);
      if (!beat.begun) log.debug({ agentId: agent.id, reason: beat.reason }, 'no heartbeat');
    } catch (error) {
      log.error({ error, agentId: agent.id }, 'a heartbeat could not begin');
    }
  }

  async function begin(agent: Agent): Promise<Beat> {
    const prompt = readHeartbeatFile([agent.workspace, home]);
    if ('wrong' in prompt) {
      if (prompt.isThere) noteUnusable(agent.id, prompt.wrong);
      return { begun: false, reason: prompt.wrong };
    }
    unusable.delete(agent.id);
    const sessionKey = heartbeatKey(agent.id);
    if ([...running.values()].includes(sessionKey)) return NOT_ENDED;
    const runId = `h${randomId()}`;
    running.set(runId, sessionKey);
    try {
      // One of a former life, or what somebody has said there.
      const { runs } = await store.read('runs.openIn', { key: sessionKey });
      if (runs.length > 0) return forget(runId);
      await store.write('runs.accept', {
        ...{ key: sessionKey, runId, content: [{ type: 'text' as const, text: prompt.text }], mode: 'followup' as const },
        ...{ trigger: 'heartbeat' as const, principal: 'gateway', options: {}, title: 'Heartbeat', at: clock.now() },
      });
    } catch (error) {
      forget(runId);
      throw error;
    }
    turns.accepted(sessionKey);
    return { begun: true, runId, sessionKey };
  }

  function forget(runId: string): Beat {
    running.delete(runId);
    return NOT_ENDED;
  }

  /** Contract: must not throw. */
  async function tidy(runId: string, key: string): Promise<void> {
    try {
      const { entries } = await store.read('entries.path', { key, limit: MAX_ENTRIES });
      const first = entries.findIndex((entry) => 'runId' in entry && entry.runId === runId);
      const last = entries.at(-1);
      const isQuiet = last?.type === 'message' && last.message.role === 'assistant' && textOf(last.message.content).trim() === QUIET_ANSWER;
      const isOwn = first !== -1 && entries.slice(first).every((entry) => !('runId' in entry) || entry.runId === runId);
      if (isQuiet && isOwn) await store.write('entries.move', { key, leafId: entries[first]!.parentId, at: clock.now() });
    } catch (error) {
      log.warn({ error, runId }, 'a quiet heartbeat could not be taken back');
    }
  }

  /** Contract: must not throw. */
  async function takeUp(key: string): Promise<void> {
    try {
      const { runs } = await store.read('runs.openIn', { key });
      for (const { run } of runs) if (run.trigger === 'heartbeat') running.set(run.runId, key);
      // One that ended, and the gateway died before it was taken back.
      const { entries } = await store.read('entries.path', { key, limit: 1 });
      const last = entries.at(-1);
      const runId = last && 'runId' in last ? last.runId : undefined;
      if (runId === undefined || runs.length > 0) return;
      if ((await store.read('runs.get', { runId })).run.trigger === 'heartbeat') await tidy(runId, key);
    } catch (error) {
      if ((error as { code?: string }).code !== 'NOT_FOUND') log.warn({ error, key }, 'cannot look at the last heartbeat');
    }
  }

  return {
    async resume() {
      await Promise.all(agents.list().map(({ id }) => takeUp(heartbeatKey(id))));
    },
    start() {
      if (isOn || everyMs === 0) return;
      isOn = true;
      const tz = settings['heartbeat.tz'];
      if (tz !== '' && !isTimeZone(tz)) {
        const reason = `"${tz}" is not a time zone, such as Europe/Berlin; the hours are those of ${hostZone()}`;
        void record('heartbeat.refused', 'heartbeat.tz', { reason });
      }
      catchUp(clock.now());
      wait();
    },
    async wake(agentId) {
      const agent = agents.get(agentId);
      if (!agent) throw new GatewayError('NOT_FOUND', `Cannot find agent "${agentId}"; agents.list says which there are`);
      return begin(agent);
    },
    committed(batch) {
      if (running.size === 0) return;
      for (const { event, payload } of batch) {
        if (event !== 'chat' || !payload.includes('"ended"')) continue;
        const { kind, runId } = JSON.parse(payload) as { kind: string; runId?: string };
        const key = kind === 'ended' && runId !== undefined ? running.get(runId) : undefined;
        if (runId === undefined || key === undefined) continue;
        running.delete(runId);
        const work = tidy(runId, key).finally(() => tidying.delete(work));
        tidying.add(work);
      }
    },
    async settled() {
      await Promise.all(tidying);
    },
    stop() {
      isOn = false;
      timer?.cancel();
    },
  };
}

/** `08:00-22:00`, in the time zone; over midnight where the end is before the beginning. Empty: always. */
export function isWithin(hours: string, tz: string, now: number): boolean {
  const [, fromHour, fromMinute, toHour, toMinute] = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(hours) ?? [];
  if (fromHour === undefined) return true;
  const zone = tz !== '' && isTimeZone(tz) ? tz : hostZone();
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).formatToParts(
    now,
  );
  const read = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const at = read('hour') * 60 + read('minute');
  const [from, to] = [Number(fromHour) * 60 + Number(fromMinute), Number(toHour) * 60 + Number(toMinute)];
  return from <= to ? at >= from && at < to : at >= from || at < to;
}
