// The configuration of a plugin in lines for people: what is set, what else can be, and which values each may have. All of it
// comes from the schema of the plugin's manifest.
import { CENSORED, isSecretName } from '../kernel/redact.ts';
import { jsonLine } from './output.ts';

export type Part = Record<string, unknown>;

export function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Configured {
  readonly id: string;
  readonly config: Part;
  readonly configSchema?: Part;
}

const MAX_DEPTH = 4;
const MAX_WORDS = 256;

export function configLines({ id, config, configSchema }: Configured): string[] {
  const lines = linesOf(config, configSchema, '', 0);
  if (lines.length > 0) return lines;
  return [configSchema === undefined ? `${id} has nothing to configure` : 'nothing is set'];
}

function linesOf(config: Part, schema: unknown, prefix: string, depth: number): string[] {
  const properties = isPart(schema) && isPart(schema.properties) ? schema.properties : {};
  const set = Object.entries(config).map(
    ([key, value]) => `${prefix}${key} = ${isSecretName(key) ? CENSORED : jsonLine(value)}${inBrackets(allowedBy(properties[key]))}`,
  );
  const others = Object.entries(properties).flatMap(([key, inner]) => {
    if (Object.hasOwn(config, key)) return [];
    const inside = isPart(inner) && isPart(inner.properties) && depth < MAX_DEPTH;
    return inside ? linesOf({}, inner, `${prefix}${key}.`, depth + 1) : [`${prefix}${key} is not set${inBrackets(aboutOf(key, inner))}`];
  });
  return [...set, ...others];
}

function inBrackets(text: string): string {
  return text === '' ? '' : ` (${text})`;
}

function aboutOf(key: string, schema: unknown): string {
  if (!isPart(schema)) return '';
  const kind = typeof schema.type === 'string' ? schema.type : Array.isArray(schema.type) ? schema.type.join(' or ') : '';
  const otherwise = 'default' in schema ? `default ${isSecretName(key) ? CENSORED : jsonLine(schema.default)}` : '';
  const facts = [kind, allowedBy(schema), otherwise].filter(Boolean).join(', ');
  const description = typeof schema.description === 'string' ? schema.description : '';
  return [facts, description].filter(Boolean).join(': ');
}

/** The values that it may have, where they are few or have bounds. */
function allowedBy(schema: unknown): string {
  if (!isPart(schema)) return '';
  const values = valuesOf(schema);
  if (values) return `one of ${values.map(jsonLine).join(', ')}`.slice(0, MAX_WORDS);
  const items = isPart(schema.items) ? valuesOf(schema.items) : undefined;
  if (items) return `each one of ${items.map(jsonLine).join(', ')}`.slice(0, MAX_WORDS);
  const { minimum, maximum } = schema;
  if (typeof minimum === 'number' && typeof maximum === 'number') return `${minimum} to ${maximum}`;
  if (typeof minimum === 'number') return `at least ${minimum}`;
  return typeof maximum === 'number' ? `at most ${maximum}` : '';
}

function valuesOf(schema: Part): readonly unknown[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum;
  if ('const' in schema) return [schema.const];
  const forms = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  return Array.isArray(forms) && forms.every((form) => isPart(form) && 'const' in form) ? forms.map((form) => form.const) : undefined;
}
