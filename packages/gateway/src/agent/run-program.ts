// A program that a plugin wants run: it is a call of the tool `exec` that the plugin makes in place of the agent, and goes the way of
// every such call. What it was, and what became of it, is in the audit log.
import { constants } from 'node:os';
import { GatewayError, type JsonObject } from '@tenon/protocol';
import type { ProgramOutcome, ProgramWish } from '../host/plugin-programs.ts';
import { randomId } from '../kernel/ids.ts';
import type { OutputName } from '../kernel/processes.ts';
import { agentIdOf } from './agents.ts';
import type { Approvals } from './approvals.ts';
import { faultOf } from './judge-call.ts';
import { textOf } from './prompt.ts';
import { admitCall, runPrepared } from './tool-call.ts';
import { MAX_SHOWN_BYTES, tailOf } from './tools/spool.ts';
import type { Tool } from './tools/tool.ts';
import { type Caller, NO_RUN, Parked, type TurnControl, type TurnDeps } from './turn-context.ts';
import type { Voice } from './voice.ts';

export interface Programs {
  run(wish: ProgramWish, signal: AbortSignal): Promise<ProgramOutcome>;
}

/** The programs of one plugin that run or wait at the same time. */
const MAX_AT_ONCE = 16;
const TOOL = 'exec';

export function createPrograms(deps: TurnDeps): Programs {
  /** Calls under way, by their ids. */
  const underway = new Map<string, string>();

  async function run(wish: ProgramWish, signal: AbortSignal): Promise<ProgramOutcome> {
    const { plugin, about, id } = wish;
    // Whoever judges a program by running another would be asked about that one, too.
    if (about !== undefined && underway.has(about))
      return refused('policy', 'A program that is being judged waits for no other one: exec/run does not work here');
    const own = [...underway.values()].filter((each) => each === plugin).length;
    if (own >= MAX_AT_ONCE) return refused('policy', `${MAX_AT_ONCE} programs of ${plugin} run or wait already`);
    const callId = id ?? `${plugin}-${randomId()}`;
    underway.set(callId, plugin);
    try {
      return await call(wish, callId, signal);
    } finally {
      underway.delete(callId);
    }
  }

  async function call(wish: ProgramWish, callId: string, signal: AbortSignal): Promise<ProgramOutcome> {
    const caller = await callerOf(wish, signal);
    const tool = deps.tools.find(({ name }) => name === TOOL);
    if (!tool || !(caller.agent.tools?.includes(TOOL) ?? true))
      return noted(wish, refused('policy', `The agent "${caller.agent.id}" has no tool that runs programs`));
    const args: JsonObject = { argv: [...wish.argv], ...(wish.cwd === undefined ? {} : { cwd: wish.cwd }) };
    const fault = faultOf(tool, args);
    if (fault) return noted(wish, { kind: 'invalid', message: fault });
    try {
      return await runAs(caller, tool, callId, args, wish, signal);
    } catch (error) {
      if (!(error instanceof Parked)) throw error;
      // The gateway stops. The call in which it was asked for must not end with a refusal: it is left as it is, and made again later.
      await abortOf(caller.control.work);
      return { kind: 'stopped' };
    }
  }

  async function runAs(caller: Caller, tool: Tool, callId: string, args: JsonObject, wish: ProgramWish, signal: AbortSignal) {
    const admitted = await admitCall(caller, { tool, callId, args, from: wish.plugin });
    if (signal.aborted) return noted(wish, { kind: 'stopped' });
    if ('refused' in admitted) {
      const { refused: message, plugin, by } = admitted;
      if (plugin !== undefined) return noted(wish, { kind: 'refused', by: 'plugin', plugin, message });
      return noted(wish, by === undefined ? { kind: 'invalid', message } : refused(by, message));
    }
    // On record before it runs: whatever becomes of the gateway, it is known that it was started.
    await note(wish, 'started', { argv: [...(admitted.prepared.exec?.argv ?? wish.argv)], cwd: admitted.prepared.exec?.cwd ?? '' });
    const output = { stdout: createTail(), stderr: createTail() };
    const result = await runPrepared(admitted.prepared, {
      signal: caller.control.work,
      onUpdate() {},
      onOutput: (chunk, from: OutputName) => output[from].add(chunk),
    });
    if (signal.aborted || caller.control.work.aborted) return noted(wish, { kind: 'stopped' });
    const { exitCode, signal: ended, timedOut } = result.details ?? {};
    if (exitCode === undefined) return noted(wish, { kind: 'invalid', message: textOf(result.content) });
    const isOver = typeof exitCode === 'number' && timedOut !== true;
    // Why it has no code of its own is the last line of what the agent would be told.
    const why = isOver ? '' : (textOf(result.content).split('\n').at(-1) ?? '');
    const code = isOver ? exitCode : timedOut === true ? TIMED_OUT : codeOfSignal(ended);
    return noted(wish, { kind: 'ran', stdout: output.stdout.told(), stderr: withLine(output.stderr.told(), why), exitCode: code });
  }

  /** The turn in which it is asked for, as long as the plugin waits; outside of one, the session alone. */
  async function callerOf({ plugin, sessionKey, runId, hold }: ProgramWish, signal: AbortSignal): Promise<Caller> {
    const turn = runId === undefined ? undefined : deps.live?.get(runId);
    if (turn) {
      const waits = AbortSignal.any([turn.control.waits, signal]);
      const control = Object.create(turn.control, {
        waits: { value: waits },
        work: { value: AbortSignal.any([turn.control.work, signal]) },
      }) as TurnControl;
      return {
        ...turn,
        control,
        deps: withApprovals(
          turn.deps,
          forgetting(turn.deps, () => turn.control.isParked()),
        ),
      };
    }
    const { session } = await deps.store.read('sessions.get', { key: sessionKey });
    const agent = deps.agents.get(agentIdOf(sessionKey));
    if (!agent) throw new GatewayError('NOT_FOUND', `There is no agent "${agentIdOf(sessionKey)}"`);
    return {
      deps: withApprovals(deps, holding(hold, outsideOfTurns(plugin, deps))),
      control: controlOf(signal),
      voice: silent,
      principal: `plugin:${plugin}`,
      run: { runId: NO_RUN },
      session,
      agent,
      workspace: deps.agents.openWorkspace(agent),
    };
  }

  async function noted(wish: ProgramWish, outcome: ProgramOutcome): Promise<ProgramOutcome> {
    const { kind } = outcome;
    const facts = kind === 'ran' ? { exitCode: outcome.exitCode } : kind === 'stopped' ? {} : { reason: outcome.message.slice(0, 512) };
    await note(wish, kind, { argv: wish.argv.map((word) => word.slice(0, MAX_WORD)).slice(0, MAX_WORDS), ...facts });
    return outcome;
  }

  async function note({ plugin, sessionKey, runId }: ProgramWish, outcome: string, details: JsonObject): Promise<void> {
    const record = {
      actor: `plugin:${plugin}`,
      action: 'extension.exec',
      target: sessionKey,
      details: { outcome, ...(runId === undefined ? {} : { runId }), ...details },
    };
    await deps.store.write('audit.append', { ...record, at: deps.clock.now() });
  }

  return { run };
}

