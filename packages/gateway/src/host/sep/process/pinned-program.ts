// The program that a manifest pins by its digest (`run.sha256`): found as it would be when it is started, read once, and looked at
// again before every start. What is started is the file that was found, not its name.
import { createHash } from 'node:crypto';
import { constants, createReadStream, statSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

export interface PinnedProgram {
  readonly path: string;
  /** Whether it is still the file that was read, as far as the file system tells. */
  isSame(): boolean;
}

/** Throws an error that says why it is not to be started. `command`: as extensionCommand has it. */
export async function pinProgram(command: string, cwd: string, searched: string, sha256: string): Promise<PinnedProgram> {
  const path = await findProgram(command, cwd, searched);
  if (path === undefined) throw new Error(`its program ${command} was not found, and its manifest pins it by run.sha256`);
  const before = stampOf(path);
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) digest.update(chunk);
  const hash = digest.digest('hex');
  if (hash !== sha256.toLowerCase())
    throw new Error(`its program ${path} is not the one that its manifest pins: run.sha256 is ${sha256.toLowerCase()}, it has ${hash}`);
  return { path, isSame: () => before !== undefined && stampOf(path) === before };
}

async function findProgram(command: string, cwd: string, searched: string): Promise<string | undefined> {
  const candidates = isAbsolute(command)
    ? [command]
    : command.includes('/')
      ? [join(cwd, command)]
      : searched.split(':').map((folder) => join(folder, command));
  for (const path of candidates) {
    const isThere = await access(path, constants.X_OK).then(
      () => statSync(path, { throwIfNoEntry: false })?.isFile() === true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

/** Follows links: another target is another file. */
function stampOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found && [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs, found.mode].join(' ');
}
