// Buttons that people press in a conversation.
import type { Contribution, Scope } from '@tenon/protocol';
import type { SessionContext } from './contributions.ts';

export interface ButtonPress extends SessionContext {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly channel: Exclude<Contribution<'interactiveHandler'>['channel'], '*'>;
  /** What follows the namespace in the data of the button. */
  readonly payload: string;
  readonly callbackId?: string;
  /** Whoever pressed it may write in this session; others do not come this far. */
  readonly client: { readonly scopes: readonly Scope[] };
}

export interface InteractiveHandler extends Contribution<'interactiveHandler'> {
  /** `text` is told to whoever pressed it. */
  readonly handler: (press: ButtonPress) => { readonly text?: string } | undefined | Promise<{ readonly text?: string } | undefined>;
}
