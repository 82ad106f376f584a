// What an extension does in the session in which it was asked something. The layer above does it, in the ways in which people and
// plugins do the same; here is what it is told.
import type { JsonObject, QueueMode } from '@tenon/protocol';
import type { ShownEntry } from '../bridge/renderers.ts';

/** Who does it, and where. */
export interface DeskPlace {
  readonly plugin: string;
  readonly sessionKey: string;
  /** The run that it was asked in, if it was one. */
  readonly runId?: string | undefined;
  /** A person has asked the extension for it, by a command or a button: turns that come of it are theirs. */
  readonly asked: boolean;
}

/** Contract: rejects with GatewayError only, and with what the store throws. `INVALID_REQUEST` for what cannot be meant. */
export interface SessionDesk {
  /** Into the transcript, for people and the model; no turn begins. */
  say(place: DeskPlace, text: string, role: 'user' | 'assistant'): Promise<void>;
  /** To the agent, as its user would. */
  tell(place: DeskPlace, text: string, mode: Extract<QueueMode, 'steer' | 'followup'>): Promise<void>;
  /** To the agent with the next turn, whenever that is. */
  tellNext(place: DeskPlace, text: string): Promise<void>;
  /** Into the transcript, and not to the model; people see it where there is something to be shown. */
  keep(place: DeskPlace, entry: JsonObject, shown: ShownEntry | undefined): Promise<void>;
  setModel(place: DeskPlace, choice: { readonly model: string; readonly provider?: string; readonly thinking?: string }): Promise<void>;
  state(place: DeskPlace): Promise<JsonObject>;
  /** Names of the tools that the agent of this session has now; without one, those that any agent has. */
  tools(sessionKey: string | undefined): readonly string[];
}
