// Hostile plugins in one real gateway, beside one that behaves: neither it, nor turns, nor other sessions notice, and the
// operator sees who it was. Those that throw outside of a call stand in plugin-uncaught.test.ts, those that spin in
// plugin-blocked.test.ts, those that are slow in plugin-slow.test.ts.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { doer, type HostileWorld, openHostile } from '../support/hostile.ts';
import { verifies } from '../support/verifies.ts';

const HUGE = `'\\u4e2d'.repeat(2 ** 29 - 24)`;
const TURNS = 6;
const conversation = ['conversation.read', 'prompt.inject', 'hooks.intercept:before_prompt_build', 'hooks.intercept:before_agent_reply'];

const sources = [
  { id: 'at-load', module: `throw new Error('not today');` },
  { id: 'in-register', register: `throw { toString() { throw new Error('twice'); } };` },
  { id: 'no-entry', module: `export default 12;` },
  doer('never', 'await new Promise(() => {});', {
    grants: conversation,
    register: `api.on('before_agent_reply', () => new Promise(() => {}), { timeoutMs: 20 });`,
  }),
  doer('garbage', 'return { toJSON() { throw new Error("no"); }, self: globalThis };', {
    grants: conversation,
    register: `const answers = [12, 'text', [], { handled: 'maybe' }, new Map(), Symbol('x'), { then: 12 }, new Proxy({}, { ownKeys() { throw new Error('no'); } })];
      let turn = 0;
      api.on('before_agent_reply', () => answers[turn++ % answers.length]);
      api.on('before_prompt_build', () => ({ systemPrompt: { no: 'text' }, more: 1 }));`,
  }),
  doer('many', 'return "fine";', {
    grants: ['commands.register', 'tools.register'],
    register: `for (let index = 0; index < 10_000; index++) api.registerCommand({ name: 'c' + index, description: 'One of many', handler: () => ({ text: '' }) });`,
  }),
  doer('huge', `return params.deep ? { text: [${HUGE}] } : ${HUGE};`, {
    grants: conversation,
    register: `api.on('before_prompt_build', () => ({ systemPrompt: ${HUGE} }));
      api.on('before_agent_reply', () => { throw new Error(${HUGE}); });`,
  }),
  doer('mutates', 'params.x = 1; return params;', {
    grants: conversation,
    register: `api.on('before_prompt_build', (event) => { try { event.prompt = 'mine'; } catch {} try { event.messages.push('mine'); } catch {} try { event.messages[0].content = 'mine'; } catch {} }, { priority: 1000 });
      api.on('before_prompt_build', (event) => { event.prompt = 'mine'; }, { priority: 999 });`,
  }),
  doer(
    'stale',
    `const old = (globalThis[Symbol.for('test.stale')] ??= []);
      const key = params.sessionKey;
      const told = old[0] && [
        await old[0].session.state.update(key, 'box', () => ({ from: 'old' })),
        await old[0].session.workflow.enqueueNextTurnInjection({ sessionKey: key, text: 'from the old one' }),
        old[0].agent.events.emitAgentEvent({ runId: 'x', sessionKey: key, stream: 'stale.x', data: {} }),
        await old[0].session.state.get(key, 'box'),
      ].map((each) => each?.reason?.split(':')[0] ?? null);
      if (!old[0]) old.push(api);
      return { told: told ?? null, registered: globalThis[Symbol.for('test.registered')] };`,
    {
      grants: ['prompt.inject', 'events.emit'],
      register: `globalThis[Symbol.for('test.registered')] = (globalThis[Symbol.for('test.registered')] ?? 0) + 1;
        api.registerSessionExtension({ namespace: 'box', description: 'A box' });`,
    },
  ),
  doer('good', 'return "fine";', {
    grants: conversation,
    register: `api.on('before_prompt_build', (event) => { globalThis[Symbol.for('test.seen')] = event.prompt; }, { priority: -1000 });
      api.registerGatewayMethod({ name: 'seen', handler: () => globalThis[Symbol.for('test.seen')] ?? null });`,
  }),
];

/** The most memory that the process had, where the system says it. */
function peakMb(pid: number): number {
  const file = `/proc/${pid}/status`;
  return existsSync(file) ? Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(file, 'utf8'))?.[1]) / 1_024 : 0;
}