const MAX_WORD = 512;
const MAX_WORDS = 64;
/** As `timeout` of the shell says it. */
const TIMED_OUT = 124;
const NOT_FOUND = 127;

function refused(by: 'policy' | 'person' | 'nobody', message: string): ProgramOutcome {
  return { kind: 'refused', by, message };
}

/** As a shell says of a program that was ended by a signal, or was not there. */
function codeOfSignal(name: unknown): number {
  const number = typeof name === 'string' ? constants.signals[name as NodeJS.Signals] : undefined;
  return number === undefined ? NOT_FOUND : 128 + number;
}

function withLine(text: string, line: string): string {
  if (line === '') return text;
  return text === '' || text.endsWith('\n') ? `${text}${line}\n` : `${text}\n${line}\n`;
}

/** The last of an output, as much as the agent would be told. */
function createTail(): { add(chunk: Buffer): void; told(): string } {
  let bytes = 0;
  let recent = Buffer.alloc(0);
  return {
    add(chunk) {
      bytes += chunk.length;
      recent = Buffer.concat([recent, chunk]).subarray(-MAX_SHOWN_BYTES - 4);
    },
    told() {
      const shown = tailOf(recent);
      const text = shown.toString('utf8').toWellFormed();
      return shown.length < bytes ? `[The last ${shown.length} of ${bytes} bytes]\n${text}` : text;
    },
  };
}

/** What is looked up anew each time stays so. */
function withApprovals(deps: TurnDeps, approvals: Approvals): TurnDeps {
  return Object.create(deps, { approvals: { value: approvals } }) as TurnDeps;
}

/** The time that a person takes is not the plugin's. */
function holding(hold: ProgramWish['hold'], approvals: Approvals): Approvals {
  return {
    ...approvals,
    async ask(question, signal) {
      const release = hold?.();
      try {
        return await approvals.ask(question, signal);
      } finally {
        release?.();
      }
    },
  };
}

/** A question for which nobody waits any more is taken back; while the gateway stops it stays, as those of turns do. */
function forgetting({ approvals, store, clock }: TurnDeps, isParked: () => boolean): Approvals {
  return {
    ...approvals,
    async ask(question, signal) {
      const approval = await approvals.ask(question, signal);
      if (approval.state === 'pending' && !isParked()) await store.write('approvals.voidFor', { id: approval.id, at: clock.now() });
      return approval;
    },
  };
}

/** There is no run that a question could belong to: it is the plugin's own. */
function outsideOfTurns(plugin: string, { approvals, store, clock }: TurnDeps): Approvals {
  return {
    ...approvals,
    async ask(asking, signal) {
      const { key, callId, agentId, toolName, title, reason, risk, argv, cwd, env, bound, notBound } = asking;
      const { args, digest, allowed, expiresAt, at } = asking;
      const shown = {
        ...(argv ? { argv } : {}),
        ...(cwd === undefined ? {} : { cwd }),
        ...(env ? { env } : {}),
        ...(bound ? { bound } : {}),
        ...(notBound ? { notBound } : {}),
      };
      const call = { callId, toolName, risk, ...shown, args };
      const question = { key, pluginId: plugin, askId: callId, agentId, title, reason, digest, call, allowed, expiresAt, at };
      const asked = await approvals.askForPlugin(question, signal);
      // A rule of the plugin's own questions says nothing of programs; those of programs were asked before.
      if ('always' in asked) throw new GatewayError('CONFLICT', 'A rule stands for a question that was never asked');
      const { approval } = asked;
      if (approval.state === 'pending') await store.write('approvals.voidFor', { id: approval.id, at: clock.now() });
      return approval;
    },
  };
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function controlOf(signal: AbortSignal): TurnControl {
  return {
    waits: signal,
    work: signal,
    isStopped: () => signal.aborted,
    isParked: () => false,
    reason: 'Nobody waits for it any more',
    takeSteering: async () => [],
  };
}

const silent: Voice = { phase() {}, text() {}, thinking() {}, tool() {} };
