// The environment and the words that an extension is started with: little of ours, what its manifest adds, and nothing that
// makes a program load something else.
import { type ExtensionManifest, expandEnv } from '@tenon/protocol/sep';
import { inheritedEnv } from '@tenon/protocol/sep/wire';

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

export function extensionEnvironment({ run }: Pick<ExtensionManifest, 'run'>, gateway: Environment): Record<string, string> {
  const made: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const name of inheritedEnv) {
    const value = gateway[name];
    if (value !== undefined) made[name] = value;
  }
  // A folder named relative to where the extension runs would put its programs in place of the system's.
  made.PATH =
    made
      .PATH!.split(':')
      .filter((folder) => folder.startsWith('/'))
      .join(':') || DEFAULT_PATH;
  // What is Tenon's own is for nobody else, by whatever name somebody asks for it.
  const readable = Object.fromEntries(Object.entries(gateway).filter(([name]) => !name.toUpperCase().startsWith('TENON_')));
  for (const [name, value] of Object.entries(run.env ?? {})) made[name] = expandEnv(value, readable);
  return made;
}

/** `node` is the one that the gateway itself runs on: the one in PATH may be another, or missing. */
export function extensionCommand({ run }: Pick<ExtensionManifest, 'run'>, node: string): string[] {
  return [run.command === 'node' ? node : run.command, ...(run.args ?? [])];
}
