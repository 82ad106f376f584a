// A git repository on this machine, as a folder and over HTTP, for tests that fetch one.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

const WHO = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.invalid',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.invalid',
};

export interface Repository {
  readonly folder: string;
  git(...args: string[]): string;
  /** Resolves with the commit. */
  commit(files: Readonly<Record<string, string>>): string;
}

export function makeRepository(folder: string): Repository {
  mkdirSync(folder, { recursive: true });
  const env = { PATH: process.env.PATH ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', ...WHO };
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  git('init', '--quiet', '--initial-branch=main', '.');
  return {
    folder,
    git,
    commit(files) {
      for (const [name, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), content);
      }
      git('add', '-A');
      git('commit', '--quiet', '-m', 'a change');
      return git('rev-parse', 'HEAD');
    },
  };
}

export interface GitServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: string[];
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

/** Every repository below the folder, by git's own program for servers. */
export async function serveGit(root: string): Promise<GitServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    if (served.intercept?.(request, response)) return;
    const url = new URL(request.url!, 'http://localhost');
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env.PATH ?? '',
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
        PATH_INFO: decodeURIComponent(url.pathname),
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method!,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        ...(request.headers['content-encoding'] ? { HTTP_CONTENT_ENCODING: request.headers['content-encoding'] } : {}),
        ...(request.headers['git-protocol'] ? { GIT_PROTOCOL: String(request.headers['git-protocol']) } : {}),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    request.pipe(child.stdin).on('error', () => {});
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('close', () => {
      const answer = Buffer.concat(chunks);
      const end = answer.indexOf('\r\n\r\n');
      const headers = Object.fromEntries(
        answer
          .subarray(0, end)
          .toString()
          .split('\r\n')
          .map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
      );
      const { Status: status, ...rest } = headers;
      response.writeHead(Number.parseInt(status ?? '200', 10), rest);
      response.end(answer.subarray(end + 4));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const served: GitServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    intercept: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return served;
}
