import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absentHooks, hookGrant, hookNames, hookRow, hooks, isHookName, type HookEvent, type HookResult } from './hooks.ts';
import { firstDefined, joinContext, lastWins, lastWinsOrBlock, lastWinsOrCancel, Verdict } from './hooks/merge.ts';
import { faultOfPairs, sameMessage, wellFormedMessages } from './hooks/model.ts';
import { buildPrompt, firstBlock, firstHandled, intersect, strongestAction } from './hooks/prompt.ts';
import { HOOK_TIMEOUT_RANGE } from './hooks/row.ts';
import { addEnv, isProtectedEnvName, strictest } from './hooks/tools.ts';
import type { AssistantMessage, Message, ToolResultMessage, UserMessage } from './transcript.ts';
import { matches } from './validate.ts';

test('every row can be refused where it fails closed, and has a merge where it modifies', () => {
  for (const name of hookNames) {
    const row = hookRow(name);
    if (row.onFailure === 'closed') assert.ok(row.ends.includes('refused'), `${name} fails closed and cannot be refused`);
    assert.equal(row.merge !== undefined, row.kind === 'modify', `${name}: merge`);
    assert.equal(row.kind === 'claim', row.ends.includes('claimed') && row.merge === undefined, `${name}: claim`);
    assert.ok(row.timeoutMs >= HOOK_TIMEOUT_RANGE.min && row.timeoutMs <= HOOK_TIMEOUT_RANGE.max, `${name}: timeout`);
    assert.ok(row.summary.endsWith('.'), `${name}: summary`);
    if (row.awaited) assert.equal(row.kind, 'observe', `${name}: only observers can be awaited`);
    assert.equal(hookGrant(name), `${row.kind === 'observe' ? 'hooks.observe' : 'hooks.intercept'}:${name}`);
  }
});

test('the ten hooks of SEP stand in the table, each once', () => {
  const names = hookNames.flatMap((name) => hookRow(name).sep ?? []).sort();
  assert.deepEqual(names, [
    'before_agent_start',
    'before_provider_request',
    'context',
    'input',
    'message_end',
    'session_before_compact',
    'session_before_tree',
    'tool_call',
    'tool_result',
    'user_bash',
  ]);
});

test('a name is in the table or among the absent ones, never in both', () => {
  for (const name of Object.keys(absentHooks)) assert.equal(isHookName(name), false, name);
  assert.equal(isHookName('toString'), false);
});

test('the persist observers carry exactly the fields of their contract', () => {
  const fields = ['agentId', 'messageId', 'runId', 'sessionKey', 'toolCallId', 'toolInput', 'toolName'];
  assert.deepEqual(Object.keys(hooks.before_tool_call_persist.event.properties).sort(), fields);
  assert.deepEqual(Object.keys(hooks.after_tool_call_persist.event.properties).sort(), [...fields, 'toolResult'].sort());
});

test('lastWins replaces the given fields and keeps the event when there are none', () => {
  const event = { a: 1, b: 2 };
  const merge = lastWins<typeof event>();
  assert.deepEqual(merge.apply(event, { b: 3 }, 'p'), { a: 1, b: 3 });
  assert.equal(merge.apply(event, {}, 'p'), event);
  assert.deepEqual(event, { a: 1, b: 2 });
});

test('lastWinsOrBlock refuses on block, with the reason or the name of the plugin', () => {
  const merge = lastWinsOrBlock<{ command: string }>();
  assert.deepEqual(merge.apply({ command: 'ls' }, { command: 'ls -l', block: false }, 'p'), { command: 'ls -l' });
  assert.deepEqual(merge.apply({ command: 'ls' }, { block: true, blockReason: 'no' }, 'p'), new Verdict('refused', 'no'));
  assert.deepEqual(merge.apply({ command: 'ls' }, { block: true }, 'guard'), new Verdict('refused', 'blocked by guard'));
});

