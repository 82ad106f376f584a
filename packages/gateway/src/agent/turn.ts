// A turn, from top to bottom: the message is written, plugins and the prompt are asked, the model answers, its tools run,
// and so on until it has nothing more to do. Every step is durable before the next begins and each is decided by what is
// in the transcript, so a turn that was cut off anywhere goes on from there: an unanswered model is asked again, an open
// call is settled, an answered turn ends.
import { GatewayError, type RunEnd } from '@tenon/protocol';
import { faultpoint } from '../kernel/fault.ts';
import { randomId } from '../kernel/ids.ts';
import type { WakeWish } from '../store/continuations.ts';
import type { OpenRun } from '../store/run-row.ts';
import { agentIdOf } from './agents.ts';
import { answer } from './answer.ts';
import { pause } from './ask-model.ts';
import { createFinalizeBudget, type FinalizeBudget, revisionOf } from './finalize.ts';
import { callsOf, messagesOf, SAID_BY_EXTENSION, textOf } from './prompt.ts';
import { type Prompt, preparePrompt } from './prompt-hooks.ts';
import { offerTurn } from './scheduled-turns.ts';
import { runOpenCalls } from './tool-call.ts';
import {
  append,
  consult,
  extendPath,
  hookContextOf,
  Parked,
  readPath,
  Stopped,
  type Turn,
  type TurnControl,
  type TurnDeps,
} from './turn-context.ts';
import { commandOf, runUserBash } from './user-bash.ts';
import { createHookBudget } from '../host/hook-budget.ts';
import { withinBudget } from '../host/run-hook.ts';
import { createVoice, type Voice } from './voice.ts';

/** Contract: must not throw. Resolves when the turn has ended, or was parked to go on in another life. */
export async function runTurn(lead: OpenRun, others: readonly OpenRun[], deps: TurnDeps, control: TurnControl): Promise<void> {
  const voice = createVoice(lead.run, deps);
  voice.phase(lead.run.state === 'running' ? 'resumed' : 'started');
  const startedAt = deps.clock.monotonic();
  let turn: Turn | undefined;
  let end: RunEnd;
  try {
    turn = await openTurn(lead, deps, control, voice);
    deps.live?.set(turn.run.runId, turn);
    end = (await begin(turn, [lead, ...others])) ?? (await takeSteps(turn));
  } catch (error) {
    if (control.isParked() || error instanceof Parked) return;
    end = error instanceof Stopped ? { kind: 'aborted', reason: control.reason } : endOfFault(error, deps);
  } finally {
    deps.live?.delete(lead.run.runId);
  }
  faultpoint('turn.before-end');
  if ((await endRun(lead, end, deps, control)) === 'parked') return;
  faultpoint('turn.ended');
  voice.phase('ended', end.reason);
  tellEnd(turn, end, deps, deps.clock.monotonic() - startedAt);
}

/** Contract: must not throw. */
function tellEnd(turn: Turn | undefined, end: RunEnd, deps: TurnDeps, durationMs: number): void {
  try {
    deps.hooks.run('agent_end', {
      ...(turn ? hookContextOf(turn) : {}),
      messages: turn && deps.hooks.has('agent_end') ? messagesOf(turn.path) : [],
      success: end.kind === 'completed' || end.kind === 'handled',
      ...(turn ? { steps: turn.steps } : {}),
      end,
      durationMs,
      ...(end.reason === undefined ? {} : { error: end.reason }),
    });
  } catch (error) {
    deps.log.error({ error }, 'plugins could not be told that a turn has ended');
  }
}

/** The same, whose hooks have so much time in this turn. What is looked up anew each time stays so. */
function payingForHooks(deps: TurnDeps, { runId, sessionKey }: OpenRun['run']): TurnDeps {
  const { hookBudget } = deps;
  if (!hookBudget) return deps;
  return Object.create(deps, {
    hooks: { value: withinBudget(deps.hooks, createHookBudget(hookBudget, { runId, sessionKey })) },
  }) as TurnDeps;
}

