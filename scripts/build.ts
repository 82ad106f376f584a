// Builds what users start: the program, its threads, each provider of models and each bundled plugin, one file each, the
// web page, the test host of the plugin SDK, the extension SDK and its scaffolder, and a code cache for this machine's Node.
// npm runs this as `prepare`, so it needs only devDependencies and prints one line. `npm ci --omit=dev` has no bundler:
// then an earlier build is kept.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { build as esbuildBuild, BuildOptions, Metafile, Plugin } from 'esbuild';
import { modelProviders } from '../packages/protocol/src/model.ts';
import { copySdk } from '../packages/create-tenon-extension/src/scaffold.ts';
import { buildPage, describePage } from './build-page.ts';
import type { runCli } from '../packages/gateway/src/cli/entry.ts';

const gateway = join(import.meta.dirname, '..', 'packages', 'gateway');
const dist = join(gateway, 'dist');

const providers = join(gateway, 'src', 'model', 'providers');

/** Output → source. */
const entries: Readonly<Record<string, string>> = {
  tenon: join(gateway, 'src', 'cli', 'entry.ts'),
  'sqlite-writer': join(gateway, 'src', 'store', 'sqlite-writer.ts'),
  'plugin-watchdog-thread': join(gateway, 'src', 'host', 'plugin-watchdog-thread.ts'),
  'extension-testing': join(import.meta.dirname, '..', 'packages', 'extension-sdk', 'src', 'testing', 'index.ts'),
  ...Object.fromEntries(modelProviders.map((provider) => [`provider-${provider}`, join(providers, `${provider}.ts`)])),
};

// The providers of models are larger than the program, and most gateways use one of them: each is a file of its own
// that `providers/load.ts` requires when it is first used.
const providersApart: Plugin = {
  name: 'providers-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/[a-z-]+\.ts$/ }, ({ kind, path, resolveDir }) => {
      const provider = path.slice('./'.length, -'.ts'.length);
      if (kind !== 'dynamic-import' || resolveDir !== providers || !Object.hasOwn(entries, `provider-${provider}`)) return undefined;
      return { path: `./provider-${provider}.cjs`, external: true };
    });
  },
};

// Only authors of extensions use it: a file of its own, with schemas of its own, that `tenon ext` requires when it needs it.
const testingApart: Plugin = {
  name: 'testing-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^@tenon\/extension-sdk\/testing$/ }, () => ({ path: './extension-testing.cjs', external: true }));
  },
};

const options = {
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node24',
  // CommonJS: the code cache covers the file whole, and a dynamic import() inside the bundle stays lazy.
  format: 'cjs',
  // Names stay, so that a stack trace in a log can be read; shorter ones start no faster.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  external: ['pg-native'],
  plugins: [providersApart, testingApart],
  // What stays outside the bundle is required: a script from a code cache cannot import().
  supported: { 'dynamic-import': false },
  banner: { js: 'const bundleUrl=require("node:url").pathToFileURL(__filename).href;' },
  define: {
    'import.meta.url': 'bundleUrl',
    'import.meta.dirname': '__dirname',
    'import.meta.filename': '__filename',
    'import.meta.main': 'false',
  },
  logLevel: 'warning',
} satisfies BuildOptions;