test('lastWinsOrCancel refuses on cancel and otherwise takes the fields', () => {
  const merge = lastWinsOrCancel<{ summary?: string }>();
  assert.deepEqual(merge.apply({}, { summary: 'short' }, 'p'), { summary: 'short' });
  assert.deepEqual(merge.apply({}, { cancel: true, summary: 'short' }, 'p'), new Verdict('refused', 'cancelled by p'));
  assert.deepEqual(merge.apply({}, { cancel: true, cancelReason: 'later' }, 'p'), new Verdict('refused', 'later'));
});

test('firstDefined lets each field belong to the first who gives it', () => {
  const merge = firstDefined<HookEvent<'before_model_resolve'>>();
  const first = merge.apply({ prompt: 'hi' }, { modelOverride: 'big' }, 'a') as HookEvent<'before_model_resolve'>;
  const second = merge.apply(first, { modelOverride: 'small', providerOverride: 'openai' }, 'b');
  assert.deepEqual(second, { prompt: 'hi', modelOverride: 'big', providerOverride: 'openai' });
  assert.equal(merge.apply(first, { modelOverride: 'small' }, 'b'), first);
});

test('joinContext puts a blank line between, in order, and blank text adds nothing', () => {
  const merge = joinContext<{ prependContext?: string; appendContext?: string }>();
  const first = merge.apply({}, { prependContext: 'one' }, 'a') as object;
  assert.deepEqual(merge.apply(first, { prependContext: 'two', appendContext: 'end' }, 'b'), {
    prependContext: 'one\n\ntwo',
    appendContext: 'end',
  });
  assert.equal(merge.apply(first, { prependContext: ' \n' }, 'b'), first);
});

const prompt = (more: Partial<HookEvent<'before_prompt_build'>> = {}): HookEvent<'before_prompt_build'> => ({
  prompt: 'hi',
  messages: [],
  systemPrompt: 'You are Tenon.',
  ...more,
});

test('buildPrompt: the first system prompt stands, and a later one that contains it is taken', () => {
  const first = buildPrompt.apply(prompt(), { systemPrompt: 'You are a cat.' }, 'a') as HookEvent<'before_prompt_build'>;
  assert.equal(first.systemPrompt, 'You are a cat.');
  assert.equal(first.systemPromptBy, 'a');
  assert.equal(buildPrompt.apply(first, { systemPrompt: 'You are a dog.' }, 'b'), first);
  const longer = buildPrompt.apply(first, { systemPrompt: 'You are a cat. Be brief.' }, 'b') as HookEvent<'before_prompt_build'>;
  assert.equal(longer.systemPrompt, 'You are a cat. Be brief.');
});

test('buildPrompt: context is joined and allowed tools are intersected', () => {
  const first = buildPrompt.apply(
    prompt(),
    { toolsAllow: ['read', 'exec'], appendSystemContext: 'x' },
    'a',
  ) as HookEvent<'before_prompt_build'>;
  const second = buildPrompt.apply(first, { toolsAllow: ['exec', 'write'], appendSystemContext: 'y' }, 'b') as typeof first;
  assert.deepEqual(second.toolsAllow, ['exec']);
  assert.equal(second.appendSystemContext, 'x\n\ny');
});

test('intersect: an empty list allows none, and what is no list of names allows none', () => {
  assert.deepEqual(intersect(undefined, ['a', 'a']), ['a']);
  assert.deepEqual(intersect(['a'], []), []);
  assert.deepEqual(intersect(undefined, 'a'), []);
  assert.deepEqual(intersect(['a'], ['a', 5]), []);
  assert.deepEqual(intersect([], ['a']), []);
});

test('firstHandled: handled ends it, and changes of text and images chain', () => {
  assert.deepEqual(firstHandled.apply({ text: 'a' }, { text: 'b', handled: false }, 'p'), { text: 'b' });
  assert.deepEqual(firstHandled.apply({ text: 'a' }, { handled: true, reply: 'done' }, 'p'), new Verdict('claimed', ''));
});

