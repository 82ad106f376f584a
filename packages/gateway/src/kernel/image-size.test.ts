import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageSizeOf } from './image-size.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
const png = hex('89504e470d0a1a0a 0000000d49484452 0000c350 0000c350 0802000000');
const gif = Buffer.concat([Buffer.from('GIF89a'), hex('4001 c800 00 00 00')]);
const jpeg = hex(`ffd8 ffe0 0004 0000 ffff fffe 0003 41 ffc4 0004 0000 ffc2 0011 08 0258 0320 03 ${'00'.repeat(12)}`);
const webp = (kind: string, rest: string) => Buffer.concat([Buffer.from(`RIFF0000WEBP${kind}0000`), hex(rest.padEnd(40, '0'))]);

test('the header says how many pixels there are', () => {
  assert.deepEqual(imageSizeOf(png), { width: 50_000, height: 50_000 });
  assert.deepEqual(imageSizeOf(gif), { width: 320, height: 200 });
  assert.deepEqual(imageSizeOf(jpeg), { width: 800, height: 600 });
  assert.deepEqual(imageSizeOf(webp('VP8X', '00000000 ff3f00 ff1f00')), { width: 16_384, height: 8_192 });
  assert.deepEqual(imageSizeOf(webp('VP8 ', '000000 9d012a 4001 c800')), { width: 320, height: 200 });
  assert.deepEqual(imageSizeOf(webp('VP8L', '2f 3f c1 31 00')), { width: 320, height: 200 });
});

test('what is cut, empty or something else says nothing, and no bytes make it throw', () => {
  for (const whole of [png, gif, jpeg, webp('VP8X', '00'), webp('VP8L', '2f'), Buffer.from('%PDF-1.7'), Buffer.alloc(0)]) {
    for (let length = 0; length <= whole.length; length++) imageSizeOf(whole.subarray(0, length));
    for (let at = 0; at < whole.length; at++) {
      const broken = Buffer.from(whole);
      broken[at]! ^= 0xff;
      imageSizeOf(broken);
    }
  }
  assert.equal(imageSizeOf(png.subarray(0, 20)), undefined);
  assert.equal(imageSizeOf(jpeg.subarray(0, 12)), undefined);
  assert.equal(imageSizeOf(Buffer.from('plain text')), undefined);
});
