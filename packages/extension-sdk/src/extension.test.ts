import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Type } from 'typebox';
import { z } from 'zod';
import {
  defineCommand,
  defineExtension,
  defineProvider,
  defineTool,
  errorCode,
  eventName,
  method,
  render,
  RpcError,
  type Setup,
  toJsonSchema,
} from './index.ts';
import { createTestHost, type TestHostOptions } from './testing/index.ts';
import { verifies } from '../../../test/support/verifies.ts';

function hosted(t: TestContext, setup: Setup, options: TestHostOptions = {}) {
  const host = createTestHost(defineExtension(setup), options);
  t.after(async () => {
    await host.close();
    assert.deepEqual(host.faults, [], 'everything that was sent fits the protocol');
  });
  return host;
}

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;

test('initialize tells who it is and what it registered, and nothing that is empty but tools and subscriptions', async (t) => {
  const bare = hosted(t, () => {});
  assert.deepEqual(await bare.initialize(), {
    protocol_version: 1,
    extension: { name: 'extension', version: '0.0.0' },
    registrations: { tools: [], subscriptions: [] },
  });
  const host = hosted(t, async (extension) => {
    await Promise.resolve();
    extension.name = 'sample';
    extension.version = '1.2.3';
    extension.registerTool(
      defineTool({ name: 'say', description: 'Says it.', parameters: text, deferred: true, execute: (args) => args.text }),
    );
    extension.registerCommand(defineCommand({ name: 'plan', description: 'Plans.', execute: () => 'planned' }));
    extension.registerCommand('old', { description: 'As in pi.', handler: (args) => args });
    extension.registerFlag({ name: 'loud' });
    extension.registerFlag('quiet', { type: 'boolean', default: false });
    extension.registerShortcut({ key: 'ctrl+p', command: 'plan' });
    extension.registerShortcut('ctrl+o', { description: 'Old.', handler: () => 'pressed' });
    extension.registerProvider('echo', { models: [{ id: 'one', displayName: 'One' }], complete: () => 'x', oauthLogin: () => ({}) });
    extension.registerMessageRenderer('board', render.markdown('{{text}}'));
    extension.on('tool_call', () => {});
    extension.on('turn_start', () => {});
    extension.events.on('topic', () => {});
  });
  assert.deepEqual((await host.initialize()).registrations, {
    tools: [{ name: 'say', description: 'Says it.', parameters: text, deferred: true }],
    subscriptions: ['turn_start', 'bus/event'],
    commands: [
      { name: 'plan', description: 'Plans.' },
      { name: 'old', description: 'As in pi.' },
      { name: 'key-ctrl-o', description: 'Old.' },
    ],
    flags: ['loud', 'quiet'],
    shortcuts: [
      { key: 'ctrl+p', command: 'plan' },
      { key: 'ctrl+o', command: 'key-ctrl-o', description: 'Old.' },
    ],
    providers: [{ name: 'echo', oauth: true, models: [{ id: 'one', display_name: 'One' }] }],
    message_renderers: [{ tag: 'board', template: { kind: 'markdown', text: '{{text}}' } }],
    hooks: ['tool_call'],
  });
  assert.deepEqual(host.faults, []);
});

test('a setup that fails is the answer to initialize; a name that is bad or taken fails it', async (t) => {
  const tool = (name: string) => defineTool({ name, description: '', parameters: text, execute: () => '' });
  const setups: readonly (readonly [Setup, RegExp])[] = [
    [() => Promise.reject(new Error('no disk')), /setup of the extension failed: no disk/],
    [(extension) => extension.registerTool(tool('../x')), /"..\/x" cannot be the name of a tool/],
    [(extension) => void [1, 2].map(() => extension.registerTool(tool('same'))), /"same" is registered twice among the tools/],
    [(extension) => extension.registerTool(defineTool({ ...tool('x'), parameters: 5 as never })), /parameters of a tool are an object/],
  ];
  for (const [setup, message] of setups) await assert.rejects(hosted(t, setup).initialize(), message);
});

