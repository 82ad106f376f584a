import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockSource, hostToName, imageSource, safeHref } from './links.ts';

test('http, https and mailto are links, as the browser would open them', () => {
  assert.equal(safeHref('https://example.com/a?b#c'), 'https://example.com/a?b#c');
  assert.equal(safeHref('HTTP://EXAMPLE.com'), 'http://example.com/');
  assert.equal(safeHref('mailto:a@example.com'), 'mailto:a@example.com');
});

test('every other address is text', () => {
  const others = [
    'javascript:alert(1)',
    ' JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    'vbscript:x',
    'data:text/html,x',
    'blob:https://example.com/1',
    'file:///etc/passwd',
    '//example.com',
    '\\\\example.com',
    '/settings',
    'settings',
    '#top',
    '',
    'https://',
  ];
  for (const each of others) assert.equal(safeHref(each), undefined, JSON.stringify(each));
});

test('a link that reads like another host names its own', () => {
  assert.equal(hostToName('https://attacker.example/', 'https://good.example'), 'attacker.example');
  assert.equal(hostToName('https://attacker.example/', 'good.example/login'), 'attacker.example');
  assert.equal(hostToName('https://good.example@attacker.example/', 'the page'), 'attacker.example');
  assert.equal(hostToName('https://www.good.example/', 'good.example'), undefined);
  assert.equal(hostToName('https://good.example/x', 'https://good.example/x'), undefined);
  assert.equal(hostToName('https://example.com/', 'the page'), undefined);
});

test('a picture inside the text may be shown, one on another host is named, everything else is refused', () => {
  assert.deepEqual(imageSource('data:image/png;base64,AAAA'), { kind: 'inline', src: 'data:image/png;base64,AAAA', bytes: 3 });
  assert.deepEqual(imageSource('https://a.example/x.png'), { kind: 'remote', href: 'https://a.example/x.png', host: 'a.example' });
  for (const each of [
    'data:image/svg+xml;base64,AAAA',
    'data:text/html;base64,AAAA',
    'data:image/png,x',
    'blob:x',
    '//a.example/x.png',
    'x.png',
  ]) {
    assert.equal(imageSource(each).kind, 'refused', each);
  }
  assert.equal(imageSource(`data:image/png;base64,${'A'.repeat(1_500_000)}`).kind, 'refused');
});

test('a block is drawn only as a type that can be nothing but a picture', () => {
  assert.equal(blockSource({ mimeType: 'image/png', data: 'AAAA' }), 'data:image/png;base64,AAAA');
  assert.equal(blockSource({ mimeType: 'image/svg+xml', data: 'AAAA' }), undefined);
  assert.equal(blockSource({ mimeType: 'image/png', data: '<svg onload=x>' }), undefined);
  assert.equal(blockSource({ mimeType: 'image/png', data: '' }), undefined);
});
