// Which gateway a command talks to, and with which credential. Said on the command line beats the environment, which
// beats the running gateway of the home folder, which beats the settings.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { CliError, exitCodes, quoted, usageError } from './failure.ts';
import { readAll, type Io } from './io.ts';
import { RUNNING_FILE, TOKEN_FILE } from '../home.ts';
import { readRunning } from './running.ts';

export interface TargetOptions {
  readonly url: string | undefined;
  readonly port: number | undefined;
  readonly token: string | undefined;
}

export interface Target {
  readonly url: string;
  /** Whether a person said which gateway, rather than the home folder. */
  readonly explicit: boolean;
}

export function findTarget(options: Omit<TargetOptions, 'token'>, env: Io['env'], config: Config): Target {
  if (options.url !== undefined && options.port !== undefined) throw usageError('--url and --port cannot be given together');
  if (options.url !== undefined) return { url: socketUrl(options.url, '--url'), explicit: true };
  if (options.port === 0) throw usageError('--port cannot be 0 here; it must be the port of a running gateway');
  if (options.port !== undefined) return { url: loopback(options.port), explicit: true };
  if (env.TENON_URL) return { url: socketUrl(env.TENON_URL, 'TENON_URL'), explicit: true };
  const port = config.settings['gateway.port'];
  // Port 0 means any: the running gateway knows which one it got.
  if (config.sources['gateway.port'] === 'environment' && port !== 0) return { url: loopback(port), explicit: true };
  const running = readRunning(config.home);
  if (running) return { url: socketUrl(running.url, RUNNING_FILE), explicit: false };
  if (port !== 0) return { url: `ws://${reachable(config.settings['gateway.bind'])}:${port}`, explicit: false };
  throw new CliError('UNREACHABLE', exitCodes.unreachable, `No gateway is running in ${config.home}`, 'start one with: tenon start');
}

/**
 * The token as given, from a file (`@path`) or from stdin (`-`); else TENON_TOKEN; else the token file of the home.
 * That file is for this machine's gateway: it is not sent to another machine that somebody typed.
 */
export async function findToken(given: string | undefined, io: Io, target: Target, home: string): Promise<string | undefined> {
  const said = await saidToken(given, io);
  if (said !== undefined) return said;
  if (target.explicit && !isLoopback(new URL(target.url).hostname)) return undefined;
  const file = join(home, TOKEN_FILE);
  try {
    return usable(readFileSync(file, 'utf8').trim(), file);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CliError(
      'TOKEN_FILE',
      exitCodes.denied,
      `Cannot read the token file ${file}: ${code}`,
      'give a token with --token or TENON_TOKEN',
    );
  }
}

/** The token of the flag or the variable. */
export async function saidToken(given: string | undefined, io: Io): Promise<string | undefined> {
  if (given !== undefined) return usable(await readSecret(given, io, '--token'), '--token');
  if (io.env.TENON_TOKEN) return usable(await readSecret(io.env.TENON_TOKEN, io, 'TENON_TOKEN'), 'TENON_TOKEN');
  return undefined;
}

/** A value that may also be `@file` or `-` for stdin, so that a secret need not stand on the command line. */
export async function readSecret(given: string, io: Io, label: string): Promise<string> {
  if (given === '-') return (await readAll(io.stdin)).trim();
  if (!given.startsWith('@')) return given;
  const file = given.slice(1);
  try {
    if (statSync(file).size > 65_536) throw new Error('it is too large');
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageError(`${label} cannot be read from ${file}: ${code === 'ENOENT' ? 'no such file' : message}`);
  }
}

function usable(token: string, label: string): string {
  if (token === '' || token.length > 512 || /[^\x21-\x7e]/.test(token)) {
    throw usageError(`${label} must be a token: 1 to 512 visible ASCII characters without spaces`);
  }
  return token;
}

function socketUrl(given: string, label: string): string {
  const wrong = usageError(`${label} cannot be ${quoted(given)}; it must be a URL such as ws://127.0.0.1:18789`);
  if (!URL.canParse(given)) throw wrong;
  const url = new URL(given);
  if (url.protocol === 'http:') url.protocol = 'ws:';
  if (url.protocol === 'https:') url.protocol = 'wss:';
  if (!/^wss?:$/.test(url.protocol) || url.hostname === '') throw wrong;
  if (url.username !== '' || url.password !== '') throw usageError(`${label} must not carry a credential; use --token`);
  url.hash = '';
  return url.href.replace(/\/$/, '');
}

function loopback(port: number): string {
  return `ws://127.0.0.1:${port}`;
}

// A gateway that listens on every address is asked on this machine's own.
function reachable(bind: string): string {
  if (bind === '0.0.0.0') return '127.0.0.1';
  if (bind === '::') return '[::1]';
  return bind.includes(':') ? `[${bind}]` : bind;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
