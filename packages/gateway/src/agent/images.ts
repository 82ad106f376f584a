// Images as they come in. Sizes are checked on the text, before anything is decoded; the first bytes must be those of
// the declared type, and the header must not claim more pixels than anybody is shown. Pixels are never unpacked.
import { GatewayError, type ImageBlock, limits } from '@tenon/protocol';
import { tooManyPixels } from '../host/image-pixels.ts';

const signatures: Readonly<Record<ImageBlock['mimeType'], (bytes: Buffer) => boolean>> = {
  'image/png': (bytes) => bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])),
  'image/jpeg': (bytes) => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff,
  'image/gif': (bytes) => ['GIF87a', 'GIF89a'].includes(bytes.toString('latin1', 0, 6)),
  'image/webp': (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
};

const HEAD_CHARS = 64;

/** Throws a GatewayError that names the image. */
export function checkImages(images: readonly ImageBlock[], placeOf = (index: number) => `params/images/${index}`): void {
  for (const [index, { mimeType, data }] of images.entries()) {
    const where = placeOf(index);
    if (data.length > limits.imageBytes.value)
      throw new GatewayError('TOO_LARGE', `${where} has ${data.length} characters; an image has ${limits.imageBytes.value} at most`);
    if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw new GatewayError('INVALID_REQUEST', `${where} is not base64`);
    if (!signatures[mimeType](Buffer.from(data.slice(0, 24), 'base64')))
      throw new GatewayError('INVALID_REQUEST', `${where} is not an image of the type ${mimeType}`);
    // The header of a JPEG is wherever its other parts end.
    const head = Buffer.from(mimeType === 'image/jpeg' ? data : data.slice(0, HEAD_CHARS), 'base64');
    const tooMany = tooManyPixels(head);
    if (tooMany !== undefined) throw new GatewayError('TOO_LARGE', `${where} ${tooMany}`);
  }
}