test('firstBlock: only a block refuses, and the schema takes no other shape', () => {
  const event = { prompt: 'hi', messages: [] };
  assert.equal(firstBlock.apply(event, { outcome: 'pass' }, 'p'), event);
  assert.deepEqual(firstBlock.apply(event, { outcome: 'block', reason: 'no' }, 'p'), new Verdict('refused', 'no'));
  for (const wrong of [null, {}, { outcome: 'block' }, { outcome: 'pass', extra: 1 }, { outcome: 'maybe' }]) {
    assert.equal(matches(hooks.before_agent_run.result, wrong), false, JSON.stringify(wrong));
  }
});

const call = (more: Partial<HookEvent<'before_tool_call'>> = {}): HookEvent<'before_tool_call'> => ({
  toolName: 'exec',
  toolCallId: 'c1',
  params: { command: 'ls' },
  ...more,
});
const ask = { title: 'Run it?', description: 'It deletes files.' };

test('strictest: a block refuses, and block: false is no opinion', () => {
  const event = call();
  assert.equal(strictest.apply(event, { block: false }, 'p'), event);
  assert.deepEqual(strictest.apply(event, { block: true, blockReason: 'never' }, 'p'), new Verdict('refused', 'never'));
  const approved = call({ approval: { ...ask, plugin: 'a' } });
  assert.deepEqual(
    strictest.apply(approved, { block: true }, 'b'),
    new Verdict('refused', 'blocked by b'),
    'also after an approval was asked for',
  );
});

test('strictest: the last params win until an approval is asked for, and stay from then on', () => {
  const first = strictest.apply(call(), { params: { command: 'ls -l' } }, 'a') as HookEvent<'before_tool_call'>;
  const second = strictest.apply(first, { params: { command: 'ls -a' }, requireApproval: ask }, 'b') as typeof first;
  assert.deepEqual(second.params, { command: 'ls -a' });
  assert.deepEqual(second.approval, { ...ask, plugin: 'b' });
  const third = strictest.apply(second, { params: { command: 'rm -r .' }, requireApproval: { ...ask, title: 'Mine' } }, 'c');
  assert.equal(third, second);
});

test('addEnv: a later value wins, and protected names are dropped and listed', () => {
  const event: HookEvent<'resolve_exec_env'> = { toolName: 'exec', host: 'sandbox', env: { A: '1' } };
  const merged = addEnv.apply(event, { A: '2', B: '3', PATH: '/evil', LD_PRELOAD: 'x', https_proxy: 'y' }, 'p');
  assert.deepEqual(merged, { ...event, env: { A: '2', B: '3' }, droppedEnv: ['PATH', 'LD_PRELOAD', 'https_proxy'] });
  assert.equal(addEnv.apply(event, {}, 'p'), event);
  for (const name of ['DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS', 'SSL_CERT_FILE', 'no_proxy', 'TENON_TOKEN'])
    assert.ok(isProtectedEnvName(name), name);
  assert.equal(isProtectedEnvName('MY_PATH'), false);
});

const finalize = (more: Partial<HookEvent<'before_agent_finalize'>> = {}): HookEvent<'before_agent_finalize'> => ({
  stopHookActive: false,
  attemptIndex: 0,
  madeToolCall: false,
  toolCalls: [],
  ...more,
});

function finalizeAll(...results: [plugin: string, result: HookResult<'before_agent_finalize'>][]) {
  let event = finalize();
  for (const [plugin, result] of results) event = strongestAction.apply(event, result, plugin) as typeof event;
  const { action, reason, candidates } = event;
  return { action, reason, candidates };
}

test('strongestAction: any finalize wins, whoever comes before or after', () => {
  const revise: HookResult<'before_agent_finalize'> = { action: 'revise', reason: 'tests fail', retry: { instruction: 'fix them' } };
  const expected = { action: 'finalize', reason: 'enough', candidates: [] };
  assert.deepEqual(finalizeAll(['a', revise], ['b', { action: 'finalize', reason: 'enough' }]), expected);
  assert.deepEqual(finalizeAll(['b', { action: 'finalize', reason: 'enough' }], ['a', revise]), expected);
});

