import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../../test/support/verifies.ts';
import { matches } from './validate.ts';
import { Label, OwnerId, SessionKey } from './names.ts';
import { visible } from './visible.ts';

const seed = 20_260_102;

test('S29 text that moves, hides or reorders other text is shown as its code points', () => {
  verifies('S29');
  const shown: Record<string, string> = {
    'invoice\u202egpj.exe': 'invoice\\u{202e}gpj.exe',
    'pay\u200bpal': 'pay\\u{200b}pal',
    'a\u2066b\u2069c': 'a\\u{2066}b\\u{2069}c',
    'soft\u00adhyphen': 'soft\\u{ad}hyphen',
    'tag\u{e0041}': 'tag\\u{e0041}',
    'one\ntwo\r\tthree': 'one\\u{a}two\\u{d}\\u{9}three',
    '\u001b[31mred': '\\u{1b}[31mred',
    'c1\u009bx': 'c1\\u{9b}x',
    'line\u2028sep\u2029': 'line\\u{2028}sep\\u{2029}',
    '\ufeffbom': '\\u{feff}bom',
    'lone\ud800': 'lone\\u{d800}',
    'hangul\u3164filler': 'hangul\\u{3164}filler',
    'variation\ufe00': 'variation\\u{fe00}',
  };
  for (const [text, expected] of Object.entries(shown)) assert.equal(visible(text), expected);
});

test('S29 ordinary text of any script stays as it is', () => {
  verifies('S29');
  for (const text of ['plain', 'Grüße', 'привет', 'مرحبا', '日本語', 'e\u0301', '❤\ufe0f', '👍🏽', 'back\\slash'])
    assert.equal(visible(text), text);
});

test('S29 nothing hidden is left in the output, whatever goes in', () => {
  verifies('S29');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.doesNotMatch(visible(text), /(?!\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      assert.equal(visible(visible(text)), visible(text));
    }),
    { seed, numRuns: 2_000 },
  );
});

test('S29 S25 ids are ASCII: look-alikes, hidden characters and reserved words are no ids', () => {
  verifies('S29', 'S25');
  assert.ok(matches(OwnerId, 'plan-mode'));
  assert.ok(matches(SessionKey, 'agent:main:chat/1'));
  const bad = [
    'pl\u0430n',
    'plan\u200b',
    '\u202eplan',
    'Plan',
    'plan mode',
    'plan.mode',
    '',
    '__proto__',
    'constructor',
    'prototype',
    'plan\n',
    'a'.repeat(65),
  ];
  for (const id of bad) assert.ok(!matches(OwnerId, id), JSON.stringify(id));
  for (const rest of ['__proto__', 'constructor', 'prototype', 'caf\u00e9', 'a b', 'a\u200b', '', 'x\n'])
    assert.ok(!matches(SessionKey, `agent:main:${rest}`), JSON.stringify(rest));
  for (const label of ['\u0430bc', 'a b', '']) assert.ok(!matches(Label, label), JSON.stringify(label));
});
