// What is measured, how its limit is measured beside it, and what Tenon allows itself: one row per figure. The table in
// the terminal, the JSON file and docs/benchmarks.md are made from these rows.

export type Unit = 'µs' | 'ms' | '/s' | 'MB' | 'kB';

export type Budget =
  | { readonly kind: 'ratio'; readonly atMost: number }
  | { readonly kind: 'at-most'; readonly value: number }
  | { readonly kind: 'at-least'; readonly value: number };

export interface FigureRow {
  readonly id: string;
  readonly what: string;
  readonly unit: Unit;
  /** How the limit is measured, in the same run; undefined when nothing bare does the same work. */
  readonly limitIs?: string;
  /** Omitted: for information. */
  readonly budget?: Budget;
}

const ratio = (atMost: number): Budget => ({ kind: 'ratio', atMost });
const atMost = (value: number): Budget => ({ kind: 'at-most', value });
const atLeast = (value: number): Budget => ({ kind: 'at-least', value });

const WS_AND_FSYNC = 'bare ws echo of the same bytes, and one 4 kB append with fdatasync';

const TWO_CALLS = 'the two calls of the model, made by hand';

const turns: readonly FigureRow[] = [
  { id: 'turn.p50', what: 'turn with one tool call and two model calls, p50', unit: 'ms', limitIs: TWO_CALLS },
  { id: 'turn.overhead', what: 'of that, beyond the two calls', unit: 'ms', budget: atMost(10) },
  { id: 'turn.first', what: 'what the first text of the answer waits beyond the two calls, p50', unit: 'ms' },
  { id: 'turn.rate', what: 'such turns, 8 in flight', unit: '/s', limitIs: TWO_CALLS, budget: atLeast(150) },
  { id: 'history.page', what: 'chat.history, 50 of 10k entries, p50', unit: 'ms' },
  { id: 'history.whole', what: 'chat.history, all pages of 10k entries', unit: 'ms' },
  {
    id: 'turn.memory',
    what: 'resident memory after the last of the turns',
    unit: 'MB',
    limitIs: 'the same after a tenth of them',
    budget: ratio(1.2),
  },
  { id: 'page.first', what: 'first load of the page, gzipped', unit: 'kB', budget: atMost(200) },
];

const fixed: readonly FigureRow[] = [
  { id: 'start.cold', what: 'cold start to first health, prepared home', unit: 'ms', limitIs: 'spawn of node -e 0', budget: ratio(4.5) },
  { id: 'start.first', what: 'very first start, empty home', unit: 'ms', limitIs: 'spawn of node -e 0' },
  { id: 'memory.idle', what: 'resident memory, idle', unit: 'MB', limitIs: 'a bare node process that waits', budget: atMost(90) },
  { id: 'size.package', what: 'package tenon, unpacked', unit: 'MB' },
  { id: 'size.install', what: 'package tenon and its runtime dependencies', unit: 'MB', budget: atMost(80) },
  {
    id: 'connect.p50',
    what: 'connect: open, connect, hello-ok; p50',
    unit: 'ms',
    limitIs: 'bare ws: open, one echo of the same bytes',
    budget: ratio(1.5),
  },
  { id: 'health.p50', what: 'health, 1 in flight, p50', unit: 'ms', limitIs: 'bare ws echo', budget: ratio(2) },
  { id: 'health.rate', what: 'health, 64 in flight', unit: '/s', limitIs: 'bare ws echo, 64 in flight', budget: atLeast(15_000) },
  { id: 'health.busy', what: 'health while 64 patches are in flight, p50', unit: 'ms', limitIs: 'bare ws echo' },
  { id: 'patch.p50', what: 'sessions.patch, durable, 1 in flight, p50', unit: 'ms', limitIs: WS_AND_FSYNC, budget: ratio(2.3) },
  { id: 'patch.keyed.p50', what: 'the same with an idempotency key', unit: 'ms', limitIs: WS_AND_FSYNC, budget: ratio(2.3) },
  {
    id: 'patch.rate',
    what: 'sessions.patch, durable, 64 in flight',
    unit: '/s',
    limitIs: 'bare SQLite: 64 updates and events a commit, one thread',
    budget: atLeast(8_000),
  },
  {
    id: 'patch.keyed.rate',
    what: 'the same with idempotency keys',
    unit: '/s',
    limitIs: 'bare SQLite: 64 updates and events a commit, one thread',
    budget: atLeast(8_000),
  },
  {
    id: 'postgres.patch.p50',
    what: 'sessions.patch on PostgreSQL, 1 in flight, p50',
    unit: 'ms',
    limitIs: 'bare ws echo, and one bare pg update and its commit',
  },
  {
    id: 'postgres.patch.rate',
    what: 'sessions.patch on PostgreSQL, 64 in flight',
    unit: '/s',
    limitIs: 'bare pg: 12 connections, one update a commit',
    budget: atLeast(1_500),
  },
  {
    id: 'postgres.patch.keyed.rate',
    what: 'the same with idempotency keys',
    unit: '/s',
    limitIs: 'bare pg: 12 connections, one update a commit',
    budget: atLeast(1_500),
  },
  { id: 'restart.loaded', what: 'kill -9 under load to health again', unit: 'ms', limitIs: 'spawn of node -e 0', budget: atMost(1_000) },
  {
    id: 'restart.large',
    what: 'kill -9 under load to health again, store of about 100 MB',
    unit: 'ms',
    limitIs: 'spawn of node -e 0',
    budget: atMost(1_000),
  },
];

