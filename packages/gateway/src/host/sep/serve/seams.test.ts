import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dispatch } from './dispatches.ts';
import { RpcError } from '../connection/rpc-error.ts';
import type { ServedCall } from './serve.ts';
import { seamsServed } from './seams.ts';

const never = new AbortController().signal;
const SESSION = 'agent:main:one';

function callIn(dispatch: Partial<Dispatch> | undefined, workflow: object): ServedCall {
  const api = { session: { workflow } };
  return { generation: 1, signal: never, dispatch: dispatch as Dispatch | undefined, api: () => api as never };
}

async function refusal(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    assert.ok(error instanceof RpcError, String(error));
    return [error.code, error.data ?? error.message];
  }
}

test('while the operator is asked, the time of a tool or a command stands still, and that of a hook goes on', async () => {
  const question = { title: 'Go on?', description: '', context: { token: 't', tier: 'command' as const } };
  const states: string[] = [];
  const ask = async (place: Partial<Dispatch>) => {
    let state = 'goes on';
    const hold = () => {
      state = 'stands still';
      return () => {
        state = 'went on';
      };
    };
    const requestApproval = async () => {
      states.push(state);
      return { ok: true, decision: 'allow-once', by: 'person' };
    };
    await seamsServed['approval/request'](question, callIn({ sessionKey: SESSION, hold, ...place }, { requestApproval }));
    states.push(state);
  };
  await ask({ callId: 'c1' });
  await ask({ asked: true });
  await ask({});
  assert.deepEqual(states, ['stands still', 'went on', 'stands still', 'went on', 'goes on', 'goes on']);
});

test('every reason of the api is an error of the wire', async () => {
  const reasons = ['not-loaded', 'not-granted', 'invalid', 'no-session', 'conflict', 'limit', 'unavailable'];
  const said = await Promise.all(
    reasons.map((reason) => {
      const call = callIn(undefined, { continueAgent: async () => ({ ok: false, reason, message: `because ${reason}` }) });
      return refusal(() => seamsServed['turn/continue']({ session_key: SESSION }, call));
    }),
  );
  assert.deepEqual(said, [
    [-32005, { reason: 'unavailable' }],
    [-32004, 'because not-granted'],
    [-32602, 'because invalid'],
    ...['no-session', 'conflict', 'limit', 'unavailable'].map((reason) => [-32005, { reason }]),
  ]);
});

test('a session is needed: of a context that is good, or by its key', async () => {
  const given: unknown[] = [];
  const workflow = { continueAgent: async (request: object) => given.push(request) && { ok: true } };
  const context = { token: 't', tier: 'event' as const };
  const ask = (params: object, dispatch?: Partial<Dispatch>) =>
    refusal(() => seamsServed['turn/continue'](params, callIn(dispatch, workflow)));
  assert.deepEqual(await ask({}), [-32602, 'params needs a context or a session_key']);
  assert.equal(((await ask({ context })) as unknown[])[0], -32003);
  assert.deepEqual(await ask({ context }, {}), [-32602, 'params/context is of no session; give a session_key']);
  await ask({ context, force: true }, { sessionKey: SESSION });
  await ask({ context, session_key: 'agent:main:two' }, { sessionKey: SESSION });
  assert.deepEqual(given, [{ sessionKey: SESSION, force: true }, { sessionKey: 'agent:main:two' }]);
});
