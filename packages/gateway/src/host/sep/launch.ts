// How the process of an extension is started: the words, the folder and the environment, worked out once for the files and rights
// that were accepted. Throws an error that says why it is not to be started at all.
import type { ExtensionManifest } from '@tenon/protocol/sep';
import { extensionCommand, extensionEnvironment } from './environment.ts';
import { pinProgram } from './pinned-program.ts';

export interface Launch {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Looked at before every start: why it must not be started any more. */
  fault(): string | undefined;
}

export interface LaunchDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly node: string;
}

/** `root`: the copy of its files that it runs from. */
export async function planLaunch(manifest: ExtensionManifest, root: string, deps: LaunchDeps): Promise<Launch> {
  const [program = '', ...words] = extensionCommand(manifest, deps.node);
  const env = extensionEnvironment(manifest, deps.env);
  const { sha256 } = manifest.run;
  const pinned = sha256 === undefined ? undefined : await pinProgram(program, root, env.PATH ?? '', sha256);
  return {
    command: [pinned?.path ?? program, ...words],
    cwd: root,
    env,
    fault: () => (pinned && !pinned.isSame() ? `its program ${pinned.path} is not the one any more that its manifest pins` : undefined),
  };
}
