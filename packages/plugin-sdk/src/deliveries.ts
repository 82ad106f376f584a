// What a plugin hands over in a session, and channels that carry it to where the session came from.
import type { AttachmentRef, Contribution, DeliveryBlock, JsonValue, Presentation } from '@tenon/protocol';
import type { CallContext, Refused } from './values.ts';

export interface AttachmentButton {
  /** Its own in this presentation. */
  readonly id: string;
  readonly label: string;
  readonly style?: 'primary' | 'normal' | 'danger';
  /** One of the plugin's session actions, or `<namespace>:<payload>` for an interactive handler of its own. */
  readonly action: { readonly pluginId?: string; readonly actionId: string; readonly payload?: JsonValue } | { readonly data: string };
}

export interface AttachmentPresentation {
  readonly title: string;
  readonly tone?: NonNullable<Presentation['tone']>;
  readonly blocks?: readonly DeliveryBlock[];
  /** Up to 8. One of them is pressed, once. */
  readonly buttons?: readonly AttachmentButton[];
}

/** At least one of `files`, `text` and `presentation`. */
export interface SessionAttachment {
  readonly sessionKey: string;
  /** Up to 10. A relative path is one in the workspace of the agent; others lie there, in the plugin's folder, or in `attachments.roots`. */
  readonly files?: readonly { readonly path: string; readonly name?: string }[];
  readonly text?: string;
  readonly presentation?: AttachmentPresentation;
  /** Of each file and of all together; 25 MiB at most, and where nothing is said. */
  readonly maxBytes?: number;
  /** `forceDocumentMime`: what each file must be by its first bytes; otherwise nothing is sent. */
  readonly channelHints?: { readonly forceDocumentMime?: string };
  /** The same key in the same session is sent once. */
  readonly idempotencyKey?: string;
}

export type AttachmentOutcome =
  | {
      readonly ok: true;
      readonly channel: string;
      readonly deliveredTo: string;
      /** Files. */
      readonly count: number;
      readonly deliveryId: string;
      /** The entry in the transcript. */
      readonly entryId: string;
      /** `waiting`: the channel did not take it yet, and is asked again. */
      readonly state: 'sent' | 'waiting' | 'failed';
    }
  | Refused;

/** What is not named stays; null takes it away. At least one of `files`, `text` and `presentation` is left. The files stay. */
export interface AttachmentChange {
  readonly sessionKey: string;
  /** One that this plugin has sent in this session. */
  readonly deliveryId: string;
  readonly text?: string | null;
  /** As a whole, with its buttons. Once one was pressed, no other can be. */
  readonly presentation?: AttachmentPresentation | null;
}

export type AttachmentChangeOutcome =
  | {
      readonly ok: true;
      readonly deliveryId: string;
      readonly entryId: string;
      /** Counts what became of it: changes, and the press of a button. */
      readonly revision: number;
      /** False: it said so already. */
      readonly changed: boolean;
      /** Whether the channel shows it. `waiting`: it is asked again. `none`: it cannot change what it has sent. */
      readonly edits: 'waiting' | 'done' | 'none' | 'failed';
    }
  | Refused;

export interface OutgoingFile extends AttachmentRef {
  /** Its bytes. */
  read(): Promise<Uint8Array>;
}

/** What a channel is asked to take. */
export interface OutgoingDelivery extends CallContext {
  /** Its own: asked again with the same, a channel that has taken it before does nothing and says so with the same receipt. */
  readonly id: string;
  readonly attempt: number;
  /** Of what it says here. A higher one is newer; 0 as it was made. */
  readonly revision: number;
  readonly sessionKey: string;
  readonly entryId: string;
  /** Whom it is for, in the words of the channel. */
  readonly to: string;
  readonly text?: string;
  readonly presentation?: Presentation;
  readonly files: readonly OutgoingFile[];
  /** The button that was pressed, and what the plugin said to it: `presentation` has none any more. */
  readonly pressed?: { readonly buttonId: string; readonly label: string; readonly text?: string };
}

/**
 * What a delivery is now, as a whole: what is not named here is not there any more. Asked again with the same revision, a channel
 * that shows it already does nothing.
 */
export interface OutgoingEdit extends OutgoingDelivery {
  /** What the channel calls it: what `send`, or the last `edit`, gave. */
  readonly receipt: string;
}

export interface DeliveryReceipt {
  /** What the channel calls it, up to 256 characters. */
  readonly id: string;
}

export interface Channel extends Contribution<'channel'> {
  /** Takes it and gives a receipt. One that throws or gives none is asked again, later and later. */
  readonly send: (delivery: OutgoingDelivery) => DeliveryReceipt | Promise<DeliveryReceipt>;
  /**
   * Shows what it has sent as it is now, and gives the receipt, the same one or another. Asked after `send`, only for the newest
   * revision, and again like `send`. A channel without it leaves what it has sent as it is.
   */
  readonly edit?: (edit: OutgoingEdit) => DeliveryReceipt | Promise<DeliveryReceipt>;
}

export interface InboundMessage {
  /** One that this plugin serves. */
  readonly channel: string;
  /** Who says it, in the words of the channel; answers go there. Up to 128 letters, digits, `.`, `_`, `@`, `+` and `-`. */
  readonly from: string;
  /** Needed where there are no files. */
  readonly text?: string;
  /**
   * Up to 10, 25 MiB together, from where the plugin may send files from: the workspace of the agent, the plugin's folder,
   * `attachments.roots`. They are copied before the call is answered.
   */
  readonly files?: readonly { readonly path: string; readonly name?: string }[];
  /** `main` where nothing is said. */
  readonly agentId?: string;
  /** What the channel calls it: the same one is taken once. */
  readonly messageId?: string;
}

export type ReceiveOutcome =
  | { readonly ok: true; readonly sessionKey: string; readonly runId: string; readonly duplicate?: true }
  | Refused;

export interface ChannelPress {
  /** The `id` that the channel was asked to send. */
  readonly deliveryId: string;
  readonly buttonId: string;
  /** Where it was pressed: the `to` of the delivery. */
  readonly from: string;
  /** Who pressed it, where that is not `from`; for the record. */
  readonly sender?: string;
  /** Whether the channel knows that they may act here; otherwise the press is refused. It then counts as `operator.read` and `operator.write`. */
  readonly isAuthorizedSender?: boolean;
}

/** `conflict`: one was pressed already. `not-granted`: the sender may not. `unavailable`: it was not done, and the buttons stay. */
export type ChannelPressOutcome =
  | {
      readonly ok: true;
      readonly sessionKey: string;
      readonly entryId: string;
      /** Whose button it was. */
      readonly pluginId: string;
      /** What it says to whoever pressed it. */
      readonly text?: string;
    }
  | Refused;

/** Of channels that the plugin serves. */
export interface Channels {
  /**
   * Says it to the agent, in the session `agent:<agent>:<channel>:<from>`. What the agent answers is sent back through the channel.
   * Needs the grant `channels.serve`.
   */
  receive(message: InboundMessage): Promise<ReceiveOutcome>;
  /**
   * Presses a button of what one of its channels was sent, once, as `deliveries.press` does. Only where the delivery went, and only
   * while the session belongs there. Needs the grant `channels.serve`.
   */
  pressButton(press: ChannelPress): Promise<ChannelPressOutcome>;
}
