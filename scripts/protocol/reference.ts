// docs/reference/*.md from the tables. Each page opens with what it is and where it comes from; the rest are rows.
import { createDocument, refName, type JsonSchema, type ProtocolDocument } from './json-schema.ts';
import { describeType, fieldTable, table } from './markdown.ts';
import { eventName, paramsName, resultName, type ProtocolTables } from './tables.ts';

type Page = (tables: ProtocolTables, document: ProtocolDocument) => string[];

const pages: Readonly<Record<string, Page>> = { methods, events, connect, types, errors, scopes, limits, settings };

export function renderReference(tables: ProtocolTables): ReadonlyMap<string, string> {
  const document = createDocument(tables);
  return new Map(
    Object.entries(pages).map(([name, page]) => {
      const [title, ...rest] = page(tables, document);
      return [`docs/reference/${name}.md`, `${[title, 'Generated from packages/protocol; do not edit.', ...rest].join('\n\n')}\n`];
    }),
  );
}

function methods(tables: ProtocolTables, { definitions }: ProtocolDocument): string[] {
  const parts = [
    '# Methods',
    'A request names a method and carries its params; the answer carries its result or an [error](errors.md). ' +
      'A method with a side effect takes an `idempotencyKey`: a repeat under the same key gets the first answer back. ' +
      'Types with a name are on the page of [types](types.md). `connect` has [its own page](connect.md).',
    table(
      ['method', 'scope', ''],
      Object.entries(tables.methods).map(([method, row]) => [`[\`${method}\`](#${anchor(method)})`, scopeText(row.scope), row.summary]),
    ),
  ];
  for (const [noun, names] of byNoun(Object.keys(tables.methods))) {
    parts.push(`## ${noun}`);
    for (const method of names) {
      const row = tables.methods[method]!;
      const facts = [`Scope: ${scopeText(row.scope)}.`];
      if (row.repeat === 'keyed') facts.push('Has a side effect; takes an `idempotencyKey`.');
      if (row.bound === 'filtered') facts.push('A credential that is bound to a session sees only that session.');
      else if (row.bound) facts.push(`A credential that is bound to a session may name only that session as \`${row.bound.param}\`.`);
      parts.push(`### ${method}`, row.summary, facts.join(' '));
      parts.push(...shape('Params', definitions[paramsName(method)]!), ...shape('Result', definitions[resultName(method)]!));
    }
  }
  return parts;
}

function events(tables: ProtocolTables, { definitions }: ProtocolDocument): string[] {
  const parts = [
    '# Events',
    'What the gateway sends unasked. A durable event has a position (`seq`) in the stream of the store and is replayed after a ' +
      'reconnect; an ephemeral one has none. A client receives the events that its scopes allow.',
    table(
      ['event', 'scope', 'kept', ''],
      Object.entries(tables.events).map(([event, row]) => [
        `[\`${event}\`](#${anchor(event)})`,
        scopeText(row.scope),
        row.durable ? 'durable' : 'ephemeral',
        row.summary,
      ]),
    ),
  ];
  for (const [event, row] of Object.entries(tables.events)) {
    parts.push(`## ${event}`, row.summary);
    if (row.sessionField) parts.push(`About the session in \`${row.sessionField}\`.`);
    parts.push(...shape('Payload', definitions[eventName(event)]!));
  }
  return parts;
}

function connect(tables: ProtocolTables, { definitions }: ProtocolDocument): string[] {
  return [
    '# Connect',
    `Protocol version ${tables.version}. Every message is one JSON object in one WebSocket text message. The first one a client sends ` +
      'is a request with the method `connect`, and it is the only one that carries a credential; its answer carries `hello-ok`. ' +
      'The gateway refuses a client whose range from `minProtocol` to `maxProtocol` does not include its version.',
    '## Frames',
    'All objects are closed: a field that is not listed is refused. A client keeps frames of types that it does not know.',
    ...unionBranches(definitions.GatewayFrame).flatMap((name) => [`### ${name}`, fieldTable(definitions[name]!)]),
    '## Params of connect',
    fieldTable(definitions.ConnectParams!),
    '## Payload of hello-ok',
    fieldTable(definitions.HelloOk!),
    '## Capabilities',
    'What a client may list in `caps`.',
    table(
      ['capability', ''],
      Object.entries(tables.capabilities).map(([name, summary]) => [`\`${name}\``, summary]),
    ),
  ];
}

