// docs/reference/*.md from the tables. Each page opens with what it is and where it comes from; the rest are rows.
import { createDocument, createHookDocument, refName, type JsonSchema, type ProtocolDocument } from './json-schema.ts';
import { anchor, describeType, fieldTable, shape, table } from './markdown.ts';
import { contributions, grants, needsText } from './plugin-reference.ts';
import { eventName, paramsName, resultName, type ProtocolTables } from './tables.ts';

type Page = (tables: ProtocolTables, document: ProtocolDocument) => string[];

const pages: Readonly<Record<string, Page>> = {
  methods,
  events,
  hooks,
  contributions,
  grants,
  connect,
  types,
  errors,
  scopes,
  limits,
  settings,
};

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

function hooks(tables: ProtocolTables): string[] {
  const { definitions } = createHookDocument(tables);
  const seconds = (ms: number) => `${ms / 1000} s`;
  const context = Object.keys(tables.hookContext);
  const hasContext = ({ properties, required }: JsonSchema) =>
    context.every((name) => Object.hasOwn(properties ?? {}, name) && !required?.includes(name));
  const pick = (schema: JsonSchema, isWanted: (name: string) => boolean): JsonSchema => ({
    ...schema,
    properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => isWanted(name))),
  });
  const withContext = Object.keys(tables.hooks)
    .map((name) => definitions[eventName(name)]!)
    .filter(hasContext);
  const parts = [
    '# Hooks',
    'Places where plugins take part in what the gateway does. A handler gets the event, frozen, and answers with a result or with ' +
      'nothing, which is no opinion. **observe**: all handlers are told, and what they answer is of no account. **modify**: one after ' +
      'another, each sees what the last one made. **claim**: the first that answers `handled: true` has it.',
    'Handlers are asked by priority (a whole number from -1000 to 1000, higher first), then by the id of their plugin, then in the order ' +
      'in which the plugin registered them. A handler that throws, answers too late or answers what does not fit is counted and recorded ' +
      'with the name of its plugin. Where failure is **open**, it is as if it were not there; where it is **closed**, the thing is refused. ' +
      'Results are plain JSON: an object of a class, a function or a reserved key does not fit.',
    table(
      ['hook', 'kind', 'on failure', 'timeout', 'SEP', ''],
      Object.entries(tables.hooks).map(([name, row]) => [
        `[\`${name}\`](#${anchor(name)})`,
        row.kind,
        row.onFailure,
        seconds(row.timeoutMs),
        row.sep === undefined ? '' : `\`${row.sep}\``,
        row.summary,
      ]),
    ),
    '## Where it happens',
    'Most events carry these fields, too, as far as they are known at that place:',
    fieldTable(pick(withContext[0] ?? {}, (name) => context.includes(name))),
  ];
  for (const [name, row] of Object.entries(tables.hooks)) {
    const facts = [`Kind: ${row.kind}. On failure: ${row.onFailure}. Timeout: ${seconds(row.timeoutMs)}. ${needsText(row.needs)}`];
    if (row.awaited) facts.push('Observers are awaited one after another, and none is dropped.');
    else if (row.kind === 'observe') facts.push('Nobody waits for observers; those of a plugin that is too slow are dropped and counted.');
    if (row.sep) facts.push(`Extensions take part as \`${row.sep}\`.`);
    if (row.sepEvents) facts.push(`Extensions are told of it as ${row.sepEvents.map((event) => `\`${event}\``).join(' and ')}.`);
    parts.push(`## ${name}`, row.summary, facts.join(' '));
    if (row.merge) parts.push(`Merge \`${row.merge.name}\`: ${row.merge.summary}`);
    const event = definitions[eventName(name)]!;
    if (withContext.includes(event)) {
      parts.push(
        ...shape(
          'Event, with [where it happens](#where-it-happens)',
          pick(event, (field) => !context.includes(field)),
        ),
      );
    } else parts.push(...shape('Event', event));
    if (row.kind !== 'observe') parts.push(...shape('Result', definitions[resultName(name)]!));
  }
  parts.push(
    '## Hooks that are not here',
    'Other hosts have these; to register one is refused with the reason.',
    table(
      ['hook', 'reason'],
      Object.entries(tables.absentHooks).map(([name, reason]) => [`\`${name}\``, reason]),
    ),
  );
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

function unionBranches(schema: JsonSchema | undefined): string[] {
  return (schema?.oneOf ?? []).map(refName).filter((name) => name !== undefined);
}

function scopeText(scope: string): string {
  return scope.includes('.') ? `[\`${scope}\`](scopes.md)` : scope;
}

function byNoun(names: readonly string[]): Map<string, string[]> {
  return Map.groupBy(names, (name) => (name.includes('.') ? name.split('.')[0]! : 'The gateway as a whole'));
}
