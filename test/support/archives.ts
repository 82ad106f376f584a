// Archives as registries have them, and as somebody with bad intentions would make them: every field of a header can be said.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export interface ArchiveEntry {
  readonly path: string;
  readonly content?: string | Buffer;
  /** `0` a file, `5` a folder, `2` a link, `1` a hard link, `3` a device. */
  readonly type?: string;
  readonly mode?: number;
  readonly link?: string;
  /** In place of the true one. */
  readonly size?: number;
}

export function tar(entries: readonly ArchiveEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(1024)]);
}

export function tgz(entries: readonly ArchiveEntry[]): Buffer {
  return gzipSync(tar(entries));
}

export function integrityOf(archive: Buffer): string {
  return `sha512-${createHash('sha512').update(archive).digest('base64')}`;
}

function blocksOf({ path, content = '', type = '0', mode = 0o644, link = '', size }: ArchiveEntry): Buffer[] {
  const body = Buffer.from(content as string);
  if (Buffer.byteLength(path) > 100) {
    const record = paxRecord('path', path);
    return [...blocksOf({ path: 'pax', content: record, type: 'x' }), ...blocksOf({ path: 'long', content: body, type, mode, link })];
  }
  const header = Buffer.alloc(512);
  header.write(path, 0, 100);
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${(size ?? body.length).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
}

export function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest) + 1;
  while (String(length).length + Buffer.byteLength(rest) !== length) length = String(length).length + Buffer.byteLength(rest);
  return `${length}${rest}`;
}
