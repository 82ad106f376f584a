// The environment of programs: a short list of names, what the operator adds, what a plugin adds. A variable that makes
// some program load code is refused by its class, whoever asks for it; so are the keys of models and Tenon's own.
import { isLoaderVariable } from '../../kernel/loader-variables.ts';
import { ToolError } from './tool.ts';

const USUAL = ['PATH', 'LANG', 'LANGUAGE', 'TERM', 'TZ', 'USER', 'LOGNAME'];
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';
export const FROM_GATEWAY = '(from the gateway)';
const MAX_VALUE = 32_768;

export interface ExecEnvironment {
  /** What the program gets. */
  readonly all: Readonly<Record<string, string>>;
  /** What it gets beside the usual, as it is shown: values of the gateway's own environment stay unsaid. */
  readonly added: Readonly<Record<string, string>>;
}

export interface EnvironmentSources {
  readonly gateway: Readonly<Record<string, string | undefined>>;
  /** `exec.env` */
  readonly names: readonly string[];
  /** Names that hold keys of models. */
  readonly keys: readonly string[];
  /** From the hook `resolve_exec_env`. */
  readonly further: Readonly<Record<string, string>>;
  /** HOME in a sandbox; without one, that of the gateway. */
  readonly home: string | undefined;
}

export function execEnvironment({ gateway, names, keys, further, home }: EnvironmentSources): ExecEnvironment {
  const all: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const [name, value] of Object.entries(gateway)) {
    if (value !== undefined && (USUAL.includes(name) || name.startsWith('LC_'))) all[name] = value;
  }
  // A folder named relative to where the program starts would put the workspace's programs in place of the system's.
  all.PATH =
    all
      .PATH!.split(':')
      .filter((folder) => folder.startsWith('/'))
      .join(':') || DEFAULT_PATH;
  const ownHome = home ?? gateway.HOME;
  if (ownHome !== undefined) all.HOME = ownHome;
  const added: Record<string, string> = {};
  for (const name of names) {
    refuse(name, 'exec.env', keys);
    const value = gateway[name];
    if (value === undefined) continue;
    all[name] = value;
    added[name] = FROM_GATEWAY;
  }
  for (const [name, value] of Object.entries(further)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) throw new ToolError('ENV', `"${name}" is no name of a variable`);
    if (value.includes('\0') || value.length > MAX_VALUE) throw new ToolError('ENV', `The value of ${name} has a zero byte or is too long`);
    refuse(name, 'A plugin', keys);
    all[name] = value;
    added[name] = value;
  }
  return { all, added };
}

function refuse(name: string, who: string, keys: readonly string[]): void {
  if (isLoaderVariable(name))
    throw new ToolError('ENV', `${who} sets ${name}, which makes programs load or run something else; it is never handed on`);
  if (keys.includes(name))
    throw new ToolError('ENV', `${who} sets ${name}, which holds the key of a model; it is never handed to programs`);
}
