// What a plugin answers to a web request, checked: a status, some headers, a body within its bound. Headers are on a list,
// because one that is not thought of could speak for the whole origin: cookies, cross-origin rules, where a proxy finds a file.
import { limits } from '@tenon/protocol';
import type { Answer } from './answer.ts';

const HEADERS: ReadonlySet<string> = new Set([
  'allow',
  'cache-control',
  'content-disposition',
  'content-language',
  'content-type',
  'etag',
  'last-modified',
  'location',
  'retry-after',
  'vary',
]);
const OWN_HEADER = /^x-plugin-[a-z0-9-]{1,64}$/;
const CONTENT_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(\s*;\s*[a-z0-9-]+=("[^"\\]*"|[a-z0-9!#$&^_.+-]+))*$/i;
/** The page runs scripts of its own origin: none of them may come from here. */
const SCRIPT = /script|wasm/i;
const MAX_HEADER = 4_096;
const MAX_HEADERS = 32;

/** A document of its own, without scripts, forms or a place in another one; nothing from elsewhere is loaded. */
const SANDBOX = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** May throw what a getter of the plugin throws; whoever calls the plugin catches that. */
export function readAnswer(raw: unknown): { readonly value: Answer } | { readonly wrong: string } {
  if (typeof raw !== 'object' || raw === null) return { wrong: 'an answer is {status, headers?, body?}' };
  const { status, headers, body = '', ...more } = raw as Record<string, unknown>;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return { wrong: `an answer is {status, headers?, body?}, without "${unknown.slice(0, 64)}"` };
  if (!Number.isInteger(status) || (status as number) < 200 || (status as number) > 599)
    return { wrong: 'status is a whole number from 200 to 599' };
  const content = bytesOf(body);
  if ('wrong' in content) return content;
  const read = readHeaders(headers ?? {});
  if ('wrong' in read) return read;
  const { 'content-type': type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/octet-stream', ...rest } =
    read.headers;
  return { value: { status: status as number, type, body: content.bytes, headers: { ...rest, 'content-security-policy': SANDBOX } } };
}

function bytesOf(body: unknown): { readonly bytes: Buffer } | { readonly wrong: string } {
  const most = limits.pluginRouteAnswerBytes.value;
  const tooLarge = { wrong: `body has more than ${most} bytes` };
  if (typeof body === 'string') {
    if (body.length > most) return tooLarge;
    const bytes = Buffer.from(body);
    return bytes.length > most ? tooLarge : { bytes };
  }
  if (!(body instanceof Uint8Array)) return { wrong: 'body is text or a Uint8Array' };
  // A copy: the plugin may go on to use its own.
  return body.byteLength > most ? tooLarge : { bytes: Buffer.from(new Uint8Array(body)) };
}

function readHeaders(given: unknown): { readonly headers: Record<string, string> } | { readonly wrong: string } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { wrong: 'headers are an object of texts' };
  const entries = Object.entries(given);
  if (entries.length > MAX_HEADERS) return { wrong: `an answer has up to ${MAX_HEADERS} headers` };
  const headers: Record<string, string> = {};
  for (const [written, value] of entries) {
    const name = written.toLowerCase();
    if (!HEADERS.has(name) && !OWN_HEADER.test(name)) return { wrong: `the header "${written.slice(0, 64)}" is not for plugins to set` };
    if (typeof value !== 'string' || value.length > MAX_HEADER || !/^[\t\x20-\x7e]*$/.test(value))
      return { wrong: `the header "${name}" is one line of printable ASCII` };
    if (Object.hasOwn(headers, name)) return { wrong: `the header "${name}" is there twice` };
    headers[name] = value;
  }
  const type = headers['content-type'];
  if (type !== undefined && (!CONTENT_TYPE.test(type) || SCRIPT.test(type.split(';', 1)[0] ?? '')))
    return { wrong: 'content-type is a type, and none of a script' };
  return { headers };
}