test('G36: arguments are parsed by zod, and held against TypeBox and JSON Schema, before a tool runs', async (t) => {
  verifies('sep:G36');
  const host = hosted(t, (extension) => {
    extension.registerTool(
      defineTool({
        name: 'zod',
        description: '',
        parameters: z.object({ count: z.number().int(), unit: z.string().default('m') }),
        execute: ({ count, unit }) => `${count.toFixed(0)} ${unit}`,
      }),
    );
    extension.registerTool(
      defineTool({
        name: 'typebox',
        description: '',
        parameters: Type.Object({ count: Type.Integer({ minimum: 1 }), unit: Type.Optional(Type.String()) }),
        execute: ({ count, unit }) => `${count.toFixed(0)} ${unit?.toUpperCase() ?? 'none'}`,
      }),
    );
    extension.registerTool(defineTool({ name: 'json', description: '', parameters: text, execute: (args) => args.text.toUpperCase() }));
  });
  assert.deepEqual(await host.callTool('zod', { count: 2 }), { content: '2 m' });
  assert.deepEqual(await host.callTool('typebox', { count: 2, unit: 'km' }), { content: '2 KM' });
  assert.deepEqual(await host.callTool('json', { text: 'a' }), { content: 'A' });
  for (const [tool, args, place] of [
    ['zod', { count: 'many' }, /\/count: /],
    ['typebox', { count: 0 }, /\/count must be at least 1/],
    ['typebox', { count: 1.5 }, /\/count must be integer/],
    ['json', {}, /it has no "text"/],
    ['json', { text: 5 }, /\/text must be string, not number/],
  ] as const) {
    const { content, is_error } = await host.callTool(tool, args);
    assert.match(content, place);
    assert.equal(is_error, true);
  }
  const zod = toJsonSchema(z.object({ count: z.number().default(1) })) as { required?: string[]; type: string };
  assert.deepEqual([zod.type, zod.required], ['object', undefined]);
});

test('a tool answers text, parts or a result; what it throws is a result that is an error', async (t) => {
  const answers: Record<string, () => unknown> = {
    text: () => 'plain',
    parts: () => ({ content: [{ type: 'text', text: 'a' }, { type: 'image' }], details: { kept: 1 } }),
    failed: () => ({ content: 'bad', is_error: true }),
    thrown: () => {
      throw new Error('broke');
    },
    rejected: () => Promise.reject('odd'),
    nothing: () => undefined,
    hollow: () => ({}),
  };
  const host = hosted(t, (extension) => {
    for (const [name, answer] of Object.entries(answers)) {
      extension.registerTool(defineTool({ name, description: '', parameters: { type: 'object' }, execute: answer as () => string }));
    }
  });
  assert.deepEqual(await host.callTool('text'), { content: 'plain' });
  assert.deepEqual(await host.callTool('parts'), { content: 'a\n[image]', details: { kept: 1 } });
  assert.deepEqual(await host.callTool('failed'), { content: 'bad', is_error: true });
  assert.deepEqual(await host.callTool('thrown'), { content: 'broke', is_error: true });
  assert.deepEqual(await host.callTool('rejected'), { content: 'odd', is_error: true });
  for (const name of ['nothing', 'hollow']) assert.equal((await host.callTool(name)).is_error, true);
});

test('a tool and a command that are not there are answered as results, a method that is not there as an error', async (t) => {
  const host = hosted(t, () => {});
  assert.deepEqual(await host.callTool('nope'), { content: 'unknown tool: nope', is_error: true });
  assert.deepEqual(await host.runCommand('nope'), { content: 'unknown command: nope' });
  assert.deepEqual(await host.completeCommand('nope'), []);
  await assert.rejects(host.request('exec/run', {}), { code: errorCode.MethodNotFound, message: 'method not found: exec/run' });
  await host.ping();
});

test("a tool of pi's signature gets id, arguments, signal, updates and context", async (t) => {
  const host = hosted(t, (extension) => {
    extension.registerTool({
      name: 'old',
      label: 'Old',
      description: '',
      parameters: text,
      execute(toolCallId, params, signal, onUpdate, context) {
        onUpdate({ content: [{ type: 'text', text: 'half' }], details: { at: 1 } });
        return { content: [{ type: 'text', text: `${toolCallId} ${params.text} ${signal.aborted} ${context.callId}` }] };
      },
    });
  });
  assert.deepEqual(await host.callTool('old', { text: 'x' }, { callId: 'c1' }), { content: 'c1 x false c1' });
  assert.deepEqual(host.paramsOf('tool/update'), [{ call_id: 'c1', message: 'half', details: { at: 1 } }]);
});

