// Who may import whom. The rows below are the rule; every import is read against them, imports of types too, because a
// type import that points up is how a knot begins. `node scripts/layers.ts` checks the tree; the work is a pure function.
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { findCycles } from './source/cycles.ts';
import { importsOf } from './source/imports.ts';

/** Inside packages/gateway/src: a folder, or a file of its root, and what it may import of the others. */
const gatewayLayers: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  config: ['kernel'], // the files of the root that are not named otherwise: settings and where they come from
  store: ['kernel'],
  model: ['kernel'],
  host: ['store', 'kernel'],
  agent: ['host', 'model', 'store', 'kernel'],
  rpc: ['agent', 'host', 'model', 'store', 'config', 'kernel'],
  net: ['rpc', 'agent', 'host', 'model', 'store', 'config', 'kernel'],
  gateway: ['net', 'rpc', 'agent', 'host', 'model', 'store', 'config', 'kernel'],
  testing: ['rpc', 'agent', 'host', 'model', 'store', 'config', 'kernel'], // the test host of the SDK: a gateway without sockets
  main: ['gateway', 'rpc', 'store', 'config', 'kernel'],
  install: ['host', 'kernel'], // extensions onto the disk and off it, which needs no running gateway
  'extension-folder': ['host', 'kernel'], // what the command line does with the folder of an extension, without a gateway
  cli: ['main', 'gateway', 'install', 'extension-folder', 'config', 'kernel'],
};

interface PackageRow {
  /** Packages of this repository. */
  readonly ours: readonly string[];
  /** What else: a list of names, or whatever its package.json declares, and Node's own modules. */
  readonly others: readonly string[] | 'declared';
}

const packageRows: Readonly<Record<string, PackageRow>> = {
  'packages/protocol': { ours: [], others: ['typebox'] },
  'packages/client': { ours: ['@tenon/protocol'], others: [] },
  'packages/plugin-sdk': { ours: ['@tenon/protocol'], others: 'declared' },
  'packages/extension-sdk': { ours: ['@tenon/protocol'], others: 'declared' },
  'packages/create-tenon-extension': { ours: [], others: 'declared' },
  'packages/control-ui': { ours: ['@tenon/client', '@tenon/protocol'], others: 'declared' },
  'packages/gateway': {
    ours: ['@tenon/protocol', '@tenon/client', '@tenon/plugin-sdk', '@tenon/extension-sdk', 'create-tenon-extension'],
    others: 'declared',
  },
};

const pluginRow: PackageRow = { ours: ['@tenon/plugin-sdk'], others: ['node:'] };

/** Of the gateway's layers, the one that talks to a gateway as any client does, and helps authors of extensions. */
const clientLayers = ['cli'];
const clientPackages = ['@tenon/client', '@tenon/extension-sdk', 'create-tenon-extension'];

export interface Violation {
  readonly rule: 'layer' | 'package' | 'outside' | 'deep' | 'test-code' | 'cycle';
  readonly file: string;
  readonly message: string;
}

/** Files by their path from the root of the repository: sources, and the package.json of each package. */
export function findViolations(files: ReadonlyMap<string, string>): Violation[] {
  const graph = new Map<string, string[]>();
  const violations: Violation[] = [];
  for (const [file, source] of files) {
    if (file.endsWith('.json')) continue;
    const specifiers = importsOf(source);
    graph.set(
      file,
      specifiers.map((specifier) => resolve(file, specifier)).filter((target) => target !== undefined && files.has(target)) as string[],
    );
    if (isTestCode(file)) continue;
    for (const specifier of new Set(specifiers)) {
      const fault = isRelative(specifier) ? faultOfRelative(file, specifier) : faultOfBare(file, specifier, files);
      if (fault) violations.push({ ...fault, file });
    }
  }
  for (const cycle of findCycles(graph)) {
    violations.push({ rule: 'cycle', file: cycle[0]!, message: `imports itself: ${[...cycle, cycle[0]].join(' → ')}` });
  }
  return violations;
}

type Fault = Omit<Violation, 'file'> | undefined;

