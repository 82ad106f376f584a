// What the parts of a conversation are given and what they say back. Nothing here knows of sockets or of the store:
// the shell turns entries and run streams into items, and callbacks into calls.
import type {
  Approval,
  ApprovalRule,
  AttachmentRef,
  CommandInfo,
  Decision,
  Delivery,
  DeliveryPressed,
  JsonObject,
  MessageOrigin,
  ModelInfo,
  PermissionMode,
  RunEnd,
  ThinkingLevel,
} from '@tenon/protocol';
import type { ReactNode } from 'react';

/** An image that is shown or will be sent; `data` is base64. */
export interface ChatImage {
  readonly key: string;
  readonly mimeType: string;
  readonly data: string;
  readonly name?: string | undefined;
}

interface ItemBase {
  /** Stable and unique in the list: rows keep their place and their open state by it. */
  readonly key: string;
}

/** A line across the transcript with a date. */
export interface DayItem extends ItemBase {
  readonly kind: 'day';
  readonly at: number;
}

export interface UserItem extends ItemBase {
  readonly kind: 'user';
  readonly author: string;
  readonly at: number;
  readonly text: string;
  readonly images?: readonly ChatImage[] | undefined;
  readonly files?: readonly AttachmentRef[] | undefined;
  /** `failed`: it did not reach the gateway; `error` says why and the row offers to try again. */
  readonly state: 'sending' | 'sent' | 'queued' | 'failed';
  readonly error?: string | undefined;
  /** Without it the message is not in the tree yet and cannot be branched from. */
  readonly entryId?: string | undefined;
}

export interface AssistantItem extends ItemBase {
  readonly kind: 'assistant';
  readonly agent: string;
  readonly at: number;
  /** Markdown. */
  readonly text: string;
  readonly streaming: boolean;
  readonly thinking?: string | undefined;
  readonly thinkingMs?: number | undefined;
  readonly model?: string | undefined;
  readonly error?: string | undefined;
  readonly entryId?: string | undefined;
}

export type ToolState = 'writing' | 'waiting' | 'running' | 'done' | 'failed' | 'denied' | 'blocked' | 'interrupted';

export interface ToolItem extends ItemBase {
  readonly kind: 'tool';
  readonly callId: string;
  readonly name: string;
  /** Who offers it: `host`, or the id of a plugin. */
  readonly offeredBy: string;
  /** What it is about, in words. */
  readonly subject?: string | undefined;
  readonly args?: JsonObject | undefined;
  /** What the model sent instead of a JSON object. */
  readonly malformed?: string | undefined;
  readonly state: ToolState;
  /** In place of the word for the state, such as `Allowed once`. */
  readonly stateWord?: string | undefined;
  readonly output?: string | undefined;
  readonly images?: readonly ChatImage[] | undefined;
  readonly startedAt?: number | undefined;
  readonly durationMs?: number | undefined;
  /** Where foreign output came from, such as `example.com`. */
  readonly provenance?: string | undefined;
  readonly exitCode?: number | undefined;
  /** Lines and bytes of the whole output where `output` is only a part of it. */
  readonly outputLines?: number | undefined;
  readonly outputBytes?: number | undefined;
  /** Who asked and what let it through, such as `asked by main, allowed by the mode accept-edits`. */
  readonly allowedBy?: string | undefined;
  /** The agent that called it, for a header where the call comes before any text. */
  readonly agent?: string | undefined;
  readonly at?: number | undefined;
}

export interface ApprovalItem extends ItemBase {
  readonly kind: 'approval';
  readonly approval: Approval;
  readonly deciding?: Decision | undefined;
  readonly error?: string | undefined;
}

/** Something that happened to the conversation rather than in it. */
export interface NoticeItem extends ItemBase {
  readonly kind: 'notice';
  readonly at: number;
  readonly notice:
    | { readonly type: 'command'; readonly command: string; readonly reply: string }
    | { readonly type: 'compaction'; readonly summary: string; readonly tokensBefore: number }
    | { readonly type: 'branch'; readonly summary: string }
    | { readonly type: 'model'; readonly model: string }
    | { readonly type: 'thinking'; readonly level: ThinkingLevel }
    | { readonly type: 'label'; readonly label: string | null }
    | { readonly type: 'title'; readonly title: string }
    | { readonly type: 'edit'; readonly left: 'out' | 'replaced' }
    /** `advice` is what the person can do about it. */
    | { readonly type: 'end'; readonly end: RunEnd; readonly advice?: string | undefined; readonly retryable?: boolean | undefined }
    | { readonly type: 'phase'; readonly text: string; readonly busy: boolean };
}

/** A message that no person of this page wrote: of a plugin, an operator, a schedule or a heartbeat. */
export interface CustomItem extends ItemBase {
  readonly kind: 'custom';
  readonly at: number;
  readonly from: string;
  /** What it is, where it is no note. */
  readonly via?: MessageOrigin['via'] | undefined;
  readonly text: string;
  readonly images?: readonly ChatImage[] | undefined;
  readonly entryId?: string | undefined;
}

/** A control of a plugin, at the end of the conversation. */
export interface PluginItem extends ItemBase {
  readonly kind: 'plugin';
  readonly from: string;
  readonly label: string;
  readonly draw: () => ReactNode;
}

/** What a plugin handed over. */
export interface DeliveryItem extends ItemBase {
  readonly kind: 'delivery';
  readonly at: number;
  readonly sessionKey: string;
  readonly entryId: string;
  readonly delivery: Delivery;
  /** The button that was pressed; from then on there is none. */
  readonly pressed?: DeliveryPressed | undefined;
}