describe('hostile plugins', () => {
  verifies('seams:W3', 'seams:W5', 'seams:W9', 'S62');
  let world: HostileWorld;
  before(async () => {
    world = await openHostile(sources);
    await world.ask('sessions.create', { key: 'agent:main:other' });
  });
  after(() => world[Symbol.asyncDispose]());

  /** Nobody else has noticed. */
  async function othersAreWell(): Promise<void> {
    assert.equal(world.gateway.child.exitCode, null);
    assert.equal((await world.poke('good')).payload, 'fine');
    const { plugin } = await world.ask('plugins.get', { id: 'good' });
    assert.deepEqual([plugin.state, plugin.incidents, plugin.switchedOff], ['loaded', [], []]);
  }
  const errorsAt = async (id: string, place: string) => (await world.plugin(id)).counts.find((each) => each.place === place)?.errors ?? 0;

  test('one that throws at load says why it is not there', async () => {
    for (const [id, reason] of [
      ['at-load', /its module threw: not today/],
      ['in-register', /its register threw: something that cannot be shown/],
      ['no-entry', /no default export/],
    ] as const) {
      const plugin = await world.plugin(id);
      assert.equal(plugin.state, 'failed');
      assert.match(plugin.reason ?? '', reason);
    }
    const { findings } = await world.ask('doctor.run');
    assert.ok(findings.some(({ message }: { message: string }) => message.includes('Plugin at-load is not loaded')));
    await othersAreWell();
  });

  test('one that registers 10,000 things gets what a plugin may have, and the rest is told', async () => {
    const { registrations } = await world.plugin('many');
    assert.equal(registrations.filter(({ accepted }) => accepted).length, 512);
    assert.ok(registrations.some(({ code }) => code === 'TOO_MANY'));
    assert.ok(registrations.length < 1_000, 'also what was refused is bounded');
    await othersAreWell();
  });

  test('a turn is answered whatever they answer, or do not, and however large it is', async () => {
    for (let turn = 0; turn < TURNS; turn++) assert.equal((await world.say('hello', 'agent:main:hostile')).end.kind, 'completed');
    assert.ok(peakMb(world.gateway.pid) < 900, 'no text of a gigabyte was made one piece');
    assert.equal((await world.plugin('never')).counts.find(({ place }) => place === 'before_agent_reply')?.timeouts, 5);
    assert.deepEqual(
      (await world.plugin('never')).switchedOff.map(({ place }) => place),
      ['before_agent_reply'],
    );
    assert.ok((await errorsAt('garbage', 'before_agent_reply')) >= TURNS - 1);
    assert.equal(await errorsAt('garbage', 'before_prompt_build'), TURNS);
    assert.equal(await errorsAt('huge', 'before_prompt_build'), TURNS);
    assert.equal(await errorsAt('huge', 'before_agent_reply'), TURNS);
    await othersAreWell();
  });

  test('what one changes in its event, the next one does not see', async () => {
    await world.say('as it was said', 'agent:main:hostile');
    const { payload } = await world.operator.request('plugin.good.seen', {});
    assert.equal(payload, 'as it was said');
    assert.ok((await errorsAt('mutates', 'before_prompt_build')) > 0, 'who writes to it all the same has thrown');
    assert.equal((await world.poke('mutates', { x: 2 })).error?.details?.code, 'PLUGIN_FAILED');
    await othersAreWell();
  });

  test('what cannot be sent is refused, without a copy of it', async () => {
    for (const deep of [false, true]) {
      const { error } = await world.poke('huge', { deep });
      assert.equal(error?.details?.code, 'PLUGIN_FAILED');
    }
    assert.equal((await world.poke('garbage')).error?.details?.code, 'PLUGIN_FAILED');
    await othersAreWell();
  });

  test('an api of an earlier load does nothing and says so, and register runs once per load', async () => {
    const sessionKey = 'agent:main:other';
    assert.deepEqual((await world.poke('stale', { sessionKey })).payload, { told: null, registered: 1 });
    await world.ask('plugins.reload', { id: 'stale' });
    const { payload } = await world.poke('stale', { sessionKey });
    assert.equal(payload.registered, 2);
    assert.deepEqual(payload.told, ['not-loaded', 'not-loaded', 'not-loaded', null]);
    const { session } = await world.ask('sessions.get', { key: sessionKey });
    assert.equal(session.pluginExtensions, undefined);
    await othersAreWell();
  });
});
