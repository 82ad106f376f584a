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

export interface OutgoingFile extends AttachmentRef {
  /** Its bytes. */
  read(): Promise<Uint8Array>;
}

/** What a channel is asked to take. */
export interface OutgoingDelivery extends CallContext {
  /** Its own: asked again with the same, a channel that has taken it before does nothing and says so with the same receipt. */
  readonly id: string;
  readonly attempt: number;
  readonly sessionKey: string;
  readonly entryId: string;
  /** Whom it is for, in the words of the channel. */
  readonly to: string;
  readonly text?: string;
  readonly presentation?: Presentation;
  readonly files: readonly OutgoingFile[];
}

export interface DeliveryReceipt {
  /** What the channel calls it, up to 256 characters. */
  readonly id: string;
}

export interface Channel extends Contribution<'channel'> {
  /** Takes it and gives a receipt. One that throws or gives none is asked again, later and later. */
  readonly send: (delivery: OutgoingDelivery) => DeliveryReceipt | Promise<DeliveryReceipt>;
}

export interface InboundMessage {
  /** One that this plugin serves. */
  readonly channel: string;
  /** Who says it, in the words of the channel; answers go there. Up to 128 letters, digits, `.`, `_`, `@`, `+` and `-`. */
  readonly from: string;
  readonly text: string;
  /** `main` where nothing is said. */
  readonly agentId?: string;
  /** What the channel calls it: the same one is taken once. */
  readonly messageId?: string;
}

export type ReceiveOutcome =
  | { readonly ok: true; readonly sessionKey: string; readonly runId: string; readonly duplicate?: true }
  | Refused;

/** Of channels that the plugin serves. */
export interface Channels {
  /**
   * Says it to the agent, in the session `agent:<agent>:<channel>:<from>`. What the agent answers is sent back through the channel.
   * Needs the grant `channels.serve`.
   */
  receive(message: InboundMessage): Promise<ReceiveOutcome>;
}
