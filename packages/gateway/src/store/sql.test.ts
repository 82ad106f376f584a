import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinSql, raw, render, sql } from './sql.ts';

test('a plain template is rendered for each engine, and its text is made once', () => {
  const make = (key: string) => sql`select a from t where key = ${key} and n < ${3}`;
  assert.deepEqual(render(make('x'), 'sqlite'), { text: 'select a from t where key = ? and n < ?', values: ['x', 3] });
  assert.deepEqual(render(make('y'), 'postgres'), { text: 'select a from t where key = $1 and n < $2', values: ['y', 3] });
  assert.equal(render(make('x'), 'postgres').text, render(make('z'), 'postgres').text);
});

test('fragments are put together, with their values in the order of the text', () => {
  const conditions = [sql`a = ${1}`, sql`(b, c) < (${2}, ${3})`];
  const query = sql`select ${raw('x, y')} from t where ${joinSql(conditions, ' and ')} limit ${4}`;
  assert.deepEqual(render(query, 'postgres'), {
    text: 'select x, y from t where a = $1 and (b, c) < ($2, $3) limit $4',
    values: [1, 2, 3, 4],
  });
  assert.equal(render(query, 'sqlite').text, 'select x, y from t where a = ? and (b, c) < (?, ?) limit ?');
});

test('a value never becomes part of the text', () => {
  const hostile = `'; drop table sessions; --`;
  assert.equal(render(sql`select ${hostile}`, 'sqlite').text, 'select ?');
  assert.equal(render(sql`select ${sql`${hostile}`}`, 'postgres').text, 'select $1');
});
