// Runs plugin-leaks.ts and time-soak.ts, and reads what they say.
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
  return JSON.parse(await runWatched('plugin-leaks.ts', [before, all])) as Leaks;
}

export interface Soak {
  readonly jobs: number;
  readonly turns: number;
  readonly sessions: number;
  readonly messages: number;
  /** What the plugin was told of jobs. */
  readonly changes: number;
  readonly virtualHours: number;
  /** Of the size of the process, in megabytes an hour. */
  readonly slope: number;
  readonly first: SoakLook;
  readonly last: SoakLook;
}

interface SoakLook {
  readonly maps: Maps;
  readonly heapMegabytes: number;
  readonly rssMegabytes: number;
  /** Jobs that are not finished, and whether one is on record. */
  readonly left: number;
  readonly recorded: number;
}

export async function runSoak({ jobs }: { readonly jobs: number }): Promise<Soak> {
  return JSON.parse(await runWatched('time-soak.ts', [jobs])) as Soak;
}

async function runWatched(name: string, given: readonly number[]): Promise<string> {
  const file = (each: string) => join(import.meta.dirname, each);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', '--import', file('watch-maps.ts'), file(name), ...given.map(String)],
    { env: cleanEnv({ NODE_NO_WARNINGS: '1' }), maxBuffer: 16_000_000 },
  );
  return stdout;
}

/** Places whose maps hold more than they did, or that have more maps. */
export function growthOf({ first, last }: { readonly first: { readonly maps: Maps }; readonly last: { readonly maps: Maps } }): string[] {
  return Object.entries(last.maps).flatMap(([place, now]) => {
    const then = first.maps[place] ?? { maps: 0, entries: 0 };
    if (now.entries <= then.entries && now.maps <= then.maps) return [];
    return [`${place}: ${then.entries} entries in ${then.maps} maps, then ${now.entries} in ${now.maps}`];
  });
}