test('a cancelled tool sees its signal, and the host is answered at once', async (t) => {
  const { promise: seen, resolve: see } = Promise.withResolvers<void>();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  const host = hosted(t, (extension) => {
    extension.registerTool(
      defineTool({
        name: 'slow',
        description: '',
        parameters: { type: 'object' },
        execute: (_args, { signal, onUpdate }) => {
          onUpdate({ progress: 7 });
          start();
          signal.addEventListener('abort', () => see());
          return new Promise<string>(() => {});
        },
      }),
    );
  });
  const abort = new AbortController();
  const call = host.callTool('slow', {}, { signal: abort.signal });
  await started;
  abort.abort();
  await assert.rejects(call, { code: errorCode.Cancelled });
  await seen;
  await host.ping();
  assert.deepEqual(
    host.paramsOf('tool/update').map(({ progress }) => progress),
    [1],
  );
});

test('commands get what was typed, complete, and may say nothing', async (t) => {
  const host = hosted(t, (extension) => {
    extension.registerCommand({
      name: 'echo',
      description: '',
      execute: ({ args }) => ({ content: `${String(args.args)}!` }),
      complete: (partial) =>
        ['one', { value: 'other', description: 'the other' }].filter((each) =>
          (typeof each === 'string' ? each : each.value).startsWith(partial),
        ),
    });
    extension.registerCommand('old', {
      handler: async (args, context) => {
        await context.session.sendMessage(`said ${args}`);
      },
      getArgumentCompletions: (prefix) => (prefix === '' ? null : [{ value: prefix, label: 'same' }]),
    });
    extension.registerCommand('bad', { handler: async () => assert.fail('broke') });
  });
  assert.deepEqual(await host.runCommand('echo', 'hello'), { content: 'hello!' });
  assert.deepEqual(await host.completeCommand('echo', 'ot'), [{ value: 'other', description: 'the other' }]);
  assert.deepEqual(await host.completeCommand('echo', 'one'), [{ value: 'one' }]);
  assert.deepEqual(await host.runCommand('old', 'x y'), {});
  assert.deepEqual(await host.completeCommand('old'), []);
  assert.deepEqual(await host.completeCommand('old', 'p'), [{ value: 'p', description: 'same' }]);
  await assert.rejects(host.runCommand('bad'), { code: errorCode.Internal, message: 'broke' });
  assert.deepEqual(
    host.sessionCalls.map(({ method: name, params }) => [name, params.text]),
    [['session/send_message', 'said x y']],
  );
});

test('hooks: the first block wins, patches are merged, and the whole value is sent', async (t) => {
  const seen: unknown[] = [];
  const host = hosted(t, (extension) => {
    extension.on('tool_result', (event) => ({ patch: { content: `${event.content}!` } }));
    extension.on('tool_result', (event) => {
      seen.push(event.content);
      event.is_error = true;
    });
    extension.on('tool_call', (event) => {
      if (event.toolName === 'rm') return { block: true, reason: 'never' };
      event.input.safe = true;
      return undefined;
    });
    extension.on('tool_call', () => ({ block: false }));
    extension.on('session_before_tree', () => ({ cancel: true }));
    extension.on('input', () => 'odd' as never);
    extension.on('user_bash', () => {
      throw new Error('broke');
    });
  });
  assert.deepEqual(await host.callHook('tool_result', { tool: 'a', arguments: {}, content: 'x', is_error: false }), {
    action: 'modify',
    patch: { tool: 'a', arguments: {}, content: 'x!', is_error: true },
  });
  assert.deepEqual(seen, ['x!']);
  assert.deepEqual(await host.callHook('tool_call', { tool: 'rm', arguments: {} }), { action: 'block', reason: 'never' });
  assert.deepEqual(await host.callHook('tool_call', { tool: 'ls', arguments: { a: 1 } }), {
    action: 'modify',
    patch: { tool: 'ls', arguments: { a: 1, safe: true } },
  });
  assert.deepEqual(await host.callHook('session_before_tree', {}), { action: 'block' });
  assert.deepEqual(await host.callHook('context', { messages: [] }), { action: 'continue' });
  // A hook that fails is an error: the host then does what the hook says of failures.
  await assert.rejects(host.callHook('user_bash', { command: 'x' }), { code: errorCode.Internal, message: 'broke' });
  await assert.rejects(host.callHook('input', { text: 'x' }), /answers \{block\}, \{patch\} or nothing/);
});

