// `npm test`: one PostgreSQL, one browser on disk, one file of all sources and one cache of compiled code for all, then node's own
// test runner over every test file. Arguments are folders, files, `--test-name-pattern=…` and `--test-reporter=tap|dot|spec`, so `npm test -- test/e2e`
// runs a part. The chaos runs are bounded here; `npm run chaos` runs them whole.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { dot, spec, tap } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { unpackBrowser } from '../test/support/browser.ts';
import { bundleSources } from './bundle-sources.ts';
import { startPostgres } from '../test/support/postgres.ts';

const { values: chosen, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'test-name-pattern': { type: 'string', multiple: true }, 'test-reporter': { type: 'string', default: 'spec' } },
});

const reporter = { spec: new spec(), tap, dot }[chosen['test-reporter']];
if (reporter === undefined) throw new Error(`No reporter ${chosen['test-reporter']}: spec, tap and dot are there`);

// What takes long goes first: at the end the short ones fill whatever is free.
const ALL = ['test/faults', 'test/e2e', 'test/security', 'test/attack', 'test/contract', 'test', 'packages'];
const files = [...new Set((positionals.length > 0 ? positionals : ALL).flatMap(expand))];
if (files.length === 0) throw new Error(`No test file in ${positionals.join(', ')}`);

// End-to-end tests start what users start: it has to be what the sources say.
execFileSync(process.execPath, [join(import.meta.dirname, 'build.ts')], { stdio: 'inherit' });
const shared = mkdtempSync(join(tmpdir(), 'tenon-tests-'));
const sources = join(shared, 'sources.cjs');
const [postgres] = await Promise.all([startPostgres(), bundleSources(sources)]);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
try {
  Object.assign(process.env, {
    TENON_TEST_POSTGRES: postgres.url,
    NODE_NO_WARNINGS: '1',
    NODE_COMPILE_CACHE: join(shared, 'compiled'),
    TENON_TEST_SOURCES: sources,
  });
  if (files.some((file) => /openBrowser|openGallery/.test(readFileSync(file, 'utf8')))) {
    const browser = await unpackBrowser(join(shared, 'browser'));
    if (browser !== undefined) process.env.TENON_TEST_BROWSER = browser;
  }
  const tests = run({
    files,
    // One more than there are cores: much of a test is waiting for processes, disks and browsers.
    concurrency: Math.max(2, availableParallelism()) + 1,
    timeout: 240_000,
    signal: stop.signal,
    execArgv: ['--import', pathToFileURL(join(import.meta.dirname, '..', 'test', 'support', 'before-each-file.ts')).href],
    ...(chosen['test-name-pattern'] ? { testNamePatterns: chosen['test-name-pattern'].map((pattern) => new RegExp(pattern)) } : {}),
  });
  tests.on('test:fail', ({ todo }) => {
    if (todo === undefined || todo === false) process.exitCode = 1;
  });
  const report = tests.compose(reporter);
  report.pipe(process.stdout);
  await once(report, 'end');
} finally {
  await postgres.remove();
  rmSync(shared, { recursive: true, force: true, maxRetries: 5 });
}

function expand(path: string): string[] {
  const found = path.endsWith('.ts') ? [path] : globSync(`${path}/**/*.test.ts`, { exclude: ['**/node_modules/**'] });
  return found.sort();
}
