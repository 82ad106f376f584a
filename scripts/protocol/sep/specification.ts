// The specification: the prose of specification.txt with the tables put in where it says `{{name}}`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hookRow } from '@tenon/protocol';
import { wire } from '@tenon/protocol/sep';
import { table } from '../markdown.ts';
import { createSepDocument, defName, eventDef, hookDef, type Json } from './schemas.ts';

interface Shape extends Json {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly description?: string;
  readonly additionalProperties?: unknown;
}

const code = (text: string) => `\`${text}\``;
const list = (names: readonly string[]) => names.map(code).join(', ') || '–';

export function renderSpecification(): string {
  const { $defs } = createSepDocument('write');
  const defs = $defs as Readonly<Record<string, Shape>>;
  const prose = readFileSync(join(import.meta.dirname, 'specification.txt'), 'utf8');
  const parts = tablesOf(defs);
  const text = prose.replaceAll(/^\{\{([a-z-]+)\}\}$/gm, (_, name: string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`specification.txt wants {{${name}}}, and there is no such table`);
    return part();
  });
  return text;
}

function tablesOf(defs: Readonly<Record<string, Shape>>): Readonly<Record<string, () => string>> {
  return {
    errors: () =>
      table(
        ['code', 'name', 'when'],
        Object.entries(wire.errors).map(([name, row]) => [String(row.code), mark(name, row), row.when]),
      ),
    tools: () =>
      table(
        ['Tool here', 'There', 'Arguments there'],
        Object.entries(wire.agentTools).map(([name, { names, about }]) => [code(name), names.map(code).join(', '), about]),
      ),
    groups: () =>
      table(
        ['group', 'what it lets an extension do'],
        wire.groupNames.map((name) => {
          const row: { readonly summary: string; readonly wide?: true; readonly beyond?: true } = wire.groups[name];
          return [mark(code(name), row), `${row.summary}${row.wide ? ' Wide.' : ''}`];
        }),
      ),
    'methods-to-extension': () => methodTable('to-extension'),
    'methods-to-host': () => methodTable('to-host'),
    'method-shapes': () =>
      wire.methodNames
        .filter((name) => !wire.methodRow(name).beyond)
        .map((name) => methodSection(name, defs))
        .join('\n\n'),
    'further-shapes': () =>
      wire.methodNames
        .filter((name) => wire.methodRow(name).beyond)
        .map((name) => methodSection(name, defs))
        .join('\n\n'),
    registrations: () =>
      wire.registrationKeys
        .map((key) => {
          const row: { readonly summary: string; readonly key?: string; readonly group?: string; readonly beyond?: true } =
            wire.registrations[key];
          const item = defs.Registrations!.properties![key]!.items!;
          const named = row.key === undefined ? 'Each item is a name.' : `Items are told apart by ${code(row.key)}.`;
          const group = row.group === undefined ? '' : ` Group ${code(row.group)}.`;
          const fields = item.properties ? `\n\n${fieldTable(item)}` : '';
          return `#### ${mark(code(key), row)}\n\n${row.summary} ${named}${group}${fields}`;
        })
        .join('\n\n'),
    events: () =>
      table(
        ['event', 'payload', 'when'],
        wire.eventNames.map((name) => {
          const row: { readonly summary: string; readonly unasked?: string } = wire.events[name];
          const unasked =
            row.unasked === 'always'
              ? ' Sent without a subscription.'
              : row.unasked === 'reload'
                ? ' With the reason `reload`, sent without a subscription.'
                : '';
          return [code(name), fieldsOf(defs[eventDef(name)]!, wire.events[name].payload), row.summary + unasked];
        }),
      ),
    hooks: () =>
      table(
        ['hook', 'input', 'a patch may change', '`block`', 'on failure', 'time'],
        wire.hookNames.map((name) => {
          const { block, onFailure, timeoutMs } = wire.hooks[name];
          const input = defs[hookDef(name, 'input')]!;
          return [
            code(name),
            fieldsOf(input),
            list(wire.hooks[name].patch),
            block ? 'stops it' : 'is passed over',
            onFailure === 'closed' ? '**block**' : 'continue',
            `${timeoutMs / 1000} s`,
          ];
        }),
      ),
    'further-hooks': () =>
      table(
        ['hook', 'input', 'a patch may say', 'on failure', 'time', 'what'],
        wire.furtherHookNames.map((name) => {
          const { onFailure, timeoutMs, summary } = hookRow(name);
          return [
            code(name),
            fieldsOf(defs[hookDef(name, 'input')]!),
            patchFields(defs[hookDef(name, 'patch')]!),
            onFailure === 'closed' ? '**block**' : 'continue',
            `${timeoutMs / 1000} s`,
            summary,
          ];
        }),
      ),
    'further-events': () =>
      table(
        ['event', 'payload', 'when'],
        wire.furtherEventNames.map((name) => [code(name), fieldsOf(defs[eventDef(name)]!), hookRow(name).summary]),
      ),
    ui: () =>
      table(
        ['kind', 'fields', 'answer', 'what'],
        wire.uiKinds.map((kind) => {
          const row: {
            readonly summary: string;
            readonly required: readonly string[];
            readonly optional: readonly string[];
            readonly answer?: string;
          } = wire.uiRequests[kind];
          return [
            code(kind),
            [...row.required, ...row.optional.map((name) => `${name}?`)].map(code).join(', '),
            row.answer === undefined ? '`{}`, at once' : `\`{${row.answer}}\``,
            row.summary,
          ];
        }),
      ),
    blocks: () =>
      table(
        ['kind', 'fields', 'old spellings'],
        wire.renderBlockKinds.map((kind) => {
          const { required, optional, aliases } = wire.renderBlocks[kind];
          const old = Object.entries(aliases).map(([from, to]) => `\`${from}\` for \`${to}\``);
          return [code(kind), [...required, ...optional.map((name) => `${name}?`)].map(code).join(', '), old.join(', ') || '–'];
        }),
      ),
    deltas: () =>
      table(
        ['type', 'fields'],
        Object.entries(wire.deltaTypes).map(([type, fields]) => [code(type), list(fields)]),
      ),
    aliases: () =>
      table(
        ['spelling', 'means'],
        [
          ...wire.methodNames.flatMap((name) => (wire.methodRow(name).aliases ?? []).map((alias) => [`method ${code(alias)}`, code(name)])),
          ...Object.entries(wire.fieldAliases).flatMap(([method, fields]) =>
            Object.entries(fields).map(([alias, name]) => [`field ${code(alias)} of ${code(method)}`, code(name)]),
          ),
        ],
      ),
    limits: () =>
      table(
        ['limit', 'value', 'what'],
        Object.entries(wire.limits).map(([name, { value, unit, summary }]) => [
          code(name),
          unit === 'count' ? String(value) : `${value} ${unit}`,
          summary,
        ]),
      ),
    manifest: () => fieldTable(defs.Manifest!),
    env: () => wire.inheritedEnv.map(code).join(', '),
    modes: () => wire.modes.map(code).join(', '),
  };
}

