// What a server sends, within bounds of size and time. It may send us to another address of its own, and to nobody else's: not
// to another host, another port or another scheme, so neither to a file nor to an address of the network behind.
import type { Clock } from '../kernel/clock.ts';
import { InstallError } from './install-error.ts';

export interface DownloadDeps {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface DownloadLimits {
  readonly bytes: number;
  /** For each step: to answer, and then between two pieces. */
  readonly stepMs: number;
  readonly totalMs: number;
}

export interface DownloadOptions extends DownloadLimits {
  readonly accept: string;
  readonly onChunk: (chunk: Buffer) => Promise<void> | void;
  /** What the server says that it will be. */
  readonly onLength?: (bytes: number) => void;
}

const MAX_REDIRECTS = 5;
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** https, or http on this very machine. */
export function checkAddress(text: string, what: string): URL {
  const url = URL.parse(text);
  if (!url) throw new InstallError('REFUSED', `${what} ${JSON.stringify(text)} is not an address`);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.has(url.hostname)))
    throw new InstallError('REFUSED', `${what} ${text} is not https`);
  if (url.username !== '' || url.password !== '') throw new InstallError('REFUSED', `${what} has credentials in it`);
  return url;
}

export async function download(first: URL, { fetch, clock, signal }: DownloadDeps, options: DownloadOptions): Promise<void> {
  const controller = new AbortController();
  const stop = (error: InstallError) => controller.abort(error);
  const interrupted = () => stop(new InstallError('INTERRUPTED', 'Interrupted; nothing was changed'));
  if (signal.aborted) interrupted();
  signal.addEventListener('abort', interrupted, { once: true });
  const overall = clock.after(options.totalMs, () => stop(tooSlow(first, options.totalMs)));
  let step = clock.after(options.stepMs, () => stop(tooSlow(first, options.stepMs)));
  const alive = () => {
    step.cancel();
    step = clock.after(options.stepMs, () => stop(tooSlow(first, options.stepMs)));
  };
  try {
    const response = await follow(first, fetch, options.accept, controller.signal, alive);
    await read(response, first, options, alive);
  } catch (error) {
    if (controller.signal.aborted) throw controller.signal.reason;
    if (error instanceof InstallError) throw error;
    throw new InstallError('FETCH', `${first.origin} cannot be reached: ${reasonOf(error)}`);
  } finally {
    overall.cancel();
    step.cancel();
    signal.removeEventListener('abort', interrupted);
    // Of what was not read, nothing more is sent.
    controller.abort();
  }
}

async function follow(first: URL, fetch: DownloadDeps['fetch'], accept: string, signal: AbortSignal, alive: () => void): Promise<Response> {
  let url = first;
  for (let hops = 0; ; hops++) {
    const headers = { accept, 'accept-encoding': 'identity' };
    const response = await fetch(url, { headers, redirect: 'manual', signal, credentials: 'omit' });
    alive();
    if (response.status < 300 || response.status > 399) return checkStatus(response, url);
    await response.body?.cancel();
    const to = URL.parse(response.headers.get('location') ?? '', url.href);
    if (!to || to.origin !== first.origin || to.protocol !== first.protocol)
      throw new InstallError(
        'REFUSED',
        `${first.origin} sends on to ${to ? `${to.protocol}//${to.host}` : 'nowhere'}, which is not followed`,
      );
    if (hops >= MAX_REDIRECTS) throw new InstallError('FETCH', `${first.origin} sends on more than ${MAX_REDIRECTS} times`);
    url = to;
  }
}

function checkStatus(response: Response, url: URL): Response {
  const { status } = response;
  if (status === 200) return response;
  if (status === 404) throw new InstallError('NOT_FOUND', `${url.origin} has no ${decodeURIComponent(url.pathname)}`);
  if (status === 401 || status === 403)
    throw new InstallError('FETCH', `${url.origin} wants credentials (${status})`, 'fetch it yourself and install it from its folder');
  throw new InstallError('FETCH', `${url.origin} answered with ${status}`);
}

async function read(response: Response, url: URL, { bytes, onChunk, onLength }: DownloadOptions, alive: () => void): Promise<void> {
  const announced = Number(response.headers.get('content-length') ?? Number.NaN);
  if (announced > bytes) throw tooLarge(url, bytes);
  if (Number.isSafeInteger(announced)) onLength?.(announced);
  let seen = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    alive();
    seen += chunk.length;
    if (seen > bytes) throw tooLarge(url, bytes);
    await onChunk(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  }
}

/** All of it as JSON. */
export async function downloadJson(url: URL, deps: DownloadDeps, limits: DownloadLimits): Promise<unknown> {
  const chunks: Buffer[] = [];
  await download(url, deps, { ...limits, accept: 'application/json', onChunk: (chunk) => void chunks.push(chunk) });
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new InstallError('FETCH', `${url.origin} answered with something that is not JSON`);
  }
}

function tooSlow({ origin }: URL, ms: number): InstallError {
  return new InstallError('FETCH', `${origin} took longer than ${ms / 1_000} s`);
}

function tooLarge({ origin }: URL, bytes: number): InstallError {
  return new InstallError('REFUSED', `${origin} sends more than ${bytes} bytes`);
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: unknown; message?: unknown } };
  return String(cause?.code ?? cause?.message ?? message);
}
