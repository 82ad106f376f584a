// How the process of an extension is started: the words, the folder and the environment, worked out once for the files and rights
// that were accepted. Throws an error that says why it is not to be started at all.
import type { ExtensionManifest } from '@tenon/protocol/sep';
import { extensionCommand, extensionEnvironment } from './environment.ts';
import { type ConfineDeps, confine, reachOf } from './sandbox.ts';
import { pinProgram } from './pinned-program.ts';

export interface Launch {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Looked at before every start: why it must not be started any more. */
  fault(): string | undefined;
}

export interface LaunchDeps extends Omit<ConfineDeps, 'userHome' | 'name'> {
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** `root`: the copy of its files that it runs from. */
export async function prepareLaunch(
  manifest: ExtensionManifest,
  root: string,
  granted: ReadonlySet<string>,
  deps: LaunchDeps,
): Promise<Launch> {
  const [program = '', ...words] = extensionCommand(manifest, deps.node);
  const env = extensionEnvironment(manifest, deps.env, (grant) => granted.has(grant));
  const { sha256 } = manifest.run;
  const pinned = sha256 === undefined ? undefined : await pinProgram(program, root, env.PATH ?? '', sha256);
  const userHome = deps.env.HOME ?? '/root';
  const around = { ...deps, userHome, name: manifest.name };
  const { command, kind } = await confine([pinned?.path ?? program, ...words], root, reachOf(manifest), granted, around);
  return {
    command,
    cwd: root,
    // The folder for temporary files of the gateway is not seen there.
    env: kind ? { ...env, TMPDIR: '/tmp' } : env,
    fault: () => (pinned && !pinned.isSame() ? `its program ${pinned.path} is not the one any more that its manifest pins` : undefined),
  };
}