test('G33: message_end and session_before_* reach their handlers as hooks and as events', async (t) => {
  verifies('sep:G33');
  const seen: string[] = [];
  const names = ['message_end', 'session_before_compact', 'session_before_tree'] as const;
  const host = hosted(t, (extension) => {
    for (const name of names) extension.on(name, (_event, { kind }) => void seen.push(`${name} ${kind}`));
  });
  const { registrations } = await host.initialize();
  assert.deepEqual(registrations?.hooks, names);
  assert.deepEqual(registrations?.subscriptions, names);
  for (const name of names) {
    await host.sendEvent(name, { content: 'x' });
    assert.deepEqual(await host.callHook(name, { content: 'x' }), { action: 'continue' });
  }
  assert.deepEqual(
    seen,
    names.flatMap((name) => [`${name} event`, `${name} hook`]),
  );
});

test('G34: a handler of an event that throws or rejects is logged, and the others run', async (t) => {
  verifies('sep:G34');
  const seen: unknown[] = [];
  const host = hosted(t, (extension) => {
    extension.on('turn_start', () => {
      throw new Error('broke');
    });
    extension.on('turn_start', () => Promise.reject(new Error('broke later')));
    const stop = extension.on('turn_start', (payload, { seq }) => void seen.push(payload, seq));
    extension.on('turn_end', () => stop());
    extension.on('events_lost', ({ lost }) => void seen.push(lost));
  });
  await host.sendEvent('turn_start', { agent_id: 'a' });
  await host.sendEvent('turn_end');
  await host.sendEvent('turn_start');
  await host.sendEvent('events_lost', { lost: 3 });
  await host.sendEvent('nobody_follows');
  assert.deepEqual(seen, [{ agent_id: 'a' }, 0, 3]);
  assert.deepEqual(host.logs.map(({ level, message }) => `${level} ${message}`).slice(0, 2), [
    'error The handler of turn_start failed: broke',
    'error The handler of turn_start failed: broke later',
  ]);
});

test('G3: publishing where the host has no bus is a refusal and ends nothing', async (t) => {
  verifies('sep:G3');
  const noBus = () => {
    throw new RpcError(errorCode.MethodNotFound, 'method not found: bus/publish');
  };
  let refused: unknown;
  const host = hosted(
    t,
    (extension) => {
      extension.registerCommand('emit', { handler: () => extension.events.emit('topic', { a: 1 }) });
      extension.registerCommand('publish', {
        handler: async () => {
          refused = await extension.events.publish('topic').catch((error) => error);
        },
      });
    },
    { answers: { 'bus/publish': noBus } },
  );
  await host.runCommand('emit');
  await host.runCommand('publish');
  await host.ping();
  assert.equal((refused as RpcError).code, errorCode.MethodNotFound);
  assert.deepEqual(host.busPublishes, [
    { topic: 'topic', payload: { a: 1 } },
    { topic: 'topic', payload: {} },
  ]);
  assert.match(host.logs.at(-1)!.message, /"topic" was not published/);
});

test('the bus calls those who follow a topic', async (t) => {
  const seen: unknown[] = [];
  const host = hosted(t, (extension) => void extension.events.on('a', (payload, from) => void seen.push(payload, from)));
  await host.sendEvent('bus/event', { from: 'other', topic: 'a', payload: { n: 1 } });
  await host.sendEvent('bus/event', { from: 'other', topic: 'b', payload: { n: 2 } });
  assert.deepEqual(seen, [{ n: 1 }, 'other']);
});

