// The table of `npm run attack`, as text.
import type { State } from './attack.ts';

export interface Row {
  readonly id: string;
  readonly tried: string;
  readonly place: string;
  readonly state: State;
  readonly evidence: string;
  readonly seconds: number;
}

const shown: Readonly<Record<State, string>> = { held: 'held', broke: 'BROKE', untried: 'untried', failed: 'FAILED' };
const TRIED_WIDTH = 76;

export function table(rows: readonly Row[]): string {
  const places = [...new Set(rows.map(({ place }) => place))];
  const keys = [...new Set(rows.map(({ id, tried }) => `${id}\n${tried}`))];
  const idWidth = Math.max(2, ...rows.map(({ id }) => id.length));
  const widths = places.map((place) => Math.max(7, place.length));
  const line = (id: string, tried: string, cells: readonly string[]) =>
    `${id.padEnd(idWidth)}  ${tried.padEnd(TRIED_WIDTH)}  ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join('  ')}`.trimEnd();
  const lines = keys.flatMap((key) => {
    const [id, tried] = key.split('\n') as [string, string];
    const cells = places.map((place) => {
      const row = rows.find((each) => each.id === id && each.tried === tried && each.place === place);
      return row ? shown[row.state] : '-';
    });
    const [first, ...rest] = wrapped(tried, TRIED_WIDTH);
    return [line(id, first!, cells), ...rest.map((part) => line('', part, []))];
  });
  return [line('id', 'what was tried', places), ...lines].join('\n');
}

/** What came of each that did not hold. */
export function details(rows: readonly Row[]): string {
  return rows
    .filter(({ state }) => state !== 'held')
    .map(({ id, tried, place, state, evidence }) => `${shown[state]}  ${id}  ${tried} (${place})\n${indented(evidence)}`)
    .join('\n');
}

export function summary(rows: readonly Row[]): string {
  const count = (state: State) => rows.filter((row) => row.state === state).length;
  const parts = [`${count('held')} held`, `${count('broke')} broke`];
  if (count('failed') > 0) parts.push(`${count('failed')} could not be carried out`);
  if (count('untried') > 0) parts.push(`${count('untried')} not tried here`);
  return `${rows.length} attacks: ${parts.join(', ')}`;
}

/** An attack that could not be carried out has shown nothing, which is no success. */
export function exitCode(rows: readonly Row[]): number {
  return rows.length === 0 || rows.some(({ state }) => state === 'broke' || state === 'failed') ? 1 : 0;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function indented(text: string): string {
  return text
    .trim()
    .slice(0, 1_500)
    .split('\n')
    .map((each) => `        ${each}`)
    .join('\n');
}
