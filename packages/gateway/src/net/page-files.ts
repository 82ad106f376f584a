// The files of the web page, as the build left them beside the program: read once, when somebody first asks for one,
// and then served from memory. Only the exact names that are there exist; nothing is looked up by a path from outside.
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { createNonce } from './headers.ts';
import type { Answer } from './answer.ts';

export interface PageFiles {
  /** The answer to this path, or undefined where the page has no such file. */
  answer(path: string, acceptEncoding: string | undefined): Promise<Answer | undefined>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/** The place in index.html where the nonce of the answer goes. */
const NONCE_MARK = '__NONCE__';

/** A name that changes with its content: `chat-K3J5N2QA.js`. */
const HASHED = /[-.][A-Za-z0-9_]{8,}\.[a-z0-9]+$/;

/** More is not a page that we built. */
const MAX_FILES = 512;

interface PageFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzip: Buffer | undefined;
  readonly cache: string;
}

interface Page {
  readonly files: ReadonlyMap<string, PageFile>;
  /** index.html, cut at the places of the nonce. */
  readonly index: readonly string[] | undefined;
}

export function createPageFiles(folder: string | undefined, onError: (error: unknown) => void): PageFiles {
  let loaded: Promise<Page> | undefined;

  return {
    async answer(path, acceptEncoding) {
      if (folder === undefined) return undefined;
      loaded ??= load(folder).catch((error: unknown) => {
        onError(error);
        loaded = undefined;
        return { files: new Map(), index: undefined };
      });
      const { files, index } = await loaded;
      if (path === '/') return index && fresh(index);
      const file = files.get(path);
      if (!file) return undefined;
      const zipped = file.gzip !== undefined && acceptsGzip(acceptEncoding);
      return {
        status: 200,
        type: file.type,
        body: zipped ? (file.gzip as Buffer) : file.plain,
        headers: {
          'cache-control': file.cache,
          ...(file.gzip === undefined ? {} : { vary: 'accept-encoding' }),
          ...(zipped ? { 'content-encoding': 'gzip' } : {}),
        },
      };
    },
  };
}

function fresh(index: readonly string[]): Answer {
  const nonce = createNonce();
  return { status: 200, type: types['.html'] as string, nonce, body: index.join(nonce) };
}

async function load(folder: string): Promise<Page> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    // Run from source, there is no page: the status page stands in.
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const found = names.filter((entry) => entry.isFile() && isServed(entry.name)).map((entry) => join(entry.parentPath, entry.name));
  if (found.length > MAX_FILES) throw new Error(`${folder} has ${found.length} files; a page has at most ${MAX_FILES}`);
  const contents = new Map(
    await Promise.all(
      found.map(async (file) => [file.slice(folder.length).replaceAll('\\', '/').replace(/^\/*/, '/'), await readFile(file)] as const),
    ),
  );
  const files = new Map<string, PageFile>();
  for (const [path, plain] of contents) {
    const type = types[extname(path)];
    if (type === undefined || path === '/index.html') continue;
    files.set(path, {
      type,
      plain,
      gzip: contents.get(`${path}.gz`),
      cache: HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-store',
    });
  }
  return { files, index: contents.get('/index.html')?.toString('utf8').split(NONCE_MARK) };
}

/** Not what a build that is under way leaves for a moment. */
function isServed(name: string): boolean {
  return types[extname(name.replace(/\.gz$/, ''))] !== undefined;
}

function acceptsGzip(header: string | undefined): boolean {
  return /(^|,)\s*gzip\s*(;\s*q\s*=\s*(?!0(\.0*)?\s*(,|$))[\d.]+\s*)?(,|$)/i.test(header ?? '');
}
