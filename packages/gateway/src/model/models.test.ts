import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError, matches, ModelInfo, type ModelConfig } from '@tenon/protocol';
import { systemClock } from '../kernel/clock.ts';
import { createModels, keyEnvNames, probeModel, unknownModel, type ModelsOptions } from './models.ts';
import type { ModelFailure } from './types.ts';

function build(configs: readonly ModelConfig[], change: Partial<ModelsOptions> = {}) {
  return createModels({
    configs,
    defaultId: '',
    env: {},
    clock: systemClock,
    idleTimeoutMs: 1_000,
    readSecretFile: (file) => {
      throw Object.assign(new Error(`ENOENT: no such file, open '${file}'`), { code: 'ENOENT' });
    },
    demoFacts: () => assert.fail('not asked'),
    demoPaceMs: 0,
    fetch: () => assert.fail('nobody is asked'),
    ...change,
  });
}

async function failureOf(configs: readonly ModelConfig[], change?: Partial<ModelsOptions>): Promise<ModelFailure> {
  const probe = await probeModel(build(configs, change).get(configs[0]!.id)!, new AbortController().signal, systemClock);
  return probe.ok ? assert.fail('it answered') : probe.failure;
}

test('the demo model is always there, and used where nothing else is', () => {
  const models = build([]);
  assert.equal(models.defaultId, 'demo');
  assert.deepEqual(
    models.list().map(({ id, usable, isDefault }) => [id, usable, isDefault]),
    [['demo', true, true]],
  );
});

test('the first that is configured is the default unless another is chosen', () => {
  const configs: ModelConfig[] = [
    { id: 'a', provider: 'openai' },
    { id: 'b', provider: 'google', name: 'gemini', contextWindow: 5_000, images: false, thinking: true },
  ];
  const env = { OPENAI_API_KEY: 'key-one', GEMINI_API_KEY: 'key-two' };
  assert.equal(build(configs, { env }).defaultId, 'a');
  const models = build(configs, { env, defaultId: 'b' });
  assert.equal(models.defaultId, 'b');
  assert.ok(models.list().every((info) => matches(ModelInfo, info)));
  assert.deepEqual(models.get('b')?.info, {
    id: 'b',
    provider: 'google',
    name: 'gemini',
    contextWindow: 5_000,
    images: false,
    thinking: true,
    usable: true,
    isDefault: true,
  });
  assert.equal(models.get('a'), models.get('a'), 'a model is built once');
});

const missing: readonly [string, ModelConfig, Partial<ModelsOptions>, ModelFailure['kind'], RegExp][] = [
  ['no key in the usual variable', { id: 'm', provider: 'anthropic' }, {}, 'missing_key', /environment variable ANTHROPIC_API_KEY/],
  ['an empty key', { id: 'm', provider: 'openai', keyEnv: 'MINE' }, { env: { MINE: '  ' } }, 'missing_key', /environment variable MINE/],
  ['no key file', { id: 'm', provider: 'openai', keyFile: '/keys/x' }, {}, 'missing_key', /file \/keys\/x is not there/],
  [
    'an empty key file',
    { id: 'm', provider: 'openai', keyFile: '/keys/x' },
    { readSecretFile: () => '\n' },
    'missing_key',
    /\/keys\/x is empty/,
  ],
  [
    'a file that holds no key',
    { id: 'm', provider: 'openai', keyFile: '/keys/x' },
    { readSecretFile: () => 'SECRET ONE\nSECRET TWO' },
    'missing_key',
    /one line/,
  ],
  ['no address', { id: 'm', provider: 'openai-compatible' }, {}, 'unknown_model', /baseUrl/],
  [
    'a password in the address',
    { id: 'm', provider: 'openai-compatible', baseUrl: 'http://me:SECRET@host/v1' },
    {},
    'unknown_model',
    /user or a password/,
  ],
];
for (const [what, config, change, kind, reason] of missing) {
  test(`${what}: not usable, and says what to set`, async () => {
    const { usable, reason: shown } = build([config], change).get('m')!.info;
    assert.equal(usable, false);
    assert.match(shown ?? '', reason);
    const failure = await failureOf([config], change);
    assert.equal(failure.kind, kind);
    assert.match(failure.message, reason);
    assert.ok(!`${shown}${failure.message}`.includes('SECRET'));
  });
}

test('a key that is set later is found', async () => {
  const env: Record<string, string> = {};
  const models = build([{ id: 'm', provider: 'openai' }], { env });
  assert.equal(models.get('m')?.info.usable, false);
  env.OPENAI_API_KEY = 'key-one';
  assert.equal(models.get('m')?.info.usable, true);
});

test('two models of one id, and one that takes the id of the demo model, are refused', () => {
  const refusal = (pattern: RegExp) => (error: unknown) =>
    error instanceof GatewayError && error.code === 'INVALID_REQUEST' && pattern.test(error.message);
  assert.throws(
    () =>
      build([
        { id: 'a', provider: 'openai' },
        { id: 'a', provider: 'google' },
      ]),
    refusal(/two \[\[models\]\] with the id "a"/),
  );
  assert.throws(() => build([{ id: 'demo', provider: 'openai' }]), refusal(/"demo" is taken/));
});

test('an unknown id is a failure that names the nearest one', () => {
  const models = build([{ id: 'claude-sonnet', provider: 'anthropic' }]);
  assert.equal(models.get('claude-sonet'), undefined);
  const failure = unknownModel('claude-sonet', models);
  assert.equal(failure.kind, 'unknown_model');
  assert.match(failure.message, /no model "claude-sonet" \(did you mean "claude-sonnet"\?\)/);
});

test('the variables that hold keys are the usual ones and those that are named', () => {
  const names = keyEnvNames([
    { id: 'a', provider: 'openai', keyEnv: 'MINE' },
    { id: 'b', provider: 'openai-compatible' },
  ]);
  assert.deepEqual(names, ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'MINE']);
});
