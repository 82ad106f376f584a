// The same plugins give the same order and the same outcome, in whatever order they came, went and came back; and what guards
// something refuses when it fails. No registry is global: what is asked belongs to the loads that live.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHostWorld, SESSION, writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const by = 'tester';
const grants = ['hooks.intercept:before_tool_call', 'hooks.intercept:resolve_exec_env', 'policy.tools', 'tools.results', 'events.follow'];

/** Each notes that it was asked, and leaves its mark on what it is asked about. */
const source = (id: string) => ({
  id,
  grants,
  register: `
    const add = (name, priority) => api.on('before_tool_call', ({ params }) => {
      note('${id} ' + name);
      return { params: { path: params.path + ' ${id}' + name } };
    }, { priority });
    add('late', -5);
    add('plain', 0);
    add('early', 10);
    api.on('resolve_exec_env', () => ({ OWNER: '${id}', ['BY_${id}']: 'yes' }));
    for (const which of ['b', 'a']) {
      api.registerTrustedToolPolicy({ id: which, description: 'd', evaluate() {} });
      api.registerToolResultMiddleware({ id: which, handler() {} });
      api.registerAgentEventSubscription({ id: which, handle() {} });
    }`,
});

const ids = ['mike', 'alpha', 'zulu'];
const orders = ids.flatMap((first) => {
  const [one, two] = ids.filter((id) => id !== first) as [string, string];
  return [
    [first, one, two],
    [first, two, one],
  ];
});

test('hooks, policies, middleware and subscriptions stand in one order, however plugins were enabled, reloaded and restarted', async () => {
  verifies('R18', 'seams:W17');
  const outcomes: unknown[] = [];
  for (const order of orders) {
    await using world = await openHostWorld();
    for (const id of ids) writePlugin(world.place, source(id));
    let host = await world.open();
    for (const id of order) assert.equal((await host.enable(id, { by })).state, 'loaded');
    const look = async () => {
      world.notes.length = 0;
      const call = { sessionKey: SESSION, toolName: 'read', toolCallId: 'c', params: { path: 'x' } };
      const gate = await world.hooks.run('before_tool_call', call);
      const env = await world.hooks.run('resolve_exec_env', { sessionKey: SESSION, toolName: 'exec', host: 'gateway', env: {} } as never);
      const items = (['toolPolicy', 'toolResultMiddleware', 'eventSubscription'] as const).map((kind) =>
        host.registry.all(kind).map(({ plugin, key }) => `${plugin} ${key}`),
      );
      return [[...world.notes], gate, env, items];
    };
    outcomes.push(await look());
    await host.reload(order[1]!, { by });
    outcomes.push(await look());
    await host.disable(order[0]!, { by });
    await host.enable(order[0]!, { by });
    outcomes.push(await look());
    host = await world.open();
    outcomes.push(await look());
  }
  const [first] = outcomes as [[string[], { event: { params: { path: string } } }, { event: { env: object } }, string[][]]];
  assert.deepEqual(first[0], [
    ...['alpha early', 'mike early', 'zulu early'],
    ...['alpha plain', 'mike plain', 'zulu plain'],
    ...['alpha late', 'mike late', 'zulu late'],
  ]);
  assert.equal(
    first[1].event.params.path,
    `x ${first[0].map((each) => each.replace(' ', '')).join(' ')}`,
    'each on what the last one left',
  );
  assert.deepEqual(first[2].event.env, { OWNER: 'zulu', BY_alpha: 'yes', BY_mike: 'yes', BY_zulu: 'yes' }, 'the last one wins');
  assert.deepEqual(first[3][0], ['alpha b', 'alpha a', 'mike b', 'mike a', 'zulu b', 'zulu a']);
  for (const outcome of outcomes) assert.deepEqual(outcome, first);
});

test('a gate that throws, hangs or answers nonsense refuses, and no other handler lifts that; what guards nothing is passed over', async () => {
  verifies('R18');
  for (const fault of ['throw new Error("x")', 'return "yes"', 'return new Promise(() => {})']) {
    for (const [bad, good] of [
      ['alpha', 'zulu'],
      ['zulu', 'alpha'],
    ] as const) {
      await using world = await openHostWorld();
      const hooks = ['before_tool_call', 'resolve_exec_env'];
      const on = (body: string) => hooks.map((name) => `api.on('${name}', () => { ${body} }, { timeoutMs: 20 });`).join('\n');
      writePlugin(world.place, { id: bad, grants, register: on(fault) });
      writePlugin(world.place, {
        id: good,
        grants,
        register: `api.on('before_tool_call', () => ({ block: false })); api.on('resolve_exec_env', () => ({ GOOD: 'yes' }));`,
      });
      const host = await world.open();
      for (const id of [bad, good]) await host.enable(id, { by });
      const gate = await world.hooks.run('before_tool_call', { sessionKey: SESSION, toolName: 'read', toolCallId: 'c', params: {} });
      assert.deepEqual([gate.kind, 'plugin' in gate && gate.plugin], ['refused', bad], fault);
      const env = await world.hooks.run('resolve_exec_env', { sessionKey: SESSION, toolName: 'exec', host: 'gateway', env: {} } as never);
      assert.deepEqual([env.kind, env.kind === 'done' && env.event.env], ['done', { GOOD: 'yes' }], fault);
      assert.ok(world.failures.every(({ plugin }) => plugin === bad) && world.failures.length === 2, fault);
    }
  }
});
