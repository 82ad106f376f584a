// Swift models from the same document as the JSON Schema. A client that is older than its gateway must survive: enums
// keep values that they do not know, and frames of unknown types keep their raw payload.
import { createDocument, refName, type Definitions, type JsonSchema } from './json-schema.ts';
import { swiftRuntime } from './swift-runtime.ts';
import { eventName, paramsName, resultName, typeName, type ProtocolTables } from './tables.ts';

const JSON_VALUE = 'JsonValue';

export function renderSwift(tables: ProtocolTables): string {
  const { definitions } = createDocument(tables);
  const summaries = summariesOf(tables);
  const parts = [swiftRuntime(tables.version)];
  for (const [name, schema] of Object.entries(definitions)) {
    if (name === JSON_VALUE) continue;
    parts.push(...declare(name, schema, definitions, summaries.get(name)));
  }
  parts.push(renderMethods(tables), renderEvents(tables));
  return `${parts.join('\n\n')}\n`;
}

function summariesOf(tables: ProtocolTables): Map<string, string> {
  const summaries = new Map<string, string>();
  for (const [method, { summary }] of Object.entries(tables.methods)) summaries.set(paramsName(method), `\`${method}\`: ${summary}`);
  for (const [event, { summary }] of Object.entries(tables.events)) summaries.set(eventName(event), `\`${event}\`: ${summary}`);
  return summaries;
}

/** The declaration of one definition, followed by those of the nameless objects and enums inside it. */
function declare(name: string, schema: JsonSchema, definitions: Definitions, summary?: string): string[] {
  const nested: string[] = [];
  const typeOf = (inner: JsonSchema, hint: string): string => {
    const named = refName(inner);
    if (named !== undefined) return named;
    const nullable = withoutNull(inner);
    if (nullable !== undefined) return `Nullable<${typeOf(nullable, hint)}>`;
    if (isNamedShape(inner)) {
      nested.push(...declare(hint, inner, definitions));
      return hint;
    }
    return plainType(inner, (item, suffix) => typeOf(item, hint + suffix));
  };
  const comment = summary === undefined ? '' : `/// ${summary}\n`;
  const declaration = comment + declarationOf(name, schema, definitions, typeOf);
  return [declaration, ...nested];
}

function declarationOf(name: string, schema: JsonSchema, definitions: Definitions, typeOf: (inner: JsonSchema, hint: string) => string) {
  if (schema.discriminator && schema.oneOf) return renderUnion(name, schema.oneOf, schema.discriminator.propertyName, definitions, typeOf);
  if (isStringEnum(schema)) return renderEnum(name, schema.enum as readonly string[]);
  if (schema.properties) return renderStruct(name, schema, typeOf);
  return `public typealias ${name} = ${typeOf(schema, `${name}Value`)}`;
}

function isNamedShape(schema: JsonSchema): boolean {
  return schema.properties !== undefined || schema.discriminator !== undefined || isStringEnum(schema);
}

function isStringEnum(schema: JsonSchema): boolean {
  return schema.type === 'string' && schema.enum !== undefined;
}

/** The other branch of a union of two with null. */
function withoutNull(schema: JsonSchema): JsonSchema | undefined {
  if (schema.anyOf?.length !== 2) return undefined;
  const others = schema.anyOf.filter((branch) => branch.type !== 'null');
  return others.length === 1 ? others[0] : undefined;
}

function plainType(schema: JsonSchema, typeOf: (item: JsonSchema, suffix: string) => string): string {
  if (schema.type === 'string') return 'String';
  if (schema.type === 'boolean') return 'Bool';
  if (schema.type === 'integer') return 'Int';
  if (schema.type === 'number') return 'Double';
  if (schema.type === 'array' && schema.items) return `[${typeOf(schema.items, 'Item')}]`;
  const [values] = Object.values(schema.patternProperties ?? {});
  if (values) return `[String: ${typeOf(values, 'Value')}]`;
  return JSON_VALUE; // nothing narrower can be said in Swift, and nothing is lost
}

interface Field {
  readonly key: string;
  readonly identifier: string;
  readonly type: string;
  readonly initial: string;
}

function renderStruct(name: string, schema: JsonSchema, typeOf: (inner: JsonSchema, hint: string) => string): string {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(([key, property]): Field => {
    const type = typeOf(property, name + typeName(key));
    const optional = !required.has(key);
    const literal = property.const === undefined ? '' : ` = ${JSON.stringify(property.const)}`;
    return { key, identifier: identifier(key), type: optional ? `${type}?` : type, initial: optional ? ' = nil' : literal };
  });
  assertDistinct(
    name,
    fields.map((field) => field.identifier),
  );
  const head = `public struct ${name}: Codable, Hashable, Sendable {`;
  if (fields.length === 0) return `${head}\n    public init() {}\n}`;
  const lines = fields.map((field) => `    public let ${field.identifier}: ${field.type}`);
  lines.push('', '    public init(');
  lines.push(fields.map((field) => `        ${field.identifier}: ${field.type}${field.initial}`).join(',\n'));
  lines.push('    ) {', ...fields.map((field) => `        self.${field.identifier} = ${field.identifier}`), '    }');
  if (fields.some((field) => field.identifier !== field.key)) {
    lines.push('', '    enum CodingKeys: String, CodingKey {');
    lines.push(...fields.map((field) => `        case ${field.identifier} = ${JSON.stringify(field.key)}`), '    }');
  }
  return [head, ...lines, '}'].join('\n');
}

