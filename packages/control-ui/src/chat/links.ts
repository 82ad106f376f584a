// Which addresses in somebody's text may become links or pictures. Everything else stays text.

const LINKED = new Set(['http:', 'https:', 'mailto:']);

/** The address as the browser would open it, or nothing where it may not be one: relative, script, data, blob, any other scheme. */
export function safeHref(raw: string): string | undefined {
  // Without a base: a relative or protocol-relative address does not parse, so it cannot lead into the page or past it.
  const url = parseUrl(raw);
  return url && LINKED.has(url.protocol) ? url.href : undefined;
}

/** The host to name beside a link whose words name another one, or whose address hides its host behind a name and an `@`. */
export function hostToName(href: string, words: string): string | undefined {
  const url = parseUrl(href);
  if (!url || url.protocol === 'mailto:') return undefined;
  const named = /(?:^|[\s/@(])((?:[a-z0-9-]+\.)+[a-z]{2,63})(?=$|[\s/:?#)])/i.exec(words.trim())?.[1]?.toLowerCase();
  const differs = named !== undefined && named !== url.hostname && `www.${named}` !== url.hostname && named !== `www.${url.hostname}`;
  return differs || url.username !== '' || url.password !== '' ? url.host : undefined;
}

export type ImageSource =
  /** Inside the text itself: can be shown without asking anybody. */
  | { readonly kind: 'inline'; readonly src: string; readonly bytes: number }
  /** On another host: showing it would tell that host. */
  | { readonly kind: 'remote'; readonly href: string; readonly host: string }
  | { readonly kind: 'refused' };

const INLINE = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})$/;

/** Base64 characters of a picture inside a text. */
const INLINE_LIMIT = 1_400_000;

export function imageSource(raw: string): ImageSource {
  const inline = raw.length <= INLINE_LIMIT ? INLINE.exec(raw) : null;
  if (inline) return { kind: 'inline', src: raw, bytes: Math.floor((inline[2]!.length * 3) / 4) };
  const url = parseUrl(raw);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return { kind: 'remote', href: url.href, host: url.host };
  return { kind: 'refused' };
}

const SHOWN_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** The source of an image that came as a block of its own, if it is of a type that can only be a picture. */
export function blockSource(image: { readonly mimeType: string; readonly data: string }): string | undefined {
  if (!SHOWN_TYPES.has(image.mimeType) || !/^[A-Za-z0-9+/]+={0,2}$/.test(image.data)) return undefined;
  return `data:${image.mimeType};base64,${image.data}`;
}

function parseUrl(raw: string): URL | undefined {
  return URL.canParse(raw) ? new URL(raw) : undefined;
}
