// `npm run bench`: every figure of budgets.ts beside its limit, as a table on stdout and as JSON in bench/results/.
// A benchmark is not a test: a missed budget is said and does not fail the run.
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { figureRows } from './budgets.ts';
import { connect } from './figures/connect.ts';
import { extensions } from './figures/extensions.ts';
import { fanOut } from './figures/fan-out.ts';
import { health } from './figures/health.ts';
import { memory } from './figures/memory.ts';
import { patch } from './figures/patch.ts';
import { plugins } from './figures/plugins.ts';
import { restart } from './figures/restart.ts';
import { schedules } from './figures/schedules.ts';
import { sessions } from './figures/sessions.ts';
import { size } from './figures/size.ts';
import { start } from './figures/start.ts';
import { page, turn } from './figures/turn.ts';
import { createProgress } from './progress.ts';
import { judge, type Report, type ReportedFigure, toMarkdown, toTable } from './report.ts';
import { createWorld, type Engine, type Group, type Plan } from './world.ts';

const groups: readonly Group[] = [
  size,
  start,
  memory,
  connect,
  health,
  patch,
  sessions,
  fanOut,
  restart,
  turn,
  plugins,
  extensions,
  schedules,
  page,
];

const usage = `Usage: npm run bench -- [names…] [options]

Names: ${groups.map(({ name }) => name).join(', ')}; all of them if none is given.

  --quick              shorter and fewer rounds, without the largest store
  --sessions <list>    numbers of sessions, such as 10,10000,1000000
  --engine <engine>    sqlite, postgres or both (the default)
  --json <file>        where the JSON goes; by default bench/results/<time>.json
  --markdown           measure nothing: write the table of docs/benchmarks.md from the JSON files that are named, the
                       last one winning, or from the newest
`;

const root = join(import.meta.dirname, '..');
const results = join(import.meta.dirname, 'results');

async function main(): Promise<number> {
  const options = {
    quick: { type: 'boolean', default: false },
    sessions: { type: 'string' },
    engine: { type: 'string', default: 'both' },
    json: { type: 'string' },
    markdown: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (values.markdown) {
    writeDocs(positionals.length > 0 ? positionals : [newestResult()]);
    return 0;
  }
  const chosen = groups.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const unknown = positionals.find((name) => !groups.some((group) => group.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no benchmark "${unknown}"`);
  const plan = { quick: values.quick, sizes: parseSizes(values.sessions, values.quick), engines: parseEngines(values.engine) };

  const report = await measure(chosen, plan);
  process.stdout.write(`${toTable(report.figures)}\n`);
  const file = values.json ?? join(results, `${report.measuredAt.replaceAll(':', '-')}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
  const missed = report.figures.filter(({ met }) => met === false).length;
  const verdict = missed > 0 ? `${missed} budgets are missed` : 'Every budget that was measured is met';
  process.stderr.write(`${verdict}; written to ${file}\n`);
  for (const failure of report.failures) process.stderr.write(`bench: ${failure}\n`);
  return report.failures.length > 0 ? 1 : 0;
}

class UsageError extends Error {}

function parseSizes(given: string | undefined, quick: boolean): number[] {
  const sizes = (given ?? (quick ? '10,10000' : '10,10000,1000000')).split(',').map(Number);
  if (!sizes.every((each) => Number.isSafeInteger(each) && each >= 1))
    throw new UsageError('--sessions takes whole numbers, such as 10,10000');
  return sizes;
}

function parseEngines(given: string): Engine[] {
  if (given === 'both') return ['sqlite', 'postgres'];
  if (given === 'sqlite' || given === 'postgres') return [given];
  throw new UsageError('--engine takes sqlite, postgres or both');
}

async function measure(chosen: readonly Group[], plan: Plan): Promise<Report> {
  const rows = figureRows(plan.sizes);
  const figures: ReportedFigure[] = [];
  const failures: string[] = [];
  const progress = createProgress(chosen.length);
  const world = createWorld(plan, {
    round: progress.round,
    record(id, result) {
      const row = rows.find((each) => each.id === id);
      if (!row) throw new Error(`budgets.ts has no row "${id}"`);
      figures.push(judge(row, result));
    },
  });
  const interrupt = async () => {
    await world[Symbol.asyncDispose]();
    process.exit(130);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupt);
  try {
    for (const group of chosen) {
      progress.begin(group.what);
      // What the others found is worth having.
      await group.run(world).catch((error: Error) => failures.push(`${group.name}: ${error.stack}`));
      progress.end();
    }
  } finally {
    await world[Symbol.asyncDispose]();
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, interrupt);
    progress.close();
  }
  return {
    measuredAt: new Date().toISOString(),
    machine: `${availableParallelism()} cores, ${process.platform} ${process.arch}`,
    node: process.version,
    commit: currentCommit(),
    quick: plan.quick,
    figures,
    failures,
  };
}

function currentCommit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

function newestResult(): string {
  const files = globSync('*.json', { cwd: results }).map((name) => join(results, name));
  const newest = files.sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs).at(-1);
  if (newest === undefined) throw new UsageError('bench/results is empty: run the benchmarks first');
  return newest;
}

/** Replaces what stands between the two marks; the words around it are written by hand. */
function writeDocs(files: readonly string[]): void {
  const reports = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Report);
  const figures = new Map(reports.flatMap((report) => report.figures.map((figure) => [figure.id, figure] as const)));
  const last = reports.at(-1)!;
  const text = `Measured ${last.measuredAt.slice(0, 10)} at ${last.commit} with Node ${last.node.slice(1)}.\n\n${toMarkdown([...figures.values()])}`;
  const docs = join(root, 'docs', 'benchmarks.md');
  const [before, after] = ['<!-- figures -->\n', '\n<!-- end of figures -->'];
  const page = readFileSync(docs, 'utf8');
  const [start, end] = [page.indexOf(before) + before.length, page.indexOf(after)];
  if (start < before.length || end < start) throw new Error(`${docs} lacks its marks`);
  writeFileSync(docs, page.slice(0, start) + text + page.slice(end));
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
  process.stderr.write(isUsage ? `bench: ${(error as Error).message}\n\n${usage}` : `bench: ${(error as Error).stack}\n`);
  process.exitCode = isUsage ? 2 : 1;
}
