// Loaded before every test file by `npm test`: the thread of the SQLite store is taken from what the build has just made of the
// same sources. Hundreds of tests open a store; from the sources each thread would read and strip dozens of modules anew.
import { registerHooks } from 'node:module';

const built = new URL('../../packages/gateway/dist/sqlite-writer.cjs', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier.endsWith('/gateway/src/store/sqlite-writer.ts')
      ? { url: built, format: 'commonjs', shortCircuit: true }
      : next(specifier, context),
});
