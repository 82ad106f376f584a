// Runs plugin-leaks.ts and reads what it says.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cleanEnv } from './gateway.ts';

type Maps = Readonly<Record<string, { readonly maps: number; readonly entries: number }>>;

export interface Leaks {
  readonly runs: number;
  readonly requests: number;
  readonly refused: number;
  readonly first: { readonly maps: Maps; readonly heapMegabytes: number };
  readonly last: { readonly maps: Maps; readonly heapMegabytes: number };
}

export async function runLeaks({ before, all }: { readonly before: number; readonly all: number }): Promise<Leaks> {
  const file = (name: string) => join(import.meta.dirname, name);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', '--import', file('watch-maps.ts'), file('plugin-leaks.ts'), String(before), String(all)],
    { env: cleanEnv({ NODE_NO_WARNINGS: '1' }), maxBuffer: 16_000_000 },
  );
  return JSON.parse(stdout) as Leaks;
}

/** Places whose maps hold more than they did, or that have more maps. */
export function growthOf({ first, last }: Leaks): string[] {
  return Object.entries(last.maps).flatMap(([place, now]) => {
    const then = first.maps[place] ?? { maps: 0, entries: 0 };
    if (now.entries <= then.entries && now.maps <= then.maps) return [];
    return [`${place}: ${then.entries} entries in ${then.maps} maps, then ${now.entries} in ${now.maps}`];
  });
}
