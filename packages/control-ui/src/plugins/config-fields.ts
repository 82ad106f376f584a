// The configuration of a plugin as fields of a form, made from the JSON Schema of its manifest. What has no field of its own
// is text in JSON. The gateway checks what is saved; here only that JSON is JSON and a number a number.
import type { JsonObject, JsonValue } from '@tenon/protocol';

export interface ConfigField {
  readonly name: string;
  readonly title: string;
  readonly hint: string | undefined;
  readonly required: boolean;
  readonly kind: 'text' | 'number' | 'choice' | 'lines' | 'json';
  /** Of a choice: the values as JSON, with their words. */
  readonly options: readonly { readonly value: string; readonly words: string }[];
  readonly placeholder: string | undefined;
}

/** The text of each field; empty: not set. */
export type ConfigTexts = Readonly<Record<string, string>>;

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined: it is not an object with known properties, so all of it is one text in JSON. */
export function fieldsOf(schema: JsonObject): ConfigField[] | undefined {
  if (!isObject(schema.properties) || Object.keys(schema.properties).length === 0) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, property]) => fieldOf(name, property, required.includes(name)));
}

function fieldOf(name: string, property: JsonValue | undefined, required: boolean): ConfigField {
  const row = isObject(property) ? property : {};
  const said = (value: JsonValue | undefined) => (typeof value === 'string' && value !== '' ? value : undefined);
  const common = {
    name,
    title: said(row.title) ?? name,
    hint: said(row.description),
    required,
    placeholder: row.default === undefined ? undefined : textOf(row.default),
  };
  const choice = (values: readonly JsonValue[], words: (value: JsonValue) => string): ConfigField => ({
    ...common,
    kind: 'choice',
    options: values.map((value) => ({ value: JSON.stringify(value), words: words(value) })),
  });
  if (Array.isArray(row.enum)) return choice(row.enum, textOf);
  if (row.type === 'boolean') return choice([true, false], (value) => (value === true ? 'On' : 'Off'));
  const kind =
    row.type === 'string'
      ? 'text'
      : row.type === 'number' || row.type === 'integer'
        ? 'number'
        : row.type === 'array' && isObject(row.items) && row.items.type === 'string'
          ? 'lines'
          : 'json';
  return { ...common, kind, options: [] };
}

const textOf = (value: JsonValue) => (typeof value === 'string' ? value : JSON.stringify(value));

export function textsOf(fields: readonly ConfigField[], config: JsonObject): Record<string, string> {
  return Object.fromEntries(
    fields.map(({ name, kind }) => {
      const value = Object.hasOwn(config, name) ? config[name] : undefined;
      if (value === undefined) return [name, ''];
      if (kind === 'text' && typeof value === 'string') return [name, value];
      if (kind === 'lines' && Array.isArray(value)) return [name, value.map(textOf).join('\n')];
      return [name, JSON.stringify(value, null, kind === 'json' ? 2 : undefined)];
    }),
  );
}

export type ReadConfig =
  | { readonly ok: true; readonly config: JsonObject }
  | { readonly ok: false; readonly wrong: Readonly<Record<string, string>> };

/** The configuration that the fields say; what has no field stays as it is. */
export function readConfig(fields: readonly ConfigField[], texts: ConfigTexts, before: JsonObject): ReadConfig {
  const named = new Set(fields.map(({ name }) => name));
  const entries: [string, JsonValue][] = Object.entries(before).flatMap(([name, value]) =>
    named.has(name) || value === undefined ? [] : [[name, value]],
  );
  const wrong: Record<string, string> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? '';
    if (text.trim() === '') continue;
    const read = readField(field, text);
    if ('wrong' in read) wrong[field.name] = read.wrong;
    else entries.push([field.name, read.value]);
  }
  return Object.keys(wrong).length > 0 ? { ok: false, wrong } : { ok: true, config: Object.fromEntries(entries) as JsonObject };
}

function readField({ kind }: ConfigField, text: string): { readonly value: JsonValue } | { readonly wrong: string } {
  if (kind === 'text') return { value: text };
  if (kind === 'lines')
    return {
      value: text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
    };
  if (kind === 'number') {
    const value = Number(text);
    return Number.isFinite(value) ? { value } : { wrong: 'This is not a number.' };
  }
  return readJson(text);
}

export function readJson(text: string): { readonly value: JsonValue } | { readonly wrong: string } {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { wrong: `This is not JSON: ${error instanceof Error ? error.message : 'it cannot be read'}.` };
  }
}
