// A form for what an action is given, made from its JSON Schema: what people are asked, what stands there at first, and what
// their answers make. Only flat objects of simple fields become fields; everything else is asked for as JSON. The gateway
// checks what is sent, whatever a form has let through.
import type { JsonValue } from './json.ts';
import type { UiDescriptor } from './methods/plugins.ts';
import type { PluginExtension } from './plugin.ts';
import { shownValue } from './ui-state.ts';

type Control = Pick<NonNullable<UiDescriptor['actions']>[number], 'actionId' | 'command' | 'payload' | 'payloadFrom' | 'ask' | 'schema'>;

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly help?: string;
  readonly kind: 'text' | 'lines' | 'number' | 'switch' | 'choice' | 'json';
  readonly isRequired: boolean;
  /** As it is typed; `true` or `false` of a switch, the number of the choice of a choice. */
  readonly first: string;
  readonly choices?: readonly { readonly label: string; readonly value: JsonValue }[];
  readonly least?: number;
  readonly most?: number;
  /** Of a number: no fractions. */
  readonly isWhole?: boolean;
}

export interface Form {
  readonly fields: readonly FormField[];
  /** What the schema calls `readOnly`: sent as it was given, and not asked. */
  readonly fixed: Readonly<Record<string, JsonValue>>;
  /** The one field is the whole payload. */
  readonly isWhole: boolean;
}

/** What a press does: it is sent as it is, or people are asked first. */
export type Press = { readonly kind: 'send'; readonly payload?: JsonValue } | { readonly kind: 'ask'; readonly form: Form };

type Schema = Readonly<Record<string, JsonValue>>;

const MOST_FIELDS = 32;
/** A text that may be longer is asked for with several lines. */
const ONE_LINE = 200;

export function pressOf(pluginId: string, control: Control, extensions: readonly PluginExtension[]): Press {
  const given = control.payloadFrom ? shownValue(pluginId, control.payloadFrom, extensions) : control.payload;
  const { schema, ask = false } = control;
  const wants = schema !== undefined && (ask || lacks(schema, given));
  if (wants) return { kind: 'ask', form: formOf(schema, given) };
  return { kind: 'send', ...(given === undefined ? {} : { payload: given }) };
}

/** Whether a payload is needed that nobody has given. */
function lacks(schema: JsonValue, given: JsonValue | undefined): boolean {
  if (!isRecord(schema)) return false;
  const { required } = schema;
  if (Array.isArray(required) && required.length > 0)
    return !isRecord(given) || required.some((name) => typeof name === 'string' && !Object.hasOwn(given, name));
  if (given !== undefined) return false;
  return schema.type !== undefined && !typesOf(schema).includes('null');
}

export function formOf(whole: JsonValue, given: JsonValue | undefined): Form {
  const schema = withoutNull(whole);
  const fields = isRecord(schema) ? fieldsOf(schema, given) : undefined;
  if (fields) {
    const isFixed = ({ name }: FormField) => isReadOnly(schema, name);
    const before = isRecord(given) ? given : {};
    const fixed = fields.filter((field) => isFixed(field) && Object.hasOwn(before, field.name)).map(({ name }) => [name, before[name]!]);
    return { fields: fields.filter((field) => !isFixed(field)), fixed: Object.fromEntries(fixed), isWhole: false };
  }
  const first = given === undefined ? '' : JSON.stringify(given, null, 2);
  return {
    fields: [{ name: 'payload', label: 'What it is given, as JSON', kind: 'json', isRequired: true, first }],
    fixed: {},
    isWhole: true,
  };
}

/** What may also be nothing is asked for as what it is otherwise. */
function withoutNull(schema: JsonValue): JsonValue {
  const branches = isRecord(schema) && Object.keys(schema).length === 1 ? (schema.anyOf ?? schema.oneOf) : undefined;
  if (!Array.isArray(branches)) return schema;
  const [only, ...others] = branches.filter((each) => !(isRecord(each) && each.type === 'null'));
  return only !== undefined && others.length === 0 ? only : schema;
}

function isReadOnly(schema: JsonValue, name: string): boolean {
  const field = isRecord(schema) && isRecord(schema.properties) ? schema.properties[name] : undefined;
  return isRecord(field) && field.readOnly === true;
}

function fieldsOf(schema: Schema, given: JsonValue | undefined): readonly FormField[] | undefined {
  const { properties, required = [] } = schema;
  const names = isRecord(properties) ? Object.keys(properties) : [];
  if (!typesOf(schema).includes('object') || names.length === 0 || names.length > MOST_FIELDS) return undefined;
  // What one field is depends on another here.
  if (['anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref', 'patternProperties'].some((word) => schema[word] !== undefined)) return undefined;
  const before = isRecord(given) ? given : {};
  return names.map((name) => {
    const isRequired = Array.isArray(required) && required.includes(name);
    return fieldOf(name, (properties as Schema)[name]!, isRequired, Object.hasOwn(before, name) ? before[name] : undefined);
  });
}

