// S40, S81 for the keys of models: a canary in the environment and one in a file, and a server that echoes what it was sent
// wherever it can. The key reaches the provider and nothing else.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { methodNames, methodRow } from '@tenon/protocol';
import { call, type Conversation, MODEL_KEY, openConversation, SESSION } from '../support/conversation.ts';
import { temporaryHome } from '../support/gateway.ts';
import { type RecordedRequest, type ServerStep, startModelServer } from '../support/model-server.ts';
import { verifies } from '../support/verifies.ts';
import { assertUnharmed, logFiles, tenon } from './harness.ts';

const FILE_KEY = 'sk-file/"canary"+77e1b2==';
/** How a key can look in a text: as it is, in JSON, in an address, in base64, and each half. */
const formsOf = (key: string) => [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key), Buffer.from(key).toString('base64')];
const FORMS = [...formsOf(MODEL_KEY), ...formsOf(FILE_KEY)];

function assertClean(text: string, what: string): void {
  for (const form of FORMS) {
    const at = text.indexOf(form);
    assert.equal(at, -1, `the key is in ${what}: …${text.slice(Math.max(0, at - 80), at + 120)}…`);
  }
}

const keyOf = ({ headers }: RecordedRequest) => String(headers.authorization).replace('Bearer ', '');

/** Ways to give a key back. */
const echoes: readonly [what: string, step: Extract<ServerStep, (request: RecordedRequest) => unknown>][] = [
  [
    '401',
    (request) => ({ status: 401, message: `Incorrect API key provided: ${keyOf(request)}. Header was: ${request.headers.authorization}` }),
  ],
  ['403', (request) => ({ status: 403, message: `no access for ${keyOf(request)}`, code: keyOf(request) })],
  ['400', (request) => ({ status: 400, message: `bad request with key=${encodeURIComponent(keyOf(request))}` })],
  ['429', (request) => ({ status: 429, message: `slow down ${keyOf(request)}`, headers: { 'x-key': keyOf(request), 'retry-after': '0' } })],
  ['500', (request) => ({ status: 500, body: `<pre>${keyOf(request)}\n${JSON.stringify(request.headers)}</pre>` })],
  ['a redirect', (request) => ({ status: 302, headers: { location: `http://127.0.0.1:1/${encodeURIComponent(keyOf(request))}` } })],
  ['after a long text', (request) => ({ status: 400, message: `${'x'.repeat(225)}${keyOf(request)}` })],
  [
    'in the type',
    (request) => ({ status: 400, body: JSON.stringify({ error: { message: 'no', type: keyOf(request), code: keyOf(request) } }) }),
  ],
  ['in an answer that is none', (request) => ({ status: 200, body: `data: {"error":{"message":"key ${keyOf(request)}"}}\n\n` })],
];

async function everySurface(talk: Conversation, sessionKey: string): Promise<void> {
  const { admin, gateway } = talk;
  const params: Record<string, object> = {
    'models.probe': { id: 'local' },
    'tools.effective': { sessionKey },
    'sessions.get': { key: sessionKey },
    'sessions.tree': { key: sessionKey },
    'sessions.export': { key: sessionKey },
    'chat.history': { sessionKey },
    'logs.tail': { limit: 200 },
    'audit.list': { limit: 200 },
  };
  let asked = 0;
  for (const method of methodNames) {
    if (methodRow(method).repeat !== 'safe') continue;
    const { ok } = await admin.request(method, params[method] ?? {});
    if (ok) asked++;
  }
  assert.ok(asked > 15, `only ${asked} methods answered`);
  assert.equal((await admin.request('doctor.run', { fix: true })).ok, true);
  for (const text of ['/status', '/model', '/help']) await admin.request('commands.invoke', { sessionKey, text });
  // Every frame that came, events included.
  assertClean(JSON.stringify(admin.frames), 'a frame');
  const headers = { authorization: `Bearer ${gateway.token}` };
  for (const path of ['/metrics', '/health', '/', '/v1/models'])
    assertClean(await (await fetch(`${gateway.url}${path}`, { headers })).text(), path);
  for (const words of [
    ['doctor'],
    ['model', 'ls'],
    ['config', 'get'],
    ['status'],
    ['logs'],
    ['audit'],
    ['session', 'export', sessionKey],
  ]) {
    const { stdout, stderr } = await tenon(gateway.home, ...words);
    assert.notEqual(stdout + stderr, '', words.join(' '));
    assertClean(stdout + stderr, `tenon ${words.join(' ')}`);
  }
  for (const [name, text] of logFiles(gateway.home)) assertClean(text, name);
  assertClean(gateway.stderr(), 'standard error');
  assertClean(storedText(gateway.home), 'the store');
}

/** The bytes of everything in the home but the files that the operator made. */
function storedText(home: string): string {
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('secrets'));
  return files
    .map((name) => join(home, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'latin1'))
    .join('\n');
}

for (const where of ['the environment', 'a file'] as const) {
  test(`a key in ${where} reaches its provider and is nowhere else, also when the server gives it back`, async () => {
    verifies('S40', 'S81');
    const home = temporaryHome();
    try {
      mkdirSync(join(home, 'secrets'));
      writeFileSync(join(home, 'secrets', 'model.key'), `${FILE_KEY}\n`, { mode: 0o600 });
      let echo: ServerStep = { text: 'fine' };
      await using server = await startModelServer({ otherwise: (request) => (typeof echo === 'function' ? echo(request) : echo) });
      await using talk = await openConversation({
        home,
        server,
        config: '[model]\nattempts = 2\nidleTimeoutMs = 20000\n[log]\nlevel = "trace"\n',
        env: { OPENAI_API_KEY: FILE_KEY },
        model: ({ url }) =>
          `[[models]]\nid = "filed"\nprovider = "openai-compatible"\nname = "test"\nbaseUrl = "${url}"\nkeyFile = "secrets/model.key"\n`,
      });
      const model = where === 'a file' ? 'filed' : 'local';
      const key = where === 'a file' ? FILE_KEY : MODEL_KEY;
      for (const [what, step] of echoes) {
        echo = step;
        const { end } = await talk.say('go', { model });
        assert.equal(end.kind, 'failed', `${what}: ${JSON.stringify(end)}`);
        assertClean(JSON.stringify(end), what);
        await talk.admin.request('models.probe', { id: model });
      }
      echo = { text: 'fine' };
      assert.equal((await talk.say('go', { model })).text, 'fine');
      for (const request of talk.server.requests) assert.equal(keyOf(request), key, 'the provider got it');
      // A program does not find it either.
      talk.server.next(call('exec', { command: 'env; cat ../../secrets/model.key; cat /proc/$PPID/environ' }));
      const runId = await talk.send('go');
      await talk.answer(await talk.question(runId), 'allow-once');
      await talk.ended(runId);
      await everySurface(talk, SESSION);
      await assertUnharmed(talk.gateway);
    } finally {
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    }
  });
}
