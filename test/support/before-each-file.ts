// Loaded before every test file by `npm test`.
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

// The thread of the SQLite store is taken from what the build has just made of the same sources. Hundreds of tests open a store; from
// the sources each thread would read and strip dozens of modules anew.
const built = new URL('../../packages/gateway/dist/sqlite-writer.cjs', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier.endsWith('/gateway/src/store/sqlite-writer.ts')
      ? { url: built, format: 'commonjs', shortCircuit: true }
      : next(specifier, context),
});

// All other sources come from the one file that scripts/bundle-sources.ts has made of them. A test file that is run by hand reads
// the sources themselves, and so do threads: they need few of them.
const bundle = process.env.TENON_TEST_SOURCES;
if (bundle && isMainThread) {
  const sources = createRequire(import.meta.url)(bundle) as Readonly<Record<string, () => Readonly<Record<string, unknown>>>>;
  Object.defineProperty(globalThis, Symbol.for('tenon.test.sources'), { value: sources });
  registerHooks({
    load(url, context, next) {
      const path = url.startsWith('file:') ? fileURLToPath(url) : '';
      if (!Object.hasOwn(sources, path)) return next(url, context);
      const names = Object.keys(sources[path]!());
      const source = `const { ${names.join(', ')} } = globalThis[Symbol.for('tenon.test.sources')][${JSON.stringify(path)}]();\nexport { ${names.join(', ')} };`;
      return { format: 'module', source, shortCircuit: true };
    },
  });
}

// Node ends a test that takes too long, and waits for ever for a file whose tests have left something running.
const LIMIT_MS = 600_000;
setTimeout(() => {
  console.error(
    `This file is not over after ${LIMIT_MS / 60_000} minutes: ${process.argv[1]} keeps ${process.getActiveResourcesInfo().join(', ')}`,
  );
  process.exit(1);
}, LIMIT_MS).unref();
