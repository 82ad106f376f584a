// Errors in words for people: what happened, then the code for those who look it up.
import { CallTimeout, ConnectionError, GatewayError } from '@tenon/client';

export interface Trouble {
  readonly message: string;
  readonly code?: string | undefined;
}

export function troubleOf(error: unknown): Trouble {
  if (error instanceof GatewayError) return { message: sentence(error.message), code: error.code };
  if (error instanceof CallTimeout)
    return { message: 'The gateway did not answer in time. It may still do what it was asked.', code: 'TIMEOUT' };
  if (error instanceof ConnectionError) return { message: connectionWords[error.code], code: error.code };
  if (error instanceof Error) return { message: sentence(error.message) };
  return { message: 'Something failed, and it did not say what.' };
}

const connectionWords = {
  UNREACHABLE: 'The gateway does not answer. Look whether it runs, with `tenon status`.',
  LOST: 'The connection to the gateway broke.',
  REVOKED: 'This sign-in was revoked. Make a new link with `npx tenon ui`, or sign in with another token.',
  CLOSED: 'You are signed out.',
} as const;

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