async function openTurn({ run, options, principal }: OpenRun, given: TurnDeps, control: TurnControl, voice: Voice): Promise<Turn> {
  const deps = payingForHooks(given, run);
  const { session } = await deps.store.read('sessions.get', { key: run.sessionKey });
  const agent = deps.agents.get(agentIdOf(run.sessionKey));
  if (!agent) throw new GatewayError('NOT_FOUND', `There is no agent "${agentIdOf(run.sessionKey)}"; name it in tenon.toml`);
  const path = await readPath(deps.store, run.sessionKey);
  const own = path.filter((entry) => entry.runId === run.runId && entry.type === 'message' && entry.message.role === 'assistant');
  return {
    deps,
    control,
    voice,
    run,
    principal,
    options,
    session,
    agent,
    workspace: deps.agents.openWorkspace(agent),
    // Begun in a former life: it was given these then, and nobody else gets them.
    injections: run.state === 'running' ? (await deps.store.read('injections.ofRun', { runId: run.runId })).injections : [],
    path,
    steps: own.length,
    costUsd: run.usage.costUsd,
  };
}

/**
 * The messages into the transcript, in one commit with what plugins have queued for the turn, after plugins have seen them.
 * Not again when the turn was begun in a former life.
 */
async function begin(turn: Turn, [lead, ...others]: readonly [OpenRun, ...OpenRun[]]): Promise<RunEnd | undefined> {
  if (turn.run.state === 'running') return undefined;
  const { store, clock, hooks, injectors } = turn.deps;
  const key = turn.session.key;
  const leadRunId = turn.run.runId;
  const taken = await offerTurn(turn, lead);
  if (taken?.reply !== undefined) return handle(turn, lead, { plugin: taken.plugin, reply: taken.reply });
  if (taken) return { kind: 'handled', reason: `Handled by ${taken.plugin}` };
  const heard = await hear(turn, lead);
  // Those that came together with it wait for a turn of their own.
  if ('plugin' in heard) return handle(turn, lead, heard);
  const contents = await hearAll(turn, others);
  contents[leadRunId] = heard.content;
  const drain = { pluginIds: injectors?.() ?? [] };
  const runIds = Object.keys(contents);
  const { entries, injections } = await store.write('runs.begin', { key, leadRunId, runIds, contents, drain, at: clock.now() });
  turn.injections = injections;
  faultpoint('turn.begun');
  if (turn.options.startsSession)
    hooks.run('session_start', { sessionKey: key, sessionId: turn.session.sessionId, agentId: turn.agent.id, reason: 'new' });
  await extendPath(turn, entries);
  return undefined;
}

type Heard = { readonly content: OpenRun['content'] } | { readonly plugin: string; readonly reply: string };

/** A message as plugins leave it, or who has dealt with it. */
async function hear(turn: Turn, { run, content }: OpenRun): Promise<Heard> {
  const { hooks } = turn.deps;
  if (!hooks.has('input')) return { content };
  const images = content.filter((block) => block.type === 'image');
  const event = { ...hookContextOf(turn), runId: run.runId, text: textOf(content), ...(images.length > 0 ? { images } : {}) };
  const heard = await consult(turn, 'input', event);
  if (heard.kind === 'claimed') return { plugin: heard.plugin, reply: heard.result.reply ?? '' };
  const { text, images: kept = [] } = heard.event;
  return { content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...kept] };
}

/** What further messages of the turn say, by run; one that a plugin has dealt with ends on its own. */
async function hearAll(turn: Turn, runs: readonly OpenRun[]): Promise<Record<string, OpenRun['content']>> {
  // A run may be called anything, also what an object has by itself.
  const contents: Record<string, OpenRun['content']> = Object.create(null);
  for (const open of runs) {
    const heard = await hear(turn, open);
    if ('content' in heard) contents[open.run.runId] = heard.content;
    else await handle(turn, open, heard);
  }
  return contents;
}

/** The message, what the plugin says to it, and the end of its run. */
async function handle(turn: Turn, { run }: OpenRun, { plugin, reply }: Extract<Heard, { plugin: string }>): Promise<RunEnd> {
  const { store, clock } = turn.deps;
  const end: RunEnd = { kind: 'handled', reason: `Handled by ${plugin}` };
  const draft = { type: 'custom' as const, customType: 'reply', data: { plugin, text: reply } };
  const { entries } = await store.write('runs.handle', {
    key: turn.session.key,
    runId: run.runId,
    reply: draft,
    end,
    ...wakeOf(turn.deps),
    at: clock.now(),
  });
  await extendPath(turn, entries);
  return end;
}