function types(tables: ProtocolTables, { definitions }: ProtocolDocument): string[] {
  const parts = ['# Types', 'Types that several methods and events share.'];
  for (const name of Object.keys(tables.types).sort()) {
    const schema = definitions[name]!;
    parts.push(`## ${name}`, schema.properties ? fieldTable(schema) : describeType(schema));
  }
  return parts;
}

function errors(tables: ProtocolTables): string[] {
  return [
    '# Errors',
    'A refusal is `{code, message, details?, retryable?, retryAfterMs?}`. Branch on `code`, never on `message`.',
    table(
      ['code', 'HTTP', 'retryable', ''],
      Object.entries(tables.errors).map(([code, row]) => [`\`${code}\``, String(row.status), row.retryable ? 'yes' : 'no', row.summary]),
    ),
  ];
}

function scopes(tables: ProtocolTables): string[] {
  const granted = (scope: string) =>
    Object.entries(tables.methods)
      .filter(([, row]) => row.scope === scope)
      .map(([method]) => `[\`${method}\`](methods.md#${anchor(method)})`)
      .join(', ');
  return [
    '# Scopes',
    'What a credential may do. Scopes come from the record of the credential; what a client says of itself gives no rights. ' +
      `Every credential may call ${granted('any')}.`,
    table(
      ['scope', 'includes', 'methods', ''],
      Object.entries(tables.scopes).map(([scope, row]) => [
        `\`${scope}\``,
        row.implies.map((implied) => `\`${implied}\``).join(', '),
        granted(scope),
        row.summary,
      ]),
    ),
  ];
}

function limits(tables: ProtocolTables): string[] {
  return [
    '# Limits',
    'Every bound that a client can run into.',
    table(
      ['limit', 'value', 'unit', ''],
      Object.entries(tables.limits).map(([name, row]) => [`\`${name}\``, row.value.toLocaleString('en'), row.unit, row.summary]),
    ),
  ];
}

function settings(tables: ProtocolTables): string[] {
  return [
    '# Settings',
    'What `tenon.toml` may say: the part before the dot is the table, the part after it the key. A secret is shown as `***`.',
    table(
      ['setting', 'type', 'default', 'environment', 'takes effect', ''],
      Object.entries(tables.settings).map(([name, row]) => [
        `\`${name}\``,
        describeType(JSON.parse(JSON.stringify(row.schema)) as JsonSchema),
        `\`${JSON.stringify(row.default)}\``,
        row.env ? `\`${row.env}\`` : '',
        row.takesEffect === 'now' ? 'now' : 'after a restart',
        row.secret ? `${row.summary} Secret.` : row.summary,
      ]),
    ),
  ];
}

function shape(title: string, schema: JsonSchema): string[] {
  if (!schema.properties) return [`${title}: ${describeType(schema)}`];
  if (Object.keys(schema.properties).length === 0) return [`${title}: none`];
  return [`${title}:`, fieldTable(schema)];
}

function unionBranches(schema: JsonSchema | undefined): string[] {
  return (schema?.oneOf ?? []).map(refName).filter((name) => name !== undefined);
}

function scopeText(scope: string): string {
  return scope.includes('.') ? `[\`${scope}\`](scopes.md)` : scope;
}

function byNoun(names: readonly string[]): Map<string, string[]> {
  return Map.groupBy(names, (name) => (name.includes('.') ? name.split('.')[0]! : 'The gateway as a whole'));
}

/** As GitHub makes one from a heading. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-');
}
