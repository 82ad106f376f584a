import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from './json.ts';
import { fillForm, formOf, pressOf } from './ui-form.ts';

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 40, title: 'Name' },
    longStory: { type: 'string', maxLength: 4_000 },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    loud: { type: 'boolean' },
    size: { enum: ['small', { odd: true }] },
    extra: { type: 'array' },
    step: { type: 'integer', readOnly: true },
  },
  required: ['name', 'count'],
  additionalProperties: false,
};
const extensions = [{ pluginId: 'one', namespace: 'box', value: { offer: { name: 'Ada', count: 3, step: 7 } as JsonValue } }];
const press = (control: object) => pressOf('one', { actionId: 'do', ...control }, extensions);

test('a press is sent as it is, unless the action needs what it is not given', () => {
  assert.deepEqual(press({}), { kind: 'send' });
  assert.deepEqual(press({ payload: 1 }), { kind: 'send', payload: 1 });
  assert.deepEqual(press({ schema, payloadFrom: { namespace: 'box', path: '/offer' } }), {
    kind: 'send',
    payload: { name: 'Ada', count: 3, step: 7 },
  });
  assert.equal(press({ schema }).kind, 'ask');
  assert.equal(press({ schema, payload: { name: 'Ada' } }).kind, 'ask');
  assert.equal(press({ schema: { anyOf: [{ type: 'null' }, schema] } }).kind, 'send', 'nothing is what it takes, too');
  assert.equal(press({ schema: { type: 'object', properties: {} } }).kind, 'ask', 'nothing is not an object');
  assert.equal(press({ schema, ask: true, payloadFrom: { namespace: 'box', path: '/offer' } }).kind, 'ask');
});

test('a form has a field for each simple property, with what is given in it, and keeps what is fixed', () => {
  const form = formOf({ anyOf: [{ type: 'null' }, schema] }, { name: 'Ada', step: 7, strange: 1 });
  assert.deepEqual(
    form.fields.map(({ name, kind, label, first, isRequired }) => [name, kind, label, first, isRequired]),
    [
      ['name', 'text', 'Name', 'Ada', true],
      ['longStory', 'lines', 'Long story', '', false],
      ['count', 'number', 'Count', '', true],
      ['loud', 'switch', 'Loud', 'false', false],
      ['size', 'choice', 'Size', '', false],
      ['extra', 'json', 'Extra', '', false],
    ],
  );
  assert.deepEqual(fillForm(form, { count: '4', loud: 'true', size: '1', extra: '["x"]' }), {
    ok: true,
    payload: { name: 'Ada', count: 4, loud: true, size: { odd: true }, extra: ['x'], step: 7 },
  });
});

test('what is wrong with an answer is said for its field', () => {
  const form = formOf(schema, undefined);
  const wrong = (answers: Record<string, string>) => {
    const filled = fillForm(form, { name: 'Ada', count: '1', ...answers });
    return filled.ok ? undefined : Object.entries(filled.wrong).map(([name, why]) => `${name}: ${why}`);
  };
  assert.equal(wrong({}), undefined);
  assert.deepEqual(wrong({ name: ' ', count: '' }), ['name: This is needed', 'count: This is needed']);
  assert.deepEqual(wrong({ name: 'x'.repeat(41) }), ['name: At most 40 characters; these are 41']);
  assert.deepEqual(wrong({ count: '0' }), ['count: At least 1']);
  assert.deepEqual(wrong({ count: '10' }), ['count: At most 9']);
  assert.deepEqual(wrong({ count: '1.5' }), ['count: A whole number, without a fraction']);
  assert.deepEqual(wrong({ count: 'many' }), ['count: This is no number']);
  assert.deepEqual(wrong({ size: '9' }), ['size: Choose one']);
  assert.deepEqual(wrong({ extra: '[' }), ['extra: This is not valid JSON; a text stands in quotation marks']);
});

test('whatever else a schema is, the payload is asked for as JSON', () => {
  for (const odd of [{}, { type: 'string' }, { type: 'object' }, { oneOf: [schema, schema] }, { ...schema, if: {} }, true]) {
    const form = formOf(odd as JsonValue, { a: 1 });
    assert.deepEqual([form.isWhole, form.fields.length, form.fields[0]!.kind], [true, 1, 'json'], JSON.stringify(odd).slice(0, 80));
    assert.deepEqual(fillForm(form, {}), { ok: true, payload: { a: 1 } });
    assert.deepEqual(fillForm(form, { payload: '"x"' }), { ok: true, payload: 'x' });
  }
});
