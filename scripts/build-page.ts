// Builds the web page into the gateway's dist: one HTML file without a script or a style in it, and assets whose names
// change with their content. Views that are not needed at first are files of their own. Every file has its gzip beside it.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { basename, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';
import { protocolOfThePage } from './page/protocol-plugin.ts';

const root = join(import.meta.dirname, '..');
const source = join(root, 'packages', 'control-ui', 'src');
const target = join(root, 'packages', 'gateway', 'dist', 'page');

/** First load: sign-in and chat. */
const BUDGET_BYTES = 200_000;

export interface PageBuild {
  /** gzipped: the HTML and what it loads before anybody clicks. */
  readonly firstLoadBytes: number;
  /** gzipped: everything. */
  readonly totalBytes: number;
  readonly files: number;
  readonly elapsedMs: number;
}

const common = {
  bundle: true,
  write: false,
  metafile: true,
  minify: true,
  platform: 'browser',
  // What browsers of the last two years have.
  target: ['chrome120', 'firefox121', 'safari17.2'],
  jsx: 'automatic',
  legalComments: 'none',
  absWorkingDir: root,
  outdir: join(target, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning',
} satisfies BuildOptions;

export async function buildPage(): Promise<PageBuild> {
  const startedAt = performance.now();
  const esbuild = await import('esbuild');
  const [page, theme] = await Promise.all([
    esbuild.build({
      ...common,
      entryPoints: { page: join(source, 'main.tsx') },
      format: 'esm',
      splitting: true,
      plugins: [protocolOfThePage(), onlyReadingMarkdown(), stylesOfLaterViews(), oneChunkForTheShell()],
    }),
    // Before the first paint, so that a dark page does not flash: a classic script, which the parser waits for.
    esbuild.build({ ...common, entryPoints: { theme: join(source, 'theme.ts') }, format: 'iife' }),
  ]);
  const files = new Map<string, Buffer>();
  for (const { path, contents } of [...page.outputFiles, ...theme.outputFiles]) files.set(basename(path), Buffer.from(contents));
  const mark = readFileSync(join(source, 'mark.svg'));
  const markName = `mark-${createHash('sha256').update(mark).digest('hex').slice(0, 8).toUpperCase()}.svg`;
  files.set(markName, mark);

  const first = firstLoad(page.metafile);
  const html = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('{{mark}}', `/assets/${markName}`)
    .replace('{{theme}}', `/assets/${only(theme.metafile, '.js')}`)
    .replace('{{styles}}', first.styles.map((name) => `<link rel="stylesheet" href="/assets/${name}">`).join('\n    '))
    .replace('{{preloads}}', first.chunks.map((name) => `<link rel="modulepreload" href="/assets/${name}">`).join('\n    '))
    .replace('{{script}}', `/assets/${first.entry}`);

  const zipped = new Map([...files].map(([name, content]) => [name, gzipSync(content, { level: 9 })] as const));
  write(files, zipped, html);
  const sizeOf = (name: string) => zipped.get(name)?.byteLength ?? 0;
  const firstNames = [first.entry, ...first.chunks, ...first.styles, only(theme.metafile, '.js')];
  return {
    firstLoadBytes: gzipSync(html).byteLength + firstNames.reduce((sum, name) => sum + sizeOf(name), 0),
    totalBytes: [...zipped.values()].reduce((sum, content) => sum + content.byteLength, 0),
    files: files.size + 1,
    elapsedMs: Math.round(performance.now() - startedAt),
  };
}

// What comes with the parts that read Markdown and is never used: a writer of Markdown.
function onlyReadingMarkdown(): Plugin {
  return {
    name: 'only reading Markdown',
    setup(build) {
      build.onResolve({ filter: /^mdast-util-to-markdown$/ }, ({ path }) => ({ path, namespace: 'no-writer', sideEffects: false }));
      build.onLoad({ filter: /.*/, namespace: 'no-writer' }, () => ({ contents: 'export const defaultHandlers = {};', loader: 'js' }));
    },
  };
}

// `*.later.css` is for a view that is not needed at first, and comes with its script. The browser's own object for it: a
// style element in the page would need `unsafe-inline`.
function stylesOfLaterViews(): Plugin {
  return {
    name: 'styles of later views',
    setup({ onLoad, esbuild }) {
      onLoad({ filter: /\.later\.css$/ }, async ({ path }) => {
        const { code } = await esbuild.transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true, target: common.target });
        const contents = `const sheet = new CSSStyleSheet(); sheet.replaceSync(${JSON.stringify(code.trim())}); document.adoptedStyleSheets.push(sheet);`;
        return { contents, loader: 'js' };
      });
    },
  };
}

