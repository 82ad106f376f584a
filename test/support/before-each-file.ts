// Loaded before every test file by `npm test`.
import { registerHooks } from 'node:module';

// The thread of the SQLite store is taken from what the build has just made of the same sources. Hundreds of tests open a store; from
// the sources each thread would read and strip dozens of modules anew.
const built = new URL('../../packages/gateway/dist/sqlite-writer.cjs', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier.endsWith('/gateway/src/store/sqlite-writer.ts')
      ? { url: built, format: 'commonjs', shortCircuit: true }
      : next(specifier, context),
});

// Node ends a test that takes too long, and waits for ever for a file whose tests have left something running.
const LIMIT_MS = 600_000;
setTimeout(() => {
  console.error(
    `This file is not over after ${LIMIT_MS / 60_000} minutes: ${process.argv[1]} keeps ${process.getActiveResourcesInfo().join(', ')}`,
  );
  process.exit(1);
}, LIMIT_MS).unref();
