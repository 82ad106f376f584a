import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { ButtonAction } from './attachment.ts';
import { methods } from './methods.ts';
import { explain } from './validate.ts';

const job = { session: { agentId: 'main', fresh: true }, message: 'x' };
const wrong = (schedule: unknown) => explain(methods['cron.add'].params, { ...job, schedule }, 'params');

test('of several kinds, what is wrong with the one that is meant is said', () => {
  assert.equal(wrong({ kind: 'at', at: -5 }), 'params/schedule/at must be >= 0');
  assert.equal(wrong({ kind: 'at', at: 8.64e15 + 1 }), 'params/schedule/at must be <= 253402300799999');
  assert.equal(wrong({ kind: 'every', everyMs: 1 }), 'params/schedule/everyMs must be >= 1000');
  assert.equal(wrong({ kind: 'in', delayMs: 1, also: 1 }), 'params/schedule has an unknown field "also"');
  assert.match(wrong({ kind: 'cron', cron: '* * * * * *' }) ?? '', /^params\/schedule\/cron must be five fields/);
  assert.equal(wrong({ kind: 'never' }), 'params/schedule/kind must be one of at, in, every, cron');
  assert.equal(wrong({}), 'params/schedule/kind must be one of at, in, every, cron');
  assert.equal(wrong({ kind: 'in', delayMs: 1 }), undefined);
});

test('a kind in a list is found, and a union without kinds is told as before', () => {
  const One = Type.Object({ type: Type.Literal('one'), n: Type.Integer() });
  const Two = Type.Object({ type: Type.Literal('two'), s: Type.String() });
  const List = Type.Object({ all: Type.Array(Type.Union([One, Two])) });
  assert.equal(
    explain(
      List,
      {
        all: [
          { type: 'two', s: '' },
          { type: 'one', n: 'x' },
        ],
      },
      'v',
    ),
    'v/all/1/n must be integer',
  );
  assert.equal(explain(List, { all: [{ type: 'three' }] }, 'v'), 'v/all/0/type must be one of one, two');
  assert.equal(typeof explain(List, { all: [null] }, 'v'), 'string');
  assert.equal(typeof explain(List, { all: 1 }, 'v'), 'string');
  assert.equal(typeof explain(ButtonAction, { data: 1 }, 'v'), 'string');
});
