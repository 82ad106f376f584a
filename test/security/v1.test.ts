// S28, S82, S24 at the OpenAI-compatible endpoint.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';
import {
  assertServedDuring,
  assertUnharmed,
  bystander,
  eventually,
  exchange,
  mintToken,
  newAddress,
  openBare,
  requestText,
} from './harness.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

function complete(gateway: GatewayProcess, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(gateway.token), ...headers },
    body: JSON.stringify(body),
  });
}

const hello = { model: 'tenon', messages: [{ role: 'user', content: 'What time is it?' }] };

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code;
}

test('S28 an image is judged by its length as it was sent, and its pixels by nobody', async () => {
  verifies('S28');
  await using gateway = await startGatewayProcess();
  const withImage = (url: string) => ({
    model: 'tenon',
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });
  const tooLong = 'A'.repeat(limits.imageBytes.value + 100);
  const refused: [status: number, url: string][] = [
    [413, `data:image/png;base64,${tooLong}`],
    [413, `data:image/png;size=10;base64,${tooLong}`],
    [413, `data:,${tooLong}`],
    [400, 'data:image/png;base64,AAA'],
    [400, 'data:image/png;base64,iVBORw0KGgo=\n'],
    [400, `data:image/png;base64,${Buffer.from('GIF89a not a png').toString('base64')}`],
    [400, 'data:text/html;base64,PGI+'],
    [400, `data:${'x'.repeat(100_000)}`],
    [400, 'file:///etc/passwd'],
    [400, `http://127.0.0.1:${gateway.port}/metrics`],
  ];
  for (const [status, url] of refused) assert.equal((await complete(gateway, withImage(url))).status, status, url.slice(0, 40));
  const many = Array.from({ length: limits.messageImages.value + 1 }, () => ({ type: 'image_url', image_url: { url: bomb } }));
  assert.equal((await complete(gateway, { model: 'tenon', messages: [{ role: 'user', content: many }] })).status, 413);
  const declared = { 'Content-Type': 'application/json', 'Content-Length': '100000000', Authorization: `Bearer ${gateway.token}` };
  assert.equal((await exchange(gateway, requestText(gateway, '/v1/chat/completions', { method: 'POST', headers: declared }))).status, 413);
  assert.equal((await complete(gateway, withImage(bomb))).status, 413, 'its header says how many pixels it has, and that is enough');
  await assertUnharmed(gateway);
});

/** A PNG whose header says 50,000 by 50,000 pixels. */
const bomb = `data:image/png;base64,${Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
  Buffer.from('IHDR'),
  Buffer.from([0, 0, 0xc3, 0x50, 0, 0, 0xc3, 0x50, 8, 6, 0, 0, 0, 0, 0, 0, 0]),
]).toString('base64')}`;

test('S24 a token that is bound to a session speaks in that one only, and learns of no other', async () => {
  verifies('S24', 'S82:v1');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  for (const key of ['agent:main:mine', 'agent:main:secret']) await admin.request('sessions.create', { key });
  const { token } = await mintToken(admin, ['operator.write'], { sessionKey: 'agent:main:mine' });
  const ask = (sessionKey?: string) =>
    complete(gateway, hello, { ...bearer(token), ...(sessionKey === undefined ? {} : { 'x-tenon-session-key': sessionKey }) });
  const own = await ask();
  assert.equal(own.status, 200, await own.clone().text());
  assert.equal(own.headers.get('x-tenon-session-key'), 'agent:main:mine');
  assert.equal((await ask('agent:main:mine')).status, 200);
  const answers = await Promise.all(['agent:main:secret', 'agent:main:nothing'].map(async (key) => [key, await ask(key)] as const));
  const texts = await Promise.all(answers.map(async ([key, answer]) => `${answer.status} ${(await answer.text()).replace(key, '<key>')}`));
  assert.equal(texts[0], texts[1], 'what exists and what does not are refused alike');
  assert.match(texts[0] ?? '', /^404 /);
  const { payload } = await admin.request('sessions.list', {});
  assert.deepEqual((payload.sessions as { key: string }[]).map(({ key }) => key).sort(), ['agent:main:mine', 'agent:main:secret']);
  await assertUnharmed(gateway);
});

test('what a client sends is a message: neither a command nor a program of the person', async () => {
  verifies('S82:v1');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  for (const content of ['!touch never', '/reset']) {
    const response = await complete(gateway, { model: 'tenon', messages: [{ role: 'user', content }] });
    assert.equal(response.status, 200, content);
    const { payload } = await admin.request('chat.history', { sessionKey: response.headers.get('x-tenon-session-key') });
    const entries = payload.entries as { type: string; message?: { role: string } }[];
    assert.deepEqual(
      entries.map(({ type, message }) => message?.role ?? type),
      ['user', 'assistant'],
      content,
    );
  }
  await assertUnharmed(gateway);
});

test('S82 a flood of completions, refused and allowed, slows nobody who is inside', async () => {
  verifies('S82:v1');
  await using gateway = await startGatewayProcess();
  await using inside = await bystander(gateway);
  let left = 300;
  const flood = async () => {
    for (; left > 0; left--) {
      const [wanted, response] =
        left % 3 === 0
          ? [401, await complete(gateway, hello, { authorization: '' })]
          : left % 3 === 1
            ? [404, await complete(gateway, { ...hello, model: 'nothing' })]
            : [200, await complete(gateway, hello)];
      await response.arrayBuffer();
      assert.ok(response.status === wanted || response.status === 429, `${response.status}, not ${wanted}`);
    }
  };
  const flooding = Promise.all(Array.from({ length: 16 }, flood));
  await assertServedDuring(inside, flooding, () => left > 0);
  await assertUnharmed(gateway, { incidents: ['auth.missing'] });
});

test('S82 a stream ends with its credential', async () => {
  verifies('S82:v1');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const { token, id } = await mintToken(admin, ['operator.write']);
  const slow = { model: 'tenon', stream: true, messages: [{ role: 'user', content: 'How do I add a real model?' }] };
  const response = await complete(gateway, slow, bearer(token));
  assert.equal(response.status, 200);
  await admin.request('tokens.revoke', { id });
  assert.match(await response.text(), /"code":"AUTH_REVOKED"/);
  const { payload } = await admin.request('agent.wait', { runId: response.headers.get('x-tenon-run-id'), timeoutMs: 10_000 });
  assert.equal(payload.end?.kind, 'aborted');
  assert.equal(await codeOf(await complete(gateway, hello, bearer(token))), 'AUTH_TOKEN_MISMATCH');
  await assertUnharmed(gateway);
});

test('S82 a client that hangs up in the middle leaves nothing running', async () => {
  verifies('S82:v1');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const body = JSON.stringify({ ...hello, messages: [{ role: 'user', content: 'How do I add a real model?' }], stream: true });
  const from = newAddress();
  for (let n = 0; n < 20; n++) {
    await using bare = await openBare(gateway, from);
    const headers = { Authorization: `Bearer ${gateway.token}`, 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
    bare.socket.write(requestText(gateway, '/v1/chat/completions', { method: 'POST', headers }) + body);
    if (n % 2) await eventually('the stream has begun', () => bare.received().includes('data: '));
    bare.socket.destroy();
  }
  await eventually('all turns have ended', async () => {
    const { payload } = await admin.request('sessions.list', {});
    return (payload.sessions as { status: string }[]).every(({ status }) => status === 'idle' || status === 'failed');
  });
  await assertUnharmed(gateway);
});