async function takeSteps(turn: Turn): Promise<RunEnd> {
  const { control, deps } = turn;
  const command = commandOf(turn);
  if (command) return runUserBash(turn, command);
  const claimed = await claimReply(turn);
  if (claimed) return claimed;
  if (deps.hooks.has('agent_start'))
    deps.hooks.run('agent_start', { ...hookContextOf(turn), ...(turn.run.state === 'running' ? { resumed: true } : {}) });
  const prompt = await preparePrompt(turn);
  if ('kind' in prompt) return prompt;

  const budget = createFinalizeBudget();
  for (;;) {
    await runOpenCalls(turn, prompt);
    // A turn that is stopped takes nothing more in: what waits gets a turn of its own.
    if (!control.isStopped()) await steer(turn);
    if (control.isParked()) throw new Parked();
    if (control.isStopped()) return { kind: 'aborted', reason: control.reason };
    if (isAnswered(turn)) {
      const cut = endOfPartial(turn);
      if (cut) return cut;
      if (!(await revise(turn, prompt, budget))) return { kind: 'completed' };
      continue;
    }
    if (turn.steps >= deps.bounds.maxSteps)
      return { kind: 'step_limit', reason: `One turn takes ${deps.bounds.maxSteps} steps at most (agent.maxSteps)` };
    if (deps.bounds.maxCostUsd > 0 && turn.costUsd >= deps.bounds.maxCostUsd)
      return { kind: 'cost_limit', reason: `One turn costs ${deps.bounds.maxCostUsd} US dollars at most (agent.maxTurnCostUsd)` };
    const end = await answer(turn, prompt);
    if (end) return end;
  }
}

/** A plugin may answer in place of the agent. */
async function claimReply(turn: Turn): Promise<RunEnd | undefined> {
  const { hooks, clock } = turn.deps;
  if (turn.steps > 0 || !hooks.has('before_agent_reply')) return undefined;
  const outcome = await consult(turn, 'before_agent_reply', { ...hookContextOf(turn), cleanedBody: lastUserText(turn) });
  if (outcome.kind !== 'claimed') return undefined;
  const { reply = '', reason } = outcome.result;
  const message = {
    role: 'assistant' as const,
    content: reply === '' ? [] : [{ type: 'text' as const, text: reply }],
    provider: 'plugin',
    model: outcome.plugin,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 },
    stopReason: 'stop' as const,
    timestamp: clock.now(),
  };
  await append(turn, { drafts: [{ type: 'message', message }] });
  return { kind: 'handled', reason: reason ?? `Answered by ${outcome.plugin}` };
}

/** Messages that came for this turn while its tools ran are told before the model is asked again. */
async function steer(turn: Turn): Promise<void> {
  const waiting = await turn.control.takeSteering();
  if (waiting.length === 0) return;
  const contents = await hearAll(turn, waiting);
  const { entries } = await turn.deps.store.write('runs.begin', {
    key: turn.session.key,
    leadRunId: turn.run.runId,
    runIds: Object.keys(contents),
    contents,
    at: turn.deps.clock.now(),
  });
  faultpoint('turn.steered');
  await extendPath(turn, entries);
}

/** The last word is the agent's, and it asks for nothing. */
function isAnswered(turn: Turn): boolean {
  // What an extension said meanwhile asks for nothing.
  const last = turn.path.findLast(
    (entry) => entry.type === 'message' || (entry.type === 'custom_message' && entry.customType !== SAID_BY_EXTENSION),
  );
  if (last?.type !== 'message' || last.message.role !== 'assistant' || last.runId !== turn.run.runId) return false;
  return callsOf(last.message).length === 0;
}

