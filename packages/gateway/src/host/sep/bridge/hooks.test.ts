import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explain, type HookEvent, hookNames, hookRow, type Message } from '@tenon/protocol';
import { furtherHookNames, hookNames as sepHookNames, type SepFurtherHookName, type SepHookName } from '@tenon/protocol/sep/wire';
import { furtherHookInput, furtherHookResult, type BridgedHook, hookInputs, hookResult, isBridged } from './hooks.ts';
import { hookOf } from '../find/find-extensions.ts';

const SESSION = 'agent:main:one';
const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }], timestamp: 1 });
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
const assistant = (text: string): Message => ({
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text },
    { type: 'toolCall', id: 'c1', name: 'ls', arguments: {} },
  ],
  provider: 'p',
  model: 'm',
  usage,
  stopReason: 'toolUse',
  timestamp: 2,
});
const result = (text: string): Message => ({
  role: 'toolResult',
  toolCallId: 'c1',
  toolName: 'ls',
  content: [{ type: 'text', text }],
  isError: false,
  timestamp: 3,
});

const nobodys = () => false;
/** What an answer to a hook of the wire means; `event` is one of its hook here. */
function meaning(sepName: SepHookName, event: object, outcome: object, owns: (name: string) => boolean = nobodys): unknown {
  const name = hookOf(sepName) as BridgedHook;
  const sent = sepName === 'tool_call' ? hookInputs(name, event as HookEvent<'context'>, 'sep')[0]! : {};
  return hookResult(sepName, name, outcome as never, event as HookEvent<'context'>, { world: 'sep', owns }, sent);
}

test('every hook of the wire is bridged to the hook that has its name', () => {
  for (const sepName of sepHookNames) {
    const name = hookOf(sepName);
    assert.ok(name !== undefined && isBridged(name), sepName);
  }
  assert.deepEqual(
    hookNames.filter((name) => hookRow(name).sep !== undefined && !isBridged(name)),
    [],
  );
});

test('to continue is no opinion; to block is the refusal of each hook, and nothing where it cannot be stopped', () => {
  const event = { sessionKey: SESSION, toolName: 'exec', params: {} };
  assert.equal(meaning('tool_call', event, { action: 'continue' }), undefined);
  assert.deepEqual(meaning('tool_call', event, { action: 'block' }), { block: true, blockReason: 'blocked by tool_call hook' });
  assert.deepEqual(meaning('user_bash', {}, { action: 'block', reason: 'no' }), { block: true, blockReason: 'no' });
  assert.deepEqual(meaning('input', {}, { action: 'block', reason: 'no' }), { handled: true, reply: 'no' });
  assert.deepEqual(meaning('message_end', {}, { action: 'block', reason: 'no' }), { block: true, blockReason: 'no' });
  assert.deepEqual(meaning('session_before_tree', {}, { action: 'block', reason: 'no' }), { cancel: true, cancelReason: 'no' });
  assert.deepEqual(meaning('session_before_compact', {}, { action: 'block', reason: 'no' }), { cancel: true, cancelReason: 'no' });
  for (const name of ['tool_result', 'before_agent_start', 'context', 'before_provider_request'] as const)
    assert.equal(meaning(name, {}, { action: 'block', reason: 'no' }), undefined, name);
});

test('the owner of a tool changes its arguments, and only of the call that it was asked about', () => {
  const event = { sessionKey: SESSION, toolName: 'notes__add', toolCallId: 'c', params: { a: 1 } };
  const owns = (name: string) => name === 'notes__add';
  const patch = (fields: object) => ({ action: 'modify', patch: fields });
  assert.deepEqual(hookInputs('before_tool_call', event as never, 'sep'), [
    { session_key: SESSION, tool: 'notes.add', arguments: { a: 1 }, call_id: 'c' },
  ]);
  assert.deepEqual(meaning('tool_call', event, patch({ tool: 'notes.add', arguments: { a: 2 } }), owns), { params: { a: 2 } });
  assert.equal(meaning('tool_call', event, patch({ arguments: { a: 2 } })), undefined, 'of somebody else');
  assert.equal(meaning('tool_call', event, patch({ tool: 'notes.remove', arguments: { a: 2 } }), owns), undefined, 'another tool');
  assert.equal(meaning('tool_call', event, patch({}), owns), undefined, 'nothing');
  assert.throws(() => meaning('tool_call', event, patch({ arguments: 5 }), owns), /arguments that are no object/);
});

test('a gate of SEP or pi sees the shell as bash, and what it makes of the command is what runs', () => {
  const event = { sessionKey: SESSION, toolName: 'exec', toolCallId: 'c', params: { argv: ['rm', '-rf', 'my files'], cwd: 'sub' } };
  const [sent] = hookInputs('before_tool_call', event as never, 'sep');
  assert.deepEqual([sent?.tool, sent?.arguments], ['bash', { command: "rm -rf 'my files'", cwd: 'sub' }]);
  const [own] = hookInputs('before_tool_call', event as never, 'tenon');
  assert.deepEqual([own?.tool, own?.arguments], ['exec', event.params]);
  const patch = (args: object) => ({ action: 'modify', patch: { tool: 'bash', arguments: args } });
  assert.deepEqual(meaning('tool_call', event, patch({ command: 'ls' })), { params: { command: 'ls', cwd: 'sub' } });
  assert.equal(meaning('tool_call', event, patch(sent!.arguments as object)), undefined, 'what it left alone stays as it is');
  const several = { ...event, toolName: 'apply_patch', params: { patch: '*** Begin Patch\n*** Delete File: a\n*** End Patch' } };
  assert.throws(() => meaning('tool_call', several, { action: 'modify', patch: { arguments: { path: 'b' } } }), /can only be stopped/);
});

