import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExtensionManifest } from '@tenon/protocol/sep';
import { errors } from '@tenon/protocol/sep/wire';
import { createDispatches } from './dispatches.ts';
import { RpcError } from '../connection/rpc-error.ts';
import { createServer, type Served } from './serve.ts';

const manifest = {
  name: 'one',
  version: '1.0.0',
  run: { command: 'one' },
  capabilities: { bus: true, session: true },
} as ExtensionManifest;
const never = new AbortController().signal;

function world(served: Served, grants = ['extension.use:bus', 'extension.use:session']) {
  const dispatches = createDispatches();
  const server = createServer({
    served,
    dispatches,
    manifest: () => manifest,
    holds: (grant) => grants.includes(grant),
    api: () => undefined,
    placed: () => undefined,
  });
  const ask = (method: string, params: object) => server.request(method, 1)?.({ ...params }, { method, signal: never });
  return { dispatches, server, ask };
}

function code(work: () => unknown): number | string {
  try {
    return String(work());
  } catch (error) {
    return error instanceof RpcError ? error.code : String(error);
  }
}

test('a method is asked in its order: there, on, readable, and only then done', () => {
  const said: string[] = [];
  const served: Served = { 'bus/publish': ({ topic }) => void said.push(topic) };
  const { ask, server } = world(served);
  ask('bus/publish', { topic: 'a' });
  ask('events/publish', { topic: 'b' });
  server.notification('bus/publish', 1)?.({ topic: 'c' });
  assert.deepEqual(said, ['a', 'b', 'c']);
  assert.equal(ask('nothing/there', {}), undefined);
  assert.equal(server.request('tool/execute', 1), undefined, 'it is the extension that is asked this');
  assert.equal(server.request('log', 1), undefined, 'this has no answer');
  assert.equal(
    code(() => ask('bus/publish', { topic: 5 })),
    errors.InvalidParams.code,
  );
  assert.equal(
    code(() => world(served, []).ask('bus/publish', { topic: 5 })),
    errors.CapabilityDisabled.code,
  );
  assert.equal(
    code(() => ask('kv/get', { key: 'a' })),
    errors.CapabilityDisabled.code,
  );
});

test('a context is good while its dispatch is under way, and nobody else can say one', async () => {
  const dispatches = createDispatches();
  let token = '';
  await dispatches.during('command', { sessionKey: 'agent:main:a', agentId: 'main' }, never, async (context) => {
    token = context.token;
    const found = dispatches.find(token);
    assert.equal(found?.sessionKey, 'agent:main:a');
    assert.equal(found?.signal.aborted, false);
    assert.equal(createDispatches().find(token), undefined, 'another extension has tokens of its own');
  });
  assert.equal(dispatches.find(token), undefined);
  await assert.rejects(
    dispatches.during('command', {}, never, () => Promise.reject(new Error('failed'))),
    /failed/,
  );
});

test('what is done for a dispatch is told when the dispatch is over', async () => {
  const dispatches = createDispatches();
  let signal: AbortSignal | undefined;
  await dispatches.during('command', {}, never, async ({ token }) => {
    signal = dispatches.find(token)?.signal;
  });
  assert.equal(signal?.aborted, true);
});

test('the contexts of events are of their own tier, and only the last ones are kept', () => {
  const dispatches = createDispatches();
  const first = dispatches.told({ sessionKey: 'agent:main:a' });
  assert.equal(dispatches.find(first.token)?.tier, 'event');
  for (let at = 0; at < 256; at++) dispatches.told({});
  assert.equal(dispatches.find(first.token), undefined);
});
