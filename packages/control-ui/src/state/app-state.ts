// Everything the page knows, as one value. Nothing in here is a class or a promise: it is what the gateway said, what
// the person is about to say, and how the connection stands.
import type {
  AgentInfo,
  Approval,
  ApprovalRule,
  ClosedComposer,
  CommandInfo,
  Decision,
  EventPayload,
  Health,
  ModelInfo,
  PluginExtension,
  Result,
  RunEnd,
  SandboxState,
  Scope,
  Session,
  Status,
  UiDescriptor,
  UiQuestion,
  UiShown,
  Usage,
} from '@tenon/protocol';
import type { ChatState } from './chat-state.ts';
import type { Trouble } from './trouble.ts';

/** What was asked for once: not yet, on the way, here, or failed with words. */
export type Loaded<Value> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly value: Value }
  | { readonly kind: 'failed'; readonly error: Trouble };

export type Connection =
  /** The first connection of this page. */
  | { readonly kind: 'connecting' }
  | { readonly kind: 'online' }
  | { readonly kind: 'offline'; readonly since: number; readonly retryAt: number | undefined; readonly error: Trouble }
  | {
      readonly kind: 'signed-out';
      readonly error?: Trouble | undefined;
      /** What was refused: the link, or the token unless told. */
      readonly refused?: 'link' | undefined;
    };

export interface Identity {
  readonly version: string;
  readonly principal: string;
  readonly scopes: ReadonlySet<Scope>;
  /** A credential that is bound to one session sees only that. */
  readonly sessionKey: string | undefined;
}

export interface SessionsState {
  readonly byKey: ReadonlyMap<string, Session>;
  readonly loaded: Loaded<true>;
  readonly nextCursor: string | undefined;
  readonly loadingMore: boolean;
  readonly search: { readonly text: string; readonly results: Loaded<readonly Session[]> } | undefined;
  readonly archived: Loaded<readonly Session[]> | undefined;
}

export interface Deciding {
  readonly decision: Decision;
  readonly error?: string | undefined;
}

export interface ApprovalsState {
  readonly byId: ReadonlyMap<string, Approval>;
  readonly loaded: Loaded<true>;
  /** Answers of this page that are on their way, or did not arrive. */
  readonly deciding: ReadonlyMap<string, Deciding>;
  /** More of those that were decided. */
  readonly nextDecided: string | undefined;
  readonly rules: Loaded<readonly ApprovalRule[]> | undefined;
}

export interface Toast {
  readonly id: number;
  readonly tone: 'ok' | 'bad' | 'info';
  /** In place of the one of the tone: who says it. */
  readonly icon?: 'joint' | undefined;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
  /** What it is about, such as the id of an approval: it goes when that is settled. */
  readonly about?: string | undefined;
  /** When it says nothing true any more. */
  readonly until?: number | undefined;
}

/** What plugins show in one session. */
export interface SessionPlugins {
  readonly extensions: readonly PluginExtension[];
  /** In the order in which they are shown. */
  readonly active: readonly UiDescriptor[];
  /** Who closes the composer. */
  readonly closed: ClosedComposer | undefined;
}

export interface PluginUiState {
  /** Of the sessions that are open; under the empty key, what is shown where there is no session yet. */
  readonly byKey: ReadonlyMap<string, SessionPlugins>;
  /** Where plugins need a person. */
  readonly required: readonly EventPayload<'action.required'>[];
}

/** What extensions ask and show, in all sessions. */
export interface PeopleState {
  /** Those that wait, oldest first. */
  readonly questions: readonly UiQuestion[];
  readonly shown: readonly UiShown[];
}

export interface AppState {
  readonly connection: Connection;
  readonly identity: Identity | undefined;
  readonly health: Health | undefined;
  readonly sessions: SessionsState;
  readonly chats: ReadonlyMap<string, ChatState>;
  readonly approvals: ApprovalsState;
  readonly agents: Loaded<readonly AgentInfo[]>;
  readonly models: Loaded<readonly ModelInfo[]>;
  readonly commands: Loaded<readonly CommandInfo[]>;
  readonly plugins: Loaded<Result<'plugins.list'>>;
  readonly status: Loaded<Status> | undefined;
  readonly sandbox: Loaded<SandboxState> | undefined;
  readonly usage: ReadonlyMap<string, Usage>;
  /** How the last turn of a session ended, where this page was told. */
  readonly ends: ReadonlyMap<string, RunEnd['kind']>;
  /** Principals by their names, where this person may know them. */
  readonly names: ReadonlyMap<string, string>;
  readonly pluginUi: PluginUiState;
  readonly people: PeopleState;
  readonly toasts: readonly Toast[];
}

const loading = { kind: 'loading' } as const;

export function emptyState(): AppState {
  return {
    connection: { kind: 'connecting' },
    identity: undefined,
    health: undefined,
    sessions: {
      byKey: new Map(),
      loaded: loading,
      nextCursor: undefined,
      loadingMore: false,
      search: undefined,
      archived: undefined,
    },
    chats: new Map(),
    approvals: { byId: new Map(), loaded: loading, deciding: new Map(), nextDecided: undefined, rules: undefined },
    agents: loading,
    models: loading,
    commands: loading,
    plugins: loading,
    status: undefined,
    sandbox: undefined,
    usage: new Map(),
    ends: new Map(),
    names: new Map(),
    pluginUi: { byKey: new Map(), required: [] },
    people: { questions: [], shown: [] },
    toasts: [],
  };
}

export function may(state: AppState, scope: Scope): boolean {
  return state.identity?.scopes.has(scope) ?? false;
}

export function pendingApprovals(approvals: ApprovalsState): Approval[] {
  return [...approvals.byId.values()].filter((each) => each.state === 'pending').sort((a, b) => a.expiresAt - b.expiresAt);
}

export function decidedApprovals(approvals: ApprovalsState): Approval[] {
  return [...approvals.byId.values()]
    .filter((each) => each.state !== 'pending')
    .sort((a, b) => (b.decidedAt ?? b.expiresAt) - (a.decidedAt ?? a.expiresAt));
}
