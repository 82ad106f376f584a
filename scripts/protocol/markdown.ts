// Schemas and tables as Markdown text.
import { refName, type JsonSchema } from './json-schema.ts';

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** One row per field; the fields of a nameless object inside follow it as `outer.inner`. */
export function fieldTable(schema: JsonSchema): string {
  return table(['field', 'required', 'type'], fieldRows(schema, ''));
}

function fieldRows(schema: JsonSchema, prefix: string): string[][] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const row = [`\`${prefix}${name}\``, required.has(name) ? 'yes' : 'no', describeType(property)];
    const inside = property.items?.properties ? property.items : property;
    const innerPrefix = property.items?.properties ? `${prefix}${name}[].` : `${prefix}${name}.`;
    return inside.properties ? [row, ...fieldRows(inside, innerPrefix)] : [row];
  });
}

/** `string, 1 to 128 characters`, `[Session](types.md#session) or null`, `list of string, at most 64`. */
export function describeType(schema: JsonSchema): string {
  const named = refName(schema);
  if (named !== undefined) return `[${named}](types.md#${named.toLowerCase()})`;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return branches.map(describeType).join(' or ');
  if (schema.type === 'array') return `list of ${describeType(schema.items ?? {})}${bounds(schema.minItems, schema.maxItems, 'entries')}`;
  const [values] = Object.values(schema.patternProperties ?? {});
  if (values) return `object with any keys, each ${describeType(values)}`;
  const pattern = schema.pattern === undefined ? '' : `, matches \`${schema.pattern}\``;
  const length = bounds(schema.minLength, schema.maxLength, 'characters');
  return `${schema.type ?? 'any'}${length}${bounds(schema.minimum, schema.maximum)}${pattern}`;
}

function bounds(least: number | undefined, most: number | undefined, unit?: string): string {
  const tail = unit === undefined ? '' : ` ${unit}`;
  const isWide = most === undefined || most >= 8_640_000_000_000_000; // as far as a date or an exact integer goes: no news
  if (least === undefined && most === undefined) return '';
  if (isWide) return least === undefined ? '' : `, at least ${least}${tail}`;
  return least === undefined ? `, at most ${most}${tail}` : `, ${least} to ${most}${tail}`;
}

/** A schema under a title; the branches of a union one after another. */
export function shape(title: string, schema: JsonSchema): string[] {
  const branches = schema.oneOf?.filter((branch) => branch.properties) ?? [];
  if (branches.length > 0) return branches.flatMap((branch, index) => [`${title}${index === 0 ? '' : ', or'}:`, fieldTable(branch)]);
  if (!schema.properties) return [`${title}: ${describeType(schema)}`];
  if (Object.keys(schema.properties).length === 0) return [`${title}: none`];
  return [`${title}:`, fieldTable(schema)];
}

/** As GitHub makes one from a heading. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-');
}
