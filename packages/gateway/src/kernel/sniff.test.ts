import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sniffMime } from './sniff.ts';

const cases: readonly (readonly [mime: string, head: Buffer])[] = [
  ['image/png', Buffer.from('89504e470d0a1a0a0000', 'hex')],
  ['image/jpeg', Buffer.from('ffd8ffe000', 'hex')],
  ['image/gif', Buffer.from('GIF89a...')],
  ['image/webp', Buffer.from('RIFF1234WEBPVP8 ')],
  ['application/pdf', Buffer.from('%PDF-1.7\n')],
  ['application/zip', Buffer.from('504b0304aa', 'hex')],
  ['video/mp4', Buffer.from('\0\0\0\x18ftypmp42')],
  ['text/html', Buffer.from('  <!DOCTYPE html><script>alert(1)</script>')],
  ['image/svg+xml', Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['application/xml', Buffer.from('<?xml version="1.0"?><a/>')],
  ['text/plain', Buffer.from('grüezi, 世界\n')],
  ['text/plain', Buffer.from('')],
  ['text/plain', Buffer.from('世界').subarray(0, 4)],
  ['application/octet-stream', Buffer.from([0, 1, 2, 3])],
  ['application/octet-stream', Buffer.from([0xc3, 0x28, 0x41])],
];

for (const [mime, head] of cases) {
  test(`sniffMime says ${mime} of ${JSON.stringify(head.toString('latin1').slice(0, 24))}`, () => assert.equal(sniffMime(head), mime));
}