const JOBS = '100,000 jobs that run once and 10,000 cron jobs';

const schedules: readonly FigureRow[] = [
  {
    id: 'schedule.memory',
    what: `resident memory, idle, ${JOBS}`,
    unit: 'MB',
    limitIs: 'a gateway without jobs',
    budget: ratio(1.2),
  },
  { id: 'schedule.tick', what: `what one look costs, ${JOBS}`, unit: 'µs', limitIs: 'the same without jobs' },
  { id: 'schedule.lag', what: 'from when a job is due to when it was taken on, p99, beside them', unit: 'ms', budget: atMost(1_000) },
];

/** How many plugins take part in the hook that is measured. */
export const HOOK_PLUGINS = [0, 1, 20] as const;
const HOOK_MICROSECONDS = { 0: 0.2, 1: 2, 20: 40 } as const;

const LINES = 'an ndjson echo between two processes';
const LINES_64 = `${LINES} that coalesces writes, 64 in flight`;
const CHILD = 'a node child without imports that answers a line';
const MCP = 'the MCP SDK over stdio, for comparison';

const extensions: readonly FigureRow[] = [
  { id: 'extension.ready.sdk', what: 'extension from spawn to ready, SDK', unit: 'ms', limitIs: CHILD, budget: ratio(1.2) },
  { id: 'extension.ready.reference', what: 'the same without dependencies (the reference)', unit: 'ms', limitIs: CHILD },
  { id: 'extension.ready.mcp', what: `the same, ${MCP}`, unit: 'ms', limitIs: CHILD },
  { id: 'extension.call.1.sdk', what: 'tool call of an extension, 1 in flight, p50', unit: 'ms', limitIs: LINES },
  { id: 'extension.cpu.1.sdk', what: 'its processor time, both sides', unit: 'µs', limitIs: LINES, budget: ratio(1.3) },
  { id: 'extension.call.64.sdk', what: 'tool calls of an extension, 64 in flight', unit: '/s', limitIs: LINES_64 },
  { id: 'extension.cpu.64.sdk', what: 'processor time of each, both sides', unit: 'µs', limitIs: LINES_64, budget: ratio(1.4) },
  { id: 'extension.call.1.mcp', what: `tool call, 1 in flight, p50, ${MCP}`, unit: 'ms', limitIs: LINES },
  { id: 'extension.cpu.1.mcp', what: 'its processor time, both sides', unit: 'µs', limitIs: LINES },
  { id: 'extension.call.64.mcp', what: `tool calls, 64 in flight, ${MCP}`, unit: '/s', limitIs: LINES_64 },
  { id: 'extension.cpu.64.mcp', what: 'processor time of each, both sides', unit: 'µs', limitIs: LINES_64 },
  { id: 'extension.hook', what: 'hook of an extension and back, p50', unit: 'ms', limitIs: LINES },
  {
    id: 'extension.many.start',
    what: 'cold start to first health with 50 extensions, 10 of which hang',
    unit: 'ms',
    limitIs: 'the same without extensions',
  },
  { id: 'extension.many.ready', what: 'and until the other 40 are at work', unit: 'ms' },
];

const ECHO_64 = 'bare ws echo, 64 in flight';

