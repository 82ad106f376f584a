// Whole workflows of plugins, made of nothing but seams: a decision of a person, a lock, a monitor, a second look at an answer;
// and what becomes of a call whose plugin goes meanwhile. Titles in comments are those of the contract tests that each test
// stands for (host-seams sections 12.1 to 12.3, advanced-workflow-fixtures among them).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePluginEntry, type PluginEntry, type RegisterApi } from '@tenon/plugin-sdk';
import type { TestHost, TestHostOptions } from '@tenon/plugin-sdk/testing';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import { verifies } from '../support/verifies.ts';

function open(register: (api: RegisterApi) => void, options: TestHostOptions = {}, more: Partial<PluginEntry> = {}): Promise<TestHost> {
  return createTestHost(definePluginEntry({ id: 'desk', name: 'The desk', ...more, register }), options);
}

const told = (host: TestHost, nth = -1) =>
  host.requests
    .at(nth)!
    .messages.map(({ text }) => text)
    .join('\n');

const isRefused = (code: string, detail?: string) => (error: { code: string; details?: { code?: string } }) => {
  assert.deepEqual([error.code, error.details?.code], [code, detail]);
  return true;
};

// approval workflow end to end (descriptor, scope, claim, action, event, injection, typed error)
test('a decision of a person: claimed, shown, refused to who may not, taken once, and told to the agent', async () => {
  verifies('seed1:session-actions', 'seed1:ui-descriptors', 'compat:C4', 'compat:C8', 'seams:A8');
  const grants = [
    'hooks.intercept:before_agent_reply',
    'conversation.read',
    'ui.descriptors',
    'prompt.inject',
    'turns.start',
    'events.emit',
  ];
  const register = (api: RegisterApi) => {
    api.registerSessionExtension({ namespace: 'wish', description: 'What waits', project: ({ state }) => state });
    api.registerGatewayEvent({ name: 'decided', scope: 'operator.read' });
    api.on('before_agent_reply', async ({ cleanedBody, sessionKey }, { getSessionExtension }) => {
      if (!cleanedBody.startsWith('deploy') || getSessionExtension('wish')) return undefined;
      await api.session.state.patch(sessionKey!, 'wish', { what: cleanedBody });
      return { handled: true, reply: 'Somebody has to decide.' };
    });
    api.registerSessionAction({
      id: 'decide',
      description: 'Decides what waits',
      schema: { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'], additionalProperties: false },
      requiredScopes: ['operator.approvals'],
      handler({ payload, getSessionExtension, sessionKey }) {
        const wish = getSessionExtension('wish') as { what: string } | undefined;
        if (!wish) return { ok: false, error: 'Nothing waits', code: 'NOT_WAITING', details: { retry: false } };
        const { yes } = payload as { yes: boolean };
        api.gateway.emit({ name: 'decided', data: { yes }, sessionKey });
        return {
          statePatch: { wish: null },
          result: { yes },
          inject: [{ text: `${yes ? 'Go ahead with' : 'Do not'} ${wish.what}` }],
          continueAgent: true,
        };
      },
    });
    api.registerControlUiDescriptor({
      id: 'card',
      label: 'A decision',
      surface: 'chat-message',
      activeWhen: { namespace: 'wish' },
      view: [{ kind: 'markdown', from: { namespace: 'wish', path: '/what' } }],
      actions: [{ label: 'Yes', actionId: 'decide', payload: { yes: true } }],
      requiredScopes: ['operator.approvals'],
    });
  };
  await using host = await open(register, { grants, model: ['Deployed.'] });
  const { end, reply } = await host.send('deploy it');
  assert.deepEqual([end.kind, reply], ['handled', 'Somebody has to decide.']);
  assert.deepEqual(await host.shown('wish'), { what: 'deploy it' });
  assert.equal(host.requests.length, 0);

  assert.deepEqual(await host.descriptors({ scopes: ['operator.read'] }), []);
  const [card] = await host.descriptors({ scopes: ['operator.approvals', 'operator.read'] });
  assert.deepEqual([card?.pluginId, card?.id, card?.activeWhen], ['desk', 'card', { namespace: 'wish' }]);

  await assert.rejects(host.press('decide', { yes: true }, { scopes: ['operator.write'] }), isRefused('SCOPE', 'MISSING_SCOPE'));
  await assert.rejects(host.press('decide', { yes: 'yes' }), isRefused('INVALID_REQUEST', 'INVALID_PAYLOAD'));
  const decided = await host.press('decide', { yes: true }, { scopes: ['operator.approvals'] });
  assert.ok(decided.ok && decided.runId !== undefined);
  assert.deepEqual(decided.result, { yes: true });
  assert.match(told(host), /Go ahead with deploy it/);
  assert.equal(await host.state('wish'), undefined);
  const emitted = host.events.filter(({ event }) => event === 'plugin.desk.decided');
  assert.deepEqual(
    emitted.map(({ payload }) => payload),
    [{ pluginId: 'desk', sessionKey: host.sessionKey, data: { yes: true } }],
  );
  assert.deepEqual(await host.press('decide', { yes: true }), {
    ok: false,
    error: 'Nothing waits',
    code: 'NOT_WAITING',
    details: { retry: false },
  });
  assert.equal(host.requests.length, 1);
});

// policy gate from session state
test('a lock: what a policy allows follows the state of the session, call by call, and no other session', async () => {
  verifies('compat:C12');
  let ran = 0;
  const register = (api: RegisterApi) => {
    api.registerSessionExtension({ namespace: 'lock', description: 'Whether it is locked' });
    api.registerSessionAction({ id: 'lock', handler: ({ payload }) => ({ statePatch: { lock: payload ?? null } }) });
    api.registerTrustedToolPolicy({
      id: 'lock',
      description: 'Nothing while it is locked',
      matcher: ['note'],
      evaluate: (_, { getSessionExtension }) =>
        getSessionExtension('lock') === true ? { allow: false, reason: 'it is locked' } : undefined,
    });
  };
  await using host = await open(register, {
    grants: ['policy.tools'],
    tools: { note: { risk: 'read', run: () => `noted ${++ran}` } },
    model: ({ messages }) => (messages.at(-1)?.role === 'toolResult' ? 'done' : { calls: [{ name: 'note', arguments: {} }] }),
  });
  const results = async (sessionKey = host.sessionKey) => {
    const { entries } = await host.send('Go', { sessionKey });
    const result = entries.find((entry) => entry.type === 'message' && entry.message.role === 'toolResult');
    return JSON.stringify(result);
  };
  assert.match(await results(), /noted 1/);
  await host.press('lock', true);
  assert.match(await results(), /Blocked by desk: it is locked/);
  assert.match(await results('agent:main:other'), /noted 2/);
  await host.press('lock', false);
  assert.match(await results(), /noted 3/);
  assert.equal(ran, 3);
});

// monitor: schedule, heartbeat text, run context, cleanup
test('a monitor: it speaks in heartbeats, counts in a run, is told of the end of a session, and hears why it may schedule nothing', async () => {
  verifies('seed1:prompt-hooks', 'seams:W7', 'seams:W15');
  const counted: unknown[] = [];
  const ended: unknown[] = [];
  let api: RegisterApi | undefined;
  const hooks = ['heartbeat_prompt_contribution', 'before_tool_call', 'before_agent_finalize'].map((name) => `hooks.intercept:${name}`);
  const register = (given: RegisterApi) => {
    api = given;
    const place = (runId: string) => ({ runId, namespace: 'calls' });
    given.on('heartbeat_prompt_contribution', () => ({
      prependContext: 'Look at the build.',
      appendContext: 'Say nothing if it is green.',
    }));
    given.on('before_tool_call', ({ runId }) => {
      const before = given.runContext.getRunContext(place(runId!));
      given.runContext.setRunContext({ ...place(runId!), value: (typeof before === 'number' ? before : 0) + 1 });
      return undefined;
    });
    given.on('before_agent_finalize', ({ runId }) => {
      counted.push(given.runContext.getRunContext(place(runId!)));
      return undefined;
    });
    given.registerRuntimeLifecycle({ id: 'end', cleanup: ({ reason, sessionKey }) => void ended.push([reason, sessionKey]) });
  };
  const calls = { calls: [{ name: 'note' }, { name: 'note' }] };
  await using host = await open(register, {
    grants: [...hooks, 'conversation.read', 'prompt.inject'],
    tools: { note: { risk: 'read', run: () => 'noted' } },
    model: [calls, 'first', 'second'],
  });
  const { sessionKey } = host;
  await host.call('agent', { sessionKey, message: 'beat', trigger: 'heartbeat', idempotencyKey: 'beat-beat-beat-beat' });
  await host.call('agent.wait', { runId: 'beat-beat-beat-beat', timeoutMs: 10_000 });
  await host.settled();
  assert.match(told(host, 0), /Look at the build\.[\s\S]*beat[\s\S]*Say nothing if it is green\./);
  await host.send('plain');
  assert.doesNotMatch(host.requests.at(-1)!.messages.at(-1)!.text, /build/, 'a turn of a person is none');
  assert.deepEqual(counted, [2, undefined], 'each run has its own');
  const outcome = await api!.session.workflow.scheduleSessionTurn({ sessionKey, message: 'wake up', delayMs: 1 });
  assert.equal(!outcome.ok && outcome.reason, 'not-granted');
  await host.call('sessions.delete', { key: sessionKey });
  await host.settled();
  assert.deepEqual(ended, [['delete', sessionKey]]);
});

// one bounded finalize retry
test('a second look: an answer is sent back as often as the plugin says, and then it stands', async () => {
  verifies('seed1:finalize-retry', 'compat:C13');
  const seen: unknown[] = [];
  const register = (api: RegisterApi) =>
    api.on('before_agent_finalize', ({ lastAssistantMessage, attemptIndex, stopHookActive }) => {
      seen.push([lastAssistantMessage, attemptIndex, stopHookActive]);
      if (lastAssistantMessage?.includes('source')) return { action: 'continue' };
      return {
        action: 'revise',
        reason: 'There is no source.',
        retry: { instruction: 'Name a source.', idempotencyKey: 'source', maxAttempts: 2 },
      };
    });
  const grants = ['hooks.intercept:before_agent_finalize', 'conversation.read', 'prompt.inject'];
  await using host = await open(register, { grants, model: ['one', 'two', 'three', 'four', 'five with a source', 'six with a source'] });
  assert.deepEqual([(await host.send('Why?')).reply, host.requests.length], ['three', 3], 'twice, and no more');
  assert.match(told(host), /There is no source\.\s+Name a source\./);
  assert.deepEqual([(await host.send('Why?')).reply, host.requests.length], ['five with a source', 5], 'the next turn has its own budget');
  assert.deepEqual([(await host.send('Why?')).reply, host.requests.length], ['six with a source', 6], 'what is well is not sent back');
  assert.deepEqual(seen.slice(0, 3), [
    ['one', 0, false],
    ['two', 1, true],
    ['three', 2, true],
  ]);
  await host.revoke('hooks.intercept:before_agent_finalize');
  assert.equal(host.registrations()[0]?.code, 'NOT_GRANTED');
});

// models queued next-turn injections and agent_turn_prepare as one prompt context
test('what plugins add to a prompt stands before and after the message, in the order of the hooks', async () => {
  verifies('seed1:prompt-hooks');
  const hooks = ['agent_turn_prepare', 'before_prompt_build', 'heartbeat_prompt_contribution'].map((name) => `hooks.intercept:${name}`);
  let api: RegisterApi | undefined;
  const queued: unknown[] = [];
  const register = (given: RegisterApi) => {
    api = given;
    const around = (name: string) => ({ prependContext: `${name} before`, appendContext: `${name} after` });
    given.on('before_prompt_build', () => ({ ...around('build'), prependSystemContext: 'FIRST', appendSystemContext: 'LAST' }));
    given.on('agent_turn_prepare', ({ queuedInjections }) => {
      queued.push(queuedInjections.map(({ text }) => text));
      return around('prepare');
    });
    given.on('heartbeat_prompt_contribution', () => around('beat'));
  };
  await using host = await open(register, { grants: [...hooks, 'conversation.read', 'prompt.inject'] });
  const { sessionKey } = host;
  await api!.session.workflow.enqueueNextTurnInjection({ sessionKey, text: 'queued before' });
  await api!.session.workflow.enqueueNextTurnInjection({ sessionKey, text: 'queued after', placement: 'append_context' });
  await host.send('MESSAGE');
  const lines = ['queued before', 'prepare before', 'build before', 'MESSAGE', 'queued after', 'prepare after', 'build after'];
  assert.equal(told(host), lines.join('\n'));
  assert.match(host.requests[0]!.system, /^FIRST[\s\S]*LAST$/);
  assert.deepEqual(queued, [['queued before', 'queued after']]);
  await host.call('agent', { sessionKey, message: 'BEAT', trigger: 'heartbeat', idempotencyKey: 'beat-beat-beat-beat' });
  await host.call('agent.wait', { runId: 'beat-beat-beat-beat', timeoutMs: 10_000 });
  assert.equal(
    host.requests.at(-1)!.messages.at(-1)!.text,
    ['prepare before', 'beat before', 'build before', 'BEAT', 'prepare after', 'beat after', 'build after'].join('\n'),
  );
});

// preserves global enqueue order when draining live next-turn injections
test('injections are told by priority, and those of one priority as they were queued', async () => {
  verifies('seed1:injection-priority', 'R06');
  let api: RegisterApi | undefined;
  await using host = await open(
    (given) => {
      api = given;
    },
    { grants: ['prompt.inject'] },
  );
  const { sessionKey } = host;
  const enqueue = (text: string, priority?: number) =>
    api!.session.workflow.enqueueNextTurnInjection({ sessionKey, text, ...(priority === undefined ? {} : { priority }) });
  for (const [text, priority] of [['fourth'], ['last', -1_000], ['second', 7], ['fifth', 0], ['first', 1_000], ['third', 7]] as [
    string,
    number?,
  ][]) {
    assert.equal((await enqueue(text, priority)).enqueued, true);
    await host.advance(1);
  }
  for (const priority of [1_001, -1_001, 0.5, Number.NaN, '5' as never]) {
    const outcome = await enqueue('never', priority);
    assert.match(outcome.enqueued ? '' : outcome.reason, /^invalid: /);
  }
  await host.send('Hi');
  assert.equal(told(host), ['first', 'second', 'third', 'fourth', 'fifth', 'last', 'Hi'].join('\n'));
  await host.send('Again');
  assert.equal(host.requests.at(-1)!.messages.at(-1)!.text, 'Again', 'each is told once');
});

// uses the admitted registry for session %s after a new registry becomes globally active (patch, projection, injection): a call
// belongs to the load that it began with, and what that load gives after its end is committed nowhere
test('a call whose plugin is loaded anew or switched off meanwhile changes nothing, and says so', async () => {
  verifies('seams:W10', 'seams:A18');
  let gate = Promise.withResolvers<void>();
  let begun = Promise.withResolvers<void>();
  const late: unknown[] = [];
  const work = async () => {
    begun.resolve();
    await gate.promise;
  };
  const register = (api: RegisterApi) => {
    api.registerSessionExtension({ namespace: 'box', description: 'd' });
    api.registerSessionAction({
      id: 'slow',
      async handler({ sessionKey }) {
        await work();
        late.push((await api.session.workflow.enqueueNextTurnInjection({ sessionKey, text: 'too late' })).enqueued);
        return { statePatch: { box: 'action' }, inject: [{ text: 'too late' }], reply: 'too late' };
      },
    });
  };
  const patches = {
    async slow() {
      await work();
      return { ok: true, entryPatch: { title: 'Too late' }, statePatch: { box: 'patch' } } as const;
    },
  };
  await using host = await open(register, { grants: ['prompt.inject'] }, { sessionsPatchExtensions: patches });
  const end: Readonly<Record<string, () => Promise<unknown>>> = {
    reload: () => host.reload(),
    disable: () => host.call('plugins.disable', { id: 'desk' }),
  };
  for (const [how, over] of Object.entries(end)) {
    for (const call of [() => host.press('slow'), () => host.patch('slow', 1, { fields: { title: 'Mine' } })]) {
      await host.call('plugins.enable', { id: 'desk' });
      gate = Promise.withResolvers<void>();
      begun = Promise.withResolvers<void>();
      const called = assert.rejects(call(), (error: { details?: { code?: string } }) => {
        assert.match(error.details?.code ?? '', /^(UNKNOWN_ACTION|UNKNOWN_PLUGIN|PLUGIN_FAILED)$/, how);
        return true;
      });
      await begun.promise;
      await over();
      gate.resolve();
      await called;
      const { session } = await host.call<{ session: { title: string; pendingInjections?: number; pluginExtensions?: unknown } }>(
        'sessions.get',
        { key: host.sessionKey },
      );
      assert.deepEqual([session.title, session.pendingInjections, session.pluginExtensions], ['', undefined, undefined], how);
      assert.equal(await host.state('box'), undefined, how);
    }
  }
  assert.deepEqual(late, [false, false]);
  const { entries } = await host.call<{ entries: unknown[] }>('chat.history', { sessionKey: host.sessionKey });
  assert.deepEqual(entries, []);
});

// cleans pending injections for plugins that registered no host-hook callbacks · suppresses stale next-turn injections from plugins
// that are no longer loaded
test('what a plugin that has registered nothing has queued goes with it, and without the grant it is not told', async () => {
  verifies('R06');
  let api: RegisterApi | undefined;
  await using host = await open(
    (given) => {
      api = given;
    },
    { grants: ['prompt.inject'] },
  );
  const { sessionKey } = host;
  const pending = async () => (await host.call<{ injections: unknown[] }>('sessions.injections', { key: sessionKey })).injections.length;
  await api!.session.workflow.enqueueNextTurnInjection({ sessionKey, text: 'WAITS' });
  await host.revoke('prompt.inject');
  await host.send('Hi');
  assert.doesNotMatch(told(host), /WAITS/);
  assert.equal(await pending(), 1, 'the grant may come back');
  await host.call('plugins.disable', { id: 'desk' });
  assert.equal(await pending(), 0);
  await host.call('plugins.enable', { id: 'desk' });
  await host.send('Hi');
  assert.doesNotMatch(told(host), /WAITS/);
});

// skips throwing projectors without losing other projections · defensively ignores promise-like session projections · projects only
// successful synchronous session values without exposing raw state
test('of several projections those that fail, answer later or give no JSON are left out, and their state stays', async () => {
  const projections: Readonly<Record<string, (state: never) => unknown>> = {
    throws() {
      throw new Error('no');
    },
    later: () => Promise.resolve('x'),
    // biome-ignore lint/suspicious/noThenProperty: that is what is left out
    thenable: () => ({ then: () => {} }),
    code: () => () => 1,
    nothing: () => undefined,
    good: () => ({ shown: true }),
  };
  const register = (api: RegisterApi) => {
    for (const [namespace, project] of Object.entries(projections))
      api.registerSessionExtension({ namespace, description: 'd', project: ({ state }) => project(state as never) as never });
    const patch = Object.fromEntries(Object.keys(projections).map((namespace) => [namespace, 'SECRET']));
    api.registerSessionAction({ id: 'fill', handler: () => ({ statePatch: patch }) });
  };
  await using host = await open(register);
  await host.press('fill');
  const { session } = await host.call<{ session: { pluginExtensions: unknown } }>('sessions.get', { key: host.sessionKey });
  assert.deepEqual(session.pluginExtensions, [{ pluginId: 'desk', namespace: 'good', value: { shown: true } }]);
  assert.ok(!JSON.stringify(session).includes('SECRET'));
  for (const namespace of Object.keys(projections)) assert.equal(await host.state(namespace), 'SECRET', namespace);
});

// keeps repeated middleware runtime and matcher scopes paired: there is one way to run tools, so it is the matchers that stay apart
test('each middleware of a plugin is asked for the tools of its own matcher', async () => {
  const asked: string[] = [];
  const register = (api: RegisterApi) => {
    for (const [id, matcher] of [
      ['first', ['note']],
      ['second', ['look']],
      ['both', ['look', 'note']],
    ] as const)
      api.registerToolResultMiddleware({ id, matcher: [...matcher], handler: ({ toolName }) => void asked.push(`${id} ${toolName}`) });
  };
  await using host = await open(register, {
    grants: ['tools.results'],
    tools: { note: { risk: 'read', run: () => 'x' }, look: { risk: 'read', run: () => 'x' } },
    model: [{ calls: [{ name: 'note' }, { name: 'look' }] }, 'done'],
  });
  await host.send('Go');
  assert.deepEqual(asked.toSorted(), ['both look', 'both note', 'first note', 'second look']);
});
