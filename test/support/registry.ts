// A registry of packages on this machine: it speaks as the public one does to npm and to `tenon ext`, and lies where a test says.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ArchiveEntry, integrityOf, tgz } from './archives.ts';

interface Published {
  readonly archive: Buffer;
  /** What the registry says of it beside the usual. */
  readonly more: Record<string, unknown>;
  readonly dist: Record<string, unknown>;
}

export interface PublishOptions {
  readonly archive?: Buffer;
  readonly more?: Record<string, unknown>;
  readonly dist?: Record<string, unknown>;
}

export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** Paths, in the order in which they were asked for. */
  readonly asked: string[];
  publish(name: string, version: string, entries: readonly ArchiveEntry[], options?: PublishOptions): void;
  /** Answers whatever it returns true for. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

export async function openRegistry(): Promise<Registry> {
  const packages = new Map<string, Map<string, Published>>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://localhost');
    asked.push(decodeURIComponent(url.pathname + url.search));
    if (registry.intercept?.(request, response)) return;
    if (url.pathname === '/-/v1/search') return json(response, search(url.searchParams.get('text') ?? ''));
    const [, name, rest] = /^\/((?:@[^/]+\/)?[^/]+)(?:\/(.*))?$/.exec(decodeURIComponent(url.pathname)) ?? [];
    const versions = packages.get(name ?? '');
    if (!versions) return json(response, { error: 'Not found' }, 404);
    if (rest === undefined) return json(response, all(name!, versions));
    if (rest.startsWith('-/')) {
      const found = [...versions].find(([version]) => rest.endsWith(`-${version}.tgz`));
      if (!found) return json(response, {}, 404);
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': found[1].archive.length });
      return void response.end(found[1].archive);
    }
    const version = rest === 'latest' ? [...versions.keys()].at(-1)! : rest;
    if (!versions.has(version)) return json(response, { error: 'version not found' }, 404);
    json(response, describe(name!, version, versions.get(version)!));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function describe(name: string, version: string, { archive, more, dist }: Published) {
    const tarball = `${url}/${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
    return { name, version, ...more, dist: { tarball, integrity: integrityOf(archive), ...dist } };
  }

  function all(name: string, versions: Map<string, Published>) {
    const described = [...versions].map(([version, published]) => [version, describe(name, version, published)]);
    return { name, 'dist-tags': { latest: [...versions.keys()].at(-1) }, versions: Object.fromEntries(described) };
  }

  function search(text: string) {
    const [keyword = '', ...words] = text.replace(/^keywords:/, '').split(' ');
    const objects = [...packages].flatMap(([name, versions]) => {
      const [version, { more }] = [...versions].at(-1)!;
      const { keywords = [], description = '' } = more as { keywords?: string[]; description?: string };
      const isMeant = keywords.includes(keyword) && words.every((word) => `${name} ${description}`.includes(word));
      return isMeant ? [{ package: { name, version, description } }] : [];
    });
    return { objects, total: objects.length };
  }

  const registry: Registry = {
    url,
    asked,
    intercept: undefined,
    publish(name, version, entries, { archive = tgz(entries), more = {}, dist = {} } = {}) {
      const versions = packages.get(name) ?? new Map<string, Published>();
      packages.set(name, versions.set(version, { archive, more, dist }));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return registry;
}

function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** What an extension needs to be one. */
export function extensionFiles(name: string, version: string, more: readonly ArchiveEntry[] = [], manifest = ''): ArchiveEntry[] {
  const toml = `name = "${name}"\nversion = "${version}"\n[run]\ncommand = "node"\nargs = ["main.mjs"]\n${manifest}`;
  return [
    { path: 'package/package.json', content: JSON.stringify({ name, version }) },
    { path: 'package/extension.toml', content: toml },
    { path: 'package/main.mjs', content: 'process.stdin.resume();\n' },
    ...more,
  ];
}