function renderEnum(name: string, values: readonly string[]): string {
  const cases = values.map((value) => ({ value, identifier: identifier(value) }));
  assertDistinct(name, [...cases.map((each) => each.identifier), 'unknown']);
  return [
    `public enum ${name}: RawRepresentable, Codable, Hashable, Sendable {`,
    ...cases.map((each) => `    case ${each.identifier}`),
    '    /// A value that is newer than these models.',
    '    case unknown(String)',
    '',
    `    public static let known: [${name}] = [${cases.map((each) => `.${each.identifier}`).join(', ')}]`,
    '',
    '    public init(rawValue: String) {',
    '        switch rawValue {',
    ...cases.map((each) => `        case ${JSON.stringify(each.value)}: self = .${each.identifier}`),
    '        default: self = .unknown(rawValue)',
    '        }',
    '    }',
    '',
    '    public var rawValue: String {',
    '        switch self {',
    ...cases.map((each) => `        case .${each.identifier}: return ${JSON.stringify(each.value)}`),
    '        case .unknown(let value): return value',
    '        }',
    '    }',
    '',
    '    public init(from decoder: any Decoder) throws {',
    '        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))',
    '    }',
    '',
    '    public func encode(to encoder: any Encoder) throws {',
    '        var container = encoder.singleValueContainer()',
    '        try container.encode(rawValue)',
    '    }',
    '}',
  ].join('\n');
}

function renderUnion(
  name: string,
  branches: readonly JsonSchema[],
  property: string,
  definitions: Definitions,
  typeOf: (inner: JsonSchema, hint: string) => string,
): string {
  const cases = branches.map((branch) => {
    const named = refName(branch);
    const value = (named === undefined ? branch : definitions[named])?.properties?.[property]?.const;
    if (typeof value !== 'string') throw new Error(`A branch of "${name}" does not say which one it is`);
    // A branch without a name of its own is called after the value that tells it apart.
    return { type: typeOf(branch, name + typeName(value)), value, identifier: identifier(value) };
  });
  assertDistinct(name, [...cases.map((each) => each.identifier), 'unknown']);
  return [
    `public enum ${name}: Codable, Hashable, Sendable {`,
    ...cases.map((each) => `    case ${each.identifier}(${each.type})`),
    '    /// A type that is newer than these models, kept whole.',
    `    case unknown(${property}: String, raw: ${JSON_VALUE})`,
    '',
    `    private enum Discriminator: String, CodingKey { case value = ${JSON.stringify(property)} }`,
    '',
    '    public init(from decoder: any Decoder) throws {',
    '        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)',
    '        switch value {',
    ...cases.map((each) => `        case ${JSON.stringify(each.value)}: self = .${each.identifier}(try ${each.type}(from: decoder))`),
    `        default: self = .unknown(${property}: value, raw: try ${JSON_VALUE}(from: decoder))`,
    '        }',
    '    }',
    '',
    '    public func encode(to encoder: any Encoder) throws {',
    '        switch self {',
    ...cases.map((each) => `        case .${each.identifier}(let frame): try frame.encode(to: encoder)`),
    '        case .unknown(_, let raw): try raw.encode(to: encoder)',
    '        }',
    '    }',
    '}',
  ].join('\n');
}

function renderMethods(tables: ProtocolTables): string {
  const rows = Object.entries(tables.methods).flatMap(([method, row]) => [
    `    /// ${row.summary}`,
    `    public enum ${typeName(method)}: GatewayMethod {`,
    `        public typealias Params = ${paramsName(method)}`,
    `        public typealias Result = ${resultName(method)}`,
    `        public static let name = ${JSON.stringify(method)}`,
    '    }',
  ]);
  return ['/// Every method, with the types of its params and its result.', 'public enum GatewayMethods {', ...rows, '}'].join('\n');
}

function renderEvents(tables: ProtocolTables): string {
  const rows = Object.keys(tables.events).map((event) => ({ event, identifier: identifier(event), type: eventName(event) }));
  assertDistinct('GatewayEvent', [...rows.map((row) => row.identifier), 'unknown']);
  return [
    '/// An event with its typed payload; one that is newer than these models is kept whole.',
    'public enum GatewayEvent: Hashable, Sendable {',
    ...rows.map((row) => `    case ${row.identifier}(${row.type})`),
    '    case unknown(EventFrame)',
    '',
    '    public init(_ frame: EventFrame) throws {',
    '        let payload = frame.payload ?? .null',
    '        switch frame.event {',
    ...rows.map((row) => `        case ${JSON.stringify(row.event)}: self = .${row.identifier}(try payload.decode(${row.type}.self))`),
    '        default: self = .unknown(frame)',
    '        }',
    '    }',
    '}',
  ].join('\n');
}

// The words that are reserved in declarations, statements, expressions and types.
const KEYWORDS = new Set(
  (
    'associatedtype class deinit enum extension fileprivate func import init inout internal let open operator private ' +
    'precedencegroup protocol public rethrows static struct subscript typealias var break case catch continue default defer ' +
    'do else fallthrough for guard if in repeat return throw switch where while any as await false is nil self Self super ' +
    'throws true try Any Type'
  ).split(' '),
);

/** `epoch-changed` and `EPOCH_CHANGED` become `epochChanged`; a keyword gets a trailing underscore. */
function identifier(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const shouted = words.every((word) => word === word.toUpperCase());
  const camel = words
    .map((word) => (shouted ? word.toLowerCase() : word))
    .map((word, index) => (index === 0 ? (word[0]?.toLowerCase() ?? '') : (word[0]?.toUpperCase() ?? '')) + word.slice(1))
    .join('');
  if (camel === '') throw new Error(`Cannot make a Swift name of "${name}"`);
  const safe = /^[0-9]/.test(camel) ? `_${camel}` : camel;
  return KEYWORDS.has(safe) ? `${safe}_` : safe;
}

function assertDistinct(owner: string, names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`"${owner}" would have two members called "${twice}" in Swift`);
}
