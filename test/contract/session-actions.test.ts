// Who may ask for an action, and what is taken for a result: every scope against every credential, every shape that is no
// result, and nothing from a plugin that is gone. Sister contract file `session-actions` of the seams, section 12.3.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ActionAnswer, expandScopes, matches, scopeNames } from '@tenon/protocol';
import { mintToken } from '../security/harness.ts';
import { type GatewayProcess, startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { writePlugin } from '../support/plugins.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

/** The name of each is what is wrong with it. */
const shapes: Readonly<Record<string, string>> = {
  text: `'text'`,
  number: '5',
  list: '[]',
  null: 'null',
  'error without ok': `{ error: 'x' }`,
  'code without ok': `{ code: 'X' }`,
  'details without ok': '{ details: 1 }',
  'ok that is a text': `{ ok: 'false', error: 'x' }`,
  'ok with an error': `{ ok: true, error: 'x' }`,
  'failure with a result': `{ ok: false, error: 'x', result: 1 }`,
  'failure without an error': '{ ok: false }',
  'failure with state': `{ ok: false, error: 'x', statePatch: {} }`,
  'continueAgent that is a text': `{ continueAgent: 'yes' }`,
  'reply that is a number': '{ reply: 5 }',
  'unknown field': '{ result: 1, surprise: 1 }',
  'result that is no JSON': '{ result: new Date(0) }',
  'result without an end': '{ result: (() => { const a = {}; a.a = a; return a; })() }',
  'result that is not finite': '{ result: NaN }',
  'result that is too large': `{ result: 'x'.repeat(70_000) }`,
  'state that is no JSON': '{ statePatch: { box: () => 1 } }',
};

const plugin = {
  id: 'acts',
  grants: ['gateway.methods'],
  register: `
    const calls = [];
    api.registerSessionExtension({ namespace: 'box', description: 'd' });
    api.registerGatewayMethod({ name: 'calls', handler: () => calls.splice(0) });
    const shapes = { ${Object.entries(shapes)
      .map(([name, code]) => `${JSON.stringify(name)}: () => (${code})`)
      .join(', ')} };
    api.registerSessionAction({ id: 'shape', handler: ({ payload }) => shapes[payload]() });
    const scopes = ${JSON.stringify(scopeNames)};
    for (const scope of scopes)
      api.registerSessionAction({ id: scope, requiredScopes: [scope], handler: ({ client }) => {
        calls.push(scope);
        client.scopes.push('operator.admin');
        return { result: 'ok' }; } });
    api.registerSessionAction({ id: 'none', handler: () => ({}) });
    api.registerSessionAction({ id: 'empty', requiredScopes: [], handler: () => undefined });
    api.registerSessionAction({ id: 'both', requiredScopes: ['operator.read', 'operator.approvals'], handler: () => ({}) });
    api.registerSessionAction({ id: 'none', handler: () => ({}) });
    api.registerSessionAction({ id: '  ', handler: () => ({}) });
    api.registerSessionAction({ id: 'no-handler' });
    api.registerSessionAction({ id: 'bad-scope', requiredScopes: ['operator.everything'], handler: () => ({}) });
    api.registerSessionAction({ id: 'blank', description: '', handler: () => ({}) });
    for (const [id, schema] of Object.entries({ text: 'object', type: { type: 'nonsense' }, keyword: { minLength: 'x' }, ref: { $ref: '#/nowhere' } }))
      api.registerSessionAction({ id: 'schema-' + id, schema, handler: () => ({}) });
    api.registerSessionAction({ id: 'always', schema: true, handler: () => ({}) });
    api.registerSessionAction({ id: 'never', schema: false, handler: () => ({}) });`,
} as const;

const home = temporaryHome();
const KEY = 'agent:main:acts';
let gateway: GatewayProcess;
let admin: RawClient;

before(async () => {
  writePlugin(join(home, 'plugins'), plugin);
  gateway = await startGatewayProcess({ home, config: 'plugins.paths = ["plugins"]\n' });
  admin = await connectRaw(gateway.socketUrl, gateway.token);
  assert.equal((await admin.request('plugins.enable', { id: 'acts' })).payload.plugin.state, 'loaded');
  await admin.request('sessions.create', { key: KEY });
});
after(async () => {
  await admin.close();
  await gateway.remove();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

const press = (client: RawClient, actionId: string, payload?: unknown, more: object = {}) =>
  client.request('plugins.sessionAction', {
    pluginId: 'acts',
    actionId,
    sessionKey: KEY,
    ...(payload === undefined ? {} : { payload }),
    ...more,
  });

test('what cannot be registered is refused with a code, and is no action', async () => {
  verifies('seams:A3', 'seams:W19');
  const { registrations } = (await admin.request('plugins.get', { id: 'acts' })).payload.plugin;
  const refused = registrations.filter(({ kind, accepted }: Record<string, unknown>) => kind === 'sessionAction' && !accepted);
  assert.deepEqual(
    refused.map(({ key, code }: Record<string, string>) => `${key?.trim()} ${code}`),
    [
      'none DUPLICATE',
      ' INVALID',
      'no-handler INVALID',
      'bad-scope INVALID',
      'blank INVALID',
      'schema-text BAD_SCHEMA',
      'schema-type BAD_SCHEMA',
      'schema-keyword BAD_SCHEMA',
      'schema-ref BAD_SCHEMA',
    ],
  );
  for (const { key } of refused)
    if (key.startsWith('schema')) assert.equal((await press(admin, key)).error?.details?.code, 'UNKNOWN_ACTION');
  assert.equal((await press(admin, 'always', { any: 'thing' })).payload.ok, true);
  assert.equal((await press(admin, 'never')).error?.details?.code, 'INVALID_PAYLOAD');
});

test('nothing but one of the two forms is a result', async () => {
  verifies('seams:A4', 'seams:A9');
  for (const name of Object.keys(shapes)) {
    const { ok, error } = await press(admin, 'shape', name);
    assert.deepEqual([ok, error?.code, error?.details?.code], [false, 'INVALID_REQUEST', 'INVALID_RESULT'], name);
  }
  const { payload } = await press(admin, 'empty');
  assert.deepEqual(payload, { ok: true }, 'no word is a success');
  assert.ok(matches(ActionAnswer, payload));
});

test('every scope against every credential: all that the action asks for, and no other', async () => {
  verifies('seams:A14', 'seams:A8');
  for (const held of scopeNames) {
    const { token } = await mintToken(admin, [held]);
    await using client = await connectRaw(gateway.socketUrl, token);
    const expanded = expandScopes([held]);
    for (const [action, wanted] of [
      ...scopeNames.map((scope) => [scope, [scope]] as const),
      ['none', ['operator.write']] as const,
      ['empty', ['operator.write']] as const,
      ['both', ['operator.read', 'operator.approvals']] as const,
    ]) {
      const missing = wanted.filter((scope) => !expanded.has(scope));
      const { ok, error } = await press(client, action);
      assert.equal(ok, missing.length === 0, `${action} with ${held}`);
      if (missing.length > 0) assert.deepEqual([error?.code, error?.details?.missingScopes], ['SCOPE', missing], `${action} with ${held}`);
    }
    const calls = (await admin.request('plugin.acts.calls', {})).payload;
    assert.deepEqual(calls.toSorted(), scopeNames.filter((scope) => expanded.has(scope)).toSorted(), 'who lacks one does not reach it');
    assert.equal((await press(client, 'operator.admin')).ok, expanded.has('operator.admin'), 'the list that a handler is given is its own');
    await admin.request('plugin.acts.calls', {});
  }
});

test('ids that are none, and a plugin that is gone, reach nobody', async () => {
  verifies('seams:A18');
  for (const actionId of ['', ' ', 'a b', '__proto__'])
    assert.equal((await press(admin, actionId)).error?.code, 'INVALID_REQUEST', actionId);
  assert.equal((await press(admin, 'toString')).error?.details?.code, 'UNKNOWN_ACTION');
  assert.equal((await press(admin, 'none', undefined, { pluginId: 'nobody' })).error?.details?.code, 'UNKNOWN_ACTION');
  await admin.request('plugins.disable', { id: 'acts' });
  const { error } = await press(admin, 'none');
  assert.deepEqual([error?.code, error?.details?.code], ['UNAVAILABLE', 'UNKNOWN_ACTION']);
});
