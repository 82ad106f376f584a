import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contributionKinds, grantNames, type PluginInfo } from '@tenon/protocol';
import { troubledPlugins } from '../state/plugin-trouble.ts';
import { fieldsOf, readConfig, textsOf } from './config-fields.ts';
import { canRetry, changeSummary, hasChanged, nextTry, reachWords, runsWords, sandboxWords, shortHash } from './extension-words.ts';
import { acceptedByKind, grantCount, grantWords, inOrder, kindWord, millis, sentence, stateWords } from './plugin-words.ts';

const plugin = (more: Partial<PluginInfo> = {}): PluginInfo => ({
  id: 'one',
  name: 'One',
  version: '1.0.0',
  origin: 'path',
  state: 'loaded',
  enabled: true,
  asked: [],
  granted: [],
  registrations: [],
  switchedOff: [],
  incidents: [],
  services: [],
  ...more,
});
const refused = { kind: 'tool', key: 'read', accepted: false, code: 'RESERVED', message: '"read" is kept for the gateway' };

test('a plugin that runs and of which something was refused is not whole, and is counted', () => {
  const whole = plugin();
  const parts = [
    plugin({ registrations: [refused] }),
    plugin({ switchedOff: [{ place: 'agent_end', at: 1, reason: 'too slow' }] }),
    plugin({ incidents: [{ kind: 'blocked', place: 'agent_end', message: 'it held up everything for 900 ms', at: 1, count: 2 }] }),
    plugin({ services: [{ id: 's', state: 'failed' }] }),
    plugin({ state: 'failed', reason: 'its register threw: no' }),
    plugin({ state: 'changed' }),
    plugin({ state: 'rejected' }),
  ];
  assert.equal(stateWords(whole).words, 'Running');
  assert.deepEqual(stateWords(parts[0]!), {
    icon: 'warning',
    tone: 'warn',
    words: 'Running, not whole',
    reasons: ['1 registration was refused.'],
  });
  assert.deepEqual(stateWords(parts[4]!).reasons, ['Its register threw: no.']);
  const off = plugin({ state: 'off', enabled: false });
  assert.equal(troubledPlugins({ kind: 'ready', value: { plugins: [whole, off, ...parts], generation: 1, safe: false } }), parts.length);
});

test('what needs the person stands first', () => {
  const named = (name: string, more: Partial<PluginInfo>) => plugin({ name, ...more });
  const order = inOrder([
    named('off', { state: 'off' }),
    named('b', {}),
    named('a', {}),
    named('partly', { registrations: [refused] }),
    named('rejected', { state: 'rejected' }),
    named('changed', { state: 'changed' }),
    named('failed', { state: 'failed' }),
  ]);
  assert.deepEqual(
    order.map(({ name }) => name),
    ['failed', 'changed', 'rejected', 'partly', 'a', 'b', 'off'],
  );
});

test('every grant of the table has words, and the wide ones are marked', () => {
  for (const name of grantNames) assert.match(grantWords(name).meaning, /\.$/);
  assert.deepEqual(grantWords('hooks.intercept:before_tool_call'), {
    grant: 'hooks.intercept:before_tool_call',
    meaning: 'Change or stop something before it happens: before_tool_call.',
    wide: false,
  });
  assert.equal(grantWords('conversation.read').wide, true);
  assert.match(grantWords('of.tomorrow').meaning, /does not know/);
  assert.equal(grantCount(plugin({ asked: ['a.b', 'c.d'], granted: ['a.b', 'x.y'] })), '1 of 2');
});

test('every kind of registration has a word', () => {
  for (const kind of contributionKinds) assert.match(kindWord(kind), /^[A-Z][a-z -]+$/);
  assert.equal(kindWord('somethingNewer'), 'Something newer');
  const groups = acceptedByKind(
    plugin({
      registrations: [
        { kind: 'tool', key: 'a', accepted: true },
        { kind: 'command', key: 'go', accepted: true },
        refused,
        { kind: 'tool', key: 'b', accepted: true },
      ],
    }),
  );
  assert.deepEqual(groups, [
    { kind: 'tool', keys: ['a', 'b'] },
    { kind: 'command', keys: ['/go'] },
  ]);
});

test('times of handlers and sentences of hosts', () => {
  assert.deepEqual([0, 0.02, 0.44, 3.4, 86, 1_910, 12_340].map(millis), ['0 ms', '0.1 ms', '0.4 ms', '3 ms', '86 ms', '1.91 s', '12.3 s']);
  assert.deepEqual(['its files changed', 'tool/name is wrong', 'Done.'].map(sentence), [
    'Its files changed.',
    'tool/name is wrong.',
    'Done.',
  ]);
});

