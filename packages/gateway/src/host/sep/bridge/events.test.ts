import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventNames } from '@tenon/protocol/sep/wire';
import { hooksFor, isBridgedEvent, isSaidEvent } from './events.ts';
import { observedBy } from '../find/find-extensions.ts';

/** Those that come of what an extension itself does, or of its connection. */
const ofTheConnection = ['events_lost', 'bus/event', 'widget/key'];

test('every event of the protocol has a source, and its row asks for the grants of that', () => {
  for (const name of eventNames) {
    if (ofTheConnection.includes(name)) continue;
    assert.ok(isBridgedEvent(name) || isSaidEvent(name), name);
    if (isBridgedEvent(name)) assert.deepEqual([...hooksFor([name]).keys()], observedBy(name), name);
  }
});

test('events that one hook makes come in the order of its row', () => {
  assert.deepEqual([...hooksFor(['agent_end', 'turn_end']).values()], [['turn_end', 'agent_end']]);
  assert.deepEqual([...hooksFor(['turn_start', 'agent_start']).values()], [['agent_start', 'turn_start']]);
});
