// What people do with a transcript beside talking: go on from another entry, go back, sum up, take it elsewhere. Each
// asks the plugins that have a say and ends in one operation of the store, which refuses while a turn runs.
import { type Entry, type EntryDraft, GatewayError, type Session } from '@tenon/protocol';
import type { HookRunner } from '../host/run-hook.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Model, Models } from '../model/types.ts';
import type { Store } from '../store/store.ts';
import { agentIdOf, type AgentBook } from './agents.ts';
import { sumUp, tellCompacted } from './compact.ts';
import { summaryOf } from './compaction.ts';
import { messagesOf, textOf } from './prompt.ts';
import { summarize, type Summary } from './summarize.ts';
import { readPath } from './turn-context.ts';

export interface TranscriptDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly hooks: HookRunner;
  readonly models: Models;
  readonly agents: AgentBook;
}

export interface Transcripts {
  branch(key: string, entryId: string | null, summarize: boolean): Promise<{ leafId: string | null }>;
  rewind(key: string, to: { turns?: number; entryId?: string }): Promise<{ leafId: string | null; text: string }>;
  compact(key: string, instructions?: string): Promise<{ compacted: boolean; reason?: string; entry?: Entry; tokensBefore?: number }>;
  /** The model that the session uses. */
  modelOf(session: Session): Model | undefined;
}

const SUMMARY_TIMEOUT_MS = 120_000;

export function createTranscripts({ store, clock, hooks, models, agents }: TranscriptDeps): Transcripts {
  const contextOf = (session: Session) => ({ sessionKey: session.key, sessionId: session.sessionId, agentId: session.agentId });

  function modelOf(session: Session): Model | undefined {
    return models.get(session.model ?? agents.get(agentIdOf(session.key))?.model ?? models.defaultId);
  }

  async function move(key: string, target: string | null, wantsSummary: boolean): Promise<{ leafId: string | null }> {
    const { session } = await store.read('sessions.get', { key });
    const path = await readPath(store, key, { whole: true });
    const kept = target === null ? -1 : path.findIndex((entry) => entry.id === target);
    // Off the path, everything after the common ancestor is left behind; without one on it, all of it.
    const ancestor = target === null || kept !== -1 ? kept : await commonAncestor(key, target, path);
    const left = path.slice(ancestor + 1);
    const drafts: EntryDraft[] = [];
    const asked = await hooks.run('session_before_tree', {
      ...contextOf(session),
      targetId: target,
      oldLeafId: path.at(-1)?.id ?? null,
      ...(ancestor >= 0 ? { commonAncestorId: path[ancestor]!.id } : {}),
      entriesToSummarize: left,
      userWantsSummary: wantsSummary,
    });
    if (asked.kind === 'refused')
      throw new GatewayError('CONFLICT', `${asked.plugin}: ${asked.reason}`, { details: { code: 'CANCELLED', plugin: asked.plugin } });
    const { summary: given, label } = asked.event;
    const [first] = left;
    const summary = given === undefined && wantsSummary && messagesOf(left).length > 0 ? await sumUpBranch(session, left) : undefined;
    const text = given ?? summary?.text;
    if (text !== undefined && first) drafts.push({ type: 'branch_summary', fromId: first.id, summary: text });
    if (label !== undefined && target !== null) drafts.push({ type: 'label', targetId: target, label });
    const usage = summary ? { usage: summary.usage } : {};
    const { leafId } = await store.write('entries.move', { key, leafId: target, drafts, ...usage, at: clock.now() });
    if (hooks.has('session_tree')) {
      const moved = { newLeafId: leafId, oldLeafId: path.at(-1)?.id ?? null, summarized: text !== undefined && first !== undefined };
      hooks.run('session_tree', { ...contextOf(session), ...moved });
    }
    return { leafId };
  }

  async function sumUpBranch(session: Session, left: readonly Entry[]): Promise<Extract<Summary, { kind: 'text' }>> {
    const model = modelOf(session);
    if (!model) throw new GatewayError('UNAVAILABLE', 'There is no model that could sum up what is left behind');
    const messages = summaryOf(left, { contextWindow: model.info.contextWindow, at: clock.now() });
    const summary = await summarize(model, messages, clock, AbortSignal.timeout(SUMMARY_TIMEOUT_MS));
    if (summary.kind === 'text') return summary;
    throw new GatewayError('UNAVAILABLE', `What is left behind could not be summed up: ${summary.reason}`);
  }

  /** The place on the path of the nearest ancestor of an entry that is not on it. */
  async function commonAncestor(key: string, target: string, path: readonly Entry[]): Promise<number> {
    const places = new Map(path.map((entry, index) => [entry.id, index]));
    for (let from: string | undefined = target; from !== undefined; ) {
      const { entries, more }: { entries: Entry[]; more?: string } = await store.read('entries.path', { key, from, limit: PAGE });
      const shared = entries.findLast((entry) => places.has(entry.id));
      if (shared) return places.get(shared.id)!;
      from = more;
    }
    return -1;
  }

  return {
    modelOf,
    branch: (key, entryId, wantsSummary) => move(key, entryId, wantsSummary),
    async rewind(key, { turns = 1, entryId }) {
      const path = await readPath(store, key, { whole: true });
      const said = path.filter((entry) => entry.type === 'message' && entry.message.role === 'user');
      const target = entryId === undefined ? said.at(-turns) : said.find((entry) => entry.id === entryId);
      if (target?.type !== 'message')
        throw new GatewayError(
          'NOT_FOUND',
          entryId === undefined
            ? `There are only ${said.length} messages to go back to`
            : `"${entryId}" is not a message of the user on this path`,
        );
      const { leafId } = await move(key, target.parentId, false);
      return { leafId, text: target.message.role === 'user' ? textOf(target.message.content) : '' };
    },
    async compact(key, instructions) {
      const { session } = await store.read('sessions.get', { key });
      if (session.status === 'running' || session.status === 'waiting')
        throw new GatewayError('CONFLICT', `Session "${key}" is busy; stop it or wait`, { details: { code: 'SESSION_BUSY' } });
      const path = await readPath(store, key);
      const context = contextOf(session);
      const summed = await sumUp({
        path,
        model: modelOf(session),
        reason: 'manual',
        instructions,
        context,
        hooks,
        clock,
        signal: AbortSignal.timeout(SUMMARY_TIMEOUT_MS),
      });
      if (summed.kind === 'nothing') return { compacted: false, reason: summed.reason.slice(0, 512) };
      const usage = summed.usage ? { usage: summed.usage } : {};
      const ifLeaf = path.at(-1)?.id ?? null;
      const { entry } = await store.write('entries.append', { key, draft: summed.draft, ifLeaf, ...usage, at: clock.now() });
      tellCompacted(hooks, context, 'manual', summed, entry);
      return { compacted: true, entry, tokensBefore: summed.tokensBefore };
    },
  };
}

const PAGE = 500;
