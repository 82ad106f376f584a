import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { differenceOf, shown } from './trace-diff.ts';

const changesOf = (before: unknown, after: unknown) => differenceOf(before, after).changes;

test('a change is a JSON pointer with what was there and what is there now', () => {
  assert.deepEqual(changesOf({ a: 1, b: { c: 'x' }, gone: true }, { a: 2, b: { c: 'x' }, 'new/part~': [1] }), [
    { path: '/a', before: 1, after: 2 },
    { path: '/gone', before: true },
    { path: '/new~1part~0', after: [1] },
  ]);
  assert.deepEqual(changesOf({ a: [1, 2] }, { a: [1, 2] }), []);
  assert.deepEqual(changesOf('a', 'b'), [{ path: '', before: 'a', after: 'b' }]);
  assert.deepEqual(changesOf({ a: null }, { a: undefined }), [{ path: '/a', before: null }]);
});

test('what is put into a list, or taken out, does not make everything behind it look changed', () => {
  assert.deepEqual(changesOf(['a', 'b', 'c'], ['a', 'new', 'b', 'c']), [{ path: '/1', after: 'new' }]);
  assert.deepEqual(changesOf([{ x: 1 }, { x: 2 }, { x: 3 }], [{ x: 1 }, { x: 3 }]), [{ path: '/1', before: { x: 2 } }]);
  assert.deepEqual(changesOf(['a', 'b'], ['a', 'c']), [{ path: '/1', before: 'b', after: 'c' }]);
});

test('values of fields that name secrets are never shown, at any depth, as parts of values and inside texts', () => {
  const secret = 'hunter2hunter2';
  const { changes } = differenceOf(
    { env: { API_KEY: 'old-value-of-it' }, headers: { authorization: 'x' }, plain: 1 },
    {
      env: { API_KEY: secret },
      headers: { authorization: { scheme: secret } },
      plain: 2,
      added: { deep: [{ password: secret }] },
      text: `token=${secret}`,
    },
  );
  assert.ok(!JSON.stringify(changes).includes(secret));
  assert.ok(!JSON.stringify(changes).includes('old-value'));
  assert.deepEqual(changes[0], { path: '/env/API_KEY', before: '***', after: '***' });
  assert.deepEqual(changes.at(-1), { path: '/text', after: 'token=***' });
  assert.deepEqual(changes.at(-2), { path: '/added', after: { deep: [{ password: '***' }] } });
});

test('a key that lies where a long text is cut does not show its first half', () => {
  const text = `${'x'.repeat(limits.traceValueChars.value - 20)} sk-live-${'S'.repeat(40)}`;
  assert.ok(!String(shown(text)).includes('SSS'));
});

test('long texts that begin alike show where they differ', () => {
  const start = 'You are an agent. '.repeat(200);
  const [change] = changesOf(start, `${start}Be brief.`);
  assert.match(String(change!.after), /^….*Be brief\.$/);
  assert.ok(String(change!.before).length < 100);
});

test('the list, its values and the work are bounded', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index]));
  const { changes, more } = differenceOf({}, many);
  assert.equal(changes.length, limits.traceChanges.value);
  assert.equal(changes.length + more, 1_000);
  const large = changesOf({}, { text: 'y'.repeat(1_000_000), list: Array.from({ length: 100_000 }, () => ({ a: 1 })) });
  for (const { after } of large) assert.ok(typeof after === 'string' && after.length < limits.traceValueChars.value + 64);
  const deep: { in?: object } = {};
  let at = deep;
  for (let level = 0; level < 1_000; level++) at = at.in = {} as { in?: object };
  assert.ok(changesOf(deep, { in: { in: 1 } }).length > 0);
  const huge = (last: number) => Array.from({ length: 200_000 }, (_, index) => ({ index: index === 199_999 ? last : index }));
  const started = performance.now();
  assert.ok(changesOf(huge(1), huge(2)).length <= limits.traceChanges.value);
  assert.ok(performance.now() - started < 20_000);
});
