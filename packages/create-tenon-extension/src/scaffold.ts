// Makes the folder of a new extension from a template, complete: what it needs of the SDK is in it, so that its tests run at
// once and without a network. The folder is there whole or not at all.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export interface Template {
  readonly summary: string;
  readonly language: 'typescript' | 'python';
}

/** A row for each folder of templates/; those of a language share the folder that is called after it. */
export const templates = {
  tool: { summary: 'a tool for the agent', language: 'typescript' },
  'permission-gate': { summary: 'a hook that stops tool calls, or asks a person', language: 'typescript' },
  command: { summary: 'a slash command with completion', language: 'typescript' },
  provider: { summary: 'a model that the extension serves, streaming', language: 'typescript' },
  'provider-less': { summary: 'a tool, a command and an event, with no library of schemas', language: 'typescript' },
  panel: { summary: 'state of a session, shown in the page with a button', language: 'typescript' },
  'python-tool': { summary: 'a tool for the agent, in Python without packages', language: 'python' },
} as const satisfies Record<string, Template>;
export type TemplateName = keyof typeof templates;

export interface ScaffoldOptions {
  /** Of the extension, and of its folder. */
  readonly name: string;
  readonly template: string;
  /** The folder in which the new one is made. */
  readonly into: string;
}

export interface Scaffolded {
  readonly folder: string;
  /** Relative to it, without what was copied of the SDK. */
  readonly files: readonly string[];
  /** How its tests are run there. */
  readonly test: string;
}

/** Where templates and the parts that are copied along stand. */
export interface ScaffoldSources {
  readonly templates: string;
  readonly sdk: string;
  readonly python: string;
}

/** What was asked for cannot be done; the message says what to do instead. */
export class ScaffoldRefused extends Error {
  override readonly name = 'ScaffoldRefused';
}

export function scaffold(
  { name, template, into }: ScaffoldOptions,
  sources: ScaffoldSources = sourcesBeside(import.meta.dirname),
): Scaffolded {
  if (typeof name !== 'string' || !NAME.test(name) || RESERVED.includes(name)) {
    throw new ScaffoldRefused(
      `"${name}" cannot be the name of an extension: up to 64 lower-case letters, digits, - and _, the first a letter or digit`,
    );
  }
  if (!isTemplate(template))
    throw new ScaffoldRefused(`There is no template "${template}"; there are ${Object.keys(templates).join(', ')}`);
  const parent = resolve(into);
  if (!isFolder(parent)) throw new ScaffoldRefused(`${parent} is not a folder: make it first, or name another one`);
  const folder = join(parent, name);
  if (existsSync(folder)) throw new ScaffoldRefused(`${folder} is there already: choose another name, or remove it`);

  const { language } = templates[template];
  const draft = join(parent, `.${name}.${process.pid}.new`);
  try {
    const files = [language, template].flatMap((each) => copyTemplate(join(sources.templates, each), draft, name));
    if (language === 'typescript') copySdk(sources.sdk, join(draft, 'node_modules', '@tenon', 'extension-sdk'));
    else cpSync(join(sources.python, 'sep.py'), join(draft, 'sep.py'));
    renameSync(draft, folder);
    return { folder, files: files.sort(), test: language === 'typescript' ? 'npm test' : 'python3 -m unittest' };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const RESERVED = ['constructor', 'prototype', 'node_modules'];

/** In the repository from the sources, in a published package from what was built. */
function sourcesBeside(here: string): ScaffoldSources {
  const built = join(here, 'templates');
  if (existsSync(built)) return { templates: built, sdk: join(here, 'extension-sdk'), python: join(here, 'python') };
  const root = join(here, '..', '..', '..');
  return {
    templates: join(here, '..', 'templates'),
    sdk: join(root, 'packages', 'extension-sdk'),
    python: join(root, 'spec', 'sep', 'reference', 'python'),
  };
}

function isTemplate(name: string): name is TemplateName {
  return Object.hasOwn(templates, name);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** A name that ends in `.template` loses that: so neither npm, git nor a test runner takes a template for the thing itself. */
function copyTemplate(from: string, to: string, name: string): string[] {
  const files = readdirSync(from, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => {
    const source = join(entry.parentPath, entry.name);
    const path = relative(from, source).replace(/\.template$/, '');
    const target = join(to, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, readFileSync(source, 'utf8').replaceAll('__NAME__', name));
    return path;
  });
}

/** As npm would install it: what the package publishes. */
export function copySdk(from: string, to: string): void {
  const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as {
    files: string[];
    devDependencies?: object;
  };
  const missing = manifest.files.find((file) => !existsSync(join(from, file)));
  if (missing !== undefined)
    throw new ScaffoldRefused(`The SDK has not been built, "${missing}" is not there: run \`npm run build\` in Tenon's folder`);
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  for (const file of manifest.files) cpSync(join(from, file), join(to, file), { recursive: true });
}
