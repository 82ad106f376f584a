// Plugins that throw where nobody waits for them, in a real gateway: it goes on, and says who it was.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { doer, openHostile } from '../support/hostile.ts';
import { verifies } from '../support/verifies.ts';

/** Each is code of a plugin that throws once the call is over. */
const ways = {
  'a timer': `setTimeout(() => { throw new Error(params.text); }, 1);`,
  'an immediate': `setImmediate(() => { throw new Error(params.text); });`,
  'a microtask': `queueMicrotask(() => { throw new Error(params.text); });`,
  'a listener of its own emitter': `const own = new EventEmitter(); own.on('x', () => { throw new Error(params.text); }); setTimeout(() => own.emit('x'), 1);`,
  'an error event without a listener': `setTimeout(() => new EventEmitter().emit('error', new Error(params.text)), 1);`,
  'a callback of a file': `stat('/', () => { throw new Error(params.text); });`,
  'a listener of the signal of its load': `api.lifecycle.signal.addEventListener('abort', () => { throw new Error(params.text); });`,
} as const;

function thrower(id: string, body: string, register = '') {
  const { register: made = '', grants } = doer(id, body, { register });
  const module = `import { EventEmitter } from 'node:events';
import { stat } from 'node:fs';
import { definePluginEntry } from '@tenon/plugin-sdk';
export default definePluginEntry({ id: '${id}', register(api) { ${made} } });
`;
  return { id, module, ...(grants ? { grants } : {}) };
}