test('G37: kv, exec, active tools, state of the session and ping are there', async (t) => {
  verifies('sep:G37');
  const results: unknown[] = [];
  const host = hosted(
    t,
    (extension) => {
      extension.registerCommand('all', {
        handler: async (_args, { exec, session }) => {
          const { kv } = extension;
          await kv.set('a/1', { n: 1 });
          await kv.set('b', null);
          results.push(await kv.get('a/1'), await kv.get('none'), await kv.list('a/'));
          await kv.delete('a/1');
          results.push(await kv.list());
          results.push(
            await kv.compareAndSet('c', null, 1),
            await kv.compareAndSet('c', null, 2),
            await kv.compareAndSet('c', 1, 2),
            await kv.get('c'),
          );
          results.push(await exec('git', ['status'], { cwd: '/tmp' }), await extension.exec('ls'));
          results.push(await extension.setActiveTools(['read', 'write']), await session.state());
          await extension.ping();
        },
      });
    },
    {
      enabledTools: ['read'],
      onExec: ({ command, args, cwd }) => ({ stdout: [command, ...args, cwd].join(' '), exit_code: 3 }),
      answers: { 'session/state': () => ({ state: { model: 'm' } }) },
    },
  );
  await host.runCommand('all');
  assert.deepEqual(results, [
    { n: 1 },
    null,
    ['a/1'],
    ['b'],
    ...[true, false, true, 2],
    { stdout: 'git status /tmp', stderr: '', code: 3, killed: false },
    { stdout: 'ls ', stderr: '', code: 3, killed: false },
    ['read'],
    { model: 'm' },
  ]);
});

test('what may not be run rejects, and what takes too long was killed', async (t) => {
  const results: unknown[] = [];
  const host = hosted(
    t,
    (extension) => {
      extension.registerCommand('run', {
        handler: async (_args, { exec }) => {
          results.push(await exec('sleep', ['9'], { timeout: 1 }));
        },
      });
      extension.registerCommand('refused', { handler: async (_args, { exec }) => void (await exec('rm')) });
    },
    {
      onExec: ({ command }) =>
        command === 'sleep' ? new Promise(() => {}) : Promise.reject(new RpcError(errorCode.NotTrusted, 'not that')),
    },
  );
  await host.runCommand('run');
  assert.deepEqual((results[0] as { killed: boolean }).killed, true);
  await assert.rejects(host.runCommand('refused'), { code: errorCode.NotTrusted });
});

test('the extension object writes into the session of the call it is used in, and nowhere else', async (t) => {
  let outside: unknown;
  const host = hosted(t, (extension) => {
    extension.registerTool(
      defineTool({
        name: 'write',
        description: '',
        parameters: { type: 'object' },
        async execute() {
          await extension.sendMessage('a');
          await extension.sendMessage(
            { customType: 'board', content: 'b', details: { n: 1 } },
            { triggerTurn: true, deliverAs: 'nextTurn' },
          );
          await extension.sendMessage({ customType: 'board', content: 'c', display: false });
          await extension.sendUserMessage([{ type: 'text', text: 'd' }], { deliverAs: 'steer' });
          await extension.appendEntry('board', { n: 2 });
          return String(await extension.setModel({ id: 'm', provider: 'p' }));
        },
      }),
    );
    extension.on('turn_start', async () => {
      await extension.sendMessage('from an event');
    });
    outside = extension.sendMessage('from nowhere').catch((error) => error);
  });
  assert.deepEqual(await host.callTool('write'), { content: 'true' });
  assert.deepEqual(
    host.sessionCalls.map(({ method: name, params: { context: _, ...params } }) => [name, params]),
    [
      ['session/send_message', { text: 'a' }],
      ['session/append_entry', { entry: { tag: 'board', data: { content: 'b', details: { n: 1 } } } }],
      ['session/send_user_message', { text: 'b', deliver_as: 'next_turn' }],
      ['session/append_entry', { entry: { tag: 'board', data: { content: 'c' } } }],
      ['session/send_user_message', { text: 'd', deliver_as: 'steer' }],
      ['session/append_entry', { entry: { tag: 'board', data: { n: 2 } } }],
      ['session/set_model', { model: 'm', provider: 'p' }],
    ],
  );
  assert.equal(((await outside) as RpcError).code, errorCode.ContextViolation);
  await host.sendEvent('turn_start');
  await host.ping();
  assert.match(host.logs.at(-1)!.message, /session action requires a command-tier context/);
});

