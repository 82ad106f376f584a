// Every row of the method table, against a real gateway on each engine: scope, params, result, and what a repeat gets. A
// new row does not compile until it has an example here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches, type MethodName, methodNames, methodRow, type Params } from '@tenon/protocol';
import { askToPair, createDevice, mintToken } from '../security/harness.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { createDatabase } from '../support/postgres.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

interface World {
  readonly gateway: GatewayProcess;
  readonly admin: RawClient;
  /** A number that was not given before. */
  next(): number;
}

/** Params that the method accepts now; asked again, it gives others. */
type Examples = { readonly [Method in MethodName]: (world: World) => Params<Method> | Promise<Params<Method>> };

const examples: Examples = {
  health: () => ({}),
  status: () => ({}),
  'system.echo': ({ next }) => ({ text: `text ${next()}` }),
  'presence.list': () => ({}),
  'events.subscribe': () => ({ events: ['tick'] }),
  'events.unsubscribe': () => ({ events: ['tick'] }),
  'config.get': () => ({}),
  'config.patch': ({ next }) => ({ set: { 'gateway.shutdownBudgetMs': 20_000 + next() } }),
  'logs.tail': () => ({ limit: 5 }),
  'audit.list': () => ({ limit: 5 }),
  'doctor.run': ({ next }) => ({ fix: next() % 2 === 0 }),
  'gateway.shutdown': ({ next }) => ({ reason: `test ${next()}` }),
  'sessions.list': () => ({ limit: 5, search: 'title' }),
  'sessions.get': async (world) => ({ key: await newSession(world) }),
  'sessions.create': ({ next }) => ({ key: `agent:main:made-${next()}`, title: 'Title', label: 'label', pinned: true }),
  'sessions.patch': async (world) => ({ key: await newSession(world), title: 'Other title', label: null, archived: true, ifRevision: 1 }),
  'sessions.reset': async (world) => ({ key: await newSession(world) }),
  'sessions.delete': async (world) => ({ key: await newSession(world) }),
  'tokens.create': ({ next }) => ({ name: `token ${next()}`, scopes: ['operator.read'] }),
  'tokens.rotate': async ({ admin }) => ({ id: (await mintToken(admin, ['operator.read'])).id }),
  'tokens.revoke': async ({ admin }) => ({ id: (await mintToken(admin, ['operator.read'])).id }),
  'tokens.list': () => ({}),
  'device.pair.list': () => ({}),
  'device.pair.approve': async (world) => ({ requestId: await newPairing(world) }),
  'device.pair.reject': async (world) => ({ requestId: await newPairing(world) }),
  'device.list': () => ({}),
  'device.rename': async (world) => ({ id: await newDevice(world), name: 'another name' }),
  'device.revoke': async (world) => ({ id: await newDevice(world) }),
};

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`every method on ${engine}: scope, params, result, repeat`, async (t) => {
    verifies('foundation:two-engines', 'foundation:idempotency-conflict', 'R03');
    const database = engine === 'postgres' ? await createDatabase() : undefined;
    const config = database ? { config: `[store]\nengine = "postgres"\nurl = "${database.url}"\n` } : {};
    const gateway = await startGatewayProcess(config);
    t.after(async () => {
      await gateway.remove();
      await database?.drop();
    });
    await using admin = await connectRaw(gateway.socketUrl, gateway.token);
    await using nobody = await connectRaw(gateway.socketUrl, (await mintToken(admin, [])).token);
    let count = 0;
    const world: World = { gateway, admin, next: () => ++count };

    // The last one ends the gateway.
    const order = [...methodNames].sort((a, b) => Number(a === 'gateway.shutdown') - Number(b === 'gateway.shutdown'));
    for (const method of order) {
      await t.test(method, async () => {
        await refusesWithoutScope(method, nobody);
        await refusesBadParams(method, admin);
        if (methodRow(method).repeat === 'keyed') await answersARepeat(method, world);
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

async function answersARepeat(method: MethodName, world: World): Promise<void> {
  const { admin } = world;
  const idempotencyKey = `key-of-${method}`;
  const params = await examples[method](world);
  const others = await examples[method](world);
  assert.notDeepEqual(params, others, 'the example must give other params when it is asked again');
  const call = (given: object) => admin.request(method, given);
  // The one that ends the gateway takes no more after its first answer: its repeat is sent along.
  const along = method === 'gateway.shutdown' ? call({ idempotencyKey, ...params }) : undefined;
  const first = await call({ ...params, idempotencyKey });
  assert.equal(first.ok, true, JSON.stringify(first.error));
  assert.ok(matches(methodRow(method).result, first.payload), `the result does not fit: ${JSON.stringify(first.payload)}`);
  const repeat = await (along ?? call({ idempotencyKey, ...params }));
  assert.deepEqual(repeat.payload, first.payload, 'a repeat gets the first answer, whatever the order of its keys');
  if (along) return;
  assert.equal((await call({ ...others, idempotencyKey })).error?.code, 'IDEMPOTENCY_CONFLICT');
}

async function newSession({ admin, next }: World): Promise<string> {
  const { payload } = await admin.request('sessions.create', { key: `agent:main:session-${next()}`, title: 'Title' });
  return payload.session.key;
}

function newPairing({ gateway, next }: World): Promise<string> {
  return askToPair(gateway, createDevice(), ['operator.read'], `127.2.${next() % 250}.${next() % 250}`);
}

async function newDevice(world: World): Promise<string> {
  const { payload } = await world.admin.request('device.pair.approve', { requestId: await newPairing(world) });
  return payload.device.id;
}
