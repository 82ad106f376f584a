import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hookNames, hookRow } from '../hooks.ts';
import { furtherEventPayloads, furtherHookShapes } from './happenings.ts';
import { furtherEventNames, furtherHookNames, isEventName, isHookName } from './wire.ts';

const isWaitedFor = (name: (typeof hookNames)[number]) => hookRow(name).kind !== 'observe' || hookRow(name).awaited === true;

test('every hook of the gateway is one of the wire: under a name of SEP, or under its own', () => {
  assert.deepEqual([...furtherHookNames].sort(), hookNames.filter((name) => isWaitedFor(name) && !isHookName(name)).sort());
  assert.deepEqual([...furtherEventNames].sort(), hookNames.filter((name) => !isWaitedFor(name) && !isEventName(name)).sort());
});

test('what they are about is that of the gateway, with the names of the wire', () => {
  const { input, patch } = furtherHookShapes.before_agent_finalize as never as Record<string, { properties: object }>;
  assert.ok('last_assistant_message' in input!.properties && 'session_key' in input!.properties);
  assert.deepEqual(Object.keys(patch!.properties), ['action', 'reason', 'retry']);
  assert.ok('assistant_texts' in (furtherEventPayloads.llm_output as never as { properties: object }).properties);
});