test('a form comes from the schema and gives the configuration back, with what it has no field for', () => {
  const fields = fieldsOf({
    type: 'object',
    required: ['greeting'],
    properties: {
      greeting: { type: 'string', title: 'Greeting', description: 'What it says' },
      most: { type: 'integer', default: 3 },
      loud: { type: 'boolean' },
      mood: { enum: ['calm', 'merry'] },
      hosts: { type: 'array', items: { type: 'string' } },
      rules: { type: 'array', items: { type: 'object' } },
    },
  })!;
  assert.deepEqual(
    fields.map(({ name, kind }) => `${name} ${kind}`),
    ['greeting text', 'most number', 'loud choice', 'mood choice', 'hosts lines', 'rules json'],
  );
  assert.deepEqual([fields[0]!.required, fields[1]!.placeholder], [true, '3']);
  const config = { greeting: 'hi', most: 4, loud: false, mood: 'calm', hosts: ['a', 'b'], rules: [{ x: 1 }], other: null };
  const texts = textsOf(fields, config);
  assert.deepEqual(readConfig(fields, texts, config), { ok: true, config });
  assert.deepEqual(readConfig(fields, { ...texts, most: '', loud: '', rules: '' }, {}), {
    ok: true,
    config: { greeting: 'hi', mood: 'calm', hosts: ['a', 'b'] },
  });
  const wrong = readConfig(fields, { ...texts, most: 'many', rules: '[' }, config);
  assert.deepEqual(wrong.ok ? [] : Object.keys(wrong.wrong), ['most', 'rules']);
  assert.equal(fieldsOf({ type: 'object' }), undefined);
});

test('what only extensions have is said in its own words, and whether it reaches far', () => {
  assert.deepEqual(grantWords('extension.use:exec'), {
    grant: 'extension.use:exec',
    meaning: 'Run programs, through the policy and the approvals of the `exec` tool.',
    wide: true,
  });
  assert.equal(grantWords('extension.use:kv').wide, false);
  assert.deepEqual(
    ['net', 'files'].map((each) => grantWords(`extension.use:${each}`)).map(({ meaning, wide }) => [meaning.split('.')[0], wide]),
    [
      ['Reach the network', true],
      ['Reach the places that its manifest names', true],
    ],
  );
  assert.equal(grantWords('extension.use:unheard-of').meaning, 'Use something that only extensions have: unheard-of.');
});

test('the process of an extension says how it stands, when it is tried again, and goes before everything else where it is down', () => {
  const extension = (process: PluginInfo['process'], more: Partial<PluginInfo> = {}) =>
    plugin({ ...more, ...(process ? { process } : {}) });
  const base = { crashes: 0, sandboxed: false, reach: { net: false, read: [], write: [] } };
  const ready = extension({ ...base, state: 'ready', pid: 7, sandbox: 'no sandbox works here' });
  const waits = extension({ ...base, state: 'restarting', reason: 'it ended with code 3', restartAt: 5_000, crashes: 1 });
  const shut = extension(
    { ...base, state: 'quarantined', reason: 'it crashed 3 times' },
    { state: 'failed', reason: 'it crashed 3 times', id: 'two' },
  );
  assert.deepEqual(
    [stateWords(ready).words, runsWords(ready), sandboxWords(ready)?.words],
    ['Running', 'process 7', 'runs unconfined, with your rights'],
  );
  assert.deepEqual([runsWords(plugin()), sandboxWords(plugin()), nextTry(ready, 0)], ['in the gateway', undefined, undefined]);
  assert.deepEqual(stateWords(waits), { icon: 'retry', tone: 'warn', words: 'Restarting', reasons: ['It ended with code 3.'] });
  assert.deepEqual([nextTry(waits, 1_200), nextTry(waits, 5_000)], ['Next try in 4 s.', 'It is being tried now.']);
  assert.deepEqual(stateWords(shut), { icon: 'blocked', tone: 'bad', words: 'Quarantined', reasons: ['It crashed 3 times.'] });
  assert.deepEqual([canRetry(ready), canRetry(waits), canRetry(shut)], [false, true, true]);
  assert.deepEqual(
    inOrder([ready, shut]).map(({ id }) => id),
    ['two', 'one'],
  );
  assert.deepEqual(reachWords({ net: true, read: ['~/notes', '/srv'], write: [] }), ['use the network', 'read: ~/notes, /srv']);
  const changed = extension({ ...base, state: 'stopped' }, { state: 'changed', reason: 'its files are others' });
  assert.deepEqual([stateWords(changed).words, canRetry(changed)], ['Changed since trust', false]);
});

test('what has changed is counted in words; what was never trusted has not changed', () => {
  const none = { asked: [], held: [], files: [], grants: { added: [], removed: [] }, tools: [] };
  const text = { description: '', parameters: '', risk: '' };
  const changes = {
    ...none,
    trustedHash: 'a'.repeat(64),
    files: [{ path: 'a', change: 'changed' as const }],
    moreFiles: 2,
    grants: { added: ['tools.register'], removed: ['commands.register'] },
    tools: [{ name: 't', change: 'changed' as const, before: text, after: text }],
  };
  assert.equal(hasChanged(changes), true);
  assert.equal(changeSummary(changes), '3 files changed, 1 new grant, 1 grant no longer asked for, 1 tool text changed');
  assert.equal(hasChanged({ ...changes, trustedHash: undefined } as never), false);
  assert.equal(hasChanged({ ...none, trustedHash: 'a'.repeat(64) }), false);
  assert.equal(shortHash('e1b870c495aa0000'), 'e1b8 70c4 95aa');
});
