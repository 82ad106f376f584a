// What is said on the wire between a host and an extension, made readable: who said it, what it is about, how long the answer took.
// Pure, but for what it remembers of requests that wait for an answer. Secrets are taken out before anything is cut.
import { CENSORED, hideSecrets, isSecretName } from '../../kernel/redact.ts';

export type Direction = 'to-extension' | 'to-host';

export interface Message {
  readonly direction: Direction;
  /** `line`: it is no message of the protocol. */
  readonly kind: 'request' | 'notification' | 'result' | 'error' | 'line';
  /** Of an answer: what it answers. */
  readonly method?: string;
  readonly id?: number | string;
  /** Params, result or error. */
  readonly data?: unknown;
  /** From the request to its answer. */
  readonly ms?: number;
}

const MOST_WAITING = 1_000;
const MOST_TEXT = 4_000;

/** `now` in milliseconds. */
export function createTraffic(now: () => number): (direction: Direction, line: string) => Message {
  /** By who asked, and the id: both sides count for themselves. */
  const waiting = new Map<string, { readonly method: string; readonly at: number }>();

  return (direction, line) => {
    const frame = frameOf(line);
    if (!frame) return { direction, kind: 'line', data: hideSecrets(line).slice(0, MOST_TEXT) };
    const { method, id, params, result, error } = frame;
    const ids = isId(id) ? { id } : {};
    if (typeof method === 'string') {
      if (isId(id)) {
        if (waiting.size >= MOST_WAITING) waiting.delete(waiting.keys().next().value!);
        waiting.set(`${direction} ${typeof id} ${id}`, { method, at: now() });
      }
      return { direction, kind: isId(id) ? 'request' : 'notification', method, ...ids, data: withoutSecrets(params ?? {}) };
    }
    const asker: Direction = direction === 'to-host' ? 'to-extension' : 'to-host';
    const key = `${asker} ${typeof id} ${String(id)}`;
    const asked = waiting.get(key);
    waiting.delete(key);
    const about = asked ? { method: asked.method, ms: Math.round(now() - asked.at) } : {};
    if (error !== undefined) return { direction, kind: 'error', ...about, ...ids, data: withoutSecrets(error) };
    return { direction, kind: 'result', ...about, ...ids, data: withoutSecrets(result ?? {}) };
  };
}

/** In one line: `→ tool/execute 3 {…}`, `← tool/execute 3 = {…} (4 ms)`. */
export function messageText({ direction, kind, method, id, data, ms }: Message): string {
  const arrow = direction === 'to-extension' ? '→' : '←';
  if (kind === 'line') return `${arrow} ${String(data)}`;
  const text = JSON.stringify(data) ?? '';
  const shown = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}… (${text.length} characters)` : text;
  const mark = kind === 'result' ? ' =' : kind === 'error' ? ' !' : '';
  const head = [arrow, method ?? (kind === 'error' || kind === 'result' ? 'an answer that nobody waits for' : ''), id].filter(
    (part) => part !== undefined,
  );
  return `${head.join(' ')}${mark} ${shown}${ms === undefined ? '' : ` (${ms} ms)`}`;
}

/** The same value, without what looks like a secret, and without fields that are called like one. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return hideSecrets(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      isSecretName(name) && each !== null && typeof each !== 'boolean' ? CENSORED : withoutSecrets(each),
    ]),
  );
}

function frameOf(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isId(id: unknown): id is number | string {
  return typeof id === 'number' || typeof id === 'string';
}
