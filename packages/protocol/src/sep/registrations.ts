// What an extension registers, in the answer to `initialize` and with `registry/update`. An item that does not fit is left out
// and named; the others are taken.
import { Type, type Static, type TSchema } from 'typebox';
import { contributions } from '../contributions.ts';
import { explain, reading } from '../validate.ts';
import { AnyObject, closed, Name, Text } from './shapes.ts';
import { snake } from './snake.ts';
import { readBlock } from './render.ts';
import { RenderBlock } from './ui.ts';
import { limits, registrationKeys, registrations, type SepRegistrationKey } from './wire.ts';

const { name: _name, description: _description, parameters: _parameters, ...toolFacts } = contributions.tool.schema.properties;

// None of their names differs from its form on the wire but this one.
const { sessionEntrySlotKey: session_entry_slot_key, ...sameStateFields } = contributions.sessionExtension.schema.properties;
const stateFields = { ...sameStateFields, session_entry_slot_key };

/** One item of each kind. */
export const registrationItems = {
  tools: Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 128, description: 'without the name of the extension' }),
      description: Text,
      parameters: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', description: 'JSON Schema of the arguments' }),
      deferred: Type.Optional(Type.Boolean({ description: 'not told to the model until somebody looks for it' })),
    },
    closed,
  ),
  commands: Type.Object({ name: Type.String({ minLength: 1, maxLength: 128, description: 'without a slash' }), description: Text }, closed),
  flags: Name,
  shortcuts: Type.Object(
    {
      key: Type.String({ description: 'such as ctrl+p or f2' }),
      command: Type.String({ description: 'a command of the extension' }),
      description: Type.Optional(Text),
    },
    closed,
  ),
  subscriptions: Name,
  providers: Type.Object(
    {
      name: Name,
      base_url: Type.Optional(Text),
      api_key_env: Type.Optional(Type.String({ description: 'the variable from which the extension reads its key' })),
      oauth: Type.Optional(Type.Boolean({ description: 'it has oauth_login and oauth_refresh' })),
      models: Type.Optional(Type.Array(Type.Object({ id: Name, display_name: Type.Optional(Text) }, closed))),
    },
    closed,
  ),
  hooks: Name,
  message_renderers: Type.Object({ tag: Name, template: RenderBlock }, closed),
  tool_facts: snake(Type.Object({ name: _name, ...toolFacts, risk: Type.Optional(toolFacts.risk) }, closed)),
  state: Type.Object(
    {
      ...stateFields,
      project: Type.Optional(
        Type.String({
          maxLength: 512,
          pattern: '^(/[\\s\\S]*)?$',
          description: 'a JSON pointer into the value: what clients see of it; without one they see nothing',
        }),
      ),
    },
    closed,
  ),
  actions: snake(contributions.sessionAction.schema),
  patch_actions: snake(contributions.sessionsPatchAction.schema),
  interactions: snake(contributions.interactiveHandler.schema),
  descriptors: snake(contributions.uiDescriptor.schema),
  policies: snake(contributions.toolPolicy.schema),
  scheduled_turns: snake(contributions.scheduledTurn.schema),
  scheduler_jobs: snake(contributions.schedulerJob.schema),
  gateway_methods: snake(contributions.gatewayMethod.schema),
  gateway_events: snake(contributions.gatewayEvent.schema),
  startup_checks: snake(contributions.startupCheck.schema),
} satisfies Record<SepRegistrationKey, TSchema>;

export type SepRegistration<Key extends SepRegistrationKey> = Static<(typeof registrationItems)[Key]>;

type Lists = { [Key in SepRegistrationKey]: ReturnType<typeof listOf<(typeof registrationItems)[Key]>> };

function listOf<Item extends TSchema>(item: Item) {
  return Type.Optional(Type.Array(item));
}

const lists = Object.fromEntries(registrationKeys.map((key) => [key, listOf(registrationItems[key])])) as unknown as Lists;

export const Registrations = Type.Object(lists, closed);
export type Registrations = Static<typeof Registrations>;

/** What `registry/update` carries under SEP. */
export const LaterRegistrations = Type.Object(
  Object.fromEntries(registrationKeys.filter((key) => registrations[key].later).map((key) => [key, lists[key]])) as unknown as Pick<
    Lists,
    'tools' | 'commands' | 'flags' | 'subscriptions' | 'providers'
  >,
  closed,
);

/** As they come: whatever is there, to be gone through item by item. */
export const AnyRegistrations = AnyObject;

export interface LeftOut {
  readonly kind: SepRegistrationKey;
  /** The name of the item, as far as it can be told, else its place. */
  readonly key: string;
  readonly message: string;
}

/** Item by item, with the names of today. Of two with the same name the last one holds. Kinds that are not known are passed over. */
export function readRegistrations(given: unknown): { readonly taken: Registrations; readonly leftOut: readonly LeftOut[] } {
  const taken: Record<string, unknown[]> = {};
  const leftOut: LeftOut[] = [];
  const source = typeof given === 'object' && given !== null ? (given as Readonly<Record<string, unknown>>) : {};
  for (const kind of registrationKeys) {
    const items = source[kind];
    if (items === undefined || items === null) continue;
    if (!Array.isArray(items)) {
      leftOut.push({ kind, key: '', message: `registrations/${kind} must be a list` });
      continue;
    }
    if (items.length > limits.registrations.value) {
      leftOut.push({
        kind,
        key: '',
        message: `registrations/${kind} has more than ${limits.registrations.value} items; the rest is left out`,
      });
    }
    const kept = new Map<string, unknown>();
    for (const [index, item] of items.slice(0, limits.registrations.value).entries()) {
      const read = kind === 'message_renderers' ? withBlock(item) : item;
      const key = keyOf(kind, read) ?? String(index);
      const message = explain(reading(registrationItems[kind]), read, `registrations/${kind}/${index}`);
      if (message === undefined) kept.set(key, read);
      else leftOut.push({ kind, key, message });
    }
    taken[kind] = [...kept.values()];
  }
  return { taken: taken as Registrations, leftOut };
}

function keyOf(kind: SepRegistrationKey, item: unknown): string | undefined {
  const row: { readonly summary: string; readonly key?: string } = registrations[kind];
  const key = row.key === undefined ? item : (item as Readonly<Record<string, unknown>> | null)?.[row.key];
  return typeof key === 'string' ? key : undefined;
}

function withBlock(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || !('template' in item)) return item;
  return { ...item, template: readBlock(item.template) };
}
