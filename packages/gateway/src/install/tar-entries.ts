// The entries of a tar archive, one after another, as a stream: the plain format, ustar, its extended headers (pax) and the long
// names of GNU tar. What an entry may be is decided by whoever unpacks it; here an archive is whole or it is refused.
import { InstallError } from './install-error.ts';

export interface TarEntry {
  /** As the archive has it. */
  readonly path: string;
  /** One character, as the format has it: `0` a file, `5` a folder, `2` a link and so on. */
  readonly type: string;
  readonly mode: number;
  readonly size: number;
  /** Has to be read to its end before the next entry is asked for. */
  readonly content: AsyncIterable<Buffer>;
}

const BLOCK = 512;
const MAX_HEADER_BYTES = 65_536;
const decoder = new TextDecoder('utf-8', { fatal: true });

export async function* tarEntries(source: AsyncIterable<Uint8Array>, maxEntries: number): AsyncGenerator<TarEntry> {
  const reader = createReader(source);
  let extended: { path?: string; size?: number } = {};
  let count = 0;
  for (;;) {
    const block = await reader.take(BLOCK);
    if (!block) throw damaged('it ends before its end mark');
    if (block.every((byte) => byte === 0)) return;
    if (++count > maxEntries) throw new InstallError('REFUSED', `The archive has more than ${maxEntries} entries`);
    const header = readHeader(block);
    if (header.type === 'x' || header.type === 'g' || header.type === 'L') {
      const text = await smallContent(reader, header.size);
      if (header.type === 'L') extended = { ...extended, path: textOf(text.subarray(0, endOfText(text))) };
      else if (header.type === 'x') extended = { ...extended, ...readRecords(text) };
      continue;
    }
    const size = extended.size ?? header.size;
    let left = size;
    yield {
      path: extended.path ?? header.path,
      type: header.type,
      mode: header.mode,
      size,
      content: (async function* () {
        while (left > 0) {
          const piece = await reader.some(left);
          if (!piece) throw damaged('it ends in the middle of a file');
          left -= piece.length;
          yield piece;
        }
      })(),
    };
    if (left > 0) throw new Error('an entry was not read to its end');
    await skip(reader, padding(size));
    extended = {};
  }
}

interface Reader {
  /** Exactly so many bytes; undefined where there are fewer. */
  take(count: number): Promise<Buffer | undefined>;
  /** Some bytes, no more than these; undefined at the end. */
  some(most: number): Promise<Buffer | undefined>;
}

function createReader(source: AsyncIterable<Uint8Array>): Reader {
  const chunks = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  async function fill(): Promise<boolean> {
    if (held.length > 0) return true;
    for (;;) {
      const next = await chunks.next();
      if (next.done) return false;
      held = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
      if (held.length > 0) return true;
    }
  }

  async function some(most: number): Promise<Buffer | undefined> {
    if (!(await fill())) return undefined;
    const piece = held.subarray(0, most);
    held = held.subarray(piece.length);
    return piece;
  }

  return {
    some,
    async take(count) {
      const pieces: Buffer[] = [];
      for (let left = count; left > 0; ) {
        const piece = await some(left);
        if (!piece) return undefined;
        pieces.push(piece);
        left -= piece.length;
      }
      return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    },
  };
}

function readHeader(block: Buffer): { path: string; type: string; mode: number; size: number } {
  const sum = block.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (numberAt(block, 148, 8) !== sum) throw damaged('a header does not have the sum that it says');
  const name = block.subarray(0, 100);
  const isPosix = block.subarray(257, 263).equals(Buffer.from('ustar\0'));
  const prefix = isPosix ? block.subarray(345, 500) : Buffer.alloc(0);
  const parts = [prefix, name].map((field) => textOf(field.subarray(0, endOfText(field))));
  const type = String.fromCharCode(block[156]!);
  return {
    path: parts.filter((part) => part !== '').join('/'),
    type: type === '\0' ? '0' : type,
    mode: numberAt(block, 100, 8),
    size: numberAt(block, 124, 12),
  };
}

/** Octal digits. Numbers in the binary form of GNU tar are larger than anything that is unpacked here. */
function numberAt(block: Buffer, start: number, length: number): number {
  const text = block
    .toString('latin1', start, start + length)
    .replace(/[\0 ]+$/, '')
    .trim();
  if (!/^[0-7]{0,12}$/.test(text)) throw damaged('a header has something that is no number');
  return text === '' ? 0 : Number.parseInt(text, 8);
}

/** `<length> <key>=<value>\n`, again and again. */
function readRecords(text: Buffer): { path?: string; size?: number } {
  const found: { path?: string; size?: number } = {};
  for (let at = 0; at < text.length; ) {
    const space = text.indexOf(32, at);
    const length = space === -1 ? Number.NaN : Number(text.toString('latin1', at, space));
    const end = at + length;
    if (!Number.isSafeInteger(length) || length < 5 || end > text.length || text[end - 1] !== 10)
      throw damaged('an extended header is wrong');
    const record = textOf(text.subarray(space + 1, end - 1));
    const equals = record.indexOf('=');
    const [key, value] = [record.slice(0, equals), record.slice(equals + 1)];
    if (key === 'path') found.path = value;
    if (key === 'size') {
      if (!/^\d{1,15}$/.test(value)) throw damaged('an extended header has a size that is no number');
      found.size = Number(value);
    }
    at = end;
  }
  return found;
}

async function smallContent(reader: Reader, size: number): Promise<Buffer> {
  if (size > MAX_HEADER_BYTES)
    throw new InstallError('REFUSED', `The archive has a header of ${size} bytes; ${MAX_HEADER_BYTES} are possible`);
  const content = await reader.take(size);
  if (!content) throw damaged('it ends in the middle of a header');
  await skip(reader, padding(size));
  return content;
}

async function skip(reader: Reader, count: number): Promise<void> {
  if (count > 0 && !(await reader.take(count))) throw damaged('it ends in the middle of an entry');
}

function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

function endOfText(field: Buffer): number {
  const end = field.indexOf(0);
  return end === -1 ? field.length : end;
}

function textOf(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new InstallError('REFUSED', 'The archive has a name that is not text');
  }
}

function damaged(why: string): InstallError {
  return new InstallError('REFUSED', `The archive is damaged: ${why}`);
}
