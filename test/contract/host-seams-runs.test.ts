// What a plugin hears and remembers of a run: events that are its own copies, and notes that end with the run, whoever throws, is
// late or hangs. Titles in comments are those of the contract tests that each test stands for (host-seams sections 12.1 to 12.3).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePluginEntry, type RegisterApi } from '@tenon/plugin-sdk';
import type { TestHost, TestHostOptions } from '@tenon/plugin-sdk/testing';
import type { RunStream } from '@tenon/protocol';
import { RUN_CONTEXT_GRACE_MS } from '../../packages/gateway/src/host/run-context.ts';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import { verifies } from '../support/verifies.ts';

function open(register: (api: RegisterApi) => void, options: TestHostOptions = {}): Promise<TestHost> {
  const grants = ['events.follow', 'events.emit'];
  return createTestHost(definePluginEntry({ id: 'one', name: 'The one', register }), { grants, ...options });
}

const isEnd = (event: RunStream) => event.stream === 'lifecycle' && event.phase === 'ended';

// dispatches sanitized agent events and clears plugin run context on run end
test('each subscription is given frozen copies of what a run says, in order, and only of its streams', async () => {
  verifies('seed1:plugin-events');
  const heard: Record<string, RunStream[]> = { all: [], life: [], none: [] };
  const changed: string[] = [];
  await using host = await open(
    (api) => {
      const follow = (id: string, streams?: string[]) =>
        api.registerAgentEventSubscription({
          id,
          ...(streams ? { streams } : {}),
          handle(event) {
            heard[id]!.push(event);
            for (const change of [() => Object.assign(event, { runId: 'mine' }), () => Reflect.deleteProperty(event, 'stream')])
              try {
                if (change()) changed.push(id);
              } catch {}
          },
        });
      follow('all', []);
      follow('life', ['lifecycle']);
      follow('none', ['one.nothing']);
    },
    { model: ['Hello there'] },
  );
  const { runId } = await host.send('Hi');
  assert.deepEqual(changed, []);
  assert.ok(heard.all!.every((event) => event.runId === runId && event.sessionKey === host.sessionKey));
  const seqs = heard.all!.map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  );
  assert.deepEqual(
    heard.all!.filter(({ stream }) => stream === 'lifecycle'),
    heard.life,
  );
  assert.ok(heard.all!.some(({ stream }) => stream === 'assistant'));
  assert.ok(isEnd(heard.life!.at(-1)!));
  assert.deepEqual(heard.none, []);
});

// continues agent event dispatch and terminal cleanup when one subscription throws
test('one subscription that throws or rejects keeps nobody from hearing the rest, and what the run left is cleared', async () => {
  verifies('seams:W15', 'seed1:plugin-events');
  let api: RegisterApi | undefined;
  const heard: string[] = [];
  await using host = await open((given) => {
    api = given;
    given.registerAgentEventSubscription({
      id: 'a-throws',
      handle(event) {
        given.runContext.setRunContext({ runId: event.runId, namespace: 'notes', value: event.stream });
        throw new Error('no');
      },
    });
    given.registerAgentEventSubscription({ id: 'b-rejects', handle: () => Promise.reject(new Error('never')) });
    given.registerAgentEventSubscription({ id: 'c-hears', streams: ['lifecycle'], handle: (event) => void heard.push(event.stream) });
  });
  const { runId, end } = await host.send('Hi');
  assert.equal(end.kind, 'completed');
  assert.ok(heard.length >= 2, heard.join());
  const notes = () => api!.runContext.getRunContext({ runId, namespace: 'notes' });
  assert.notEqual(notes(), undefined);
  await host.advance(RUN_CONTEXT_GRACE_MS);
  assert.equal(notes(), undefined);
  const counts = (await host.plugin()).counts.find(({ place }) => place === 'agent_event');
  assert.ok((counts?.errors ?? 0) >= 2, 'it is on record');
});

// does not let delayed non-terminal subscriptions resurrect closed run context · expired marker survives repeated terminal events
test('a handler that is late writes nothing into a run that is over, before and after it was cleared', async () => {
  verifies('seams:W15');
  const gate = Promise.withResolvers<void>();
  const wrote: boolean[] = [];
  let api: RegisterApi | undefined;
  await using host = await open((given) => {
    api = given;
    given.registerAgentEventSubscription({
      id: 'late',
      streams: ['assistant'],
      async handle({ runId }) {
        await gate.promise;
        wrote.push(given.runContext.setRunContext({ runId, namespace: 'late', value: 1 }));
      },
    });
  });
  const { runId } = await host.send('Hi');
  gate.resolve();
  await host.settled();
  assert.ok(wrote.length > 0 && wrote.every((each) => !each), wrote.join());
  await host.advance(RUN_CONTEXT_GRACE_MS);
  await host.send('Another');
  assert.equal(api!.runContext.setRunContext({ runId, namespace: 'late', value: 1 }), false);
  assert.equal(api!.runContext.getRunContext({ runId, namespace: 'late' }), undefined);
});