// Parts that are loaded later share different parts of the shell. Each such set would be a file of its own, and many small files
// pack worse than one: so each later part says that it needs the whole shell, which is there anyway.
function oneChunkForTheShell(): Plugin {
  const shell = join(source, 'shell', 'app.tsx');
  return {
    name: 'one chunk for the shell',
    setup({ onResolve, onLoad, resolve }) {
      const later = new Set<string>();
      onResolve({ filter: /^\.\.?\//, namespace: 'file' }, async ({ path, resolveDir, kind, pluginData }) => {
        if (kind !== 'dynamic-import' || pluginData === 'asked') return undefined;
        const found = await resolve(path, { resolveDir, kind, pluginData: 'asked' });
        later.add(found.path);
        return found;
      });
      onLoad({ filter: /[\\/]control-ui[\\/]src[\\/].*\.tsx?$/ }, ({ path }) => {
        if (!later.has(path)) return undefined;
        const loader = path.endsWith('x') ? 'tsx' : 'ts';
        return { contents: `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(shell)};\n`, loader };
      });
    },
  };
}

/** One line for people. */
export function describePage({ firstLoadBytes, totalBytes, files, elapsedMs }: PageBuild): string {
  const kb = (bytes: number) => `${(bytes / 1000).toFixed(0)} kB`;
  const over = firstLoadBytes > BUDGET_BYTES ? `, over its budget of ${kb(BUDGET_BYTES)}` : '';
  return `page: first load ${kb(firstLoadBytes)} gzipped${over}, ${kb(totalBytes)} in ${files} files, in ${elapsedMs} ms`;
}

interface FirstLoad {
  readonly entry: string;
  /** What the entry imports at once. */
  readonly chunks: readonly string[];
  readonly styles: readonly string[];
}

function firstLoad({ outputs }: Metafile): FirstLoad {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output] as const));
  const [entry, output] = [...byName].find(([name, each]) => each.entryPoint?.endsWith('main.tsx') && name.endsWith('.js')) ?? [];
  if (entry === undefined || output === undefined) throw new Error('The page has no entry');
  const chunks = new Set<string>();
  const follow = (imports: typeof output.imports): void => {
    for (const { path, kind } of imports) {
      const name = basename(path);
      if (kind !== 'import-statement' || chunks.has(name)) continue;
      chunks.add(name);
      follow(byName.get(name)?.imports ?? []);
    }
  };
  follow(output.imports);
  return { entry, chunks: [...chunks], styles: output.cssBundle === undefined ? [] : [basename(output.cssBundle)] };
}

function only({ outputs }: Metafile, ending: string): string {
  const [path] = Object.keys(outputs).filter((each) => each.endsWith(ending));
  if (path === undefined) throw new Error(`Nothing was built that ends with ${ending}`);
  return basename(path);
}

// A gateway may be reading the folder right now: new assets first (their names are new), then the HTML in one step, and
// what nothing names any more at the end.
function write(files: ReadonlyMap<string, Buffer>, zipped: ReadonlyMap<string, Buffer>, html: string): void {
  const assets = join(target, 'assets');
  mkdirSync(assets, { recursive: true });
  const kept = new Set<string>();
  for (const [name, content] of files) {
    replaceFile(join(assets, name), content);
    replaceFile(join(assets, `${name}.gz`), zipped.get(name)!);
    kept.add(name).add(`${name}.gz`);
  }
  replaceFile(join(target, 'index.html'), html);
  for (const name of readdirSync(assets)) if (!kept.has(name)) rmSync(join(assets, name), { force: true });
}

function replaceFile(file: string, content: string | Uint8Array): void {
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, content);
  renameSync(draft, file);
}

if (import.meta.main) {
  const built = await buildPage();
  console.log(describePage(built));
  console.log(relative(root, target));
}
