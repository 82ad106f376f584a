// Copies of the files that an approval holds a command to. They are taken when the question is asked, mounted over the files
// while the command runs, and gone afterwards. Nothing here has to survive the gateway: a question that does is asked about
// the same bytes, and these are copied again, or a new question is asked.
import { rmSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { limits } from '@tenon/protocol';
import { isInside, type Overlay } from '../../kernel/sandbox/profile.ts';
import { type CodeFile, digestOf } from './exec-files.ts';
import { readWhole } from './files/workspace.ts';
import { ToolError } from './tool.ts';

export interface HeldFiles {
  /** From now on the command runs. Contract: throws ToolError when a copy is gone and its file is not what it was. */
  use(command: string): Promise<readonly Overlay[]>;
  release(): void;
}

export interface ApprovedFiles {
  /** Contract: throws ToolError when a file is not what was looked at. */
  hold(files: readonly CodeFile[]): Promise<HeldFiles>;
  /** The approved command that runs now and is held to this file. */
  usedBy(real: string): string | undefined;
  /** What other programs in the workspace must leave as it is: the copies that are in use, and the folders above them. */
  inUse(workspace: string, own?: HeldFiles): { readonly overlays: readonly Overlay[]; readonly pinned: readonly string[] };
}

interface Hold {
  readonly files: readonly CodeFile[];
  readonly bytes: number;
  /** Undefined until it runs. */
  command?: string;
  held?: HeldFiles;
}

export function openApprovedFiles(folder: string, newId: () => string): ApprovedFiles {
  // What a gateway that died has left.
  rmSync(folder, { recursive: true, force: true });
  /** In the order in which they were taken. */
  const holds = new Set<Hold>();
  /** Copies that are being made or are there, with how many need them. */
  const copies = new Map<string, { users: number; made: Promise<void> }>();

  const nameOf = ({ digest, isExecutable }: CodeFile) => `${digest.replace('sha256:', '')}${isExecutable ? '-x' : ''}`;
  const placeOf = (file: CodeFile) => join(folder, nameOf(file));

  async function copy(file: CodeFile): Promise<void> {
    const content = await readWhole(file.spot, limits.approvedFileBytes.value);
    if (digestOf(content) !== file.digest)
      throw new ToolError('CHANGED', `${file.spot.shown} changed after the command was looked at; nothing was run. Ask again`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const draft = join(folder, `${newId()}.draft`);
    // A program may run under another account than the gateway; the folder above lets nobody else in.
    await writeFile(draft, content, { flag: 'wx', mode: file.isExecutable ? 0o555 : 0o444 });
    await rename(draft, placeOf(file));
  }

  async function take(file: CodeFile): Promise<void> {
    const name = nameOf(file);
    const there = copies.get(name) ?? { users: 0, made: copy(file) };
    copies.set(name, there);
    there.users++;
    await there.made;
  }

  function give(file: CodeFile): void {
    const name = nameOf(file);
    const there = copies.get(name);
    if (!there || --there.users > 0) return;
    copies.delete(name);
    // One that failed, or that somebody needs again by now, is not this one's to remove.
    void there.made.then(() => (copies.has(name) ? undefined : rm(placeOf(file), { force: true }))).catch(() => {});
  }

  function drop(hold: Hold): void {
    if (!holds.delete(hold)) return;
    for (const file of hold.files) give(file);
  }

  /** Makes room: what waits longest is copied again when its time comes, if it is still the same. */
  function makeRoom(bytes: number): void {
    const total = () => [...holds].reduce((sum, each) => sum + each.bytes, 0);
    for (const hold of [...holds]) {
      if (total() + bytes <= limits.approvedBytesTotal.value) return;
      if (hold.command === undefined) drop(hold);
    }
    if (total() + bytes > limits.approvedBytesTotal.value)
      throw new ToolError(
        'TOO_MANY',
        'The approved commands that run now hold as many copies of files as there can be; wait for one to end',
      );
  }

  async function keep(hold: Hold): Promise<void> {
    makeRoom(hold.bytes);
    holds.add(hold);
    const taken = await Promise.allSettled(hold.files.map(take));
    const failed = taken.find((each) => each.status === 'rejected');
    if (!failed) return;
    drop(hold);
    throw failed.reason instanceof ToolError ? failed.reason : new ToolError('COPY', `A file could not be copied: ${failed.reason}`);
  }

  return {
    async hold(files) {
      if (files.length === 0) return { use: async () => [], release() {} };
      const hold: Hold = { files, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
      await keep(hold);
      hold.held = {
        async use(command) {
          if (!holds.has(hold)) await keep(hold);
          hold.command = command;
          return files.map((file) => ({ path: file.spot.real, from: placeOf(file) }));
        },
        release: () => drop(hold),
      };
      return hold.held;
    },
    usedBy: (real) =>
      [...holds].find(({ command, files }) => command !== undefined && files.some(({ spot }) => spot.real === real))?.command,
    inUse(workspace, own) {
      const used = [...holds].filter(({ command, held }) => command !== undefined && held !== own).flatMap(({ files }) => files);
      const inside = new Map(used.filter(({ spot }) => isInside(spot.real, workspace)).map((file) => [file.spot.real, placeOf(file)]));
      const pinned = new Set<string>();
      for (const path of inside.keys()) {
        for (let above = dirname(path); above !== workspace && isInside(above, workspace); above = dirname(above)) pinned.add(above);
      }
      return {
        overlays: [...inside].map(([path, from]) => ({ path, from })),
        pinned: [...pinned].sort((a, b) => a.length - b.length),
      };
    },
  };
}