test('a patch changes what the hook lets it, and nothing else', () => {
  const patch = (fields: object) => ({ action: 'modify', patch: fields });
  assert.deepEqual(meaning('tool_result', {}, patch({ content: 'x', is_error: true, tool: 'other' })), {
    content: [{ type: 'text', text: 'x' }],
    isError: true,
  });
  assert.deepEqual(meaning('before_agent_start', {}, patch({ system_prompt: 'Be kind.', more: 1 })), { systemPrompt: 'Be kind.' });
  assert.deepEqual(meaning('before_provider_request', {}, patch({ thinking: 'low', model: 'other' })), { thinking: 'low' });
  assert.deepEqual(meaning('session_before_compact', {}, patch({ summary: 'short', reason: 'x' })), { summary: 'short' });
  assert.equal(meaning('user_bash', {}, patch({ other: 1 })), undefined);
  for (const command of ['', 5])
    assert.throws(() => meaning('user_bash', {}, patch({ command })), /no command/, 'the old one must not run in its place');
});

test('the text of a message is changed where it stands; thinking and tool calls stay', () => {
  const event = { message: assistant('before') };
  assert.deepEqual(hookInputs('before_message_write', event as never, 'sep')[0], { role: 'assistant', content: 'before' });
  const changed = meaning('message_end', event, { action: 'modify', patch: { content: 'after' } }) as { message: Message };
  assert.deepEqual(
    changed.message.content.map((block) => (block.type === 'text' ? block.text : block.type)),
    ['thinking', 'after', 'toolCall'],
  );
});

test('messages that an extension leaves alone stay whole; changed ones get their text, new ones are said by the user', () => {
  const messages = [user('hello'), assistant('let me see'), result('a b c')];
  const input = hookInputs('context', { messages } as never, 'sep')[0] as { messages: { role: string; content: string }[] };
  assert.deepEqual(
    input.messages.map(({ role, content }) => `${role}: ${content}`),
    ['user: hello', 'assistant: let me see', 'tool: a b c'],
  );
  const give = (given: unknown) =>
    meaning('context', { messages }, { action: 'modify', patch: { messages: given } }) as { messages: Message[] } | undefined;
  assert.deepEqual(give(input.messages)?.messages, messages);
  const [first, second, third] = input.messages;
  const shorter = give([first, second, { ...third, content: 'a' }])?.messages;
  assert.deepEqual(shorter?.slice(0, 2), messages.slice(0, 2));
  assert.deepEqual(shorter?.[2], { ...messages[2], content: [{ type: 'text', text: 'a' }] });
  const more = give([{ role: 'developer', content: 'mind this' }, ...input.messages])?.messages;
  assert.deepEqual(more?.slice(1), messages);
  assert.deepEqual(more?.[0]?.role, 'user');
  assert.equal(give(['x', { role: 'user' }]), undefined, 'nothing of it can be read');
  assert.deepEqual(give([]), { messages: [] });
});

test('hooks beyond SEP are told whole, and a patch of one is its result; to block is the refusal that each has', () => {
  const event = { sessionKey: SESSION, runId: 'r', stopHookActive: false, attemptIndex: 1, madeToolCall: false, toolCalls: [] };
  assert.deepEqual(furtherHookInput('before_agent_finalize', { ...event, lastAssistantMessage: 'Done.' } as never), {
    ...{ session_key: SESSION, run_id: 'r', stop_hook_active: false, attempt_index: 1, made_tool_call: false, tool_calls: [] },
    last_assistant_message: 'Done.',
  });
  const patch = { action: 'revise', reason: 'why', retry: { instruction: 'Test it.', idempotency_key: 'k', max_attempts: 2 }, other: 1 };
  assert.deepEqual(furtherHookResult('before_agent_finalize', { action: 'modify', patch }), {
    action: 'revise',
    reason: 'why',
    retry: { instruction: 'Test it.', idempotencyKey: 'k', maxAttempts: 2 },
  });
  const blocked = (name: SepFurtherHookName) => furtherHookResult(name, { action: 'block', reason: 'no' });
  assert.deepEqual(blocked('before_agent_finalize'), { action: 'revise', retry: { instruction: 'no' } });
  assert.deepEqual(blocked('before_agent_run'), { outcome: 'block', reason: 'no' });
  assert.deepEqual(blocked('before_tool_call'), { block: true, blockReason: 'no' });
  assert.deepEqual(blocked('message_sending'), { cancel: true, cancelReason: 'no' });
  assert.deepEqual(blocked('before_agent_reply'), { handled: true, reply: 'no' });
  for (const name of ['resolve_exec_env', 'agent_turn_prepare', 'before_tool_call_persist'] as const)
    assert.equal(blocked(name), undefined);
  assert.equal(furtherHookResult('before_tool_call', { action: 'continue' }), undefined);
  for (const name of furtherHookNames) {
    const refusal = blocked(name);
    const fault = refusal === undefined ? undefined : explain(hookRow(name).result, refusal, name);
    assert.equal(fault, undefined, name);
    assert.equal(refusal === undefined, hookRow(name).ends.length === 0 && name !== 'before_agent_finalize', name);
  }
  assert.deepEqual(furtherHookResult('resolve_exec_env', { action: 'modify', patch: { MY_TOKEN: 'x' } }), { MY_TOKEN: 'x' });
  const approval = { title: 'Sure?', description: '', timeout_ms: 5 };
  assert.deepEqual(furtherHookResult('before_tool_call', { action: 'modify', patch: { require_approval: approval } }), {
    requireApproval: { title: 'Sure?', description: '', timeoutMs: 5 },
  });
});
