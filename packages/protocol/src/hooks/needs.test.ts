import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantRow } from '../grants.ts';
import { hookNames } from '../hooks.ts';
import { hookNeeds } from './needs.ts';

test('every need of every hook is a grant that exists', () => {
  for (const name of hookNames) for (const need of hookNeeds(name)) assert.ok(grantRow(need), `${name} needs ${need}`);
});

test('hooks that show what is said need the right to read it, those that change it the right to inject', () => {
  const needing = (grant: string) => hookNames.filter((name) => hookNeeds(name).includes(grant));
  assert.deepEqual(needing('prompt.inject'), [
    'input',
    'agent_turn_prepare',
    'heartbeat_prompt_contribution',
    'before_prompt_build',
    'context',
    'before_provider_request',
    'before_message_write',
  ]);
  assert.deepEqual(needing('conversation.read'), [
    'input',
    'before_model_resolve',
    'agent_turn_prepare',
    'before_prompt_build',
    'before_agent_run',
    'before_agent_reply',
    'before_agent_finalize',
    'agent_end',
    'context',
    'llm_input',
    'llm_output',
    'before_message_write',
    'before_reset',
    'session_before_compact',
    'session_before_tree',
    'message_received',
    'message_sending',
    'message_sent',
  ]);
  assert.deepEqual(hookNeeds('gateway_start'), ['hooks.observe:gateway_start']);
});
