// Values that extensions keep: JSON under keys of their own, for each extension by itself. What it has, in keys and bytes, stands
// in a row beside them, which is also what writers of one extension wait for: the quota holds however many write at once.
import { canonical } from '../kernel/canonical.ts';
import { requireSwitchedOn } from './plugins.ts';
import { all, change, type Dialect, one, type Operation, refuse, sql } from './sql.ts';
import type { JsonValue } from '@tenon/protocol';

/** The limits `kvValueBytes`, `kvTotalBytes`, `kvKeys` and `kvKeyChars` of the extension protocol: the writer's thread does without it. */
export const KV_VALUE_BYTES = 262_144;
export const KV_TOTAL_BYTES = 16_777_216;
export const KV_KEYS = 10_000;
export const KV_KEY_CHARS = 256;

interface Place {
  readonly pluginId: string;
  readonly name: string;
  /** Of those who write in the order in which they asked. */
  readonly lane?: string;
}

interface Kept {
  readonly value: string;
  readonly bytes: number;
}

/** Null where nothing is kept, and where null is. */
export function* getValue({ pluginId, name }: Place): Operation<{ value: JsonValue }> {
  const row = yield* find({ pluginId, name });
  return { value: valueIn(row) };
}

/** In the order of their characters. */
export function* listNames({ pluginId, prefix = '' }: { pluginId: string; prefix?: string }): Operation<{ names: string[] }> {
  // Half a character at its end is not written as the whole one is.
  const start = textOf(prefix.isWellFormed() ? prefix : '').slice(0, -1);
  const rows = yield* all<{ name: string }>(sql`
    select name from extension_values where plugin_id = ${pluginId} and name >= ${start} and name < ${`${start}\u{10ffff}`}`);
  const names = rows.map(({ name }) => JSON.parse(name) as string).filter((name) => name.startsWith(prefix));
  return { names: names.sort() };
}

export function* putValue(args: Place & { value: JsonValue; at: number }, dialect: Dialect): Operation<void> {
  requireName(args.name);
  const use = yield* lockUse(args.pluginId, dialect);
  yield* keep(args, use, yield* find(args));
}

export function* removeValue(args: Place, dialect: Dialect): Operation<{ removed: boolean }> {
  const use = yield* lockUse(args.pluginId, dialect);
  return { removed: yield* drop(args, use, yield* find(args)) };
}

/** Null as what is expected is nothing, and as the value it removes what is there. */
export function* swapValue(
  args: Place & { expected: JsonValue; value: JsonValue; at: number },
  dialect: Dialect,
): Operation<{ swapped: boolean; value: JsonValue }> {
  requireName(args.name);
  const use = yield* lockUse(args.pluginId, dialect);
  const row = yield* find(args);
  const there = valueIn(row);
  if (canonical(there) !== canonical(args.expected)) return { swapped: false, value: there };
  if (args.value === null) yield* drop(args, use, row);
  else yield* keep(args, use, row);
  return { swapped: true, value: args.value };
}

interface Use {
  readonly names: number;
  readonly bytes: number;
}

/** What it has by now, which nobody else changes until the commit. */
function* lockUse(pluginId: string, dialect: Dialect): Operation<Use> {
  yield* requireSwitchedOn(pluginId, dialect);
  if (dialect === 'sqlite') {
    const row = yield* one<{ names: number; bytes: number }>(sql`select names, bytes from extension_use where plugin_id = ${pluginId}`);
    return row ?? { names: 0, bytes: 0 };
  }
  const row = yield* one<{ names: number; bytes: number }>(sql`
    insert into extension_use (plugin_id, names, bytes) values (${pluginId}, 0, 0)
    on conflict (plugin_id) do update set names = extension_use.names returning names, bytes`);
  return row ?? { names: 0, bytes: 0 };
}

function* find({ pluginId, name }: Place): Operation<Kept | undefined> {
  return yield* one<{ value: string; bytes: number }>(sql`
    select value, bytes from extension_values where plugin_id = ${pluginId} and name = ${textOf(name)}`);
}

function* keep({ pluginId, name, value, at }: Place & { value: JsonValue; at: number }, use: Use, row: Kept | undefined): Operation<void> {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > KV_VALUE_BYTES) full('kvValueBytes', KV_VALUE_BYTES, `The value has ${bytes} bytes; ${KV_VALUE_BYTES} are possible`);
  const names = use.names + (row ? 0 : 1);
  if (names > KV_KEYS) full('kvKeys', KV_KEYS, `Extension "${pluginId}" has ${KV_KEYS} keys already; delete one first`);
  const total = use.bytes - (row?.bytes ?? 0) + bytes;
  if (total > KV_TOTAL_BYTES)
    full('kvTotalBytes', KV_TOTAL_BYTES, `Extension "${pluginId}" would have ${total} bytes of values; ${KV_TOTAL_BYTES} are possible`);
  yield* change(sql`
    insert into extension_values (plugin_id, name, bytes, updated_at, value) values (${pluginId}, ${textOf(name)}, ${bytes}, ${at}, ${text})
    on conflict (plugin_id, name) do update set bytes = excluded.bytes, updated_at = excluded.updated_at, value = excluded.value`);
  yield* setUse(pluginId, { names, bytes: total });
}

function* drop({ pluginId, name }: Place, use: Use, row: Kept | undefined): Operation<boolean> {
  if (!row) return false;
  yield* change(sql`delete from extension_values where plugin_id = ${pluginId} and name = ${textOf(name)}`);
  yield* setUse(pluginId, { names: use.names - 1, bytes: use.bytes - row.bytes });
  return true;
}

function* setUse(pluginId: string, { names, bytes }: Use): Operation<void> {
  yield* change(sql`
    insert into extension_use (plugin_id, names, bytes) values (${pluginId}, ${names}, ${bytes})
    on conflict (plugin_id) do update set names = excluded.names, bytes = excluded.bytes`);
}

function requireName(name: string): void {
  if (name.length > KV_KEY_CHARS) full('kvKeyChars', KV_KEY_CHARS, `The key has ${name.length} characters; ${KV_KEY_CHARS} are possible`);
}

function full(limit: string, allowed: number, message: string): never {
  refuse('TOO_LARGE', message, { code: 'KV_LIMIT', limit, allowed });
}

function valueIn(row: Kept | undefined): JsonValue {
  return row ? (JSON.parse(row.value) as JsonValue) : null;
}

/** As JSON, because a key may be any text, and not every text can stand in a column. */
function textOf(name: string): string {
  return JSON.stringify(name);
}
