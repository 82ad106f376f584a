// What plugins are told of jobs: after the commit, once each, and without what a job tells the agent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePluginEntry, type RegisterApi } from '@tenon/plugin-sdk';
import { createTestHost } from '@tenon/plugin-sdk/testing';
import type { HookEvent } from '@tenon/protocol';
import { verifies } from '../support/verifies.ts';

const MINUTE = 60_000;
const GRANTS = ['schedule.turns', 'hooks.observe:cron_changed', 'hooks.observe:cron_reconciled'];
const sessionKey = 'agent:main:test';

function watcher() {
  const changes: HookEvent<'cron_changed'>[] = [];
  const reconciled: HookEvent<'cron_reconciled'>[] = [];
  let api: RegisterApi | undefined;
  const plugin = definePluginEntry({
    id: 'watcher',
    name: 'Watcher',
    register(given) {
      api = given;
      given.on('cron_changed', (event) => void changes.push(event));
      given.on('cron_reconciled', (event) => void reconciled.push(event));
    },
  });
  /** What was told since it was last asked. */
  const told = () => changes.splice(0).map(({ action, occurrence }) => (occurrence ? `${action} ${occurrence.state}` : action));
  return { plugin, changes, reconciled, told, workflow: () => api!.session.workflow };
}

test('cron_changed tells what becomes of a job and of each time that it is due', async () => {
  verifies('R04');
  const { plugin, changes, told, workflow } = watcher();
  await using host = await createTestHost(plugin, { grants: GRANTS });
  const cron = { sessionKey, message: 'A secret wish', cron: '*/10 * * * *', tz: 'UTC', tag: 'x' };
  assert.ok((await workflow().scheduleSessionTurn(cron)).ok);
  await host.advance(10 * MINUTE);
  const [added, started, finished] = changes;
  assert.doesNotMatch(JSON.stringify(changes), /secret wish/, 'what it tells the agent is for the agent');
  assert.deepEqual([added?.job.tag, added?.job.owner, added?.sessionKey, added?.agentId], ['x', 'plugin:watcher', sessionKey, 'main']);
  assert.equal(started?.runId, started?.occurrence?.runId);
  assert.equal(finished?.job.nextAt, added!.job.nextAt! + 10 * MINUTE);
  assert.deepEqual(told(), ['added', 'started running', 'finished done']);
  const { id } = finished!.job;
  await host.call('cron.pause', { id });
  await host.call('cron.resume', { id });
  await host.call('cron.remove', { id });
  await host.advance(1);
  assert.deepEqual(told(), ['updated', 'updated', 'removed']);
});

test('cron_reconciled tells what was due while the gateway was down, once it was dealt with', async () => {
  verifies('R04', 'R12');
  const { plugin, reconciled, workflow } = watcher();
  await using host = await createTestHost(plugin, { grants: GRANTS });
  await host.advance(1);
  assert.deepEqual(reconciled.splice(0), [], 'it was dealt with before the plugin was there');
  assert.ok((await workflow().scheduleSessionTurn({ sessionKey, message: 'x', cron: '*/10 * * * *', tz: 'UTC' })).ok);
  await host.restart({ downMs: 45 * MINUTE });
  await host.advance(1);
  const [only, ...others] = reconciled;
  assert.deepEqual([only?.reason, only?.missed, only?.due, others], ['start', 3, 1, []]);
  assert.ok(only?.nextAt !== undefined);
});
