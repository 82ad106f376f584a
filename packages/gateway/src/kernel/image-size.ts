// How many pixels an image says that it has, from its header alone: nothing is unpacked, whatever the numbers are.

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Undefined where the header does not say, or is none of PNG, JPEG, GIF and WebP. Contract: does not throw, whatever the bytes are. */
export function imageSizeOf(bytes: Buffer): ImageSize | undefined {
  const name = (at: number, length: number) => bytes.toString('latin1', at, at + length);
  if (name(1, 3) === 'PNG') return bytes.length < 24 ? undefined : { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (name(0, 3) === 'GIF') return bytes.length < 10 ? undefined : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  if (name(0, 4) === 'RIFF' && name(8, 4) === 'WEBP') return bytes.length < 30 ? undefined : webpSize(bytes, name(12, 4));
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? jpegSize(bytes) : undefined;
}

function webpSize(bytes: Buffer, kind: string): ImageSize | undefined {
  if (kind === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (kind === 'VP8 ') return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  if (kind !== 'VP8L') return undefined;
  const packed = bytes.readUInt32LE(21);
  return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
}

/** From segment to segment, until the one that begins the frame. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at++;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    const isAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    at += isAlone ? 2 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
