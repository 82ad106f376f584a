// Makes room in the window: what was said before the cut is replaced by a summary, which is one more entry on the path.
// In a turn when the window fills, or because somebody asked for it.
import type { Entry, EntryDraft, Usage } from '@tenon/protocol';
import type { HookRunner } from '../host/run-hook.ts';
import { faultpoint } from '../kernel/fault.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Model } from '../model/types.ts';
import { findCut, summaryRequest } from './compaction.ts';
import { estimateTokens, messagesOf } from './prompt.ts';
import { summarize } from './summarize.ts';
import { append, hookContextOf, type Turn } from './turn-context.ts';

type Reason = 'threshold' | 'overflow' | 'manual';

export interface CompactionTask {
  readonly path: readonly Entry[];
  readonly model: Model | undefined;
  readonly reason: Reason;
  readonly instructions?: string | undefined;
  /** For hooks: where it happens. */
  readonly context: ReturnType<typeof hookContextOf> | { sessionKey: string; sessionId: string; agentId: string };
  readonly hooks: HookRunner;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export type Summed =
  | {
      readonly kind: 'summed';
      readonly draft: EntryDraft;
      readonly usage?: { readonly model: string; readonly usage: Usage };
      readonly fromPlugin: boolean;
      readonly tokensBefore: number;
      readonly count: number;
    }
  | { readonly kind: 'nothing'; readonly reason: string };

/** The summary as an entry to be written; nothing is written here. */
export async function sumUp({ path, model, reason, instructions, context, hooks, clock, signal }: CompactionTask): Promise<Summed> {
  const tokensBefore = estimateTokens(messagesOf(path));
  // The server says that it is too long: then its window is smaller than the settings say, whatever they say.
  const window = Math.min(model?.info.contextWindow ?? 0, reason === 'overflow' ? tokensBefore : Number.POSITIVE_INFINITY);
  const firstKeptEntryId = findCut(path, window);
  if (!model || firstKeptEntryId === undefined) return { kind: 'nothing', reason: 'There is nothing that could be summed up' };
  const before = path.slice(
    0,
    path.findIndex((entry) => entry.id === firstKeptEntryId),
  );
  hooks.run('before_compaction', { ...context, reason, tokensBefore, messageCount: before.length });
  const asked = await hooks.run('session_before_compact', {
    ...context,
    reason,
    tokensBefore,
    entries: [...before],
    firstKeptEntryId,
    ...(instructions === undefined ? {} : { customInstructions: instructions }),
  });
  if (asked.kind === 'refused') return { kind: 'nothing', reason: asked.reason };
  const given = asked.kind === 'done' ? asked.event : undefined;
  const details = given?.details === undefined ? {} : { details: given.details };
  const rest = { tokensBefore, count: before.length };
  if (given?.summary !== undefined)
    return {
      kind: 'summed',
      draft: { type: 'compaction', summary: given.summary, firstKeptEntryId, tokensBefore, ...details },
      fromPlugin: true,
      ...rest,
    };

  const messages = summaryRequest(path, firstKeptEntryId, { instructions, contextWindow: window, at: clock.now() });
  const summary = await summarize(model, messages, clock, signal);
  if (summary.kind === 'none') return { kind: 'nothing', reason: summary.reason };
  return {
    kind: 'summed',
    draft: { type: 'compaction', summary: summary.text, firstKeptEntryId, tokensBefore, ...details },
    usage: summary.usage,
    fromPlugin: false,
    ...rest,
  };
}

/** Inside a turn. False when there was nothing to sum up, or the summary failed. */
export async function compact(turn: Turn, { reason, model }: { reason: Reason; model: Model | undefined }): Promise<boolean> {
  const { deps, control, voice } = turn;
  voice.phase('compacting');
  const context = hookContextOf(turn, model);
  const summed = await sumUp({ path: turn.path, model, reason, context, hooks: deps.hooks, clock: deps.clock, signal: control.waits });
  if (summed.kind === 'nothing') {
    deps.log.warn({ runId: turn.run.runId, reason: summed.reason }, 'a conversation could not be summed up');
    return false;
  }
  faultpoint('compact.summed');
  const [entry] = await append(turn, { drafts: [summed.draft], ...(summed.usage ? { usage: summed.usage } : {}) });
  faultpoint('compact.written');
  turn.costUsd += summed.usage?.usage.costUsd ?? 0;
  tellCompacted(deps.hooks, context, reason, summed, entry!);
  return true;
}

export function tellCompacted(
  hooks: HookRunner,
  context: object,
  reason: Reason,
  summed: Extract<Summed, { kind: 'summed' }>,
  entry: Entry,
): void {
  const { tokensBefore, count, fromPlugin } = summed;
  hooks.run('after_compaction', { ...context, reason, tokensBefore, compactedCount: count, entryId: entry.id, fromPlugin });
}
