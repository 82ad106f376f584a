// What kind of file this is, by its first bytes. What somebody calls it, or its name, says nothing. Only kinds that clients
// treat otherwise than a heap of bytes are told apart.

/** As many bytes as decide. */
export const SNIFFED_BYTES = 4_096;

type Test = (head: Buffer) => boolean;

const starts =
  (text: string, at = 0): Test =>
  (head) =>
    head.toString('latin1', at, at + text.length) === text;
const bytes =
  (...these: number[]): Test =>
  (head) =>
    head.subarray(0, these.length).equals(Buffer.from(these));
const both =
  (one: Test, other: Test): Test =>
  (head) =>
    one(head) && other(head);

const kinds: readonly (readonly [mime: string, test: Test])[] = [
  ['image/png', bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)],
  ['image/jpeg', bytes(0xff, 0xd8, 0xff)],
  ['image/gif', (head) => starts('GIF87a')(head) || starts('GIF89a')(head)],
  ['image/webp', both(starts('RIFF'), starts('WEBP', 8))],
  ['image/bmp', both(starts('BM'), (head) => head.length > 14 && head.readUInt32LE(6) === 0)],
  ['image/tiff', (head) => bytes(0x49, 0x49, 0x2a, 0)(head) || bytes(0x4d, 0x4d, 0, 0x2a)(head)],
  ['application/pdf', starts('%PDF-')],
  ['application/zip', (head) => bytes(0x50, 0x4b, 3, 4)(head) || bytes(0x50, 0x4b, 5, 6)(head)],
  ['application/gzip', bytes(0x1f, 0x8b)],
  ['application/x-bzip2', starts('BZh')],
  ['application/x-xz', bytes(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0)],
  ['application/zstd', bytes(0x28, 0xb5, 0x2f, 0xfd)],
  ['application/x-7z-compressed', bytes(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c)],
  ['application/x-tar', starts('ustar', 257)],
  ['application/vnd.sqlite3', starts('SQLite format 3\0')],
  ['application/wasm', bytes(0, 0x61, 0x73, 0x6d)],
  ['application/x-elf', bytes(0x7f, 0x45, 0x4c, 0x46)],
  ['audio/wav', both(starts('RIFF'), starts('WAVE', 8))],
  ['audio/ogg', starts('OggS')],
  ['audio/flac', starts('fLaC')],
  ['audio/mpeg', (head) => starts('ID3')(head) || (head[0] === 0xff && ((head[1] ?? 0) & 0xe6) === 0xe2)],
  ['video/webm', bytes(0x1a, 0x45, 0xdf, 0xa3)],
  ['video/mp4', starts('ftyp', 4)],
];

/** `head` is the beginning of the file, or all of it. Text that is none of the others is plain text, the rest is bytes. */
export function sniffMime(head: Buffer): string {
  const found = kinds.find(([, test]) => test(head));
  if (found) return found[0];
  if (!isText(head)) return 'application/octet-stream';
  const words = head.toString('utf8').trimStart().slice(0, 512).toLowerCase();
  if (/^(<!doctype html|<html|<head|<body|<script|<iframe)/.test(words)) return 'text/html';
  if (/^(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)?<svg[\s>]/.test(words)) return 'image/svg+xml';
  if (words.startsWith('<?xml')) return 'application/xml';
  return 'text/plain';
}

/** UTF-8 without control characters. The last character may be cut. */
function isText(head: Buffer): boolean {
  const sniffed = head.subarray(0, SNIFFED_BYTES);
  for (const byte of sniffed) if (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sniffed, { stream: true });
    return true;
  } catch {
    return false;
  }
}
