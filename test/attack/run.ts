// `npm run attack`: the whole list of attacks against the bundle that users start, and a table of what held.
//   npm run attack -- --only S52 --user root --sandbox unshare --bwrap /path/to/bwrap --seed 7 --json --list
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import type { Attack } from './attack.ts';
import { carryOut } from './carry-out.ts';
import { findPlaces, type Place } from './places.ts';
import { details, exitCode, type Row, summary, table } from './report.ts';

const ORDINARY_UID = 65_534;
const usage =
  'usage: npm run attack -- [--only <id or words>]… [--user root|user] [--sandbox unshare|bubblewrap] [--bwrap <file>] [--uid N] [--seed N] [--json] [--list]';
const { values: given } = parse();
const seed = Number(given.seed);
const uid = Number(given.uid);
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(uid) || uid <= 0) stop(usage);

const all = ((await import(given.plant ?? './list.ts')) as { attacks: readonly Attack[] }).attacks;
const only = given.only ?? [];
const chosen = all.filter((attack) => only.length === 0 || only.some((each) => isMeant(attack, each)));
if (chosen.length === 0) stop(`No attack is called ${only.join(', ')}: --list shows all`);

if (given.list)
  for (const { id, tried, sandboxed } of chosen) console.log(`${id.padEnd(16)} ${tried}${sandboxed ? ' (with each sandbox)' : ''}`);
else if (given.here) await runHere();
else process.exitCode = await runAll();

function parse() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', multiple: true },
        user: { type: 'string' },
        sandbox: { type: 'string' },
        bwrap: { type: 'string' },
        uid: { type: 'string', default: String(ORDINARY_UID) },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        json: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        // Of the runner to itself: in this process, as JSON, with or without what depends on no sandbox.
        here: { type: 'boolean', default: false },
        first: { type: 'boolean', default: false },
        // Other rows in place of the list, by which a test sees that the runner can fail.
        plant: { type: 'string' },
        'no-build': { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return stop(`${(error as Error).message}\n${usage}`);
  }
}

function isMeant({ id, tried }: Attack, text: string): boolean {
  return id === text || id.startsWith(`${text}:`) || tried.toLowerCase().includes(text.toLowerCase());
}

async function runHere(): Promise<void> {
  // By `exit`, at which what was started is put away.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const rows = chosen.filter(({ sandboxed }) => sandboxed || given.first);
  await carryOut(rows, seed, ({ attack: { id, tried }, state, evidence, seconds }) => {
    process.stdout.write(`${JSON.stringify({ id, tried, state, evidence, seconds })}\n`);
  });
}

async function runAll(): Promise<number> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const interrupted = stopping.signal;
  using found = findPlaces({ uid, bwrap: given.bwrap });
  const places = found.places.filter(
    ({ user, kind }) =>
      (given.user === undefined || given.user === user) && (given.sandbox === undefined || kind === undefined || given.sandbox === kind),
  );
  if (places.length === 0) stop(`Nothing to run as "${given.user ?? 'anybody'}" with "${given.sandbox ?? 'any sandbox'}" here\n${usage}`);
  if (!given['no-build'])
    execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const shared = mkdtempSync(join(tmpdir(), 'tenon-attack-browser-'));
  chmodSync(shared, 0o755);
  const rows: Row[] = [];
  try {
    const browser = chosen.some(({ tried }) => tried.startsWith('page:')) ? await unpackInto(join(shared, 'browser')) : undefined;
    if (browser !== undefined) execFileSync('chmod', ['-R', 'a+rX', join(shared, 'browser')]);
    const env = browser === undefined ? {} : { TENON_TEST_BROWSER: browser };
    for (const [at, place] of places.entries()) {
      if (interrupted.aborted) break;
      const isFirst = places.findIndex(({ user }) => user === place.user) === at;
      const count = chosen.filter(({ sandboxed }) => sandboxed || isFirst).length;
      await runIn(place, { isFirst, env, interrupted }, (row) => {
        rows.push(row);
        const done = rows.filter((each) => each.place === place.name).length;
        console.error(
          `${place.name}: ${done} of ${count}  ${row.state === 'held' ? 'held' : row.state.toUpperCase()}  ${row.id}  ${row.tried} (${row.seconds.toFixed(1)} s)`,
        );
      });
    }
  } finally {
    rmSync(shared, { recursive: true, force: true });
  }
  if (given.json) console.log(JSON.stringify({ seed, rows, notes: found.notes }, null, 2));
  else for (const text of [table(rows), details(rows), ...found.notes, `seed ${seed}`, summary(rows)]) if (text !== '') console.log(text);
  return exitCode(rows);
}

async function runIn(
  place: Place,
  { isFirst, env, interrupted }: { isFirst: boolean; env: Record<string, string>; interrupted: AbortSignal },
  each: (row: Row) => void,
): Promise<void> {
  const words = [
    ...place.words,
    process.execPath,
    import.meta.filename,
    '--here',
    ...(isFirst ? ['--first'] : []),
    ...['--seed', String(seed)],
    ...only.flatMap((text) => ['--only', text]),
    ...(given.plant === undefined ? [] : ['--plant', given.plant]),
  ];
  const child = spawn(words[0]!, words.slice(1), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...env,
      ...place.env,
      NODE_NO_WARNINGS: '1',
      ...(place.kind === undefined ? {} : { TENON_ATTACK_SANDBOX: place.kind }),
    },
  });
  const end = () => child.kill();
  interrupted.addEventListener('abort', end, { once: true });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  for await (const line of createInterface({ input: child.stdout }))
    each({ ...(JSON.parse(line) as Omit<Row, 'place'>), place: place.name });
  const [code, signal] = await exited;
  interrupted.removeEventListener('abort', end);
  if (code !== 0)
    each({
      id: '-',
      tried: 'the runner itself',
      place: place.name,
      state: 'failed',
      evidence: `it ended with ${signal ?? code}`,
      seconds: 0,
    });
}

/** Once for all; nothing where the system has one. */
async function unpackInto(folder: string): Promise<string | undefined> {
  const { unpackBrowser } = await import('../support/browser.ts');
  return unpackBrowser(folder);
}

function stop(text: string): never {
  console.error(text);
  process.exit(2);
}