export type TranscriptItem =
  | DeliveryItem
  | PluginItem
  | DayItem
  | UserItem
  | AssistantItem
  | ToolItem
  | ApprovalItem
  | NoticeItem
  | CustomItem;

export interface TranscriptProps {
  readonly items: readonly TranscriptItem[];
  /** The clock, in ms since 1970; once a second is enough. */
  readonly now: number;
  readonly label?: string | undefined;
  readonly hasOlder?: boolean | undefined;
  readonly loadingOlder?: boolean | undefined;
  readonly onLoadOlder?: (() => void) | undefined;
  readonly onDecide?: ((approval: Approval, decision: Decision) => void) | undefined;
  /** Why decisions are off here, such as a missing scope. */
  readonly decideReason?: string | undefined;
  /** Copies text; without it the browser's clipboard is used. */
  readonly onCopy?: ((text: string) => void) | undefined;
  readonly onFork?: ((entryId: string) => void) | undefined;
  readonly onRewind?: ((entryId: string) => void) | undefined;
  /** For a message that failed (`user`) and a run that failed (`notice`). */
  readonly onRetry?: ((item: UserItem | NoticeItem) => void) | undefined;
  /** For a message that waits in the queue. */
  readonly onUnqueue?: ((item: UserItem) => void) | undefined;
  /** Announce nothing to screen readers. */
  readonly quiet?: boolean | undefined;
  /** Single-key shortcuts (A and D on an approval); on unless told. */
  readonly shortcuts?: boolean | undefined;
}

export interface ToolCardProps {
  readonly tool: ToolItem;
  readonly now: number;
  /** What the person chose; without it the card opens and closes by itself. */
  readonly open?: boolean | undefined;
  readonly onToggle?: ((open: boolean) => void) | undefined;
  readonly onCopy?: ((text: string) => void) | undefined;
}

export interface ApprovalCardProps {
  readonly approval: Approval;
  readonly now: number;
  readonly onDecide?: ((approval: Approval, decision: Decision) => void) | undefined;
  /** The decision that is on its way. */
  readonly deciding?: Decision | undefined;
  readonly error?: string | undefined;
  readonly decideReason?: string | undefined;
  readonly focusOnMount?: boolean | undefined;
  readonly shortcuts?: boolean | undefined;
  /** `detail`: the pane of the inbox, which stays open after the decision and shows the rule that "Always" would add. */
  readonly variant?: 'inline' | 'detail' | undefined;
  /** The rule that was added, where one was. */
  readonly rule?: ApprovalRule | undefined;
  /** In the inbox: the session it belongs to. */
  readonly session?: { readonly title: string; readonly onOpen: () => void } | undefined;
  readonly open?: boolean | undefined;
  readonly onToggle?: ((open: boolean) => void) | undefined;
}

/** Why nothing can be written, what closes it and how it opens again. */
export interface ClosedReason {
  readonly title: string;
  readonly detail: string;
  readonly icon?: 'lock' | 'offline' | undefined;
  readonly action?: { readonly label: string; readonly onAction: () => void } | undefined;
  /** Commands are taken all the same: opens a field for one. */
  readonly onCommand?: (() => void) | undefined;
}

export interface Completion {
  readonly text: string;
  readonly description?: string;
}

export interface ComposerProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Send, or queue while busy. The shell empties `value` once it has it. */
  readonly onSend: () => void;
  readonly onStop?: (() => void) | undefined;
  readonly busy: boolean;
  readonly stopping?: boolean | undefined;
  readonly queuedCount?: number | undefined;
  readonly waitingForApproval?: boolean | undefined;
  readonly disabledReason?: ClosedReason | undefined;
  readonly placeholder: string;
  /** What people should know before they send. */
  readonly hint?: string | undefined;
  /** Beside the other choices. */
  readonly chips?: ReactNode;
  /** Leaves the field without sending. */
  readonly onLeave?: (() => void) | undefined;
  readonly commands: readonly CommandInfo[];
  /** What may be typed next after a command, as whole lines. The same function as long as it asks the same. */
  readonly onComplete?: ((text: string) => Promise<readonly Completion[]>) | undefined;
  readonly models?: readonly ModelInfo[] | undefined;
  readonly model?: string | undefined;
  readonly onModel?: ((id: string) => void) | undefined;
  readonly thinking?: ThinkingLevel | undefined;
  readonly onThinking?: ((level: ThinkingLevel) => void) | undefined;
  readonly permissions?: PermissionMode | undefined;
  readonly onPermissions?: ((mode: PermissionMode) => void) | undefined;
  /** Files that somebody picked, pasted or dropped. */
  readonly onFiles?: ((files: readonly File[]) => void) | undefined;
  /** Those that go with the message, as they are shown. */
  readonly files?: ReactNode;
  readonly fileCount?: number | undefined;
  /** Why the message cannot be sent yet. */
  readonly filesReason?: string | undefined;
  /** What could not be attached, in words. */
  readonly refused?: readonly string[] | undefined;
  readonly onEditLast?: (() => void) | undefined;
  readonly focusOnMount?: boolean | undefined;
}

export interface StatusPart {
  readonly key: string;
  /** Who says it. */
  readonly name?: string | undefined;
  readonly text: string;
}

/** The line below the composer: what plugins say on the left, tokens and cost on the right. */
export interface StatusLineProps {
  readonly parts?: readonly StatusPart[] | undefined;
  readonly usage?: string | undefined;
  readonly children?: ReactNode;
}
