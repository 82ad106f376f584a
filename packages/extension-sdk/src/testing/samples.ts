// Values to call an extension with that nobody has written tests for: the smallest that fit.
import { shapesOf } from '@tenon/protocol/sep';
import { groupNames, hooks, methodNames, methodRow, type SepEventName, type SepHookName } from '@tenon/protocol/sep/wire';

type Fields = Readonly<Record<string, unknown>>;

/** One value for each field that hooks and events have. */
const fields: Fields = {
  tool: 'other.tool',
  arguments: {},
  content: 'text',
  is_error: false,
  command: 'true',
  text: 'hello',
  system_prompt: 'You help.',
  messages: [{ role: 'user', content: 'hello' }],
  provider: 'provider',
  model: 'model',
  thinking: 'off',
  role: 'assistant',
  reason: 'threshold',
  target_id: null,
  old_leaf_id: null,
};

export function sampleInput(hook: SepHookName): Fields {
  return Object.fromEntries(hooks[hook].input.map((name) => [name, fields[name]]));
}

const payloads: Readonly<Partial<Record<SepEventName, Fields>>> = {
  message_end: { iteration: 1, content: 'text' },
  events_lost: { lost: 1 },
  'bus/event': { from: 'another', topic: 'topic', payload: {} },
  'widget/key': { widget_id: 'widget', key: 'a' },
};

export function samplePayload(event: string): Fields {
  return payloads[event as SepEventName] ?? {};
}

/** A session, as `patch_action/execute` shows it. */
export const sampleEntry: Fields = {
  ...{ key: 'agent:main:main', session_id: 'ses_0123456789abcdef', agent_id: 'main', title: 'A session', label: null },
  ...{ pinned: false, archived: false, model: null, thinking: null, permissions: null, queue: null, status: 'idle' },
  ...{ revision: 1, created_at: 1_900_000_000_000, updated_at: 1_900_000_000_000 },
};

export const samplePolicyCall: Fields = {
  ...{ tool: 'other.tool', arguments: {}, call_id: 'call', run_id: 'run', risk: 'read', workspace_dir: '/' },
};

export const sampleDueTurn: Fields = {
  ...{ run_id: 'run', job_id: 'job_0123456789abcdef', name: 'job', message: 'Look.', due_at: 1_900_000_000_000 },
};

/** What a host that has everything beyond SEP answers when it is asked. */
export const seamAnswers: Readonly<Record<string, () => unknown>> = Object.fromEntries(
  methodNames
    .filter((name) => methodRow(name).beyond && methodRow(name).direction === 'to-host' && !name.startsWith('kv/'))
    .map((name) => [name, () => sampleArguments(shapesOf(name).result)]),
);

/** All groups, on. */
export const allGroups: Readonly<Record<string, boolean>> = Object.fromEntries(groupNames.map((group) => [group, true]));

/** A value for the parameters of a tool. An example or a default of the schema is taken where it has one. */
export function sampleArguments(schema: unknown, depth = 0): unknown {
  if (!isFields(schema) || depth > MOST_DEPTH) return {};
  const { type, const: only, enum: some, default: usual, examples, anyOf, oneOf, properties, required, items } = schema;
  if (only !== undefined) return only;
  if (usual !== undefined) return usual;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (Array.isArray(some)) return some[0];
  const form = Array.isArray(anyOf) ? anyOf[0] : Array.isArray(oneOf) ? oneOf[0] : undefined;
  if (form !== undefined) return sampleArguments(form, depth + 1);
  const kind = Array.isArray(type) ? type[0] : type;
  if (kind === 'string') return 'x'.repeat(Math.max(1, numberOr(schema.minLength, 1)));
  if (kind === 'integer' || kind === 'number') return numberOr(schema.minimum, Math.min(1, numberOr(schema.maximum, 1)));
  if (kind === 'boolean') return false;
  if (kind === 'null') return null;
  if (kind === 'array') return Array.from({ length: numberOr(schema.minItems, 0) }, () => sampleArguments(items, depth + 1));
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const known = isFields(properties) ? properties : {};
  return Object.fromEntries(needed.map((name) => [name, sampleArguments(known[name], depth + 1)]));
}

const MOST_DEPTH = 16;

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
