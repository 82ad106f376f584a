import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { JsonValue } from '../json.ts';
import { matches } from '../validate.ts';
import { fromSnake, snake, toSnake } from './snake.ts';

const closed = { additionalProperties: false };
const schema = Type.Object(
  {
    actionId: Type.String(),
    inList: Type.Array(Type.Object({ whenAt: Type.Optional(Type.Number()) }, closed)),
    oneOf: Type.Union([
      Type.Object({ kind: Type.Literal('a'), firstName: Type.String() }, closed),
      Type.Object({ kind: Type.Literal('b'), lastName: Type.String() }, closed),
    ]),
    payload: Type.Optional(JsonValue),
  },
  closed,
);
const camel = {
  actionId: 'x',
  inList: [{ whenAt: 1 }, {}],
  oneOf: { kind: 'b' as const, lastName: 'n' },
  payload: { keepThis: { asItIs: 1 } },
};
const wire = {
  action_id: 'x',
  in_list: [{ when_at: 1 }, {}],
  one_of: { kind: 'b' as const, last_name: 'n' },
  payload: { keepThis: { asItIs: 1 } },
};

test('a schema with the names of the wire takes the same, and nothing else', () => {
  assert.ok(matches(snake(schema), wire));
  assert.ok(!matches(snake(schema), camel));
  assert.ok(!matches(snake(schema), { ...wire, action_id: undefined }));
  assert.ok(!matches(snake(schema), { ...wire, more: 1 }));
  assert.ok(matches(schema, camel), 'the one it was made from is as it was');
});

test('values go there and back; data keeps its names', () => {
  assert.deepEqual(toSnake(schema, camel), wire);
  assert.deepEqual(fromSnake(schema, wire), camel);
});
