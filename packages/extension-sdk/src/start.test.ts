import assert from 'node:assert/strict';
import { relative, join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { verifies } from '../../../test/support/verifies.ts';

const root = join(import.meta.dirname, '..', '..', '..');

test('G38: an extension that starts loads its own code and the plain tables of the wire, no schema and no module of Node', async () => {
  verifies('sep:G38');
  const { metafile } = await build({
    entryPoints: [join(import.meta.dirname, 'index.ts')],
    ...({ bundle: true, write: false, metafile: true, platform: 'node', format: 'esm', outfile: 'index.js', absWorkingDir: root } as const),
  });
  const inputs = Object.keys(metafile.inputs).map((file) => relative(root, join(root, file)));
  const others = inputs.filter((file) => !/^packages\/extension-sdk\/src\/[^/]+\.ts$/.test(file));
  assert.deepEqual(
    others.filter((file) => !/^packages\/protocol\/src\/sep\/wire[a-z-]*\.ts$/.test(file)),
    [],
  );
  assert.deepEqual(metafile.outputs['index.js']?.imports, []);
});
