// Sessions that are larger than a frame: in and out as files, and still readable in pages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { mintToken } from '../security/harness.ts';
import { startGatewayProcess } from '../support/gateway.ts';
import { connectRaw } from '../support/raw-client.ts';

const at = '2026-01-01T00:00:00.000Z';
const usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const photo = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo'.padEnd(3_000_000, 'A') };

const file = [
  { type: 'session', version: 3, id: 'large', timestamp: at, cwd: '' },
  {
    type: 'message',
    id: 'aaaa1111',
    parentId: null,
    timestamp: at,
    message: { role: 'user', content: [{ type: 'text', text: 'Look' }, photo], timestamp: 1 },
  },
  {
    type: 'message',
    id: 'bbbb2222',
    parentId: 'aaaa1111',
    timestamp: at,
    message: {
      role: 'assistant',
      content: [{ type: 'text', text: 'long '.repeat(400_000) }],
      provider: 'p',
      model: 'm',
      usage,
      stopReason: 'stop',
      timestamp: 2,
      api: 'p',
    },
  },
];

test('a session of large entries goes in and out as a file, and its pages fit a frame', async () => {
  await using gateway = await startGatewayProcess();
  await using admin = await connectRaw(gateway.socketUrl, gateway.token);
  const text = `${file.map((line) => JSON.stringify(line)).join('\n')}\n`;
  const sent = await http(gateway, 'import', 'agent:main:large', gateway.token, text);
  assert.equal(sent.status, 200, await sent.clone().text());

  const { payload: newest } = await admin.request('chat.history', { sessionKey: 'agent:main:large' });
  assert.match(newest.entries[0].message.content[0].text, /characters are not shown here/);
  const { payload: older } = await admin.request('chat.history', { sessionKey: 'agent:main:large', before: newest.more });
  assert.match(older.entries[0].message.content[1].text, /an image of type image.png: .3000000 characters/);
  for (const page of [newest, older]) assert.ok(JSON.stringify(page).length < limits.maxPayload.value);

  const refused = await admin.request('sessions.export', { key: 'agent:main:large' });
  assert.equal(refused.error?.code, 'TOO_LARGE');
  assert.match(refused.error?.message ?? '', /GET \/api\/sessions\/export/);

  const received = await http(gateway, 'export', 'agent:main:large', gateway.token);
  assert.match(received.headers.get('content-disposition') ?? '', /^attachment/);
  const lines = (await received.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(lines.slice(1), file.slice(1));
});

test('an export is for those who may read the session', async () => {
  await using gateway = await startGatewayProcess();
  await using admin = await connectRaw(gateway.socketUrl, gateway.token);
  for (const key of ['agent:main:own', 'agent:main:other']) await admin.request('sessions.create', { key });
  const bound = await mintToken(admin, ['operator.read'], { sessionKey: 'agent:main:own' });
  const nobody = await mintToken(admin, []);
  assert.equal((await http(gateway, 'export', 'agent:main:own', bound.token)).status, 200);
  assert.equal((await http(gateway, 'export', 'agent:main:other', bound.token)).status, 404);
  assert.equal((await http(gateway, 'export', 'agent:main:gone', gateway.token)).status, 404);
  assert.equal((await http(gateway, 'export', 'agent:main:own', nobody.token)).status, 403);
  assert.equal((await http(gateway, 'export', 'agent:main:own', 'tenon_wrong')).status, 401);
});

function http(gateway: { url: string }, verb: 'import' | 'export', key: string, token: string, body?: string): Promise<Response> {
  return fetch(`${gateway.url}/api/sessions/${verb}?key=${encodeURIComponent(key)}`, {
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/jsonl' }) },
    ...(body === undefined ? {} : { method: 'POST', body }),
  });
}