test('strongestAction: reasons of revisions are joined and their retries collected in order', () => {
  assert.deepEqual(
    finalizeAll(
      ['a', { action: 'revise', reason: 'one', retry: { instruction: 'do one', maxAttempts: 2.9 } }],
      ['b', { action: 'continue' }],
      ['c', { action: 'revise', reason: 'two', retry: { instruction: 'do two', idempotencyKey: 'k', maxAttempts: -4 } }],
    ),
    {
      action: 'revise',
      reason: 'one\ntwo',
      candidates: [
        { instruction: 'do one', maxAttempts: 2, plugin: 'a' },
        { instruction: 'do two', idempotencyKey: 'k', maxAttempts: 1, plugin: 'c' },
      ],
    },
  );
});

test('strongestAction: a revision without a reason and without an instruction is a continue', () => {
  assert.equal(finalizeAll(['a', { action: 'revise' }]).action, 'continue');
  assert.equal(finalizeAll(['a', { action: 'revise', retry: { instruction: '  ' } }]).action, 'continue');
  assert.equal(finalizeAll(['a', { action: 'continue' }]).action, 'continue');
});

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
const said = (text: string): UserMessage => ({ role: 'user', content: [{ type: 'text', text }], timestamp: 1 });
const calling = (...ids: string[]): AssistantMessage => ({
  role: 'assistant',
  content: [{ type: 'text', text: 'ok' }, ...ids.map((id) => ({ type: 'toolCall' as const, id, name: 'ls', arguments: {} }))],
  provider: 'p',
  model: 'm',
  usage,
  stopReason: 'toolUse',
  timestamp: 1,
});
const resultOf = (toolCallId: string): ToolResultMessage => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'ls',
  content: [],
  isError: false,
  timestamp: 1,
});

test('wellFormedMessages takes messages whose tool calls are answered and refuses torn pairs', () => {
  const event = { messages: [said('hi')] };
  const whole: Message[] = [said('hi'), calling('a', 'b'), resultOf('b'), resultOf('a'), said('thanks')];
  assert.deepEqual(wellFormedMessages.apply(event, { messages: whole }, 'p'), { messages: whole });
  assert.deepEqual(wellFormedMessages.apply(event, { messages: [] }, 'p'), { messages: [] });
  for (const torn of [
    [calling('a')],
    [resultOf('a')],
    [calling('a'), said('hi'), resultOf('a')],
    [calling('a'), resultOf('a'), resultOf('a')],
  ]) {
    const verdict = wellFormedMessages.apply(event, { messages: torn }, 'p');
    assert.ok(verdict instanceof Verdict && verdict.kind === 'wrong', JSON.stringify(torn.map((each) => each.role)));
  }
  assert.match(faultOfPairs([calling('a')]) ?? '', /no result for the tool call "a"/);
});

test('sameMessage takes other words, and refuses another role, other tool calls and another answer', () => {
  const event = { message: calling('a') as Message };
  const reworded: AssistantMessage = { ...calling('a'), content: [{ type: 'text', text: 'fine' }, ...calling('a').content.slice(1)] };
  assert.deepEqual(sameMessage.apply(event, { message: reworded }, 'p'), { message: reworded });
  assert.equal(sameMessage.apply(event, {}, 'p'), event);
  assert.deepEqual(sameMessage.apply(event, { block: true }, 'p'), new Verdict('refused', 'blocked by p'));
  for (const wrong of [said('hi'), calling('b'), calling()]) {
    const verdict = sameMessage.apply(event, { message: wrong }, 'p');
    assert.ok(verdict instanceof Verdict && verdict.kind === 'wrong');
  }
  const other = sameMessage.apply({ message: resultOf('a') }, { message: resultOf('b') }, 'p');
  assert.ok(other instanceof Verdict && other.kind === 'wrong');
});
