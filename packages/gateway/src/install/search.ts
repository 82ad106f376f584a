// Extensions that can be installed: those of an index file, and the packages of the registry that say by a keyword that they are
// one. What cannot be asked is told; it does not hide what was found.
import { readFile, stat } from 'node:fs/promises';
import { parseJson } from '@tenon/protocol';
import { downloadJson } from './download.ts';
import { InstallError } from './install-error.ts';
import { type RegistryDeps, registryAddress } from './registry.ts';
import { isPackageName } from './source.ts';

export const EXTENSION_KEYWORDS = ['tenon-extension', 'smooth-extension'] as const;
const LIMITS = { bytes: 4_194_304, stepMs: 6_000, totalMs: 12_000 };
const MAX_INDEX_BYTES = 4_194_304;
const MAX_TEXT = 500;
const PAGE = 20;

export interface Hit {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  /** What `tenon ext install` takes. */
  readonly source: string;
  readonly from: 'index' | 'registry';
}

export interface SearchResult {
  readonly hits: readonly Hit[];
  /** What could not be asked, and why. */
  readonly failed: readonly string[];
}

export interface SearchDeps extends RegistryDeps {
  /** A file; one that is not there has nothing in it, unless it was named. */
  readonly index: { readonly file: string; readonly isNamed: boolean };
}

export async function searchExtensions(words: readonly string[], deps: SearchDeps): Promise<SearchResult> {
  const failed: string[] = [];
  const attempt = (work: Promise<readonly Hit[]>) =>
    work.catch((error: unknown): readonly Hit[] => {
      if (!(error instanceof InstallError) || error.code === 'INTERRUPTED') throw error;
      failed.push(error.message);
      return [];
    });
  const [listed, published] = await Promise.all([attempt(searchIndex(words, deps)), attempt(searchRegistry(words, deps))]);
  if (failed.length === 2) throw new InstallError('FETCH', failed.join('; '));
  const hits = new Map<string, Hit>();
  for (const hit of [...listed, ...published]) if (!hits.has(hit.source)) hits.set(hit.source, hit);
  return { hits: [...hits.values()], failed };
}

async function searchIndex(words: readonly string[], { index }: SearchDeps): Promise<Hit[]> {
  const entries = await readIndex(index);
  const isMeant = (text: string) => words.every((word) => text.toLowerCase().includes(word.toLowerCase()));
  return entries
    .filter(({ name, description = '', keywords = [] }) => isMeant([name, description, ...keywords].join(' ')))
    .map(({ name, description = '', version, source }) => ({
      name,
      description: description.slice(0, MAX_TEXT),
      ...(version === undefined ? {} : { version }),
      source,
      from: 'index',
    }));
}

interface IndexEntry {
  readonly name: string;
  readonly source: string;
  readonly description?: string;
  readonly version?: string;
  readonly keywords?: readonly string[];
}

async function readIndex({ file, isNamed }: SearchDeps['index']): Promise<readonly IndexEntry[]> {
  const wrong = (why: string) => new InstallError('REFUSED', `The index ${file} cannot be used: ${why}`);
  const found = await stat(file).catch(() => undefined);
  if (!found) {
    if (isNamed) throw wrong('it is not there');
    return [];
  }
  if (!found.isFile() || found.size > MAX_INDEX_BYTES) throw wrong(`it is not a file of up to ${MAX_INDEX_BYTES} bytes`);
  const parsed = parseJson(await readFile(file, 'utf8'));
  if (!parsed.ok) throw wrong(`it is not JSON that can be read: ${parsed.fault.reason}`);
  const { extensions } = (parsed.value ?? {}) as { extensions?: unknown };
  if (!Array.isArray(extensions)) throw wrong('it has no list "extensions"');
  const at = extensions.findIndex((entry) => !isEntry(entry));
  if (at !== -1) throw wrong(`entry ${at + 1} needs a text "name" and a text "source"`);
  return extensions as IndexEntry[];
}

function isEntry(entry: unknown): entry is IndexEntry {
  const { name, source, description = '', version = '', keywords = [] } = (entry ?? {}) as Record<string, unknown>;
  const texts = [name, source, description, version];
  return texts.every((each) => typeof each === 'string') && Array.isArray(keywords) && keywords.every((each) => typeof each === 'string');
}

async function searchRegistry(words: readonly string[], deps: SearchDeps): Promise<Hit[]> {
  const registry = await registryAddress(deps);
  const pages = await Promise.all(
    EXTENSION_KEYWORDS.map(async (keyword) => {
      const address = new URL('-/v1/search', registry);
      address.searchParams.set('text', [`keywords:${keyword}`, ...words].join(' '));
      address.searchParams.set('size', String(PAGE));
      return hitsOf(await downloadJson(address, deps, LIMITS), registry);
    }),
  );
  return pages.flat();
}

function hitsOf(answer: unknown, registry: URL): Hit[] {
  const { objects } = (answer ?? {}) as { objects?: unknown };
  if (!Array.isArray(objects)) throw new InstallError('FETCH', `${registry.origin} answered a search with something else`);
  return objects.slice(0, PAGE).flatMap((each): Hit[] => {
    const { name, description, version } = ((each as { package?: unknown } | null)?.package ?? {}) as Record<string, unknown>;
    // A name that could not be installed is no hit.
    if (typeof name !== 'string' || !isPackageName(name)) return [];
    return [
      {
        name,
        description: typeof description === 'string' ? description.slice(0, MAX_TEXT) : '',
        ...(typeof version === 'string' ? { version: version.slice(0, 64) } : {}),
        source: `npm:${name}`,
        from: 'registry',
      },
    ];
  });
}