async function build(): Promise<string> {
  const startedAt = performance.now();
  const esbuild = await import('esbuild').catch(() => undefined);
  if (!esbuild) {
    if (existsSync(join(dist, 'tenon.cjs'))) return 'build: kept, because esbuild is not installed';
    throw new Error('esbuild is not installed: run `npm install` with devDependencies');
  }
  const page = buildPage();
  const plugins = buildPlugins(esbuild.build);
  const sdks = [buildTestHost(esbuild.build), buildExtensionSdk(esbuild.build).then(() => buildScaffolder(esbuild.build))];
  const { outputFiles, metafile } = await esbuild.build({
    ...options,
    entryPoints: entries,
    outdir: dist,
    outExtension: { '.js': '.cjs' },
    metafile: true,
  });
  const heavy = withSchemas(metafile);
  if (heavy.length > 0) throw new Error(`${heavy.join(', ')}: a thread that starts with the gateway must load no schemas`);
  mkdirSync(dist, { recursive: true });
  for (const old of readdirSync(dist)) if (old.endsWith('.cache')) rmSync(join(dist, old));
  for (const { path, text } of outputFiles) replaceFile(path, `/* ${idOf(text)} */${text}`);
  const pluginCount = await plugins;
  await Promise.all(sdks);
  const warmed = spawnSync(process.execPath, [import.meta.filename, 'cache'], { stdio: 'ignore', timeout: CACHE_TIMEOUT_MS }).status === 0;
  const size = outputFiles.reduce((sum, { text }) => sum + text.length, 0);
  const cache = warmed ? 'with' : 'without';
  return `build: ${Math.round(size / 1024)} kB ${cache} code cache; ${pluginCount} plugins; ${describePage(await page)}; ${Math.round(performance.now() - startedAt)} ms in all`;
}

/** Threads that hold the library of schemas: each of them would make every start a third longer. */
function withSchemas({ outputs }: Metafile): string[] {
  const threads = Object.keys(outputs).filter((output) => /sqlite-writer|watchdog/.test(output));
  return threads.filter((output) => Object.keys(outputs[output]?.inputs ?? {}).some((input) => input.includes('node_modules/typebox/')));
}

/** Each in a folder of its own beside the program, as ES modules: the host gives them the SDK. Those that are gone go here too. */
async function buildPlugins(bundle: typeof esbuildBuild): Promise<number> {
  const root = join(import.meta.dirname, '..', 'plugins');
  const target = join(dist, 'plugins');
  const folders = globSync('*/tenon.plugin.json', { cwd: root }).map(dirname).sort();
  const built = await Promise.all(
    folders.map((folder) =>
      bundle({
        entryPoints: [join(root, folder, 'index.ts')],
        bundle: true,
        write: false,
        platform: 'node',
        target: 'node24',
        format: 'esm',
        legalComments: 'none',
        external: ['@tenon/plugin-sdk'],
        logLevel: 'warning',
      }),
    ),
  );
  mkdirSync(target, { recursive: true });
  for (const old of readdirSync(target)) if (!folders.includes(old)) rmSync(join(target, old), { recursive: true });
  for (const [index, { outputFiles }] of built.entries()) {
    const folder = join(target, folders[index]!);
    mkdirSync(folder, { recursive: true });
    replaceFile(join(folder, 'index.js'), outputFiles[0]!.text);
    replaceFile(join(folder, 'tenon.plugin.json'), readFileSync(join(root, folders[index]!, 'tenon.plugin.json')));
  }
  return folders.length;
}

/** What `@tenon/plugin-sdk/testing` runs: the code of the gateway, in the package of the SDK. */
async function buildTestHost(bundle: typeof esbuildBuild): Promise<void> {
  const file = join(import.meta.dirname, '..', 'packages', 'plugin-sdk', 'dist', 'testing.cjs');
  const { outputFiles } = await bundle({ ...options, entryPoints: [join(gateway, 'src', 'testing', 'test-host.ts')], outfile: file });
  mkdirSync(dirname(file), { recursive: true });
  replaceFile(file, outputFiles[0]!.text);
}

const extensionSdk = join(import.meta.dirname, '..', 'packages', 'extension-sdk');

