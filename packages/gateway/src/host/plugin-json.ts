// The rule for every JSON value that a plugin keeps, queues or says: plain data, copied, and of a bounded size. A value that
// passed belongs to the gateway; the plugin cannot change it any more.
import type { JsonValue } from '@tenon/protocol';
import { RESERVED_KEYS } from '@tenon/protocol';
import { copyPlain } from './plain-data.ts';

export const JSON_BOUNDS = { depth: 32, nodes: 4_096, keys: 512, chars: 65_536, bytes: 262_144 } as const;

export type TakenJson = { readonly value: JsonValue } | { readonly wrong: string };

/** Contract: does not throw, whatever is given. */
export function takeJson(given: unknown, bounds: { readonly bytes?: number } = {}): TakenJson {
  try {
    // Measured first: a copy of something without a bound would cost as much as it is large.
    const wrong = measure(given, 0, { nodes: 0, chars: 0 });
    if (wrong !== undefined) return { wrong };
    const copied = copyPlain(given);
    if ('wrong' in copied) return copied;
    // Again, because getters and proxies may answer otherwise the second time; from here on it is our own copy.
    const changed = wrongInCopy(copied.value, bounds);
    return changed === undefined ? { value: copied.value as JsonValue } : { wrong: changed };
  } catch {
    return { wrong: 'it cannot be read' };
  }
}

/** What is wrong with a value that `copyPlain` has made: it is plain and nobody else's, and may still be too large. */
export function wrongInCopy(value: unknown, bounds: { readonly bytes?: number } = {}): string | undefined {
  const size = { nodes: 0, chars: 0 };
  const wrong = measure(value, 0, size);
  if (wrong !== undefined) return wrong;
  const most = bounds.bytes ?? JSON_BOUNDS.bytes;
  // Only what might be too large is written out to see whether it is.
  if (size.nodes * NODE_BYTES + size.chars * CHAR_BYTES <= most) return undefined;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > most ? `it has ${bytes} bytes; ${most} are possible` : undefined;
}

/** What a value takes at most in JSON, with its quotes, brackets and commas, and a character of a text as `\u001f`. */
const NODE_BYTES = 32;
const CHAR_BYTES = 6;

function measure(value: unknown, depth: number, count: { nodes: number; chars: number }): string | undefined {
  if (++count.nodes > JSON_BOUNDS.nodes) return `it has more than ${JSON_BOUNDS.nodes} values`;
  if (depth > JSON_BOUNDS.depth) return `it is nested deeper than ${JSON_BOUNDS.depth}`;
  if (typeof value === 'string') return checkText(value, count);
  if (value === null || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `it has the number ${value}`;
  if (typeof value !== 'object') return `it has a ${typeof value}`;
  if (Array.isArray(value)) {
    if (value.length > JSON_BOUNDS.nodes) return `it has more than ${JSON_BOUNDS.nodes} values`;
    for (let index = 0; index < value.length; index++) {
      const wrong = measure(value[index], depth + 1, count);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return 'it has an object of a class';
  const keys = Object.keys(value);
  if (keys.length > JSON_BOUNDS.keys) return `it has an object with more than ${JSON_BOUNDS.keys} keys`;
  for (const key of keys) {
    if (RESERVED_KEYS.has(key)) return `it has the reserved key "${key}"`;
    const wrong = checkText(key, count) ?? measure((value as Record<string, unknown>)[key], depth + 1, count);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function checkText(text: string, count: { chars: number }): string | undefined {
  count.chars += text.length;
  if (text.length > JSON_BOUNDS.chars) return `it has a text of more than ${JSON_BOUNDS.chars} characters`;
  // What JSON on the wire refuses, no plugin brings in from the other side.
  if (text.includes('\0')) return 'it has a text with NUL';
  return text.isWellFormed() ? undefined : 'it has a text with half a character';
}
