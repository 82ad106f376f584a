// Text from models, tools and other people on its way to a terminal: nothing in it may move the cursor, hide or reorder
// what stands there. Lines stay lines; everything else that a terminal would act upon is shown as its code point.
import { stripVTControlCharacters } from 'node:util';
import { visible } from '@tenon/protocol';
import { textWidth } from '../table.ts';

const TAB = '    ';

/** The lines of a text, each safe to print. */
export function safeLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => visible(line.replaceAll('\t', TAB)));
}

/** The output of a program: its colours are dropped, and of a line that it wrote over and over only the last state is kept. */
export function outputLines(text: string): string[] {
  const lines = stripVTControlCharacters(text)
    .split(/\r?\n/)
    .map((line) => visible(line.slice(line.lastIndexOf('\r') + 1).replaceAll('\t', TAB)));
  while (lines.length > 0 && lines.at(-1)?.trim() === '') lines.pop();
  return lines;
}

/** One line of a text that may have several, cut to a width. */
export function oneLine(text: string, width: number): string {
  const line = safeLines(text.trim()).join(' ');
  return cutTo(line, width);
}

export function cutTo(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += textWidth(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}

/** `12ms`, `3.4s`, `2m 5s`. */
export function spellShort(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.round(durationMs)}ms`;
  if (durationMs < 60_000) return `${(durationMs / 1_000).toFixed(1)}s`;
  return `${Math.floor(durationMs / 60_000)}m ${Math.floor((durationMs % 60_000) / 1_000)}s`;
}

/** Pieces of a stream, each safe to print on its own: a sign that was cut in two waits for its other half. */
export function createSafeStream(): (delta: string) => string {
  let held = '';
  return (delta) => {
    let text = held + delta;
    held = '';
    const last = text.charCodeAt(text.length - 1);
    if ((last >= 0xd800 && last <= 0xdbff) || last === 0x0d) {
      held = text.slice(-1);
      text = text.slice(0, -1);
    }
    return safeLines(text).join('\n');
  };
}
