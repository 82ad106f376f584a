// The people who watch a session, as extensions ask and tell them. The layer above knows who is there and keeps what is asked.
import type { UiAnswer, UiRequest } from '@tenon/protocol/sep';

export interface Asker {
  readonly sessionKey: string;
  readonly extension: string;
  /** The process that asks: what it shows goes with it. */
  readonly generation?: number;
  /** The credential that relays it, of an extension elsewhere. */
  readonly via?: string;
}

export interface People {
  /**
   * Contract: throws only GatewayError: `INVALID_REQUEST` for what cannot be asked, `TOO_LARGE` for too much of it, `UNAVAILABLE` with
   * the detail `NO_UI` where no front end of the session shows the kind. Cancelled when the signal ends the waiting.
   */
  request(from: Asker, request: UiRequest, signal: AbortSignal): Promise<UiAnswer>;
  /** Nothing is shown any more of its processes before this one; without it, of none. */
  gone(extension: string, before?: number): void;
}
