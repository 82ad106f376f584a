// Bytes of a file as text, or a clear no.
import { isUtf8 } from 'node:buffer';
import { ToolError } from '../tool.ts';

export const MAX_TEXT_BYTES = 20_000_000;
const LOOK = 8_192;

export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, LOOK).includes(0);
}

/** Contract: throws ToolError when the bytes are not text in UTF-8. */
export function textOf(bytes: Buffer, shown: string): string {
  if (isBinary(bytes)) throw new ToolError('BINARY', `${shown} is a binary file of ${bytes.length} bytes; it cannot be shown as text`);
  if (!isUtf8(bytes)) throw new ToolError('BINARY', `${shown} is not text in UTF-8; convert it first, for example with iconv`);
  return bytes.toString('utf8');
}

/** Lines without their ends; a last line end does not make a further empty line. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
