// The lines that were typed in a chat, kept from one to the next in a file of the home folder. It is for its owner only,
// it is bounded, and a chat goes on without it where it cannot be read or written.
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileDurably } from '../../kernel/durable-file.ts';

export const TYPED_LINES_FILE = 'chat-history';
export const MOST_TYPED_LINES = 500;
const LONGEST_LINE = 4_096;
const LARGEST_FILE = 4_194_304;

/** Oldest first. */
export function readTypedLines(file: string): string[] {
  try {
    if (statSync(file).size > LARGEST_FILE) return [];
    return readFileSync(file, 'utf8').split('\n').flatMap(parseLine).slice(-MOST_TYPED_LINES);
  } catch {
    return [];
  }
}

/** Adds to what is there now, which another chat may have added to. Says why it could not be kept, if so. */
export function keepTypedLines(file: string, typed: readonly string[]): string | undefined {
  const wanted = typed.filter((line) => line.trim() !== '' && line.length <= LONGEST_LINE);
  if (wanted.length === 0) return undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const lines = [...readTypedLines(file), ...wanted].filter((line, index, all) => line !== all[index + 1]);
    writeFileDurably(
      file,
      lines
        .slice(-MOST_TYPED_LINES)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function parseLine(text: string): string[] {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'string' ? [line] : [];
  } catch {
    return [];
  }
}