// What extensions start with: one file, because every further one is opened and parsed in every extension. The tests of an
// extension use the same copy of it.
async function buildExtensionSdk(bundle: typeof esbuildBuild): Promise<void> {
  const folder = join(extensionSdk, 'dist');
  const sdkApart: Plugin = {
    name: 'sdk-apart',
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.\/index\.ts$/ }, () => ({ path: './index.js', external: true }));
    },
  };
  const { outputFiles } = await bundle({
    entryPoints: { index: join(extensionSdk, 'src', 'index.ts'), testing: join(extensionSdk, 'src', 'testing', 'index.ts') },
    outdir: folder,
    ...moduleOptions,
    minifyWhitespace: true,
    minifySyntax: true,
    plugins: [sdkApart],
  });
  mkdirSync(folder, { recursive: true });
  const names = outputFiles.map(({ path }) => basename(path));
  for (const old of readdirSync(folder)) if (!names.includes(old)) rmSync(join(folder, old), { recursive: true });
  for (const { path, text } of outputFiles) replaceFile(path, text);
}

const moduleOptions = {
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions;

// What `npm create tenon-extension` brings along: the program, the templates, and what is copied into a new extension.
async function buildScaffolder(bundle: typeof esbuildBuild): Promise<void> {
  const root = join(import.meta.dirname, '..');
  const home = join(root, 'packages', 'create-tenon-extension');
  const { outputFiles } = await bundle({ ...moduleOptions, entryPoints: [join(home, 'src', 'create.ts')], outfile: 'create.js' });
  const draft = join(home, `dist.${process.pid}.new`);
  mkdirSync(join(draft, 'python'), { recursive: true });
  writeFileSync(join(draft, 'create.js'), outputFiles[0]!.text);
  cpSync(join(home, 'templates'), join(draft, 'templates'), { recursive: true });
  cpSync(join(root, 'spec', 'sep', 'reference', 'python', 'sep.py'), join(draft, 'python', 'sep.py'));
  copySdk(extensionSdk, join(draft, 'extension-sdk'));
  // `tenon ext new` is the same code, and finds the same beside itself.
  mkdirSync(dist, { recursive: true });
  for (const part of ['templates', 'python', 'extension-sdk']) replaceFolder(join(dist, part), join(draft, part));
  rmSync(join(home, 'dist'), { recursive: true, force: true });
  renameSync(draft, join(home, 'dist'));
}

function replaceFolder(folder: string, from: string): void {
  const made = `${folder}.${process.pid}.new`;
  cpSync(from, made, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  renameSync(made, folder);
}

const CACHE_TIMEOUT_MS = 10_000;

// Starts a gateway in an empty home, asks it what people ask, and keeps what V8 compiled meanwhile. In a process of its own:
// where it fails (no loopback, say), the program starts a little slower and that is all.
async function makeCache(): Promise<void> {
  const { loadForCache } = createRequire(import.meta.url)(join(gateway, 'bin', 'load-bundle.cjs')) as Loader;
  const { program, file, createCache } = loadForCache();
  const home = mkdtempSync(join(tmpdir(), 'tenon-build-'));
  try {
    const quiet = { write: () => true };
    const io = {
      stdout: quiet,
      stderr: quiet,
      stdin: process.stdin,
      env: {},
      now: Date.now,
      interrupted: () => new AbortController().signal,
    };
    const run = (...words: string[]) => program.runCli([...words, '--home', home], io);
    const ended = run('start', '--port', '0', '--json').then((code) => ({ code }));
    while ((await run('health')) !== 0) {
      if ((await Promise.race([ended, sleep(5)])) !== undefined) throw new Error('the gateway did not start');
    }
    await run('status');
    await run('session', 'ls');
    replaceFile(file, createCache());
    // The gateway has made everything private meanwhile; this is as public as the bundle itself.
    chmodSync(file, 0o644);
    await run('call', 'gateway.shutdown');
    await ended;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

interface Loader {
  loadForCache(): { program: { runCli: typeof runCli }; file: string; createCache(): Buffer };
}

function idOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

// Somebody may be starting the program right now: a file is the old one or the new one, never half of it.
function replaceFile(file: string, content: string | Uint8Array): void {
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, content);
  renameSync(draft, file);
}

try {
  if (process.argv[2] === 'cache') await makeCache();
  else console.log(await build());
} catch (error) {
  console.error(`build: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
