// What one turn holds while it lasts: the run, its session and agent, the path of the transcript as far as it is known,
// and how it is stopped. All of it is a local of the turn; what must outlast it is in the store.
import type { Entry, EntryDraft, HookName, RunStream, SandboxState, Session, Usage } from '@tenon/protocol';
import type { ReportConflict } from '../host/conflicts.ts';
import type { BudgetDeps } from '../host/hook-budget.ts';
import type { HookInput, HookOutcome, HookRunner } from '../host/run-hook.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Model, Models } from '../model/types.ts';
import type { NewCall } from '../store/calls.ts';
import type { DrainedInjection } from '../store/injections.ts';
import type { OpenRun } from '../store/run-row.ts';
import type { WakeWish } from '../store/continuations.ts';
import type { Store } from '../store/store.ts';
import type { Agent, AgentBook } from './agents.ts';
import type { Approvals } from './approvals.ts';
import type { PluginParts } from './plugin-tools.ts';
import type { RunOptions } from './service.ts';
import type { ExecPolicy } from './tools/exec-policy.ts';
import type { Tool } from './tools/tool.ts';
import type { Voice } from './voice.ts';

export interface TurnDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly hooks: HookRunner;
  /** How much time the hooks of a turn have; without it, as much as they take. */
  readonly hookBudget?: BudgetDeps;
  readonly models: Models;
  readonly agents: AgentBook;
  readonly tools: readonly Tool[];
  /** Without it, there are no plugins beside those in the hooks. */
  readonly plugins?: PluginParts | undefined;
  /** Plugins whose injections a turn may be told; without it, none. */
  readonly injectors?: () => readonly string[];
  /** Two plugins change the same thing. */
  readonly reportConflict?: ReportConflict;
  /** Whether a turn goes on when this one has ended; without it, it does not. */
  readonly wake?: () => WakeWish | undefined;
  readonly approvals: Approvals;
  /** Known once a sandbox was looked for. */
  readonly execPolicy: () => Promise<ExecPolicy>;
  readonly sandbox: () => Promise<SandboxState>;
  readonly bounds: TurnBounds;
  /** To everybody who watches; nothing of it is kept. */
  readonly publish: (said: RunStream) => void;
  /** Those that are at work, by their runs; without it, nobody looks for them. */
  readonly live?: Map<string, Turn>;
}

export interface TurnBounds {
  /** How often a model is asked before the next one is. */
  readonly attempts: number;
  readonly maxSteps: number;
  /** 0: none. */
  readonly maxCostUsd: number;
  readonly approvalMs: number;
}

/** How a turn is stopped from outside. */
export interface TurnControl {
  /** Ends waiting at once: the stream of a model, a pause, an approval. */
  readonly waits: AbortSignal;
  /** Ends work: tools that run. When the gateway stops, later than `waits`. */
  readonly work: AbortSignal;
  /** Somebody wants it to end. */
  isStopped(): boolean;
  /** The gateway stops: it goes on when the gateway is back. */
  isParked(): boolean;
  /** Why it was stopped, for people. */
  readonly reason: string;
  /** Messages that came for the running turn since it was last asked. */
  takeSteering(): Promise<readonly OpenRun[]>;
}

/** The gateway stops: the turn leaves everything as it is in the store, and goes on from there. */
export class Parked extends Error {
  override readonly name = 'Parked';
}

/** Somebody stopped the turn while it waited for something: it ends. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** Asks the plugins, and does not wait for them once the turn is stopped or parked. */
export async function consult<Name extends HookName>(turn: Turn, name: Name, event: HookInput<Name>): Promise<HookOutcome<Name>> {
  const outcome = await turn.deps.hooks.run(name, event, { signal: turn.control.waits });
  if (turn.control.isParked()) throw new Parked();
  if (turn.control.isStopped()) throw new Stopped();
  return outcome;
}

export interface Turn {
  readonly deps: TurnDeps;
  readonly control: TurnControl;
  readonly voice: Voice;
  readonly run: OpenRun['run'];
  readonly principal: string;
  readonly options: RunOptions;
  readonly session: Session;
  readonly agent: Agent;
  readonly workspace: string;
  /** What plugins had queued for this turn, in the order in which it is told. */
  injections: readonly DrainedInjection[];
  /** From the root to the leaf. */
  path: Entry[];
  /** Model calls so far. */
  steps: number;
  costUsd: number;
}

/** Whoever makes a call of a tool: a turn, or somebody outside of every turn, whose run is none. */
export type Caller = Pick<Turn, 'deps' | 'control' | 'voice' | 'principal' | 'session' | 'agent' | 'workspace'> & {
  readonly run: Pick<Turn['run'], 'runId'> & Partial<Pick<Turn['run'], 'trigger'>>;
};

/** The run of a call that is made outside of every turn. */
export const NO_RUN = '';

/** What hooks are told of where a call is made. */
export function callContextOf({ run, session, agent, workspace }: Caller) {
  return {
    sessionKey: session.key,
    sessionId: session.sessionId,
    agentId: agent.id,
    workspaceDir: workspace,
    ...(run.runId === NO_RUN ? {} : { runId: run.runId }),
    ...(run.trigger === undefined ? {} : { trigger: run.trigger }),
  };
}

/** What hooks are told of where they are. */
export function hookContextOf(turn: Turn, model?: Model) {
  return {
    ...callContextOf(turn),
    runId: turn.run.runId,
    trigger: turn.run.trigger,
    ...(model ? { modelProviderId: model.info.provider, modelId: model.info.id } : {}),
  };
}

interface Addition {
  readonly drafts: readonly EntryDraft[];
  readonly calls?: readonly NewCall[];
  readonly usage?: { readonly model: string; readonly usage: Usage };
}

/** Makes entries durable and part of the path. */
export async function append(turn: Turn, addition: Addition): Promise<readonly Entry[]> {
  const { store, clock } = turn.deps;
  const { entries } = await store.write('runs.append', { key: turn.session.key, runId: turn.run.runId, ...addition, at: clock.now() });
  await extendPath(turn, entries);
  return entries;
}

/** Somebody else may have added to the transcript meanwhile: then the path is read anew. */
export async function extendPath(turn: Turn, entries: readonly Entry[]): Promise<void> {
  const [first] = entries;
  if (!first) return;
  if (first.parentId === (turn.path.at(-1)?.id ?? null)) turn.path.push(...entries);
  else turn.path = await readPath(turn.deps.store, turn.session.key);
}

const PAGE = 500;

/** From the leaf back to where the latest compaction lets the model begin; all of it where there is none, or with `whole`. */
export async function readPath(store: Store, key: string, { whole = false } = {}): Promise<Entry[]> {
  const path: Entry[][] = [];
  let needed: string | undefined;
  for (let from: string | undefined; ; ) {
    const { entries, more } = await store.read('entries.path', { key, limit: PAGE, ...(from === undefined ? {} : { from }) });
    path.unshift(entries);
    const compaction = needed === undefined ? entries.findLast((entry) => entry.type === 'compaction') : undefined;
    if (compaction?.type === 'compaction') needed = compaction.firstKeptEntryId;
    const isEnough = !whole && needed !== undefined && entries.some((entry) => entry.id === needed);
    if (more === undefined || isEnough) return path.flat();
    from = more;
  }
}
