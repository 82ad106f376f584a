// `kv/*` as an extension has it: a real process made with the SDK, the host of plugins, and the store.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { errors, limits } from '@tenon/protocol/sep/wire';
import type { PluginHost } from '../../packages/gateway/src/host/plugin-host.ts';
import { type Clock, systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { type DeskStep, writeDesk } from '../support/extensions.ts';
import { openHostWorld, SESSION } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const options = { extensions: { version: '0.0.1', env: process.env, node: process.execPath, spawn, random: () => 0.5 } };
const BY = { by: 'test' };
/** Restarts come soon. */
const clock: Clock = { ...systemClock, after: (delayMs, call) => systemClock.after(delayMs === 1_100 ? 5 : delayMs, call) };

async function does(host: PluginHost, name: string, ...steps: DeskStep[]): Promise<unknown[]> {
  const place = { sessionKey: SESSION, agentId: 'main', runId: 'r1', callId: 'c1', state: () => undefined };
  const call = { ...place, getSessionExtension: () => undefined, signal: new AbortController().signal, openChildRuns: async () => [] };
  const tool = host.registry.findAny('tool', `${name}__do`)?.item;
  assert.ok(tool, `${name} is not there`);
  return JSON.parse(String((await tool.execute({ steps: steps as never }, { ...call, onUpdate: () => {} })).content)) as unknown[];
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('G13, G25, S37: an extension keeps values of its own, over a crash and a reload, and sees nobody else’s', async () => {
  verifies('sep:kv', 'sep:G13', 'sep:G25', 'sep:G37', 'S37');
  await using world = await openHostWorld(clock);
  const capabilities = 'kv = true';
  for (const name of ['desk', 'des']) writeDesk(world.home, { capabilities }, name);
  let host = await world.open(options);
  for (const name of ['desk', 'des']) {
    const on = await host.enable(name, BY);
    assert.equal(on.state, 'loaded', on.reason);
  }
  assert.ok(host.get('desk')?.asked.includes('extension.use:kv'));
  assert.deepEqual(
    await does(
      host,
      'desk',
      ['kv.get', 'n'],
      ['kv.set', 'n', { deep: [1, 'ö'] }],
      ['kv.set', '../../n', true],
      ['kv.get', 'n'],
      ['kv.list'],
      ['kv.list', '..'],
      ['kv.compareAndSet', 'n', { deep: [1] }, 2],
      ['kv.compareAndSet', 'n', { deep: [1, 'ö'] }, 2],
      ['kv.compareAndSet', 'new', null, 1],
      ['kv.compareAndSet', 'new', 1, null],
      ['kv.delete', '../../n'],
      ['kv.delete', 'never'],
      ['kv.list'],
      // What is asked without waiting happens in that order.
      ['together', ['kv.set', 'm', 1], ['kv.set', 'm', 2], ['kv.get', 'm'], ['kv.delete', 'm'], ['kv.list']],
    ),
    [
      null,
      null,
      null,
      { deep: [1, 'ö'] },
      ['../../n', 'n'],
      ['../../n'],
      ...[false, true, true, true, null, null],
      ['n'],
      [null, null, 2, null, ['n']],
    ],
  );
  // Another one, by a name that begins alike, by saying whose it means, and by the prefix.
  assert.deepEqual(
    await does(host, 'des', ['kv.get', 'n'], ['call', 'kv/get', { key: 'n', ext: 'desk', context: null }], ['kv.list', '']),
    [null, { value: null }, []],
  );
  await assert.rejects(does(host, 'desk', ['exit']), /connection closed/);
  await until(() => host.get('desk')?.process?.state === 'ready');
  assert.deepEqual(await does(host, 'desk', ['kv.get', 'n']), [2]);
  await host.reload('desk', BY);
  assert.deepEqual(await does(host, 'desk', ['kv.get', 'n']), [2]);
  await host.disable('desk', BY);
  await host.enable('desk', BY);
  assert.deepEqual(await does(host, 'desk', ['kv.get', 'n']), [2], 'switched off is not removed');
  host = await world.open(options);
  await until(() => host.get('desk')?.state === 'loaded');
  assert.deepEqual(await does(host, 'desk', ['kv.get', 'n']), [2]);
});

test('G12, G13: what goes beyond a limit is refused by the name of the limit, and nothing of it is kept', async () => {
  verifies('sep:kv', 'sep:G12', 'sep:G13', 'sep:errors');
  await using world = await openHostWorld(clock);
  writeDesk(world.home, { capabilities: 'kv = true' });
  const host = await world.open(options);
  await host.enable('desk', BY);
  const { kvKeyChars, kvValueBytes } = limits;
  const long = 'k'.repeat(kvKeyChars.value + 1);
  const large = 'x'.repeat(kvValueBytes.value);
  const [key, value, swap, ...rest] = await does(
    host,
    'desk',
    ['kv.set', long, 1],
    ['kv.set', 'large', large],
    ['kv.compareAndSet', 'large', null, large],
    ['kv.get', long],
    ['kv.delete', long],
    ['kv.list'],
    ['kv.set', 5, 1],
  );
  const refusal = (limit: 'kvKeyChars' | 'kvValueBytes') => ({ reason: 'limit', limit, allowed: limits[limit].value });
  const seen = (answer: unknown) => {
    const { code, data } = answer as { code: number; data: unknown };
    return [code, data];
  };
  assert.deepEqual(seen(key), [errors.Refused.code, refusal('kvKeyChars')]);
  for (const each of [value, swap]) assert.deepEqual(seen(each), [errors.Refused.code, refusal('kvValueBytes')]);
  assert.deepEqual(rest.slice(0, 3), [null, null, []]);
  assert.equal((rest[3] as { code: number }).code, errors.InvalidParams.code);
  await host.revoke('desk', ['extension.use:kv'], BY);
  assert.deepEqual(await does(host, 'desk', ['kv.get', 'x']), [
    { code: errors.CapabilityDisabled.code, message: "capability 'kv' is disabled", data: { grant: 'extension.use:kv' } },
  ]);
});