test('a context is good for its call only', async (t) => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { promise: late, resolve: finish } = Promise.withResolvers<unknown>();
  const host = hosted(t, (extension) => {
    extension.registerCommand('leave', {
      handler: (_args, { session }) => {
        void ended.then(() => session.sendMessage('late')).catch(finish);
      },
    });
  });
  await host.runCommand('leave');
  end();
  assert.equal(((await late) as RpcError).code, errorCode.ContextViolation);
});

test('dialogs are as in pi: what was chosen, undefined or false when dismissed', async (t) => {
  const results: unknown[] = [];
  const answers: Record<string, object> = { 'Which?': { value: 'b' }, 'Sure?\nReally.': { confirmed: true }, 'Name?': { text: 'n' } };
  const host = hosted(
    t,
    (extension) => {
      extension.registerCommand('ask', {
        handler: async (_args, { ui }) => {
          results.push(
            await ui.select('Which?', ['a', 'b']),
            await ui.confirm('Sure?', 'Really.'),
            await ui.input('Name?', { default: 'd' }),
          );
          results.push(await ui.select('Gone?', ['a']), await ui.confirm('Gone?'), await ui.input('Gone?', 'here'));
          results.push(await ui.input('Never?', '', { timeout: 1 }));
        },
      });
    },
    { onUiRequest: ({ prompt }) => (prompt === 'Never?' ? new Promise(() => {}) : answers[String(prompt)]) },
  );
  await host.runCommand('ask');
  assert.deepEqual(results, ['b', true, 'n', undefined, false, undefined, undefined]);
  assert.deepEqual(host.uiRequests[2], { kind: 'input', prompt: 'Name?', default: 'd' });
});

test('what is shown never fails: statuses and widgets by key are put together, and what cannot be shown is logged once', async (t) => {
  const setup: Setup = (extension) =>
    extension.registerCommand('show', {
      handler: async (_args, { ui, hasUI }) => {
        await ui.setStatus('a', '1');
        await ui.setStatus('b', '2');
        await ui.setStatus('a', undefined);
        await ui.setWidget('w', ['x', 'y']);
        await ui.setWidget('v', render.progress(2, 'done'));
        await ui.notify('careful', 'warning');
        await ui.setTitle('t');
        return `${hasUI()} ${hasUI('select')}`;
      },
    });
  const host = hosted(t, setup);
  assert.deepEqual(await host.runCommand('show'), { content: 'true true' });
  const w = { kind: 'markdown', text: 'x\ny' };
  const v = { kind: 'progress', value: 1, label: 'done', text: 'done: 100%' };
  assert.deepEqual(host.uiRequests, [
    { kind: 'set_status', status: '1' },
    { kind: 'set_status', status: '1 · 2' },
    { kind: 'set_status', status: '2' },
    { kind: 'set_widget', widget: w },
    { kind: 'set_widget', widget: { kind: 'stack', children: [w, v], text: 'x\ny\ndone: 100%' } },
    { kind: 'notify', message: 'careful', level: 'warn' },
    { kind: 'set_title', title: 't' },
  ]);
  const headless = hosted(t, setup, { initialize: { mode: 'headless', ui_capabilities: [] } });
  assert.deepEqual(await headless.runCommand('show'), { content: 'false false' });
  assert.deepEqual(headless.uiRequests, []);
  assert.equal(headless.logs.length, 4);
});

test('a dialog where nobody can be asked rejects with NoUI', async (t) => {
  const host = hosted(
    t,
    (extension) => extension.registerCommand('ask', { handler: async (_args, { ui }) => String(await ui.confirm('?')) }),
    {
      initialize: { ui_capabilities: [] },
    },
  );
  await assert.rejects(host.runCommand('ask'), { code: errorCode.NoUI });
});

