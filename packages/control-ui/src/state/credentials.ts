// The token of this browser: where it is kept, how a code becomes one, and how it goes. It is never part of an address,
// is sent to the page's own origin only, and signing out leaves nothing behind.
import type { Trouble } from './trouble.ts';

/** The part of `Storage` that is used; it throws where a browser has storage switched off. */
export interface Shelf {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
  clear(): void;
}

export interface Shelves {
  /** Until the person signs out. */
  readonly lasting: Shelf;
  /** Until the tab is closed. */
  readonly tab: Shelf;
}

export const TOKEN_KEY = 'tenon.token';

export function storedToken({ lasting, tab }: Shelves): string | undefined {
  return quietly(() => tab.getItem(TOKEN_KEY)) ?? quietly(() => lasting.getItem(TOKEN_KEY)) ?? undefined;
}

/** Whether it could be kept: if not, the sign-in lasts as long as the page. */
export function keepToken({ lasting, tab }: Shelves, token: string, forLong: boolean): boolean {
  const [shelf, other] = forLong ? [lasting, tab] : [tab, lasting];
  quietly(() => other.removeItem(TOKEN_KEY));
  try {
    shelf.setItem(TOKEN_KEY, token);
    return true;
  } catch {
    return false;
  }
}

/** Everything that this page kept in this browser: the token, drafts and preferences. */
export function forgetEverything({ lasting, tab }: Shelves): void {
  forgetTab({ lasting, tab });
  quietly(() => lasting.clear());
}

/** What this tab alone has kept, when another one signed out. */
export function forgetTab({ tab }: Shelves): void {
  quietly(() => tab.clear());
}

function quietly<Value>(run: () => Value): Value | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

export type SignedIn = { readonly kind: 'token'; readonly token: string } | { readonly kind: 'refused'; readonly error: Trouble };

/** @param post Sends to the page's own origin. */
export async function exchangeCode(code: string, post: Post): Promise<SignedIn> {
  const answer = await post('/api/sign-in', { json: { code } }).catch(() => undefined);
  if (!answer)
    return {
      kind: 'refused',
      error: { message: 'The gateway does not answer. Look whether it runs, with `tenon status`.', code: 'UNREACHABLE' },
    };
  const { status, body } = answer;
  if (status === 200 && typeof body?.token === 'string') return { kind: 'token', token: body.token };
  const said = typeof body?.message === 'string' ? body.message : undefined;
  const gone = 'This link was used already or has expired. `npx tenon ui` prints a fresh one.';
  const message = status === 401 ? gone : (said ?? `The gateway answered with ${status}.`);
  return { kind: 'refused', error: { message, code: typeof body?.code === 'string' ? body.code : undefined } };
}

/** Revokes the token where it belongs to this browser. What the gateway says does not matter: here it is forgotten either way. */
export async function revokeToken(token: string, post: Post): Promise<void> {
  await post('/api/sign-out', undefined, token).catch(() => undefined);
}

export interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown> | undefined;
}

export type PostBody = { readonly json: unknown } | { readonly text: string; readonly type: string };

export type Post = (path: `/api/${string}`, body: PostBody | undefined, token?: string) => Promise<Answered>;

const POST_TIMEOUT_MS = 60_000;

export function createPost(request: typeof fetch): Post {
  return async (path, body, token) => {
    const response = await request(path, {
      method: 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'type' in body ? body.type : 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: 'text' in body ? body.text : JSON.stringify(body.json) }),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(POST_TIMEOUT_MS),
    });
    const parsed: unknown = await response.json().catch(() => undefined);
    return {
      status: response.status,
      body: typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined,
    };
  };
}