describe('what plugins throw where nobody waits', () => {
  verifies('seams:W8', 'seams:W3');

  test('a throw of any origin is counted and named, and nobody else notices', async () => {
    const sources = Object.values(ways).map((body, index) => thrower(`bad-${index}`, body));
    await using world = await openHostile([...sources, doer('good', 'return "fine";')]);
    const { pid } = world.gateway;
    for (const [index, way] of Object.keys(ways).entries()) {
      const id = `bad-${index}`;
      assert.ok((await world.poke(id, { text: `from ${way}` })).ok);
      if (way.includes('signal')) await world.ask('plugins.disable', { id });
      const { incidents } = await world.until(id, (plugin) => plugin.incidents.length > 0);
      assert.deepEqual(
        incidents.map(({ kind, message, count }) => ({ kind, message, count })),
        [{ kind: 'threw', message: `from ${way}`, count: 1 }],
        way,
      );
      assert.equal((await world.poke('good')).payload, 'fine');
    }
    assert.equal(world.gateway.pid, pid);
    assert.equal(world.gateway.child.exitCode, null);
    const { findings } = await world.ask('doctor.run');
    assert.ok(findings.some(({ message }: { message: string }) => /Plugin bad-0 threw outside of a call: from a timer/.test(message)));
    const logged = readFileSync(join(world.home, 'logs', 'gateway.log'), 'utf8');
    assert.match(logged, /"plugin":"bad-0".*a plugin threw outside of a call/);
  });

  test('a rejection that nobody holds is named too', async () => {
    await using world = await openHostile([doer('loose', 'Promise.reject(new Error("nobody holds this"));')]);
    await world.poke('loose');
    const { incidents, state } = await world.until('loose', (plugin) => plugin.incidents.length > 0);
    assert.equal(incidents[0]?.kind, 'rejected');
    assert.equal(incidents[0]?.message, 'nobody holds this');
    assert.equal(state, 'loaded');
  });

  test('the third within five minutes ends the load; to load it anew puts it right', async () => {
    await using world = await openHostile([doer('again', 'setTimeout(() => { throw new Error("again"); }, 1);')]);
    for (let times = 1; times <= 2; times++) {
      await world.poke('again');
      const { state } = await world.until('again', ({ incidents }) => incidents[0]?.count === times);
      assert.equal(state, 'loaded');
    }
    await world.poke('again');
    const failed = await world.until('again', ({ state }) => state === 'failed');
    assert.match(failed.reason ?? '', /threw outside of a call 3 times within 5 minutes: again/);
    assert.equal(failed.enabled, true, 'the operator still wants it');
    assert.equal((await world.poke('again')).error?.code, 'UNKNOWN_METHOD');
    const [reloaded] = (await world.ask('plugins.reload', { id: 'again' })).plugins;
    assert.equal(reloaded.state, 'loaded');
    assert.deepEqual(reloaded.incidents, []);
  });

  test('a plugin that guards something is not taken away: what it guards would stand open', async () => {
    await using world = await openHostile([
      doer('guard', 'setTimeout(() => { throw new Error("again"); }, 1);', {
        grants: ['policy.tools'],
        register: `api.registerTrustedToolPolicy({ id: 'all', description: 'Looks at everything', evaluate: () => undefined });`,
      }),
    ]);
    const { registrations } = await world.plugin('guard');
    assert.ok(
      registrations.every(({ accepted }) => accepted),
      JSON.stringify(registrations),
    );
    for (let times = 1; times <= 5; times++) await world.poke('guard');
    const { state } = await world.until('guard', ({ incidents }) => incidents[0]?.count === 5);
    assert.equal(state, 'loaded');
  });

  test('what a load that has ended does later is counted, and never ends the gateway or the load after it', async () => {
    await using world = await openHostile([
      doer('stale', '', { register: `const timer = setInterval(() => { throw new Error('still here'); }, 5); timer.unref();` }),
    ]);
    // Its own timer ends it; the timer goes on.
    await world.until('stale', ({ state }) => state === 'failed');
    const after = await world.until('stale', ({ incidents }) => incidents.some(({ place }) => place === 'after its load has ended'));
    assert.equal(after.state, 'failed');
    world.rewrite(doer('stale', 'return "new";'));
    await world.ask('plugins.enable', { id: 'stale' });
    const anew = await world.until('stale', ({ incidents }) => (incidents[0]?.count ?? 0) > 5);
    assert.equal(anew.state, 'loaded', 'the old timer is not held against the new load');
    assert.ok((anew.incidents[0]?.generation ?? 0) < (anew.generation ?? 0));
    assert.equal((await world.poke('stale')).payload, 'new');
    await world.ask('plugins.disable', { id: 'stale' });
    assert.equal((await world.plugin('stale')).state, 'off');
  });

  test('a throw at load, and in a timer that was set at load, keep nobody else from loading', async () => {
    await using world = await openHostile([
      { id: 'at-load', module: `throw new Error('not today');` },
      {
        id: 'soon',
        module: `setTimeout(() => { throw new Error('soon'); }, 0); await new Promise((resolve) => setTimeout(resolve, 20)); export default { id: 'soon', register() {} };`,
      },
      doer('good', 'return "fine";'),
    ]);
    assert.match((await world.plugin('at-load')).reason ?? '', /its module threw: not today/);
    assert.equal((await world.poke('good')).payload, 'fine');
    await world.restart();
    assert.equal((await world.poke('good')).payload, 'fine');
    const { incidents, state } = await world.plugin('soon');
    assert.equal(state, 'loaded');
    assert.deepEqual(
      incidents.map(({ message }) => message),
      ['soon'],
    );
  });
});

test('a plugin that ends the process is named, supervisors start it again, and nothing that was acknowledged is lost', async () => {
  verifies('R14:ended-from-inside');
  const body = `await new Promise((resolve) => setTimeout(resolve, 1)); process.exit(0);`;
  await using world = await openHostile([doer('leaver', body)]);
  const { session } = await world.ask('sessions.create', { key: 'agent:main:kept' });
  const { exited } = world.gateway;
  await assert.rejects(world.poke('leaver'), 'nobody answers');
  assert.deepEqual(await exited, { code: 70, signal: null });
  assert.match(world.gateway.stderr(), /Plugin leaver has ended the process of the gateway with process\.exit\(0\)/);
  assert.match(readFileSync(join(world.home, 'logs', 'gateway.log'), 'utf8'), /"plugin":"leaver".*a plugin has ended the process/);
  await world.restart();
  assert.equal((await world.ask('sessions.get', { key: 'agent:main:kept' })).session.sessionId, session.sessionId);
  assert.equal(await world.gateway.stop(), 0, 'a stop in order is 0 as ever');
});
