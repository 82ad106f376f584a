import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineExtension, type ExtensionApi, type RpcError } from './index.ts';
import { createTestHost, type TestHostOptions } from './testing/index.ts';

/** One command `do` that does this; what it gives is its answer, as JSON. */
function doing(work: (tenon: ExtensionApi) => unknown, more: (tenon: ExtensionApi) => void = () => {}) {
  return defineExtension((tenon) => {
    tenon.registerState({ namespace: 'score', description: 'The score.' });
    tenon.registerCommand('do', { handler: async () => JSON.stringify((await work(tenon)) ?? null) });
    more(tenon);
  });
}

async function done(work: (tenon: ExtensionApi) => unknown, options: TestHostOptions = {}) {
  const host = createTestHost(doing(work), { seams: true, ...options });
  const { content } = await host.runCommand('do');
  await host.close();
  assert.deepEqual(host.faults, []);
  return { host, value: JSON.parse(content ?? 'null') as unknown };
}

test('state is read, set and changed in the session of the call, or in another; a change that was too slow is made again', async () => {
  const { value, host } = await done(async ({ state }) => {
    const before = await state.get('score');
    await state.patch('score', { n: 1 }, { if_revision: before.revision });
    let asked = 0;
    await state.update('score', async (current) => {
      // Somebody else is faster, once.
      if (++asked === 1) await state.patch('score', { n: 10 });
      return { n: (current as { n: number }).n + 1 };
    });
    await state.patch('score', { n: 5 }, { session_key: 'agent:main:other' });
    const stale = await state.patch('score', 1, { if_revision: 1 }).catch((thrown: RpcError) => [thrown.code, thrown.data]);
    return { before, asked, stale, now: await state.get('score'), sessions: await state.list('score') };
  });
  assert.deepEqual(value, {
    before: { value: null, revision: 0 },
    asked: 2,
    stale: [-32005, { reason: 'conflict' }],
    now: { value: { n: 11 }, revision: 3 },
    sessions: [
      { session_key: 'agent:main:test', value: { n: 11 }, revision: 3 },
      { session_key: 'agent:main:other', value: { n: 5 }, revision: 1 },
    ],
  });
  assert.deepEqual(host.seams.stateOf('agent:main:test', 'score'), { value: { n: 11 }, revision: 3 });
});

test('injections, turns, schedules, attachments, approvals, notices and streams are asked for by name', async () => {
  const { value, host } = await done(
    async (tenon) => {
      await tenon.injections.enqueue({ text: 'The build is green.', idempotency_key: 'build' });
      const twice = await tenon.injections.enqueue({ text: 'Again.', idempotency_key: 'build' }).catch((thrown: RpcError) => thrown.code);
      const { run_id } = await tenon.turns.continue();
      await tenon.schedules.turn({ message: 'Look.', delay_ms: 5, tag: 'look' });
      const { removed } = await tenon.schedules.remove({ tag: 'look' });
      const { delivery_id } = await tenon.attachments.send({ text: 'Here.' });
      const { changed, revision } = await tenon.attachments.update({ delivery_id, text: 'There.' });
      const { decision } = await tenon.approvals.request({ title: 'Go on?', description: '' });
      const { id } = await tenon.notices.notify({ title: 'Somebody.' });
      const { withdrawn } = await tenon.notices.withdraw({ id });
      await tenon.streams.emit({ stream: 'me.progress', run_id: 'run', data: 1 });
      await tenon.streams.emitEvent({ name: 'score', data: { n: 1 } });
      return { twice, run: run_id !== undefined, removed, changed, revision, decision, withdrawn };
    },
    { onApproval: ({ title }) => (title === 'Go on?' ? { decision: 'allow-once' } : undefined) },
  );
  assert.deepEqual(value, { twice: -32005, run: true, removed: 1, changed: true, revision: 1, decision: 'allow-once', withdrawn: 1 });
  assert.deepEqual(
    host.seams.injections.map(({ text }) => text),
    ['The build is green.'],
  );
  assert.deepEqual([host.seams.jobs, host.seams.notices, host.seams.deliveries.map(({ text }) => text)], [[], [], ['There.']]);
});

