// What the gateway says, as changes of the state. Pure: a function from the state as it is to the next one.
import type { Approval, EventPayload, RunStream, Session } from '@tenon/protocol';
import type { AppState, ApprovalsState, SessionsState } from './app-state.ts';
import { bounds } from './bounds.ts';
import { type ChatState, emptyChat, withChatEvent, withRunStream } from './chat-state.ts';

export type Change = (state: AppState) => AppState;

export function sessionChanged({ key, reason, session }: EventPayload<'sessions.changed'>): Change {
  return (state) => {
    const sessions =
      reason === 'delete' ? withoutSession(state.sessions, key) : session ? withSessions(state.sessions, [session]) : state.sessions;
    let { chats } = state;
    const chat = chats.get(key);
    if (chat && reason === 'delete') {
      chats = new Map(chats);
      (chats as Map<string, ChatState>).delete(key);
    } else if (chat && (reason === 'reset' || reason === 'import' || (session && !state.sessions.byKey.has(key))))
      chats = new Map(chats).set(key, { ...chat, stale: true });
    return sessions === state.sessions && chats === state.chats ? state : { ...state, sessions, chats };
  };
}

/** The newer of two forms of a session stays: a list may have been read before an event that came earlier. */
export function withSessions(sessions: SessionsState, added: readonly Session[]): SessionsState {
  const byKey = new Map(sessions.byKey);
  for (const session of added) {
    const known = byKey.get(session.key);
    const isOlder =
      known &&
      known.sessionId === session.sessionId &&
      (known.revision > session.revision || (known.revision === session.revision && known.updatedAt > session.updatedAt));
    if (!isOlder) byKey.set(session.key, session);
  }
  if (byKey.size > bounds.sessions) {
    const oldest = [...byKey.values()].sort((a, b) => a.updatedAt - b.updatedAt).slice(0, byKey.size - bounds.sessions);
    for (const { key } of oldest) byKey.delete(key);
  }
  const replace = (list: readonly Session[]) => list.map((each) => byKey.get(each.key) ?? each);
  const { search, archived } = sessions;
  return {
    ...sessions,
    byKey,
    search: search?.results.kind === 'ready' ? { ...search, results: { kind: 'ready', value: replace(search.results.value) } } : search,
    archived: archived?.kind === 'ready' ? { kind: 'ready', value: replace(archived.value) } : archived,
  };
}

export function withoutSession(sessions: SessionsState, key: string): SessionsState {
  const byKey = new Map(sessions.byKey);
  byKey.delete(key);
  const without = (list: readonly Session[]) => list.filter((each) => each.key !== key);
  const { search, archived } = sessions;
  return {
    ...sessions,
    byKey,
    search: search?.results.kind === 'ready' ? { ...search, results: { kind: 'ready', value: without(search.results.value) } } : search,
    archived: archived?.kind === 'ready' ? { kind: 'ready', value: without(archived.value) } : archived,
  };
}

/** Pinned first, then by what needs the person, then the latest. */
export function sessionOrder(sessions: SessionsState): Session[] {
  return [...sessions.byKey.values()].filter((session) => !session.archived).sort((a, b) => rank(a) - rank(b) || b.updatedAt - a.updatedAt);
}

function rank({ pinned, status }: Session): number {
  if (status === 'waiting' || status === 'running' || status === 'queued') return 0;
  return pinned ? 1 : 2;
}

export function chatChanged(event: EventPayload<'chat'>, now: number): Change {
  const change = changeChat(event.sessionKey, (chat) => withChatEvent(chat, event, now));
  return (state) => change(withEndOf(state, event));
}

// A command that was handled is no turn: it says nothing about the last one.
function withEndOf(state: AppState, { sessionKey, kind, end }: EventPayload<'chat'>): AppState {
  if (kind !== 'ended' || !end || end.kind === 'handled' || state.ends.get(sessionKey) === end.kind) return state;
  const ends = new Map([...state.ends].slice(-bounds.sessions));
  return { ...state, ends: ends.set(sessionKey, end.kind) };
}

export function runSaid(event: RunStream): Change {
  return changeChat(event.sessionKey, (chat) => withRunStream(chat, event));
}

/** Of a conversation that is in memory; others are read when they are opened. */
export function changeChat(key: string, change: (chat: ChatState) => ChatState): Change {
  return (state) => {
    const chat = state.chats.get(key);
    if (!chat) return state;
    const next = change(chat);
    return next === chat ? state : { ...state, chats: new Map(state.chats).set(key, next) };
  };
}

/** The conversation is the latest used one now; the one that was not used for longest is forgotten. */
export function touchChat(key: string): Change {
  return (state) => {
    const chats = new Map(state.chats);
    const chat = chats.get(key) ?? emptyChat(key);
    chats.delete(key);
    chats.set(key, chat);
    for (const old of chats.keys()) {
      if (chats.size <= bounds.chats) break;
      // What a person wrote and could not send is not thrown away.
      if (!chats.get(old)?.outgoing.length) chats.delete(old);
    }
    return { ...state, chats };
  };
}

/** Deltas of the time without a connection are gone for good: what they add up to is in the transcript. */
export function forgetStreams(state: AppState): AppState {
  const chats = new Map<string, ChatState>();
  for (const [key, chat] of state.chats) {
    const runs = new Map([...chat.runs].map(([id, run]) => [id, { ...run, segments: [], tools: new Map() }] as const));
    chats.set(key, { ...chat, runs, stale: true });
  }
  return { ...state, chats };
}

export function withApprovals(approvals: ApprovalsState, added: readonly Approval[]): ApprovalsState {
  const byId = new Map(approvals.byId);
  const deciding = new Map(approvals.deciding);
  for (const approval of added) {
    // A decision is final; a list that was read before it does not take it back.
    const known = byId.get(approval.id);
    if (known && known.state !== 'pending' && approval.state === 'pending') continue;
    byId.set(approval.id, approval);
    if (approval.state !== 'pending') deciding.delete(approval.id);
  }
  if (byId.size > bounds.approvals) {
    const settled = [...byId.values()].filter((each) => each.state !== 'pending').sort((a, b) => a.createdAt - b.createdAt);
    for (const { id } of settled.slice(0, byId.size - bounds.approvals)) byId.delete(id);
  }
  return { ...approvals, byId, deciding };
}

export function approvalRequested({ approval }: EventPayload<'approval.requested'>): Change {
  return (state) => ({ ...state, approvals: withApprovals(state.approvals, [approval]) });
}

export function approvalResolved({ id, state: how, decision, decidedBy }: EventPayload<'approval.resolved'>, now: number): Change {
  return (state) => {
    const known = state.approvals.byId.get(id);
    if (known?.state !== 'pending') return state;
    const settled: Approval = {
      ...known,
      state: how,
      decidedAt: now,
      ...(decision === undefined ? {} : { decision }),
      ...(decidedBy === undefined ? {} : { decidedBy }),
    };
    return { ...state, approvals: withApprovals(state.approvals, [settled]) };
  };
}
