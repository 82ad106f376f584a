// Methods whose effect lies outside the store (a file, the process): a repeat under the same key has no second effect.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { rmSync } from 'node:fs';
import { verifies } from '../support/verifies.ts';

test('config.patch repeated under its key does not undo what was set since, and another body changes nothing', async () => {
  verifies('R03', 'foundation:idempotency-conflict');
  await using gateway = await startGatewayProcess();
  await using client = await connectRaw(gateway.socketUrl, gateway.token);
  const patch = (level: string, idempotencyKey: string) => client.request('config.patch', { set: { 'log.level': level }, idempotencyKey });
  const [first, together] = await Promise.all([patch('debug', 'one'), patch('debug', 'one')]);
  await patch('error', 'two');
  const repeat = await patch('debug', 'one');
  const conflict = await patch('trace', 'one');
  assert.deepEqual([together.payload, repeat.payload], [first.payload, first.payload]);
  assert.equal(conflict.error?.code, 'IDEMPOTENCY_CONFLICT');
  const { payload } = await client.request('config.get', {});
  assert.equal(payload.settings['log.level'].value, 'error');
  assert.equal(await timesAudited(client, 'config.patch'), 2);
});

test('gateway.shutdown repeated under its key gets its answer and does not stop the gateway that is back', async () => {
  verifies('R03', 'foundation:shutdown-method');
  const home = temporaryHome();
  try {
    {
      await using gateway = await startGatewayProcess({ home });
      await using client = await connectRaw(gateway.socketUrl, gateway.token);
      const answer = await client.request('gateway.shutdown', { idempotencyKey: 'stop' });
      assert.deepEqual(answer.payload, { stopping: true });
      assert.equal((await client.closed).code, 1012);
      assert.equal((await gateway.exited).code, 0);
    }
    await using gateway = await startGatewayProcess({ home });
    await using client = await connectRaw(gateway.socketUrl, gateway.token);
    const answer = await client.request('gateway.shutdown', { idempotencyKey: 'stop' });
    assert.deepEqual(answer.payload, { stopping: true });
    assert.equal((await client.request('sessions.create', { title: 'still here' })).ok, true);
    assert.equal(await timesAudited(client, 'gateway.shutdown'), 1);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
});

test('sessions.reset and sessions.delete repeated under their key stop no turn that runs since', async () => {
  verifies('R03');
  await using gateway = await startGatewayProcess();
  await using client = await connectRaw(gateway.socketUrl, gateway.token);
  const sessionKey = 'agent:main:again';
  for (const method of ['sessions.reset', 'sessions.delete']) {
    await client.request('sessions.create', { key: sessionKey });
    const params = { key: sessionKey, idempotencyKey: `once ${method}`.replace(' ', '-') };
    const first = await client.request(method, params);
    assert.equal(first.ok, true, JSON.stringify(first.error));
    // It waits for an answer of the operator, so it runs until somebody stops it.
    const runId = `waits-${method}`;
    await client.request('chat.send', { sessionKey, message: 'Write a note: again', idempotencyKey: runId });
    await client.find(({ event, payload }) => event === 'approval.requested' && payload.approval.runId === runId);
    const repeat = await client.request(method, params);
    assert.deepEqual(repeat.payload, first.payload);
    const { payload } = await client.request('agent.wait', { runId, timeoutMs: 0 });
    assert.equal(payload.run.state, 'running', `${method} stopped it`);
    await client.request('chat.abort', { sessionKey });
  }
});

async function timesAudited(client: RawClient, action: string): Promise<number> {
  const { payload } = await client.request('audit.list', { limit: 200 });
  return (payload.records as { action: string }[]).filter((record) => record.action === action).length;
}
