// What a plugin must hold to take part in a hook: the grant of the hook itself, and, as its row says what it shows and what
// it can change, the right to read what is said and the right to add to what the agent is told.
import { hookGrant, hookRow, type HookName } from '../hooks.ts';
import type { TSchema } from 'typebox';

/** Fields of an event that carry what was said. */
const CONVERSATION = new Set([
  'prompt',
  'messages',
  'message',
  'text',
  'cleanedBody',
  'currentUserMessage',
  'lastAssistantMessage',
  'assistantTexts',
  'entries',
  'entriesToSummarize',
]);

/** Fields that reach the model. */
const PROMPT = new Set([
  'prependContext',
  'appendContext',
  'prependSystemContext',
  'appendSystemContext',
  'systemPrompt',
  'system',
  'messages',
  'message',
  'text',
]);

export function hookNeeds(name: HookName): readonly string[] {
  const row = hookRow(name);
  const needs = [hookGrant(name)];
  if (Object.entries(row.event.properties).some(([field, schema]) => isSaid(field, schema))) needs.push('conversation.read');
  // A field that is in both is one that the answer changes; a gate has words of its own for why it says no.
  const changes = fieldsOf(row.result).filter((field) => Object.hasOwn(row.event.properties, field));
  if (changes.some((field) => PROMPT.has(field))) needs.push('prompt.inject');
  return needs;
}

/** What a tool gave has parts; what people say and are told is text. */
function isSaid(field: string, schema: TSchema): boolean {
  return CONVERSATION.has(field) || (field === 'content' && (schema as { type?: unknown }).type === 'string');
}

function fieldsOf(schema: TSchema): readonly string[] {
  const { properties, anyOf } = schema as { properties?: object; anyOf?: readonly TSchema[] };
  return [...Object.keys(properties ?? {}), ...(anyOf ?? []).flatMap(fieldsOf)];
}
