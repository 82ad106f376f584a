// `grep`: lines that fit a regular expression. The engine needs time in proportion to the text, whatever the pattern
// (re2js); the number of files, bytes, matches and seconds is bounded all the same.
import type { RE2JS } from 're2js';
import { Type } from 'typebox';
import { pathFacts } from '../facts.ts';
import { closed, defineTool, said } from '../define.ts';
import { firstPage } from '../spool.ts';
import { type Tool, ToolError, type ToolIo } from '../tool.ts';
import { type FileDeps, type Located, locateFolder } from './file-deps.ts';
import { compileGlob, type Matcher } from './glob.ts';
import { isBinary, linesOf } from './text.ts';
import { createBreath, type Walk, walk } from './walk.ts';
import { readWhole, type Spot } from './workspace.ts';

const MAX_PATTERN = 1_000;
const MAX_FILE_BYTES = 5_000_000;
const MAX_ALL_BYTES = 256_000_000;
const MAX_MATCHES = 5_000;
/** Of a longer line only the beginning is searched: one line must not hold the event loop. */
const MAX_LINE = 4_096;
const MAX_SHOWN_LINE = 400;
const LIMITS = { maxEntries: 100_000, maxMs: 20_000 };

export function grepTool(deps: FileDeps): Tool {
  return defineTool({
    name: 'grep',
    label: 'Search in files',
    description:
      'Find lines that match a regular expression (RE2 syntax: no lookaround, no backreferences). Answers path:line:text. ' +
      'Skips .git, node_modules, binary files and links.',
    parameters: Type.Object(
      {
        pattern: Type.String({ minLength: 1, description: 'Regular expression' }),
        path: Type.Optional(
          Type.String({ minLength: 1, description: 'File or folder to search, relative to the workspace; default: all of it' }),
        ),
        glob: Type.Optional(Type.String({ minLength: 1, description: 'Only files like this, such as *.ts or src/**/*.md' })),
        ignoreCase: Type.Optional(Type.Boolean({ description: 'Upper and lower case are the same' })),
        context: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, description: 'Lines to show before and after each match' })),
      },
      closed,
    ),
    risk: 'read',
    tags: ['files', 'search'],
    idempotent: true,
    parallelSafe: true,
    facts: async ({ path = '.' }, { workspace }) => ({ derivedPaths: await pathFacts([path], workspace) }),
    async prepare({ pattern, path = '.', glob, ignoreCase = false, context = 0 }, place) {
      const located = await locateFolder(place, path, deps);
      const expression = await compilePattern(pattern, ignoreCase);
      const wanted = glob === undefined ? () => true : compileGlob(glob);
      return {
        subject: pattern.slice(0, 100),
        question: `Search for ${pattern.slice(0, 100)} in ${located.spot.shown}?`,
        risk: 'read',
        exact: { pattern, path: located.spot.real, glob: glob ?? null, ignoreCase, context },
        run: (io) => search(located, expression, wanted, context, deps, io),
      };
    },
  });
}

/** The engine and its tables of letters are loaded with the first search. */
async function compilePattern(pattern: string, ignoreCase: boolean): Promise<RE2JS> {
  if (pattern.length > MAX_PATTERN) throw new ToolError('BAD_PATTERN', `The pattern is longer than ${MAX_PATTERN} characters`);
  const { RE2JS } = await import('re2js');
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    throw new ToolError(
      'BAD_PATTERN',
      `The pattern cannot be used: ${(error as Error).message}. It is RE2 syntax: no lookaround, no backreferences`,
    );
  }
}

async function search(
  { spot, boundary }: Located,
  expression: RE2JS,
  wanted: Matcher,
  context: number,
  deps: FileDeps,
  { signal }: ToolIo,
) {
  const state: Walk = { stopped: undefined, entries: 0, unreadable: 0 };
  const breathe = createBreath(deps.clock);
  const begun = deps.clock.monotonic();
  const out: string[] = [];
  let matches = 0;
  let bytes = 0;
  let skipped = 0;
  const files = spot.kind === 'file' ? [spot] : walk(spot, boundary, state, LIMITS, deps.clock, signal);
  for await (const file of files) {
    if (file.kind !== 'file' || !wanted(relativeTo(spot, file))) continue;
    const content = await readWhole(file, MAX_FILE_BYTES).catch(() => undefined);
    signal.throwIfAborted();
    if (content === undefined) skipped++;
    if (content === undefined || isBinary(content)) continue;
    bytes += content.length;
    const lines = linesOf(content.toString('utf8'));
    let shownTo = -1;
    for (let at = 0; at < lines.length && state.stopped === undefined; at++) {
      await breathe();
      signal.throwIfAborted();
      if (deps.clock.monotonic() - begun > LIMITS.maxMs) state.stopped = `after ${LIMITS.maxMs / 1000} seconds`;
      if (!expression.test(lines[at]!.slice(0, MAX_LINE))) continue;
      if (++matches > MAX_MATCHES) state.stopped = `after ${MAX_MATCHES} matches`;
      else shownTo = show(out, file, lines, at, context, shownTo);
    }
    if (bytes > MAX_ALL_BYTES) state.stopped ??= `after ${MAX_ALL_BYTES / 1_000_000} MB`;
    if (state.stopped !== undefined) break;
  }
  if (matches === 0) out.push('No matches');
  if (state.stopped !== undefined) out.push(`[Stopped ${state.stopped}; narrow it with path or glob]`);
  if (skipped + state.unreadable > 0) out.push(`[${skipped + state.unreadable} files or folders were too large or could not be read]`);
  const { text, handle } = firstPage(out.join('\n'), deps.spool);
  return said(text, {
    details: { matches: Math.min(matches, MAX_MATCHES), stopped: state.stopped ?? null, ...(handle === undefined ? {} : { handle }) },
  });
}

/** Adds the line and those around it that were not shown yet; answers the last one shown. */
function show(out: string[], file: Spot, lines: readonly string[], at: number, context: number, shownTo: number): number {
  const from = Math.max(shownTo + 1, at - context);
  const to = Math.min(lines.length - 1, at + context);
  if (context > 0 && shownTo >= 0 && from > shownTo + 1) out.push('--');
  for (let number = from; number <= to; number++) {
    const line = lines[number]!;
    const cut = line.length > MAX_SHOWN_LINE ? `${line.slice(0, MAX_SHOWN_LINE)}…` : line;
    out.push(`${file.shown}${number === at ? ':' : '-'}${number + 1}${number === at ? ':' : '-'}${cut.trimEnd()}`);
  }
  return to;
}

/** Globs are about what lies below the folder that is searched. */
function relativeTo(start: Spot, file: Spot): string {
  if (start.kind === 'file') return file.shown.slice(file.shown.lastIndexOf('/') + 1);
  return start.shown === '.' ? file.shown : file.shown.slice(start.shown.length + 1);
}
