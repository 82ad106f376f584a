// A commit of a git repository: fetched without its history into an empty repository of our own, and taken out of it as an
// archive that is unpacked as any other. Nothing is checked out, so no hook, filter or submodule has a say; git sees neither our
// configuration nor a terminal to ask on.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FetchDeps, Origin } from './install-deps.ts';
import { InstallError } from './install-error.ts';
import { runProgram } from './run-program.ts';
import type { GitSource } from './source.ts';
import type { Staging } from './staging.ts';
import { unpack } from './unpack.ts';

const FETCH_MS = 300_000;
const STEP_MS = 60_000;

const CONFIG = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.askPass': '',
  'credential.helper': '',
  'fetch.fsckObjects': 'true',
  'fetch.recurseSubmodules': 'false',
  'gc.auto': '0',
  'http.followRedirects': 'false',
  'maintenance.auto': 'false',
  'protocol.version': '2',
};

export async function fetchGit(source: GitSource, staging: Staging, deps: FetchDeps): Promise<Origin> {
  const { signal, report } = deps;
  const [repository, home, archive] = [join(staging.aside, 'repository'), join(staging.aside, 'home'), join(staging.aside, 'files.tar')];
  await mkdir(home, { mode: 0o700 });
  await mkdir(repository, { mode: 0o700 });
  const git = (args: readonly string[], timeoutMs: number) => {
    const settings = Object.entries(CONFIG).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const env = environment(source, home, deps.env);
    return runProgram({ argv: ['git', ...settings, ...args], cwd: repository, env, timeoutMs, watched: staging.aside }, deps);
  };
  report({ doing: `Fetching ${source.url}` });
  await git(['init', '--quiet', '--bare', '--template=', '.'], STEP_MS);
  await git(['fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', source.url, source.ref], FETCH_MS);
  const commit = (await git(['rev-parse', '--verify', 'FETCH_HEAD^{commit}'], STEP_MS)).trim();
  if (!/^[0-9a-f]{40,64}$/.test(commit)) throw new InstallError('FETCH', `git names no commit for ${source.ref}`);
  await git(['archive', '--format=tar', '--prefix=package/', `--output=${archive}`, commit], STEP_MS);
  const unpacked = (files: number) => report({ doing: 'Unpacking', done: files, unit: 'files' });
  await unpack(archive, staging.files, { gzip: false, signal, unpacked });
  return { source: source.text, resolved: source.url, commit };
}

function environment({ protocol }: GitSource, home: string, env: FetchDeps['env']): Record<string, string> {
  const { SSH_AUTH_SOCK } = env;
  return {
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oConnectTimeout=20 -oClearAllForwardings=yes',
    ...(protocol === 'ssh' && SSH_AUTH_SOCK !== undefined ? { SSH_AUTH_SOCK } : {}),
  };
}
