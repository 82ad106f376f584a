// `npm test`: one PostgreSQL for all, then node's own test runner over every test file. Arguments are passed on, so
// `npm test -- test/e2e` runs a part. The chaos runs are bounded here; `npm run chaos` runs them whole.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../test/support/postgres.ts';

const given = process.argv.slice(2);
const files = given.filter((argument) => !argument.startsWith('-'));
const flags = given.filter((argument) => argument.startsWith('-'));
const patterns = files.length > 0 ? files.map(expand) : ['packages/**/*.test.ts', 'test/**/*.test.ts'];

// End-to-end tests start what users start: it has to be what the sources say.
execFileSync(process.execPath, [join(import.meta.dirname, 'build.ts')], { stdio: 'inherit' });
const postgres = await startPostgres();
// One more than there are cores: much of a test is waiting for processes, disks and browsers.
const runner = spawn(
  process.execPath,
  ['--test', `--test-concurrency=${Math.max(2, availableParallelism()) + 1}`, '--test-timeout=240000', ...flags, ...patterns],
  { stdio: 'inherit', env: { ...process.env, TENON_TEST_POSTGRES: postgres.url, NODE_NO_WARNINGS: '1' } },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner.kill(signal));
try {
  const [code] = (await once(runner, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await postgres.remove();
}

function expand(path: string): string {
  return path.endsWith('.ts') ? path : `${path}/**/*.test.ts`;
}