test('what is registered beyond SEP is asked: actions with what they commit, changes, buttons, policies, turns, methods, checks', async () => {
  const ended: unknown[] = [];
  const extension = doing(
    ({ schedules }) => schedules.turn({ message: 'Look.', delay_ms: 5 }),
    (tenon) => {
      tenon.registerAction({ id: 'reset' }, () => ({ ok: true, state_patch: { score: { n: 0 } }, inject: [{ text: 'Reset.' }] }));
      tenon.registerAction({ id: 'fail' }, () => {
        throw new Error('not today');
      });
      tenon.registerPatchAction({ action: 'shout' }, ({ entry }) => ({ ok: true, entry_patch: { title: entry.title.toUpperCase() } }));
      tenon.registerInteraction({ namespace: 'score', channel: '*' }, ({ payload }) => ({ text: `pressed ${payload}` }));
      tenon.registerPolicy({ id: 'careful', description: 'Nobody pushes.' }, ({ tool }) =>
        tool === 'exec' ? { decision: 'deny', reason: 'no' } : { decision: 'allow' },
      );
      tenon.registerScheduledTurn({ id: 'look' }, ({ message }) => ({ handled: message === 'Look.', reply: 'Looked.' }));
      tenon.registerSchedulerJob({ id: 'watch', session_key: 'agent:main:main', kind: 'watcher' }, ({ reason }) => void ended.push(reason));
      tenon.registerGatewayMethod({ name: 'add', scope: 'operator.read' }, (params) => (params as { a: number }).a + 1);
      tenon.registerGatewayEvent({ name: 'score' });
      tenon.registerStartupCheck({ id: 'disk' }, () => ({ ok: true, message: 'There is room.' }));
    },
  );
  const host = createTestHost(extension, { seams: true });
  await host.runAction('reset');
  assert.deepEqual(host.seams.stateOf('agent:main:test', 'score').value, { n: 0 });
  assert.deepEqual(
    host.seams.injections.map(({ text }) => text),
    ['Reset.'],
  );
  assert.deepEqual(await host.runAction('fail'), { ok: false, error: 'not today' });
  assert.deepEqual(await host.runPatchAction('shout'), { ok: true, entry_patch: { title: 'A SESSION' } });
  assert.deepEqual(await host.press('score', 'add'), { text: 'pressed add' });
  assert.deepEqual(await host.decide('careful', 'exec', { command: 'git push' }), { decision: 'deny', reason: 'no' });
  assert.deepEqual(await host.decide('careful', 'read'), { decision: 'allow' });
  assert.equal(await host.fireTurn(), undefined);
  await host.runCommand('do');
  assert.deepEqual(await host.fireTurn(), { handled: true, reply: 'Looked.' });
  assert.equal(await host.callMethod('add', { a: 1 }), 2);
  await host.dispatch('schedule/clean_up', { job: 'watch', reason: 'reset' });
  assert.deepEqual(ended, ['reset']);
  assert.deepEqual(await host.dispatch('startup_check/run', { check: 'disk' }), { ok: true, message: 'There is room.' });
  await host.close();
  assert.deepEqual(host.faults, []);
});

test('hooks and events beyond SEP have the answers of their own, and are not named to a host that has none', async () => {
  const heard: unknown[] = [];
  const extension = defineExtension((tenon) => {
    tenon.on('before_agent_finalize', ({ last_assistant_message: said }) =>
      said?.includes('may') ? { patch: { action: 'revise', retry: { instruction: 'Say it for sure.' } } } : undefined,
    );
    tenon.on('before_agent_run', ({ prompt }) => ({ block: prompt === 'stop', reason: 'no' }));
    tenon.on('cron_changed', ({ action }) => void heard.push(action));
  });
  const host = createTestHost(extension, { seams: true });
  const { registrations } = await host.initialize();
  assert.deepEqual(registrations?.hooks, ['before_agent_finalize', 'before_agent_run']);
  assert.deepEqual(registrations?.subscriptions, ['cron_changed']);
  assert.deepEqual(await host.callHook('before_agent_finalize', { last_assistant_message: 'It may.' }), {
    action: 'modify',
    patch: { action: 'revise', retry: { instruction: 'Say it for sure.' } },
  });
  assert.deepEqual(await host.callHook('before_agent_finalize', { last_assistant_message: 'It is.' }), { action: 'continue' });
  assert.deepEqual(await host.callHook('before_agent_run', { prompt: 'stop' }), { action: 'block', reason: 'no' });
  await host.sendEvent('cron_changed', { action: 'added' });
  assert.deepEqual(heard, ['added']);
  await host.close();

  const plain = createTestHost(extension);
  const { registrations: written } = await plain.initialize();
  assert.deepEqual([written?.hooks ?? [], written?.subscriptions], [[], []]);
  await plain.close();
});

test('a host without a group refuses it, and the error says which', async () => {
  const { value } = await done((tenon) => tenon.turns.continue().catch((thrown: RpcError) => [thrown.code, thrown.message]), {
    seams: false,
  });
  assert.deepEqual(value, [-32601, 'method not found: turn/continue']);
});