test('a provider streams its text, and text that was not streamed is not lost', async (t) => {
  const echo = defineProvider({
    name: 'echo',
    models: [{ id: 'm' }],
    async complete({ messages, model }, { delta }) {
      if (model === 'quiet') return 'whole';
      for (const { content } of messages) delta(String(content));
      delta({ type: 'Reasoning', content: 'because' });
      return { content: 'ab', usage: { total_tokens: 2 }, finish_reason: 'stop' };
    },
    oauthLogin: () => ({ access_token: 'a', refresh_token: 'r', expires_at: 5 }),
    oauthRefresh: (token) => ({ access_token: `${token}2` }),
  });
  const host = hosted(t, (extension) => extension.registerProvider(echo));
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'user', content: 'b' },
  ];
  assert.deepEqual(await host.complete({ provider: 'echo', model: 'm', messages }), {
    result: { content: 'ab', usage: { total_tokens: 2 }, finish_reason: 'stop' },
    deltas: [
      { type: 'Delta', content: 'a' },
      { type: 'Delta', content: 'b' },
      { type: 'Reasoning', content: 'because' },
    ],
  });
  assert.deepEqual((await host.complete({ provider: 'echo', model: 'quiet' })).deltas, [{ type: 'Delta', content: 'whole' }]);
  assert.deepEqual((await host.complete({ provider: 'echo', model: 'quiet', stream: false })).deltas, []);
  assert.deepEqual(await host.oauthLogin('echo'), { access_token: 'a', refresh_token: 'r', expires_at: 5 });
  assert.deepEqual(await host.oauthRefresh('echo', 'r'), { access_token: 'r2' });
  await assert.rejects(host.complete({ provider: 'none', model: 'm' }), { code: errorCode.InvalidParams });
});

test('flags have what the host says, otherwise their default', async (t) => {
  const host = hosted(
    t,
    (extension) => {
      extension.registerFlag('level', { default: 1 });
      extension.registerFlag({ name: 'loud', default: true });
      extension.registerCommand('flags', {
        handler: () => JSON.stringify([extension.getFlag('level'), extension.getFlag('loud'), extension.getFlag('none')]),
      });
    },
    { initialize: { flags: { loud: false } } },
  );
  assert.deepEqual(await host.runCommand('flags'), { content: '[1,false,null]' });
});

test('what is registered later is told in one update; what hosts take at the start only is refused then', async (t) => {
  const host = hosted(t, (extension) => {
    extension.registerCommand('grow', {
      handler: () => {
        extension.registerTool(defineTool({ name: 'new', description: 'New.', parameters: text, execute: () => 'new' }));
        extension.registerCommand('more', { handler: () => 'more' });
        extension.on('turn_end', () => {});
        assert.throws(() => extension.on('tool_call', () => {}), /hooks are registered in the setup/);
      },
    });
  });
  await host.runCommand('grow');
  await host.ping();
  assert.deepEqual(host.paramsOf('registry/update'), [
    {
      tools: [{ name: 'new', description: 'New.', parameters: text }],
      commands: [{ name: 'more', description: 'more' }],
      subscriptions: ['turn_end'],
    },
  ]);
  assert.deepEqual(await host.callTool('new', { text: '' }), { content: 'new' });
});

const beyond = {
  capabilities_enabled: {
    state: true,
    actions: true,
    policies: true,
    interactions: true,
    descriptors: true,
    tool_facts: true,
    injections: true,
  },
};

const withSeams: Setup = (extension) => {
  extension.registerState({ namespace: 'score', description: 'How many.' });
  extension.registerDescriptor({ id: 'panel', surface: 'session', label: 'Score' });
  extension.registerAction({ id: 'add' }, async ({ payload, session_key }) => {
    if (payload === 'fail') throw new Error('cannot');
    const { revision } = await extension.call('state/get', { namespace: 'score' });
    await extension.call('state/patch', { namespace: 'score', value: payload, if_revision: revision });
    await extension.call('injection/enqueue', { session_key, text: 'The score has changed.' });
    return { ok: true, result: payload };
  });
  extension.registerPatchAction({ action: 'rename' }, ({ payload, entry }) => {
    if (payload === undefined) throw new Error('rename to what?');
    return { ok: true, entry_patch: { title: `${entry.key} ${String(payload)}` } };
  });
  extension.registerInteraction({ namespace: 'score', channel: 'chat' }, ({ payload }) => ({ text: payload }));
  extension.registerPolicy({ id: 'strict', description: 'No rm.' }, ({ tool }) =>
    tool === 'rm' ? { decision: 'deny', reason: 'never' } : { decision: 'allow' },
  );
};

