import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSlash } from './slash.ts';

test('a slash command is /cmd or /ext:cmd with the rest as it was typed', () => {
  assert.deepEqual(parseSlash('  /plan on  now '), { command: 'plan', arguments: { args: 'on  now' } });
  assert.deepEqual(parseSlash('/plan'), { command: 'plan', arguments: { args: '' } });
  assert.deepEqual(parseSlash('/my-ext:do_it two\nlines'), { extension: 'my-ext', command: 'do_it', arguments: { args: 'two\nlines' } });
});

test('other text that begins with a slash is for the agent', () => {
  for (const text of ['//x', '/usr/bin/ls', '/:x', '/x:', '/a:b:c', '/', '/ x', 'plan', '/plan? on', '']) {
    assert.equal(parseSlash(text), undefined, text);
  }
});
