// The exported JSON Schema against our own validators: ajv and `matches` must say the same of every value.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches } from '@tenon/protocol';
import { Ajv, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { createDocument, refName } from '../../scripts/protocol/json-schema.ts';
import { eventName, paramsName, protocolTables, resultName } from '../../scripts/protocol/tables.ts';
import { createRandom } from '../support/random.ts';
import { mutate, sampleOf } from '../support/samples.ts';
import { verifies } from '../support/verifies.ts';

const seed = 20_260_104;
const tables = protocolTables();
const document = createDocument(tables);
const ajv = new Ajv({ strict: true, discriminator: true, allowUnionTypes: true });
ajv.addSchema(document, 'protocol');

function ajvFor(definition: string): ValidateFunction {
  const validate = ajv.getSchema(`protocol#/definitions/${definition}`);
  assert.ok(validate, `${definition} is not in the exported schema`);
  return validate;
}

/** Everything that has a schema of ours, by the name it has in the export. */
function ownSchemas(): Map<string, TSchema> {
  const own = new Map<string, TSchema>(Object.entries(tables.types));
  for (const [method, row] of Object.entries(tables.methods)) own.set(paramsName(method), row.params).set(resultName(method), row.result);
  for (const [event, row] of Object.entries(tables.events)) own.set(eventName(event), row.payload);
  return own;
}

test('the export is valid draft-07 and has every definition, and no other', () => {
  verifies('seed4:json-schema', 'foundation:tables');
  assert.equal(document.$schema, 'http://json-schema.org/draft-07/schema#');
  assert.equal(new Ajv().validateSchema(JSON.parse(JSON.stringify(document))), true);
  assert.deepEqual(Object.keys(document.definitions).sort(), [...ownSchemas().keys()].sort());
  assert.deepEqual(document.discriminator, { propertyName: 'type' });
  assert.deepEqual(document.oneOf?.map(refName), ['RequestFrame', 'ResponseFrame', 'EventFrame']);
});

test('types with a name are referred to, not copied, and every reference leads somewhere', () => {
  verifies('seed4:json-schema');
  const text = JSON.stringify(document);
  const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target!);
  for (const target of references) assert.ok(Object.hasOwn(document.definitions, target.replace('#/definitions/', '')), target);
  assert.equal(document.definitions.SessionsGetResult?.properties?.session?.$ref, '#/definitions/Session');
  assert.equal(document.definitions.ErrorShape?.properties?.details?.$ref, '#/definitions/JsonValue');
  assert.ok(!text.includes('$defs') && !text.includes('"$id"'));
});

test('ajv and our validators agree on good and bad values of every definition', (t) => {
  verifies('foundation:schema-agreement', 'seed4:json-schema');
  t.diagnostic(`seed ${seed}`);
  const random = createRandom(seed);
  const counts = { good: 0, stillGood: 0, bad: 0 };
  for (const [name, own] of ownSchemas()) {
    const validate = ajvFor(name);
    for (let round = 0; round < 12; round++) {
      const good = sampleOf(document.definitions[name]!, document.definitions, random);
      assert.ok(matches(own, good), `${name}: we refuse ${JSON.stringify(good).slice(0, 300)}`);
      assert.ok(validate(good), `${name}: ajv refuses ${JSON.stringify(good).slice(0, 300)}: ${ajv.errorsText(validate.errors)}`);
      counts.good++;
      for (let each = 0; each < 6; each++) {
        const mutant = mutate(good, random);
        const isOurs = matches(own, mutant);
        assert.equal(validate(mutant), isOurs, `${name}: we say ${isOurs} of ${JSON.stringify(mutant).slice(0, 300)}`);
        counts[isOurs ? 'stillGood' : 'bad']++;
      }
    }
  }
  t.diagnostic(`${counts.good} good values, ${counts.stillGood} changed and still good, ${counts.bad} bad`);
  assert.ok(counts.good > 500 && counts.stillGood > 100 && counts.bad > 2_000, JSON.stringify(counts));
});

test('ajv and our validators agree on whole frames, and on frames made by hand', (t) => {
  verifies('foundation:schema-agreement');
  t.diagnostic(`seed ${seed}`);
  const random = createRandom(seed);
  const validate = ajv.getSchema('protocol')!;
  const byHand = [
    { type: 'req', id: '1', method: 'health' },
    { type: 'req', id: '1', method: 'health', params: null },
    { type: 'req', id: '', method: 'health' },
    { type: 'req', id: 'x'.repeat(128), method: 'm' },
    { type: 'req', id: 'x'.repeat(129), method: 'm' },
    { type: 'req', id: '\u{1f600}'.repeat(128), method: 'm' },
    { type: 'req', id: 1, method: 'health' },
    { type: 'req', id: '1', method: 'health', auth: 'x' },
    { type: 'res', id: '1', ok: true },
    { type: 'res', id: '1', ok: 'true' },
    { type: 'res', id: '1', ok: false, error: { code: 'NOT_FOUND', message: 'x' } },
    { type: 'res', id: '1', ok: false, error: { code: 'E_NOT_FOUND', message: 'x' } },
    { type: 'res', id: '1', ok: false, error: { code: 'NOT_FOUND', message: 'x', retryAfterMs: -1 } },
    { type: 'event', event: 'tick', payload: { ts: 1 }, seq: 1, prev: 0, epoch: '0123456789' },
    { type: 'event', event: 'tick', seq: 1.5 },
    { type: 'event', event: 'tick', stateVersion: { presence: 1 } },
    { type: 'unknown', id: '1' },
    { id: '1', method: 'health' },
    {},
    [],
    null,
    'req',
  ];
  const frames: unknown[] = [...byHand];
  for (const [method, row] of Object.entries(tables.methods)) {
    const params = sampleOf(document.definitions[paramsName(method)]!, document.definitions, random);
    const result = sampleOf(document.definitions[resultName(method)]!, document.definitions, random);
    const pair = [
      { type: 'req', id: row.scope, method, params },
      { type: 'res', id: row.scope, ok: true, payload: result },
    ];
    for (const frame of pair) frames.push(frame, ...Array.from({ length: 6 }, () => mutate(frame, random)));
  }
  for (const frame of frames) {
    assert.equal(validate(frame), matches(tables.types.GatewayFrame as TSchema, frame), JSON.stringify(frame)?.slice(0, 300));
  }
  t.diagnostic(`${frames.length} frames`);
  assert.ok(frames.length > 300);
});
