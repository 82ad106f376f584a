// The sources of every package as one file, made once per `npm test`. A test file that imports the gateway reads some nine hundred
// modules, which costs more than most of its tests do; test/support/before-each-file.ts gives it this file instead. A module in
// it runs when it is first asked for, and once, as it would by itself.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = join(import.meta.dirname, '..');

/** Writes the file: `module.exports` gives, for the path of a source, the function that loads it. */
export async function bundleSources(outfile: string): Promise<void> {
  const sources = globSync('packages/{protocol,client,plugin-sdk,extension-sdk,gateway}/src/**/*.ts', {
    cwd: root,
    exclude: (path) => path.endsWith('.test.ts') || path.endsWith('.d.ts'),
  }).map((path) => join(root, path));
  const rows = sources.map((path) => `${JSON.stringify(path)}: () => require(${JSON.stringify(path)})`);
  await build({
    stdin: { contents: `module.exports = {\n${rows.join(',\n')}\n};`, resolveDir: root, loader: 'js' },
    bundle: true,
    outfile,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    external: ['pg-native'],
    plugins: [workspacesInside, placesAsWritten],
    logLevel: 'warning',
  });
}

// Names of our own packages lead to their sources, as their package.json says.
const workspacesInside: Plugin = {
  name: 'workspaces-inside',
  setup({ onResolve }) {
    onResolve({ filter: /^@tenon\// }, ({ path }) => {
      const [, name, ...rest] = path.split('/');
      const { exports } = JSON.parse(readFileSync(join(root, 'packages', name!, 'package.json'), 'utf8')) as {
        exports: Record<string, string>;
      };
      const target = exports[rest.length === 0 ? '.' : `./${rest.join('/')}`];
      return typeof target === 'string' && target.endsWith('.ts') ? { path: join(root, 'packages', name!, target) } : undefined;
    });
  },
};

// A source that looks for a file beside itself finds it where the source is.
const placesAsWritten: Plugin = {
  name: 'places-as-written',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]packages[/\\].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.')) return undefined;
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.filename', JSON.stringify(path))
        .replaceAll('import.meta.main', 'false');
      return { contents, loader: 'ts' };
    });
  },
};
