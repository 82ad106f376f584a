// What stands in spec/sep is true: the schemas are JSON Schema that another validator takes, and the fixtures are as they say.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { wire } from '@tenon/protocol/sep';
import { exchanges } from '@tenon/protocol/sep/conformance';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createSepDocument } from '../../scripts/protocol/sep/schemas.ts';
import { verifies } from '../support/verifies.ts';

const folder = join(import.meta.dirname, '../../spec/sep');
const load = <Value>(path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8')) as Value;

interface Fixture {
  readonly def: string;
  readonly value: unknown;
  readonly why?: string;
  readonly read?: boolean;
}

function validators(path: string): (def: string) => ValidateFunction {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false });
  const document = load<{ $id: string }>(path);
  ajv.addSchema(document);
  return (def) => {
    const validate = ajv.getSchema(`${document.$id}#/$defs/${def}`);
    assert.ok(validate, `${path} has no ${def}`);
    return validate;
  };
}

const written = validators('schemas/write.schema.json');
const read = validators('schemas/read.schema.json');

test('every definition compiles, in both documents under the same names', () => {
  verifies('sep:spec', 'sep:G42');
  const names = Object.keys(createSepDocument('write').$defs);
  assert.deepEqual(Object.keys(createSepDocument('read').$defs), names);
  for (const name of names) {
    written(name);
    read(name);
  }
  assert.ok(names.length > 100, String(names.length));
});

test('valid fixtures are valid for writers and readers', () => {
  verifies('sep:spec');
  const { values } = load<{ values: Fixture[] }>('fixtures/valid.json');
  for (const { def, value } of values) {
    assert.ok(written(def)(value), `${def}: ${JSON.stringify(value)}: ${JSON.stringify(written(def).errors)}`);
    assert.ok(read(def)(value), `${def}: ${JSON.stringify(value)}`);
  }
  for (const method of wire.methodNames)
    assert.ok(
      values.some(({ def }) => def === defOf(method)),
      method,
    );
});

test('invalid fixtures are refused by writers, and by readers unless they say so', () => {
  verifies('sep:spec');
  const { values } = load<{ values: Fixture[] }>('fixtures/invalid.json');
  for (const { def, why, value, read: isRead } of values) {
    assert.ok(!written(def)(value), `${def} ${why}: ${JSON.stringify(value)}`);
    assert.equal(read(def)(value), isRead, `${def} ${why}: ${JSON.stringify(value)}`);
  }
  assert.ok(values.filter(({ read: isRead }) => !isRead).length > 200);
});

test('what hosts send in exchanges is what they may send', () => {
  for (const { name, steps } of exchanges) {
    // The future, and what is wrong on purpose, is what these are about.
    if (['initialize-of-the-future', 'unknown-notification', 'unknown-method', 'cancel-of-nothing', 'hook-without-handler'].includes(name))
      continue;
    for (const step of steps) {
      if (!('send' in step) || typeof step.send.method !== 'string') continue;
      const validate = written(defOf(step.send.method));
      assert.ok(validate(withNames(step.send.params)), `${name}: ${JSON.stringify(step.send)}: ${JSON.stringify(validate.errors)}`);
    }
  }
});

test('every method that is answered or sent has its place in an exchange', () => {
  verifies('sep:spec', 'sep:G42');
  const text = JSON.stringify(exchanges);
  for (const method of wire.methodNames) assert.ok(text.includes(`"method":"${method}"`), method);
});

test('names of exchanges are one each', () => {
  assert.equal(new Set(exchanges.map(({ name }) => name)).size, exchanges.length);
});

/** What is bound to a name is the name of something. */
function withNames(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withNames);
  if ('$ref' in value) return String(value.$ref);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withNames(each)]));
}

function defOf(method: string): string {
  const parts = method.split(/[^A-Za-z0-9]+/).filter((part) => part !== '');
  return `${parts.map((part) => part[0]!.toUpperCase() + part.slice(1)).join('')}Params`;
}
