// Between the moment in which the process of an extension is at work and the one in which its load is in place: what it asks for then
// waits for its rights. The load is held back in its one write to the store, for as long as the test likes.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { type HostWorld, openHostWorld, SESSION } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';
import { until, withExtensions, writeExtension } from '../support/written-extension.ts';

const BY = { by: 'test' };
/** Restarts come soon. */
const clock: Clock = { ...systemClock, after: (delayMs, call) => systemClock.after(delayMs === 1_100 ? 5 : delayMs, call) };

interface Noted {
  readonly pid: number;
  readonly asks?: string;
  readonly answered?: string;
  readonly event?: string;
  readonly error?: object;
}

function noted({ logged }: HostWorld): Noted[] {
  return logged.flatMap(({ stderr }) => (typeof stderr === 'string' && stderr.startsWith('{') ? [JSON.parse(stderr) as Noted] : []));
}

/** A store in which a load waits, once it has asked for what its process wants, until it is let go. */
function holding(store: Store): { readonly store: Store; readonly reached: Promise<void>; release(): void } {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const write = (async (name: string, args: never) => {
    if (name === 'plugins.requestGrants') {
      reached.resolve();
      await gate.promise;
    }
    return store.write(name as never, args);
  }) as Store['write'];
  return { store: Object.assign(Object.create(store) as Store, { write }), reached: reached.promise, release: gate.resolve };
}

test('what an extension asks for before its load is in place is served then; it is told of a session afterwards, and its gate stays up', async () => {
  verifies('sep:gate:window');
  await using world = await openHostWorld(clock);
  const said = join(world.home, 'said.json');
  const follows = (...subscriptions: string[]) => writeFileSync(said, JSON.stringify({ hooks: ['tool_call'], subscriptions }));
  follows('turn_start');
  writeExtension(world, 'eager', {
    fixture: 'eager.mjs',
    manifest: '[capabilities]\nkv = true\nhooks = ["tool_call"]',
    run: `env = { SAYS = ${JSON.stringify(said)} }`,
  });
  const ask = async () => world.hooks.run('before_tool_call', { sessionKey: SESSION, toolName: 'ls', toolCallId: 'c', params: {} });

  const first = holding(world.store);
  const one = await world.open({ ...withExtensions, store: first.store });
  const enabled = one.enable('eager', BY);
  await first.reached;
  await until(() => noted(world).some(({ asks }) => asks === 'ready'));
  first.release();
  const { state, reason, process: running } = await enabled;
  assert.equal(state, 'loaded', reason);
  await until(() => noted(world).some(({ answered }) => answered === 'ready'));
  assert.deepEqual([noted(world).filter(({ error }) => error), running?.crashes], [[], 0]);

  // The next gateway, whose process dies and comes back before its load is in place.
  follows('turn_start', 'turn_end');
  world.logged.length = 0;
  const second = holding(world.store);
  const two = await world.open({ ...withExtensions, store: second.store });
  await second.reached;
  const info = () => two.get('eager')!;
  const { pid } = info().process!;
  process.kill(pid!, 'SIGKILL');
  await until(() => noted(world).some((each) => each.asks === 'ready' && each.pid !== pid));
  const again = noted(world).findLast(({ asks }) => asks === 'ready')!.pid;
  await until(() => info().process?.state === 'ready' && info().process?.pid === again);
  const of = (what: keyof Noted) => noted(world).flatMap((each) => (each.pid === again ? (each[what] ?? []) : []));
  assert.deepEqual([of('answered'), of('event')], [[], []], 'nothing is answered, and nothing told, before it may do what it is granted');
  second.release();
  await until(() => of('answered').length === 2);
  assert.deepEqual([of('answered').sort(), of('event'), of('error')], [['ready', 'session_start'], ['session_start'], []]);
  assert.deepEqual([info().state, info().process?.state, info().process?.pid], ['loaded', 'ready', again]);
  assert.equal(info().process?.crashes, 1, 'the one that the test has ended');
  assert.equal((await ask()).kind, 'done', 'its gate is at work');
});