function fieldOf(name: string, schema: JsonValue, isRequired: boolean, given: JsonValue | undefined): FormField {
  const row = isRecord(schema) ? schema : {};
  const first = given ?? row.default;
  const base = {
    name,
    label: typeof row.title === 'string' && row.title !== '' ? row.title : wordsOf(name),
    isRequired,
    ...(typeof row.description === 'string' ? { help: row.description } : {}),
  };
  const types = typesOf(row);
  const only = types.length === 1 ? types[0] : undefined;
  if (Array.isArray(row.enum)) {
    const choices = row.enum.map((value) => ({ label: typeof value === 'string' ? value : JSON.stringify(value), value }));
    const at = row.enum.findIndex((value) => JSON.stringify(value) === JSON.stringify(first));
    return { ...base, kind: 'choice', choices, first: at < 0 ? '' : String(at) };
  }
  if (only === 'string') {
    const most = count(row.maxLength);
    const least = count(row.minLength);
    const text = typeof first === 'string' ? first : '';
    return {
      ...base,
      kind: (most ?? Number.POSITIVE_INFINITY) > ONE_LINE || text.includes('\n') ? 'lines' : 'text',
      first: text,
      ...(least === undefined ? {} : { least }),
      ...(most === undefined ? {} : { most }),
    };
  }
  if (only === 'boolean') return { ...base, kind: 'switch', first: first === true ? 'true' : 'false' };
  if (only === 'number' || only === 'integer') {
    const least = finite(row.minimum);
    const most = finite(row.maximum);
    return {
      ...base,
      kind: 'number',
      first: typeof first === 'number' ? String(first) : '',
      ...(least === undefined ? {} : { least }),
      ...(most === undefined ? {} : { most }),
      ...(only === 'integer' ? { isWhole: true } : {}),
    };
  }
  return { ...base, kind: 'json', first: first === undefined ? '' : JSON.stringify(first, null, 2) };
}

/** What the answers make; or what is wrong with which of them. */
export type Filled =
  | { readonly ok: true; readonly payload: JsonValue }
  | { readonly ok: false; readonly wrong: Readonly<Record<string, string>> };

/** `answers`: by the name of the field, as typed. */
export function fillForm({ fields, fixed, isWhole }: Form, answers: Readonly<Record<string, string>>): Filled {
  const wrong: [string, string][] = [];
  const payload: [string, JsonValue][] = [];
  for (const field of fields) {
    const read = readAnswer(field, Object.hasOwn(answers, field.name) ? answers[field.name]! : field.first);
    if ('wrong' in read) wrong.push([field.name, read.wrong]);
    else if (read.value !== undefined) payload.push([field.name, read.value]);
  }
  if (wrong.length > 0) return { ok: false, wrong: Object.fromEntries(wrong) };
  return { ok: true, payload: isWhole ? (payload[0]?.[1] ?? null) : { ...Object.fromEntries(payload), ...fixed } };
}

type Answer = { readonly value: JsonValue | undefined } | { readonly wrong: string };

export function readAnswer(field: FormField, text: string): Answer {
  const { kind, isRequired, choices, least, most } = field;
  if (kind === 'switch') return { value: text === 'true' };
  if (text.trim() === '') return isRequired ? { wrong: kind === 'choice' ? 'Choose one' : 'This is needed' } : { value: undefined };
  switch (kind) {
    case 'text':
    case 'lines':
      if (least !== undefined && text.length < least) return { wrong: `At least ${least} characters` };
      return most !== undefined && text.length > most ? { wrong: `At most ${most} characters; these are ${text.length}` } : { value: text };
    case 'number': {
      const value = Number(text.trim());
      if (!Number.isFinite(value)) return { wrong: 'This is no number' };
      if (field.isWhole && !Number.isSafeInteger(value)) return { wrong: 'A whole number, without a fraction' };
      if (least !== undefined && value < least) return { wrong: `At least ${least}` };
      return most !== undefined && value > most ? { wrong: `At most ${most}` } : { value };
    }
    case 'choice': {
      const chosen = choices?.[Number(text)];
      return chosen === undefined ? { wrong: 'Choose one' } : { value: chosen.value };
    }
    case 'json':
      try {
        return { value: JSON.parse(text) as JsonValue };
      } catch {
        return { wrong: 'This is not valid JSON; a text stands in quotation marks' };
      }
  }
}

function typesOf({ type }: Schema): readonly unknown[] {
  return Array.isArray(type) ? type : type === undefined ? [] : [type];
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `dueAt` and `due_at` are read as "Due at". */
function wordsOf(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[._-]+/g, ' ')
    .trim()
    .toLowerCase();
  return words === '' ? name : words[0]!.toUpperCase() + words.slice(1);
}
