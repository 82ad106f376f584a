import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '@tenon/protocol';
import type { UiRequest } from '@tenon/protocol/sep';
import { createDispatches } from './dispatches.ts';
import type { Asker, People } from './people.ts';
import type { RpcError } from '../connection/rpc-error.ts';
import type { ServedCall } from './serve.ts';
import { serveUi } from './ui.ts';

function world(answer: (from: Asker, request: UiRequest) => object = () => ({ confirmed: true })) {
  const held: string[] = [];
  const dispatches = createDispatches(undefined, () => {
    held.push('held');
    return () => void held.push('released');
  });
  const asked: Asker[] = [];
  const people: People = {
    async request(from, request) {
      asked.push(from);
      return answer(from, request);
    },
    gone: () => {},
  };
  const serve = serveUi({ extension: 'notes', dispatches, people })['ui/request']!;
  const ask = (request: UiRequest = { kind: 'confirm', prompt: 'x' }, dispatch?: ServedCall['dispatch']) =>
    serve(request, {
      generation: 1,
      signal: new AbortController().signal,
      dispatch,
      api: () => assert.fail(),
    } as ServedCall) as Promise<object>;
  const during = <Result>(sessionKey: string, work: (token: string) => Promise<Result>) =>
    dispatches.during('command', { sessionKey }, new AbortController().signal, ({ token }) => work(token));
  return { dispatches, asked, held, ask, during };
}

const codeOf = (work: Promise<object>) =>
  work.then(
    () => 0,
    (error: unknown) => (error as RpcError).code,
  );

test('a question belongs to the session of its context; without one to the only session there is, or to the last one', async () => {
  const { dispatches, asked, ask, during } = world();
  assert.deepEqual(await ask(), { cancelled: true }, 'nobody has had to do with it');
  await during('agent:main:a', async (a) => {
    await ask();
    await during('agent:main:b', async () => {
      assert.equal(await codeOf(ask()), -32003, 'it could be either');
      await ask(undefined, dispatches.find(a));
    });
  });
  dispatches.told({ sessionKey: 'agent:main:c' });
  await ask();
  assert.deepEqual(
    asked.map(({ sessionKey, extension, generation }) => [sessionKey, extension, generation]),
    ['a', 'a', 'c'].map((name) => [`agent:main:${name}`, 'notes', 1]),
  );
});

test('while people are asked the time of the call stands still, for a bounded number of questions; what is only shown holds nothing', async () => {
  const { held, ask, during } = world();
  await during('agent:main:a', async () => {
    await ask({ kind: 'set_status', status: 'x' });
    assert.deepEqual(held, []);
    for (let n = 0; n < 12; n++) await ask();
  });
  assert.deepEqual([held.filter((each) => each === 'held').length, held.filter((each) => each === 'released').length], [10, 10]);
});

test('a refusal has the code that the protocol has for it', async () => {
  const refusals: [GatewayError, number][] = [
    [new GatewayError('INVALID_REQUEST', 'options is empty'), -32602],
    [new GatewayError('UNAVAILABLE', 'no UI capability for kind: confirm', { details: { code: 'NO_UI' } }), -32001],
    [new GatewayError('TOO_LARGE', 'too many'), -32005],
    [new GatewayError('NOT_FOUND', 'no session'), -32005],
  ];
  for (const [error, code] of refusals) {
    const { ask, during } = world(() => {
      throw error;
    });
    assert.equal(await during('agent:main:a', () => codeOf(ask())), code);
  }
  const alone = serveUi({ extension: 'notes', dispatches: createDispatches(), people: undefined })['ui/request']!;
  await assert.rejects(
    Promise.resolve(alone({ kind: 'confirm', prompt: 'x' }, {} as ServedCall)),
    (error: RpcError) => error.code === -32001,
  );
});
