// Where an extension comes from, as it is typed: a folder, `npm:name[@version]` or `git:host/user/repo[@ref]`. Everything that
// becomes part of an address, a path or a command line is checked here, before anything is fetched or written.
import { isAbsolute, join, resolve } from 'node:path';
import { InstallError } from './install-error.ts';

export interface FolderSource {
  readonly kind: 'folder';
  readonly text: string;
  readonly folder: string;
}

export interface NpmSource {
  readonly kind: 'npm';
  readonly text: string;
  readonly name: string;
  /** A version or a tag of the registry. */
  readonly wanted: string;
}

export interface GitSource {
  readonly kind: 'git';
  readonly text: string;
  readonly url: string;
  readonly protocol: 'https' | 'http' | 'ssh' | 'file';
  readonly ref: string;
}

export type Source = FolderSource | NpmSource | GitSource;

const PART = '[a-z0-9][a-z0-9._~-]*';
const NPM_NAME = new RegExp(`^(?:@${PART}/)?${PART}$`);
const NPM_NAME_MAX = 214;
const RESERVED_NAMES = new Set(['node_modules', 'favicon.ico']);
const VERSION_OR_TAG = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/;
const REF = /^[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}$/;
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** `cwd` is what a relative folder starts from. Throws `USAGE` for what is no source. */
export function parseSource(text: string, cwd: string): Source {
  if (text.length > 2_048) throw wrong(`${text.slice(0, 40)}…`, 'it is too long');
  if (text.startsWith('npm:')) return npmSource(text);
  if (text.startsWith('git:')) return gitSource(text, cwd);
  if (text === '' || text.includes('\0')) throw wrong(text, 'it names no folder');
  if (/^[a-z][a-z0-9+.-]+:/i.test(text) && !isAbsolute(text))
    throw wrong(text, 'it is neither a folder nor npm:name[@version] nor git:host/user/repo[@ref]');
  const folder = resolve(cwd, text);
  return { kind: 'folder', text: folder, folder };
}

/** Whether registries have such a name: no path, nothing that is kept, not too long. */
export function isPackageName(name: string): boolean {
  return name.length <= NPM_NAME_MAX && NPM_NAME.test(name) && !RESERVED_NAMES.has(name) && !name.includes('..');
}

function npmSource(text: string): NpmSource {
  const spec = text.slice('npm:'.length);
  const at = spec.indexOf('@', 1);
  const name = at === -1 ? spec : spec.slice(0, at);
  const wanted = at === -1 ? 'latest' : spec.slice(at + 1);
  if (!isPackageName(name)) throw wrong(text, 'that cannot be the name of a package');
  if (!VERSION_OR_TAG.test(wanted)) throw wrong(text, 'behind @ stands a version, such as 1.2.0, or a tag, such as latest');
  return { kind: 'npm', text, name, wanted };
}

function gitSource(text: string, cwd: string): GitSource {
  const spec = text.slice('git:'.length);
  // The last @ behind the last slash: others are part of the address.
  const at = spec.lastIndexOf('@') > spec.lastIndexOf('/') ? spec.lastIndexOf('@') : refAfterPath(spec);
  const address = at === -1 ? spec : spec.slice(0, at);
  const ref = at === -1 ? 'HEAD' : spec.slice(at + 1);
  if (!REF.test(ref) || ref.includes('..') || ref.includes('//') || ref.endsWith('.lock'))
    throw wrong(text, 'behind @ stands a branch, a tag or a commit');
  const isLocal = address.startsWith('/') || address.startsWith('./') || address.startsWith('../');
  if (isLocal) {
    const folder = resolve(cwd, address);
    return {
      kind: 'git',
      text: at === -1 ? `git:${folder}` : `git:${folder}@${ref}`,
      url: new URL(`file://${folder}`).href,
      protocol: 'file',
      ref,
    };
  }
  const url = URL.parse(/^[a-z]+:\/\//.test(address) ? address : `https://${address}`);
  if (!url || /[\s\\]/.test(address)) throw wrong(text, 'it is not git:host/user/repo[@ref]');
  const protocol = url.protocol.slice(0, -1);
  if (protocol !== 'https' && protocol !== 'ssh' && protocol !== 'file' && !(protocol === 'http' && LOOPBACK.has(url.hostname)))
    throw wrong(text, `${protocol} is not used; https, ssh and file are`);
  if (url.password !== '' || (url.username !== '' && protocol !== 'ssh')) throw wrong(text, 'credentials do not belong into an address');
  if (url.username.startsWith('-') || url.hostname.startsWith('-') || url.search !== '' || url.hash !== '' || url.pathname.length < 2)
    throw wrong(text, 'it is not git:host/user/repo[@ref]');
  return { kind: 'git', text, url: url.href, protocol, ref };
}

/** A ref may have slashes of its own: `host/user/repo@feature/x`. */
function refAfterPath(spec: string): number {
  const path = spec.indexOf('/', spec.includes('://') ? spec.indexOf('://') + 3 : 0);
  return path === -1 ? -1 : spec.indexOf('@', path);
}

function wrong(text: string, why: string): InstallError {
  return new InstallError(
    'USAGE',
    `Cannot install from ${JSON.stringify(text)}: ${why}`,
    'give a folder, npm:name[@version] or git:host/user/repo[@ref]',
  );
}

/** The folder of the home in which hand-made extensions are. */
export function handMadeFolder(home: string, name: string): string {
  return join(home, 'extensions', name);
}
