// Every row of the method table, against a real gateway on each engine: scope, params, result, and what a repeat gets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches, type MethodName, methodNames, methodRow } from '@tenon/protocol';
import { mintToken } from '../security/harness.ts';
import { cleanUp } from '../support/clean-up.ts';
import { startGatewayProcess } from '../support/gateway.ts';
import { examples, type World } from '../support/method-examples.ts';
import { createDatabase } from '../support/postgres.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`every method on ${engine}: scope, params, result, repeat`, async (t) => {
    verifies('foundation:two-engines', 'foundation:idempotency-conflict', 'R03', 'R03:whole-answer');
    const database = engine === 'postgres' ? await createDatabase() : undefined;
    const config = database ? { config: `[store]\nengine = "postgres"\nurl = "${database.url}"\n` } : {};
    const gateway = await startGatewayProcess({ ...config, plugins: true });
    cleanUp(t, async () => {
      await gateway.remove();
      await database?.drop();
    });
    await using admin = await connectRaw(gateway.socketUrl, gateway.token);
    await using nobody = await connectRaw(gateway.socketUrl, (await mintToken(admin, [])).token);
    let count = 0;
    const world: World = { gateway, admin, next: () => ++count };

    const answered: Answered[] = [];
    // The last one ends the gateway.
    const order = [...methodNames].sort((a, b) => Number(a === 'gateway.shutdown') - Number(b === 'gateway.shutdown'));
    for (const method of order) {
      if (method === 'gateway.shutdown') await t.test('a repeat gets the stored answer, all of it', () => repeatsLater(answered, world));
      await t.test(method, async () => {
        await refusesWithoutScope(method, nobody);
        await refusesBadParams(method, admin);
        if (methodRow(method).repeat === 'keyed') answered.push(await answersARepeat(method, world));
        else await answers(method, await examples[method](world), admin);
      });
    }
    assert.equal((await gateway.exited).code, 0);
  });
}

async function refusesWithoutScope(method: MethodName, nobody: RawClient): Promise<void> {
  const { scope } = methodRow(method);
  if (scope === 'any') return;
  const answer = await nobody.request(method, { nonsense: true });
  assert.equal(answer.error?.code, 'SCOPE');
  assert.deepEqual(answer.error?.details, { code: 'MISSING_SCOPE', missingScope: scope, requiredScopes: [scope] });
}

async function refusesBadParams(method: MethodName, admin: RawClient): Promise<void> {
  for (const params of [{ nonsense: true }, 'text', [], 5]) {
    const answer = await admin.request(method, params);
    assert.equal(answer.error?.code, 'INVALID_REQUEST', JSON.stringify(params));
    assert.match(answer.error?.message ?? '', /^params/, 'the message names the place');
  }
}

async function answers(method: MethodName, params: unknown, client: RawClient): Promise<unknown> {
  const answer = await client.request(method, params);
  assert.equal(answer.ok, true, JSON.stringify(answer.error));
  assert.ok(matches(methodRow(method).result, answer.payload), `the result does not fit: ${JSON.stringify(answer.payload)}`);
  return answer.payload;
}

/** Where the key is the id of the run, the example has one of its own. */
function withoutKey(params: object): object {
  const { idempotencyKey: _, ...rest } = params as { idempotencyKey?: string };
  return rest;
}

interface Answered {
  readonly method: MethodName;
  readonly params: object;
  readonly payload: unknown;
}

async function answersARepeat(method: MethodName, world: World): Promise<Answered> {
  const { admin } = world;
  const idempotencyKey = `key-of-${method}`;
  const params = withoutKey(await examples[method](world));
  const others = withoutKey(await examples[method](world));
  assert.notDeepEqual(params, others, 'the example must give other params when it is asked again');
  const call = (given: object) => admin.request(method, given);
  // The one that ends the gateway takes no more after its first answer: its repeat is sent along.
  const along = method === 'gateway.shutdown' ? call({ idempotencyKey, ...params }) : undefined;
  const first = await call({ ...params, idempotencyKey });
  assert.equal(first.ok, true, JSON.stringify(first.error));
  assert.ok(matches(methodRow(method).result, first.payload), `the result does not fit: ${JSON.stringify(first.payload)}`);
  const repeat = await (along ?? call({ idempotencyKey, ...params }));
  assert.deepEqual(repeat.payload, first.payload, 'a repeat gets the first answer, whatever the order of its keys');
  if (!along) assert.equal((await call({ ...others, idempotencyKey })).error?.code, 'IDEMPOTENCY_CONFLICT');
  return { method, params: { ...params, idempotencyKey }, payload: first.payload };
}

/** Much has changed since: a plugin shows something of every session; then it is off, and the sessions are gone. */
async function repeatsLater(answered: readonly Answered[], { admin }: World): Promise<void> {
  await admin.request('plugins.enable', { id: 'everything' });
  const { payload } = await admin.request('sessions.list', { limit: 200 });
  const keys = (payload.sessions as { key: string }[]).map(({ key }) => key);
  const archived = await admin.request('sessions.list', { limit: 200, archived: true });
  keys.push(...(archived.payload.sessions as { key: string }[]).map(({ key }) => key));
  for (const key of keys) {
    const acted = await admin.request('plugins.sessionAction', {
      pluginId: 'everything',
      actionId: 'press',
      sessionKey: key,
      payload: { how: 'state' },
    });
    assert.equal(acted.ok, true, JSON.stringify(acted.error));
  }
  await repeatAll();
  await admin.request('plugins.disable', { id: 'everything' });
  for (const key of keys) await admin.request('sessions.delete', { key });
  await repeatAll();

  async function repeatAll(): Promise<void> {
    for (const { method, params, payload: first } of answered) {
      const repeat = await admin.request(method, params);
      assert.deepEqual([method, repeat.ok, repeat.payload], [method, true, first], JSON.stringify(repeat.error));
    }
  }
}
