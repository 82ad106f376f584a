// One page from the public web. A host is resolved, its addresses are checked, and the connection goes to exactly the
// address that was checked; a redirect starts the same way again.
import { request, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { isIP, type Socket } from 'node:net';
import type { Clock } from '../../../kernel/clock.ts';
import { ToolError } from '../tool.ts';
import { refusalOf } from './address.ts';

export interface WebDeps {
  readonly clock: Clock;
  /** All addresses of a host. */
  resolve(host: string): Promise<readonly string[]>;
  /** A connection to an address, never to a name. */
  connect(address: string, port: number, signal: AbortSignal): Promise<Duplex>;
  /** TLS over it, with the certificate checked against the host. */
  secure(socket: Duplex, host: string): Duplex;
  /** The addresses of this machine. */
  ownAddresses(): readonly string[];
  gatewayPort(): number | undefined;
  /** `web.allowPrivate` */
  readonly allowPrivate: readonly string[];
}

export interface Page {
  readonly url: URL;
  /** Every address on the way, the last included. */
  readonly chain: readonly string[];
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  /** Whether there was more than the cap. */
  readonly cut: boolean;
}

export const MAX_PAGE_BYTES = 5_000_000;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;
const MAX_URL = 4_096;
const MAX_ADDRESSES = 4;

/** What can be said about an address before anybody is asked. Contract: throws ToolError when it is refused. */
export function parseAddress(text: string, deps: Pick<WebDeps, 'allowPrivate'>): URL {
  if (text.length > MAX_URL) throw new ToolError('BAD_URL', `The address is longer than ${MAX_URL} characters`);
  if (!URL.canParse(text)) throw new ToolError('BAD_URL', 'The address cannot be read; give a whole one, such as https://example.com/page');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ToolError('REFUSED', `Only http and https are fetched, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw new ToolError('REFUSED', 'An address with a user name or password in it is not fetched');
  const host = hostOf(url);
  if (isIP(host)) refuse(url, host, deps);
  url.hash = '';
  return url;
}

/** `mayFollow` is asked before each further address, and throws ToolError where it must not be fetched. */
export async function fetchPage(
  start: URL,
  deps: WebDeps,
  signal: AbortSignal,
  mayFollow: (next: URL) => Promise<void> = async () => {},
): Promise<Page> {
  const deadline = new AbortController();
  const timer = deps.clock.after(TIMEOUT_MS, () =>
    deadline.abort(new ToolError('TIMEOUT', `${start.host} took longer than ${TIMEOUT_MS / 1000} seconds`)),
  );
  const either = AbortSignal.any([signal, deadline.signal]);
  try {
    return await follow(start, deps, either, mayFollow);
  } catch (error) {
    either.throwIfAborted();
    if (error instanceof ToolError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ToolError('FETCH', `${start.host} could not be fetched: ${code ?? message}`);
  } finally {
    timer.cancel();
  }
}

async function follow(start: URL, deps: WebDeps, signal: AbortSignal, mayFollow: (next: URL) => Promise<void>): Promise<Page> {
  const chain: string[] = [];
  let url = start;
  for (;;) {
    chain.push(url.href);
    const socket = await connectTo(url, deps, signal);
    try {
      const response = await ask(url, socket, signal);
      const target = redirectOf(response);
      if (target === undefined) return { url, chain, ...(await readBody(response, signal)) };
      if (chain.length > MAX_REDIRECTS) throw new ToolError('REFUSED', `${start.host} leads on more than ${MAX_REDIRECTS} times`);
      url = checkRedirect(url, target, deps);
      await abortable(mayFollow(url), signal);
    } finally {
      socket.destroy();
    }
  }
}

function checkRedirect(from: URL, target: string, deps: WebDeps): URL {
  if (!URL.canParse(target, from.href)) throw new ToolError('REFUSED', `${from.host} leads to an address that cannot be read`);
  const to = parseAddress(new URL(target, from).href, deps);
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw new ToolError('REFUSED', `${from.host} leads from https to http (${to.host}); that is not followed`);
  return to;
}

async function connectTo(url: URL, deps: WebDeps, signal: AbortSignal): Promise<Duplex> {
  const host = hostOf(url);
  const addresses = isIP(host) ? [host] : await abortable(deps.resolve(host), signal);
  if (addresses.length === 0) throw new ToolError('FETCH', `${host} has no address`);
  // One that is not public spoils all: a name that mixes them is made to be picked from.
  for (const address of addresses) refuse(url, address, deps);
  let failure: unknown;
  for (const address of addresses.slice(0, MAX_ADDRESSES)) {
    refuseGateway(url, address, deps);
    try {
      const socket = await deps.connect(address, portOf(url), signal);
      return url.protocol === 'https:' ? deps.secure(socket, host) : socket;
    } catch (error) {
      failure = error;
      signal.throwIfAborted();
    }
  }
  throw failure;
}

function refuse(url: URL, address: string, { allowPrivate }: Pick<WebDeps, 'allowPrivate'>): void {
  const what = refusalOf(address);
  if (what === undefined) return;
  const host = hostOf(url).toLowerCase();
  if (allowPrivate.some((entry) => [host, `${host}:${portOf(url)}`].includes(entry.toLowerCase()))) return;
  throw new ToolError(
    'REFUSED',
    `${url.host} is ${what} (${address}); web_fetch reaches public addresses only. An operator can add it to web.allowPrivate`,
  );
}

/** The way back into the gateway stays shut, also for a machine that is allowed or has a public address. */
function refuseGateway(url: URL, address: string, deps: WebDeps): void {
  if (portOf(url) !== deps.gatewayPort()) return;
  if (refusalOf(address) !== undefined || deps.ownAddresses().includes(address))
    throw new ToolError('REFUSED', `${url.host} is the gateway itself`);
}

function ask(url: URL, socket: Duplex, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      method: 'GET',
      host: hostOf(url),
      path: `${url.pathname}${url.search}`,
      headers: {
        host: url.host,
        'user-agent': 'Tenon (web_fetch)',
        accept: 'text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1',
        'accept-encoding': 'gzip, deflate, br',
        connection: 'close',
      },
      // Without an agent, not even a new one: that would make a connection of its own, to an address nobody has checked.
      createConnection: () => socket as Socket,
      signal,
    });
    outgoing.once('response', resolve);
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function redirectOf({ statusCode, headers }: IncomingMessage): string | undefined {
  return [301, 302, 303, 307, 308].includes(statusCode ?? 0) ? headers.location : undefined;
}

async function readBody(response: IncomingMessage, signal: AbortSignal): Promise<Omit<Page, 'url' | 'chain'>> {
  const parts: Buffer[] = [];
  let length = 0;
  let cut = false;
  for await (const chunk of decoded(response)) {
    signal.throwIfAborted();
    const part = (chunk as Buffer).subarray(0, MAX_PAGE_BYTES - length);
    parts.push(part);
    length += part.length;
    cut = part.length < (chunk as Buffer).length;
    // Counted after unpacking: a small file that unpacks to a huge one ends here, too.
    if (cut) break;
  }
  return { status: response.statusCode ?? 0, contentType: response.headers['content-type'] ?? '', body: Buffer.concat(parts), cut };
}

function decoded(response: IncomingMessage): AsyncIterable<unknown> {
  const unpack = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };
  const coding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (coding === 'identity' || coding === '') return response;
  if (!Object.hasOwn(unpack, coding))
    throw new ToolError('REFUSED', `The answer is packed in a way that is not known: ${coding.slice(0, 40)}`);
  const stream = unpack[coding as keyof typeof unpack]();
  response.once('error', (error) => stream.destroy(error));
  return response.pipe(stream);
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}