/** An answer that was cut off in a former life, which ended before it could say so. */
function endOfPartial(turn: Turn): RunEnd | undefined {
  const last = turn.path.findLast((entry) => entry.type === 'message');
  if (last?.type !== 'message' || last.message.role !== 'assistant') return undefined;
  const { stopReason, errorMessage: reason = 'The answer was cut off' } = last.message;
  if (stopReason === 'aborted') return { kind: 'aborted', reason };
  return stopReason === 'error' ? { kind: 'failed', reason } : undefined;
}

/** Whether plugins send the answer back. What they say is told to the agent and kept in the transcript. */
async function revise(turn: Turn, prompt: Prompt, budget: FinalizeBudget): Promise<boolean> {
  const { hooks } = turn.deps;
  if (!hooks.has('before_agent_finalize')) return false;
  const own = turn.path.filter((entry) => entry.type === 'message' && entry.runId === turn.run.runId);
  const toolCalls = own.flatMap((entry) => {
    if (entry.type !== 'message' || entry.message.role !== 'toolResult') return [];
    const { toolName, toolCallId, isError } = entry.message;
    return [{ toolName, toolCallId, isError }];
  });
  const outcome = await consult(turn, 'before_agent_finalize', {
    ...hookContextOf(turn, prompt.model),
    turnId: turn.run.runId,
    cwd: turn.workspace,
    stopHookActive: budget.revisions > 0,
    attemptIndex: budget.revisions,
    lastAssistantMessage: lastAnswer(turn),
    messages: messagesOf(turn.path),
    madeToolCall: toolCalls.length > 0,
    toolCalls,
  });
  if (outcome.kind !== 'done' || turn.control.isParked() || turn.control.isStopped()) return false;
  const instruction = revisionOf(outcome.event, budget);
  if (instruction === undefined) return false;
  await append(turn, {
    drafts: [{ type: 'custom_message', customType: 'finalize_retry', display: false, content: [{ type: 'text', text: instruction }] }],
  });
  return true;
}

export function lastUserText(turn: Turn): string {
  const last = turn.path.findLast((entry) => entry.type === 'message' && entry.message.role === 'user');
  return last?.type === 'message' ? textOf(last.message.content) : '';
}

function lastAnswer(turn: Turn): string {
  const last = turn.path.findLast((entry) => entry.type === 'message' && entry.message.role === 'assistant');
  return last?.type === 'message' ? textOf(last.message.content) : '';
}

/** A refusal of the store or a fault of ours: the turn ends, and the log has all of it. */
function endOfFault(error: unknown, deps: TurnDeps): RunEnd {
  if (error instanceof GatewayError) {
    deps.log.warn({ error }, 'a turn could not go on');
    return { kind: 'failed', code: error.code, reason: error.message };
  }
  const reference = randomId(6);
  deps.log.error({ error, reference }, 'a turn failed because of a fault of the gateway');
  return { kind: 'internal_error', reason: `A fault of the gateway; its log has more under ${reference}` };
}

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 30_000;

function wakeOf({ wake }: TurnDeps): { wake?: WakeWish } {
  const wish = wake?.();
  return wish ? { wake: wish } : {};
}

/** Until the store has it: a turn ends exactly once, here or where somebody else ended it. */
async function endRun({ run }: OpenRun, end: RunEnd, deps: TurnDeps, control: TurnControl): Promise<'over' | 'parked'> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
    try {
      const { held } = await deps.store.write('runs.end', {
        key: run.sessionKey,
        runId: run.runId,
        end,
        ...wakeOf(deps),
        at: deps.clock.now(),
      });
      if (held !== undefined)
        deps.log.warn(
          { sessionKey: run.sessionKey, plugin: held },
          'a plugin wants more turns in a row than begin by themselves; it waits for the next message',
        );
      return 'over';
    } catch (error) {
      // The session was deleted, and its runs with it.
      if (error instanceof GatewayError && error.code === 'NOT_FOUND') return 'over';
      deps.log.error({ error, runId: run.runId }, 'cannot write the end of a turn; trying again');
    }
    // A stop of the turn has been heard by now, and must not end the wait; that of the gateway does.
    const signal = control.isStopped() ? new AbortController().signal : control.waits;
    await pause(waitMs, deps.clock, signal);
    if (control.isParked()) return 'parked';
  }
}
