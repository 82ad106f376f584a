// Data that crosses between the gateway and a plugin in the same process. What goes out is frozen, so that one plugin
// cannot change what the next one sees. What comes in is copied, so that nothing can be changed after it was checked.
import { limits, RESERVED_KEYS } from '@tenon/protocol';

/**
 * Freezes the value with everything inside it. What is frozen already is taken to be frozen whole: the gateway freezes
 * nothing half.
 */
export function freezeDeep<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Array.isArray(value) ? value : Object.values(value)) freezeDeep(inner);
  return value;
}

const MAX_NODES = 1_000_000;
/** More than any transcript that a hook is given and gives back. */
const MAX_CHARS = 64_000_000;

/**
 * A frozen copy of plain data, or what keeps it from being that. Fields that are undefined are left out.
 * Throws whatever a proxy or a getter inside throws.
 */
export function copyPlain(value: unknown): { readonly value: unknown } | { readonly wrong: string } {
  const fault: { text?: string } = {};
  let nodes = 0;
  let chars = 0;

  function copy(from: unknown, depth: number): unknown {
    if (typeof from === 'string') return measured(from);
    if (typeof from === 'boolean' || from === null) return from;
    if (typeof from === 'number') return Number.isFinite(from) ? from : refuse(`it has the number ${from}`);
    if (typeof from !== 'object') return refuse(`it has a ${typeof from}`);
    if (depth > limits.jsonDepth.value) return refuse(`it is nested deeper than ${limits.jsonDepth.value}`);
    const keys = Array.isArray(from) ? undefined : Object.keys(from);
    nodes += 1 + (keys ?? (from as unknown[])).length;
    if (nodes > MAX_NODES) return refuse(`it has more than ${MAX_NODES} values`);
    if (keys === undefined) return Object.freeze(Array.from(from as unknown[], (inner) => (fault.text ? null : copy(inner, depth + 1))));
    const prototype: unknown = Object.getPrototypeOf(from);
    if (prototype !== Object.prototype && prototype !== null) return refuse('it has an object of a class');
    const made: Record<string, unknown> = {};
    for (const key of keys) {
      if (RESERVED_KEYS.has(key)) return refuse(`it has the reserved key "${key}"`);
      chars += key.length;
      const inner = (from as Record<string, unknown>)[key];
      if (inner !== undefined) made[key] = copy(inner, depth + 1);
      if (fault.text) return null;
    }
    return Object.freeze(made);
  }

  /** By its length only: a text may be put together of parts, and is one piece of memory as soon as somebody reads it. */
  function measured(text: string): string | null {
    chars += text.length;
    return chars > MAX_CHARS ? refuse(`it has more than ${MAX_CHARS} characters of text`) : text;
  }

  function refuse(text: string): null {
    fault.text ??= text;
    return null;
  }

  const copied = copy(value, 0);
  return fault.text === undefined ? { value: copied } : { wrong: fault.text };
}
