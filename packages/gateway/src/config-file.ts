// Changes to tenon.toml. A person keeps that file too, so a change touches the one value and leaves comments and order
// as they are; the outcome is parsed again and must mean exactly what was asked, else the file is written anew from its values.
import { mkdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { JsonValue, SettingName } from '@tenon/protocol';
import { stringify, type TomlTable } from 'smol-toml';
import { findPlaces } from './config-places.ts';
import { parseToml } from './config.ts';
import { writeFileDurably } from './kernel/durable-file.ts';

/** The text with these settings changed; `undefined` removes one. Throws ConfigError if the text is not TOML to begin with. */
export function patchConfigText(text: string, changes: ReadonlyMap<SettingName, JsonValue | undefined>): string {
  const wanted = parseToml(text, 'tenon.toml');
  let patched = text;
  for (const [name, value] of changes) {
    const path = name.split('.');
    assign(wanted, path, value);
    patched = value === undefined ? removeSetting(patched, path) : writeSetting(patched, path, value);
  }
  return means(patched, wanted) ? patched : stringify(wanted);
}

/** Replaces the file in one step: a reader sees the old text or the new one, also after a crash. Mode 0600. */
export function writeConfigFile(file: string, text: string): void {
  // A link to a file elsewhere stays a link.
  const target = followLink(file);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  writeFileDurably(target, text);
}

function writeSetting(text: string, path: readonly string[], value: JsonValue): string {
  const { assignments, sections } = findPlaces(text);
  const literal = tomlLiteral(value);
  const existing = assignments.find((each) => samePath(each.path, path));
  if (existing) return text.slice(0, existing.valueStart) + literal + text.slice(existing.valueEnd);

  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const table = path.slice(0, -1);
  const line = `${path.at(-1)} = ${literal}${newline}`;
  const section = sections.findIndex((each) => !each.isArray && samePath(each.path, table));
  if (section !== -1) {
    const last = assignments.findLast((each) => each.section === section);
    return insertLine(text, last?.end ?? sections[section]!.end, line, newline);
  }
  // A table that was begun with dotted keys cannot be opened again with a header: go on with dotted keys.
  const sibling = assignments.findLast((each) => each.section === -1 && samePath(each.path.slice(0, -1), table));
  if (sibling) return insertLine(text, sibling.end, `${path.join('.')} = ${literal}${newline}`, newline);
  const gap = text.trim() === '' ? '' : newline;
  return insertLine(text, text.length, `${gap}[${table.join('.')}]${newline}${line}`, newline);
}

function removeSetting(text: string, path: readonly string[]): string {
  const existing = findPlaces(text).assignments.find((each) => samePath(each.path, path));
  return existing ? text.slice(0, existing.start) + text.slice(existing.end) : text;
}

function insertLine(text: string, at: number, line: string, newline: string): string {
  const before = text.slice(0, at);
  const separator = before === '' || before.endsWith('\n') ? '' : newline;
  return before + separator + line + text.slice(at);
}

function tomlLiteral(value: JsonValue): string {
  return stringify({ value })
    .replace(/^value = /, '')
    .trimEnd();
}

function assign(table: TomlTable, path: readonly string[], value: JsonValue | undefined): void {
  const [key, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) {
    if (value === undefined) delete table[key];
    else table[key] = value as TomlTable[string];
    return;
  }
  if (table[key] === undefined && value === undefined) return;
  table[key] ??= {};
  assign(table[key] as TomlTable, rest, value);
}

// Tables without anything in them say nothing: `[log]` alone means the same as no `[log]`.
function means(text: string, wanted: TomlTable): boolean {
  try {
    return isDeepStrictEqual(withoutEmptyTables(parseToml(text, 'tenon.toml')), withoutEmptyTables(wanted));
  } catch {
    return false;
  }
}

function withoutEmptyTables(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date) return value;
  const kept = Object.entries(value)
    .map(([key, inner]) => [key, withoutEmptyTables(inner)] as const)
    .filter(([, inner]) => inner !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}

function followLink(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
