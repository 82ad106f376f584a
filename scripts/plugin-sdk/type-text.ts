// A JSON Schema as the text of a TypeScript type: what `Static` makes of a row, in words that a person can read and compare.
import { refName, type JsonSchema } from '../protocol/json-schema.ts';

/** Names that the type refers to are told to `uses`. */
export function typeText(schema: JsonSchema, uses: (name: string) => void): string {
  const inner = (each: JsonSchema) => typeText(each, uses);
  const named = refName(schema);
  if (named !== undefined) {
    uses(named);
    return named;
  }
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return branches.map(inner).join(' | ');
  if (schema.type === 'array') return schema.items ? `(${inner(schema.items)})[]` : 'unknown[]';
  const [values] = Object.values(schema.patternProperties ?? {});
  if (values) return `Record<string, ${inner(values)}>`;
  if (schema.type === 'object') return objectText(schema, inner);
  if (schema.type === 'integer') return 'number';
  return schema.type ?? 'unknown';
}

function objectText({ properties = {}, required = [], additionalProperties }: JsonSchema, inner: (schema: JsonSchema) => string): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${comment(schema.description)}${key}${required.includes(name) ? '' : '?'}: ${inner(schema)};`;
  });
  if (fields.length === 0) return additionalProperties === false ? '{}' : 'object';
  return `{\n${fields.join('\n')}\n}`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);
}

export function comment(text: string | undefined): string {
  return text === undefined ? '' : `/** ${text.replaceAll('*/', '* /')} */\n`;
}