test("Tenon's seams are registered, called and answered where the host has them", async (t) => {
  const host = hosted(t, withSeams, {
    initialize: beyond,
    answers: {
      'state/get': () => ({ value: null, revision: 3 }),
      'state/patch': () => ({ revision: 4 }),
      'injection/enqueue': () => ({ id: 'i', session_key: 'agent:main:main' }),
    },
  });
  const { registrations } = await host.initialize();
  assert.deepEqual(registrations?.state, [{ namespace: 'score', description: 'How many.' }]);
  assert.deepEqual(Object.keys(registrations ?? {}).sort(), [
    'actions',
    'descriptors',
    'interactions',
    'patch_actions',
    'policies',
    'state',
    'subscriptions',
    'tools',
  ]);
  const place = { session_key: 'agent:main:main', agent_id: 'main' };
  const client = { scopes: ['operator.write'] };
  assert.deepEqual(await host.dispatch('action/execute', { ...place, client, action: 'add', payload: 5 }), { ok: true, result: 5 });
  assert.deepEqual(await host.dispatch('action/execute', { ...place, client, action: 'add', payload: 'fail' }), {
    ok: false,
    error: 'cannot',
  });
  const entry = { key: 'agent:main:main' };
  assert.deepEqual(await host.dispatch('patch_action/execute', { ...place, client, action: 'rename', entry, payload: 'x' }), {
    ok: true,
    entry_patch: { title: 'agent:main:main x' },
  });
  assert.deepEqual(await host.dispatch('patch_action/execute', { ...place, client, action: 'rename', entry }), {
    ok: false,
    error: 'rename to what?',
  });
  const { context, ...patch } = host.paramsOf('state/patch')[0]!;
  assert.deepEqual(patch, { namespace: 'score', value: 5, if_revision: 3 });
  assert.ok(context);
  assert.deepEqual(host.paramsOf('injection/enqueue'), [{ session_key: 'agent:main:main', text: 'The score has changed.' }]);
  const decide = { ...place, policy: 'strict', arguments: {}, call_id: 'c', run_id: 'r', risk: 'exec', workspace_dir: '/' };
  assert.deepEqual(await host.dispatch('policy/decide', { ...decide, tool: 'rm' }), { decision: 'deny', reason: 'never' });
  await assert.rejects(host.dispatch('policy/decide', { ...decide, tool: 'rm', policy: 'none' }), { code: errorCode.InvalidParams });
  assert.deepEqual(await host.dispatch('interaction/press', { ...place, client, channel: 'chat', namespace: 'score', payload: 'p' }), {
    text: 'p',
  });
});

test("a host without Tenon's seams is not told of them, and refuses calls of them", async (t) => {
  const host = hosted(t, (extension) => {
    withSeams(extension);
    extension.registerCommand('state', { handler: async () => JSON.stringify(await extension.call('state/list', { namespace: 'score' })) });
  });
  assert.deepEqual(Object.keys((await host.initialize()).registrations ?? {}).sort(), ['commands', 'subscriptions', 'tools']);
  await assert.rejects(host.runCommand('state'), { code: errorCode.MethodNotFound });
});

test('shutdown runs what the author wants done, is answered, and ends the connection', async (t) => {
  const done: string[] = [];
  const host = hosted(t, (extension) => {
    extension.onShutdown(async () => {
      await extension.kv.set('last', 1);
      done.push('saved');
    });
    extension.onShutdown(() => {
      throw new Error('broke');
    });
  });
  await host.shutdown();
  assert.deepEqual(done, ['saved']);
  assert.equal(host.kv.get('last'), 1);
});

test('names of the protocol are there in the form of code', () => {
  assert.equal(method.toolExecute, 'tool/execute');
  assert.equal(method.cancel, '$/cancel');
  assert.equal(method.sessionSendUserMessage, 'session/send_user_message');
  assert.equal(eventName.busEvent, 'bus/event');
  assert.equal(errorCode.ContextViolation, -32003);
});
