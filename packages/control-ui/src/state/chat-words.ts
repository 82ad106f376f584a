// The words around a conversation: its pill, its numbers, why nothing can be written.
import type { Usage } from '@tenon/protocol';
import type { ClosedReason } from '../chat/types.ts';
import type { AppState, Connection, SessionPlugins } from './app-state.ts';
import { may } from './app-state.ts';
import type { ChatState } from './chat-state.ts';

export interface RunPill {
  readonly kind: 'waiting' | 'answering' | 'queued';
  readonly words: string;
}

export function runPill(chat: ChatState | undefined, waits: boolean, now: number): RunPill | undefined {
  if (waits) return { kind: 'waiting', words: 'Waits for you' };
  const runs = [...(chat?.runs.values() ?? [])];
  const running = runs.find((run) => run.state === 'running');
  if (running) {
    const seconds = Math.floor((now - running.createdAt) / 1000);
    return {
      kind: 'answering',
      words: seconds < 1 ? 'Answering' : `Answering, ${seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`}`,
    };
  }
  return runs.length > 0 ? { kind: 'queued', words: 'A message waits' } : undefined;
}

/** 12.4k tokens · $0.03 */
export function usageWords(usage: Usage | undefined): string | undefined {
  if (!usage) return undefined;
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  if (tokens === 0) return undefined;
  const count = tokens < 1000 ? `${tokens}` : tokens < 1_000_000 ? `${(tokens / 1000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
  const cost = usage.costUsd === 0 ? '' : ` · $${usage.costUsd < 0.01 ? usage.costUsd.toFixed(4) : usage.costUsd.toFixed(2)}`;
  return `${count} tokens${cost}`;
}

/** Why nothing can be written here now. */
export function closedReason(state: Pick<AppState, 'connection' | 'identity'>, now: number, onRetry: () => void): ClosedReason | undefined {
  if (state.connection.kind === 'offline') return offlineReason(state.connection, now, onRetry);
  if (!may(state as AppState, 'operator.write')) {
    const held = [...(state.identity?.scopes ?? [])].join(', ') || 'no scope';
    return { title: 'Reading only', detail: `Your token has ${held}. Writing needs operator.write.`, icon: 'lock' };
  }
  return undefined;
}

/** A plugin closes it while a decision is pending; the same everywhere, because the gateway sees to it. */
export function closedByPlugin(closed: NonNullable<SessionPlugins['closed']>, onShow: () => void, onCommand: () => void): ClosedReason {
  return {
    title: closed.reason,
    detail: `Closed by ${closed.pluginId}, on every page and in the terminal.`,
    action: { label: 'Show what waits', onAction: onShow },
    onCommand,
  };
}

function offlineReason(connection: Extract<Connection, { kind: 'offline' }>, now: number, onRetry: () => void): ClosedReason {
  const next =
    connection.retryAt === undefined ? 'Trying now.' : `Next try in ${Math.max(1, Math.ceil((connection.retryAt - now) / 1000))} s.`;
  return {
    title: 'Not connected',
    detail: next,
    icon: 'offline',
    action: { label: 'Try now', onAction: onRetry },
  };
}
