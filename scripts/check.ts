// `npm run check`: everything that can be said about the repository without running it. All steps run, one line each;
// what a failing step printed follows its line.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const tool = (name: string) => join(root, 'node_modules', '.bin', name);
const script = (...args: string[]) => [process.execPath, ...args];

const steps: Readonly<Record<string, readonly string[]>> = {
  format: [tool('biome'), 'format', '.'],
  lint: [tool('biome'), 'lint', '--error-on-warnings', '.'],
  types: [tool('tsc'), '-p', '.'],
  'page types': [tool('tsc'), '-p', 'packages/control-ui'],
  layers: script('scripts/layers.ts'),
  protocol: script('scripts/generate-protocol.ts', '--check'),
  'plugin sdk': script('scripts/plugin-sdk-api.ts', '--check'),
  'extension sdk': script('scripts/extension-sdk-api.ts', '--check'),
  docs: script('scripts/docs.ts'),
  dependencies: script('scripts/dependencies.ts'),
};

let failed = 0;
for (const [name, [command, ...args]] of Object.entries(steps)) {
  const startedAt = performance.now();
  const { status, error, stdout, stderr } = spawnSync(command!, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const isGood = status === 0;
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name.padEnd(13)} ${seconds} s`);
  if (isGood) continue;
  failed++;
  if (error) console.log(error.message);
  process.stdout.write(stdout + stderr);
}
if (failed > 0) console.log(`\n${failed} of ${Object.keys(steps).length} checks failed`);
process.exitCode = failed > 0 ? 1 : 0;