const mark = (name: string, row: object) => ('beyond' in row ? `${name} †` : name);

function methodTable(direction: 'to-extension' | 'to-host'): string {
  const rows = wire.methodNames.filter((name) => [direction, 'both'].includes(wire.methodRow(name).direction));
  return table(
    ['method', 'kind', 'group', 'context', 'the caller waits', 'what'],
    rows.map((name) => {
      const { kind, group, tier, timeoutMs, summary } = wire.methodRow(name);
      const wait = kind === 'notification' ? '–' : timeoutMs === undefined ? 'as it takes' : `${timeoutMs / 1000} s`;
      return [
        mark(code(name), wire.methodRow(name)),
        kind === 'either' ? 'request or notification' : kind,
        group === undefined ? '–' : code(group),
        tier === undefined ? '–' : `${tier} tier`,
        name === 'hook' ? 'by hook' : wait,
        summary,
      ];
    }),
  );
}

function methodSection(name: wire.SepMethodName, defs: Readonly<Record<string, Shape>>): string {
  const shown = (part: 'params' | 'result') => {
    const shape = defs[defName(name, part)];
    if (shape === undefined) return [];
    return [branches(part === 'params' ? 'Params' : 'Result', shape)];
  };
  return [`### ${code(name)}`, wire.methodRow(name).summary, ...shown('params'), ...shown('result')].join('\n\n');
}

function branches(title: string, shape: Shape): string {
  if (shape.anyOf) return shape.anyOf.map((each, index) => branches(index === 0 ? title : `${title}, or`, each)).join('\n\n');
  if (shape.$ref !== undefined) return `${title}: ${typeOf(shape)}`;
  if (Object.keys(shape.properties ?? {}).length === 0) return shape.properties ? `${title}: none.` : `${title}: ${typeOf(shape)}.`;
  return `${title}:\n\n${fieldTable(shape)}`;
}

function fieldTable(shape: Shape): string {
  return table(['field', 'type', 'meaning'], fieldRows(shape, ''));
}

/** One row per field; those of an object inside follow it. Long lists of registrations are told elsewhere. */
function fieldRows(shape: Shape, prefix: string): string[][] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, each]) => {
    const label = code(`${prefix}${name}${shape.required?.includes(name) ? '' : '?'}`);
    if (name === 'registrations') return [[label, 'object', 'see Registrations']];
    if (name === 'context') return [[label, 'Context', '']];
    const row = [label, typeOf(each), (each.description ?? each.items?.description ?? '').replaceAll('<', '\\<')];
    const inside = each.items?.properties ? each.items : each;
    if (!inside.properties || (each.additionalProperties !== undefined && each.additionalProperties !== false)) return [row];
    return [row, ...fieldRows(inside, each.items?.properties ? `${prefix}${name}[].` : `${prefix}${name}.`)];
  });
}

/** Those of the table, then others that the schema wants or knows, without the ones that say where it is. */
function fieldsOf(shape: Shape, known: readonly string[] = []): string {
  const where = ['session_key', 'run_id', 'agent_id'];
  const others = Object.keys(shape.properties ?? {}).filter((name) => !where.includes(name));
  const names = [...new Set([...known, ...others])];
  return names.map((name) => code(shape.required?.includes(name) ? name : `${name}?`)).join(', ') || '–';
}

/** Of all forms that it may have. Without fields of its own: names and values. */
function patchFields(shape: Shape): string {
  const names = [...new Set((shape.anyOf ?? [shape]).flatMap((each) => Object.keys(each.properties ?? {})))];
  if (names.length > 0) return list(names);
  return 'properties' in shape ? '–' : 'names and values';
}

function typeOf(shape: Shape): string {
  if (shape.$ref !== undefined) return shape.$ref.replace('#/$defs/', '').replace('JsonValue', 'any JSON');
  if (shape.const !== undefined) return code(JSON.stringify(shape.const));
  if (shape.enum) return shape.enum.map((value) => code(JSON.stringify(value))).join(' or ');
  if (shape.anyOf) return [...new Set(shape.anyOf.map(typeOf))].join(' or ');
  if (shape.type === 'array') return `list of ${typeOf(shape.items ?? {})}`;
  const { minimum, maximum } = shape as { minimum?: number; maximum?: number };
  const most = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined;
  const range = minimum === undefined ? '' : most === undefined ? `, at least ${minimum}` : `, ${minimum} to ${most}`;
  return `${shape.type === undefined ? 'any JSON' : String(shape.type)}${range}`;
}