// preserves run context until async terminal event subscriptions settle · bounds terminal event wait before clearing run context ·
// kept until terminal handlers settle · cleared after grace
test('who is told of the end still reads what the run left, also a little later; one that hangs keeps it no longer', async () => {
  verifies('seams:W15');
  const read: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  let api: RegisterApi | undefined;
  await using host = await open((given) => {
    api = given;
    given.registerAgentEventSubscription({
      id: 'ears',
      streams: ['lifecycle'],
      async handle(event) {
        const { runId } = event;
        if (!isEnd(event)) {
          given.runContext.setRunContext({ runId, namespace: 'notes', value: { by: 'start' } });
          return;
        }
        read.push(given.runContext.getRunContext({ runId, namespace: 'notes' }));
        await gate.promise;
        read.push(given.runContext.getRunContext({ runId, namespace: 'notes' }));
      },
    });
    given.registerAgentEventSubscription({
      id: 'hangs',
      streams: ['lifecycle'],
      handle: (event) => (isEnd(event) ? new Promise(() => {}) : undefined),
    });
  });
  const { runId } = await host.send('Hi');
  gate.resolve();
  await host.settled();
  assert.deepEqual(read, [{ by: 'start' }, { by: 'start' }]);
  await host.advance(RUN_CONTEXT_GRACE_MS);
  assert.equal(api!.runContext.getRunContext({ runId, namespace: 'notes' }), undefined);
});

// attribution and stream ownership · blocks plugin attempts to emit host lifecycle events · requires plugin-owned streams …
test('what a plugin says bears its name, whatever its data says, and ends no run', async () => {
  verifies('seed1:plugin-events');
  const heard: RunStream[] = [];
  const outcomes: unknown[] = [];
  await using host = await open(
    (api) => {
      api.registerAgentEventSubscription({ id: 'own', streams: ['one.news'], handle: (event) => void heard.push(event) });
      api.registerTool({
        name: 'say',
        description: 'Says it',
        parameters: { type: 'object', properties: {} },
        risk: 'read',
        execute(_, { runId, sessionKey }) {
          const data = { plugin: 'gateway', pluginId: 'gateway', stream: 'lifecycle', phase: 'ended' };
          for (const stream of ['lifecycle', 'assistant', 'tool', 'plugin', 'two.news', 'one.news'])
            outcomes.push(api.agent.events.emitAgentEvent({ runId, sessionKey, stream, data }).emitted);
          return { content: 'said' };
        },
      });
    },
    { grants: ['events.follow', 'events.emit', 'tools.register'], model: [{ calls: [{ name: 'say' }] }, 'done'] },
  );
  const { end, reply } = await host.send('Hi');
  assert.deepEqual([end.kind, reply], ['completed', 'done']);
  assert.deepEqual(outcomes, [false, false, false, false, false, true]);
  const own = host.events.filter(({ event, payload }) => event === 'agent' && payload.stream === 'plugin');
  assert.deepEqual(
    own.map(({ payload }) => [payload.plugin, payload.name]),
    [['one', 'one.news']],
  );
  assert.equal(heard.length, 1);
});

// clears run context on terminal events even when no plugin subscribes · restart keeps context, disable clears
test('notes of a run end with it where nobody follows events, and are nobody else’s', async () => {
  verifies('seams:W15');
  let api: RegisterApi | undefined;
  const kept: unknown[] = [];
  await using host = await open(
    (given) => {
      api = given;
      given.on('agent_turn_prepare', ({ runId }) => {
        given.runContext.setRunContext({ runId: runId!, namespace: 'notes', value: 'prepared' });
        return undefined;
      });
      given.on('before_agent_finalize', ({ runId }) => {
        kept.push(given.runContext.getRunContext({ runId: runId!, namespace: 'notes' }));
        return undefined;
      });
    },
    { grants: ['hooks.intercept:agent_turn_prepare', 'hooks.intercept:before_agent_finalize', 'conversation.read', 'prompt.inject'] },
  );
  const { runId } = await host.send('Hi');
  assert.deepEqual(kept, ['prepared']);
  await host.advance(RUN_CONTEXT_GRACE_MS);
  assert.equal(api!.runContext.getRunContext({ runId, namespace: 'notes' }), undefined);
});