const plugins: readonly FigureRow[] = [
  ...HOOK_PLUGINS.map(
    (count): FigureRow => ({
      id: `hook.${count}`,
      what: `hook dispatch, ${counted(count, 'plugin')}`,
      unit: 'µs',
      limitIs: "as many listeners of Node's EventEmitter",
      budget: atMost(HOOK_MICROSECONDS[count]),
    }),
  ),
  { id: 'plugin.test-host', what: 'createTestHost and one turn', unit: 'ms' },
  { id: 'action.p50', what: 'plugins.sessionAction, nothing to keep, p50', unit: 'ms', limitIs: 'bare ws echo' },
  { id: 'action.rate', what: 'plugins.sessionAction, 64 in flight', unit: '/s', limitIs: ECHO_64, budget: atLeast(20_000) },
  {
    id: 'action.kept.rate',
    what: 'the same with state that is kept, durable',
    unit: '/s',
    limitIs: 'bare SQLite: 64 updates and events a commit, one thread',
  },
  { id: 'injections.turn', what: 'turn that is told 32 injections, p50', unit: 'ms', limitIs: 'the same turn without any' },
];

export const FAN_OUT_SIZES = [1, 10, 100] as const;

const fanOut: readonly FigureRow[] = FAN_OUT_SIZES.flatMap((clients): FigureRow[] => [
  {
    id: `fan-out.${clients}`,
    what: `sessions.changed from its commit to the last of ${counted(clients, 'client')}, p50`,
    unit: 'ms',
    limitIs: 'bare ws broadcast of the same bytes to as many',
    budget: ratio(1.3),
  },
  { id: `fan-out.${clients}.whole`, what: `the same from the send of the patch, commit included`, unit: 'ms' },
]);

/** The shapes of sessions.list that are measured, each with a page of 100. */
export const LIST_SHAPES = {
  first: 'first page',
  middle: 'page in the middle',
  rare: 'search, 1 of 1000 match',
  common: 'search, all match',
} as const;

export type ListShape = keyof typeof LIST_SHAPES;

const engines = {
  sqlite: { prefix: '', words: '', read: 'bare SQLite read of the page, and bare ws of as many bytes', commit: WS_AND_FSYNC },
  postgres: {
    prefix: 'postgres.',
    words: ' on PostgreSQL',
    read: 'bare pg read of the page, and bare ws of as many bytes',
    commit: 'bare ws echo, and one bare pg update and its commit',
  },
} as const;

type EngineName = keyof typeof engines;

/** The rows of the figures that depend on how many sessions there are. Budgets are those of the default engine. */
function bySize(engine: EngineName, size: number): FigureRow[] {
  const { prefix, words, read, commit } = engines[engine];
  const at = `${words} at ${spell(size)} sessions`;
  const lists = Object.entries(LIST_SHAPES).map(
    ([shape, which]): FigureRow => ({
      id: `${prefix}list.${shape}.${size}`,
      what: `sessions.list${at}, ${which}, p50`,
      unit: 'ms',
      limitIs: read,
      ...(engine === 'sqlite' ? { budget: atMost(2) } : {}),
    }),
  );
  return [
    ...lists,
    { id: `${prefix}create.${size}`, what: `sessions.create${at}, p50`, unit: 'ms', limitIs: commit },
    { id: `${prefix}patch.${size}`, what: `sessions.patch${at}, p50`, unit: 'ms', limitIs: commit },
  ];
}

/** How much dearer a write is at the largest size than at the smallest. */
function flatness(engine: EngineName, sizes: readonly number[]): FigureRow[] {
  const { prefix, words } = engines[engine];
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  if (least === most) return [];
  return ['create', 'patch'].map((method) => ({
    id: `${prefix}${method}.flat`,
    what: `sessions.${method}${words}, p50 at ${spell(most)} against ${spell(least)} sessions`,
    unit: 'ms',
    limitIs: `the same at ${spell(least)}`,
    budget: ratio(1.5),
  }));
}

export function figureRows(sizes: readonly number[]): readonly FigureRow[] {
  const sized = (Object.keys(engines) as EngineName[]).flatMap((engine) => [
    ...sizes.flatMap((size) => bySize(engine, size)),
    ...flatness(engine, sizes),
  ]);
  return [...fixed, ...turns, ...plugins, ...extensions, ...schedules, ...fanOut, ...sized];
}

/** 1000000 → 1M, 10000 → 10k. */
export function spell(count: number): string {
  if (count >= 1_000_000 && count % 100_000 === 0) return `${count / 1_000_000}M`;
  return count >= 1_000 && count % 100 === 0 ? `${count / 1_000}k` : String(count);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
