// The environment and the words that an extension is started with: little of ours, what its manifest adds, and nothing that
// makes a program load something else. What of ours the manifest names is handed on where the operator has granted that variable.
import { variableGrant } from '@tenon/protocol';
import { type ExtensionManifest, expandEnv, variablesOf } from '@tenon/protocol/sep';
import { inheritedEnv } from '@tenon/protocol/sep/wire';
import { isSecretName, keepBack } from '../../../kernel/redact.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** What is Tenon's own is for nobody else, by whatever name somebody asks for it; the listed ones everybody has. */
export function grantsOfEnvironment(manifest: Pick<ExtensionManifest, 'run'>): string[] {
  const isAsked = (name: string) =>
    NAME.test(name) && !name.toUpperCase().startsWith('TENON_') && !inheritedEnv.some((each) => each === name);
  return variablesOf(manifest).filter(isAsked).map(variableGrant);
}

/** What a grant can name. */
const NAME = /^\w{1,120}$/;

export function extensionEnvironment(
  manifest: Pick<ExtensionManifest, 'run'>,
  gateway: Environment,
  holds: (grant: string) => boolean,
): Record<string, string> {
  const asked = new Set(grantsOfEnvironment(manifest));
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
  const readable: Record<string, string> = { ...made };
  for (const name of variablesOf(manifest)) {
    const [value, grant] = [gateway[name], variableGrant(name)];
    if (value === undefined || !asked.has(grant) || !holds(grant)) continue;
    readable[name] = value;
    if (isSecretName(name)) keepBack(value);
  }
  for (const [name, value] of Object.entries(manifest.run.env ?? {})) made[name] = expandEnv(value, readable);
  return made;
}

/** `node` is the one that the gateway itself runs on: the one in PATH may be another, or missing. */
export function extensionCommand({ run }: Pick<ExtensionManifest, 'run'>, node: string): string[] {
  return [run.command === 'node' ? node : run.command, ...(run.args ?? [])];
}