function faultOfRelative(file: string, specifier: string): Fault {
  const target = posix.join(posix.dirname(file), specifier);
  const home = packageOf(file);
  if (packageOf(target) !== home) return { rule: 'outside', message: `"${specifier}" leaves its package` };
  if (isTestCode(target)) return { rule: 'test-code', message: `"${specifier}" is test code` };
  const from = layerOf(file);
  const to = layerOf(target);
  if (from === undefined || to === undefined || from === to) return undefined;
  const allowed = gatewayLayers[from];
  if (!allowed) return { rule: 'layer', message: `"${from}" has no row in scripts/layers.ts` };
  return allowed.includes(to) ? undefined : { rule: 'layer', message: `"${from}" may not import "${to}" (${specifier})` };
}

function faultOfBare(file: string, specifier: string, files: ReadonlyMap<string, string>): Fault {
  const home = packageOf(file);
  const row = home?.startsWith('plugins/') ? pluginRow : packageRows[home ?? ''];
  if (home === undefined) return undefined;
  if (!row) return { rule: 'package', message: `${home} has no row in scripts/layers.ts` };
  const name = nameOf(specifier);
  if (isOurs(name)) {
    if (specifier.includes('/src/')) return { rule: 'deep', message: `"${specifier}" reaches behind the exports of ${name}` };
    if (!row.ours.includes(name)) return { rule: 'package', message: `${home} may not import ${name}` };
    const layer = layerOf(file);
    if (clientPackages.includes(name) && layer !== undefined && !clientLayers.includes(layer)) {
      return { rule: 'layer', message: `only ${clientLayers.join(', ')} may import ${name}, not "${layer}"` };
    }
    return undefined;
  }
  const isAllowed = row.others === 'declared' ? name === 'node:' || declares(files, home, name) : row.others.includes(name);
  return isAllowed ? undefined : { rule: 'package', message: `${home} may not import "${specifier}"` };
}

function isOurs(name: string): boolean {
  return name.startsWith('@tenon/') || name === 'create-tenon-extension';
}

function declares(files: ReadonlyMap<string, string>, home: string, name: string): boolean {
  const manifest = JSON.parse(files.get(`${home}/package.json`) ?? '{}') as { dependencies?: object; peerDependencies?: object };
  return Object.hasOwn({ ...manifest.dependencies, ...manifest.peerDependencies }, name);
}

/** `@scope/name` or `name` of a specifier; all of Node's own modules are `node:`. */
function nameOf(specifier: string): string {
  if (isBuiltin(specifier)) return 'node:';
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function resolve(file: string, specifier: string): string | undefined {
  if (isRelative(specifier)) return posix.join(posix.dirname(file), specifier);
  if (specifier.startsWith('@tenon/')) return `packages/${nameOf(specifier).slice('@tenon/'.length)}/src/index.ts`;
  return undefined;
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith('.');
}

function packageOf(path: string): string | undefined {
  return /^(packages|plugins)\/[^/]+(?=\/)/.exec(path)?.[0];
}

function layerOf(path: string): string | undefined {
  const [, folder, file] = /^packages\/gateway\/src\/(?:([^/]+)\/)?(.*)$/.exec(path) ?? [];
  if (folder !== undefined) return folder;
  if (file === undefined) return undefined;
  const name = file.replace(/\.[a-z]+$/, '');
  // What starts a gateway, or works on its home without one.
  if (name === 'maintenance') return 'main';
  return name === 'gateway' || name === 'main' || name === 'extension-folder' ? name : 'config';
}

function isTestCode(path: string): boolean {
  return /\.test\.[a-z]+$/.test(path) || /^(test|bench|scripts|examples)\//.test(path) || /^(packages|plugins)\/[^/]+\/test\//.test(path);
}

export function readTree(root: string): Map<string, string> {
  const patterns = [
    '{packages,plugins}/*/{src,bin,test}/**/*.{ts,tsx,js,mjs}',
    'plugins/*/*.ts',
    '{test,bench,scripts,examples}/**/*.{ts,tsx,js,mjs}',
    '{packages,plugins}/*/package.json',
  ];
  const isSource = (path: string) => !/(^|\/)(node_modules|dist)\//.test(path);
  const paths = [...new Set(globSync(patterns, { cwd: root }).map((path) => path.replaceAll('\\', '/')))].filter(isSource).sort();
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

if (import.meta.main) {
  const violations = findViolations(readTree(join(import.meta.dirname, '..')));
  for (const { file, rule, message } of violations) console.error(`${file}: ${message} [${rule}]`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
