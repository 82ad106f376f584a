// A program of a root gateway that works in a folder of root can mark a file there to run as root, for whoever starts it. In the
// sandbox the mark means nothing; so that it means nothing outside either, it is taken away when the program has ended. `find` only
// looks; a file is changed through a descriptor that was seen to lead into the workspace, so no link leads elsewhere.
import { constants } from 'node:fs';
import { open, readlink } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import { startProgram } from '../processes.ts';
import { ownerOf } from './owner.ts';
import { isInside, systemProgram } from './profile.ts';
import type { Spawn } from './sandbox.ts';

const SET_ID = 0o6000;
const MODE = 0o7777;
const TIMEOUT_MS = 10_000;
const MAX_LISTED_BYTES = 4_194_304;

export interface SetIdDeps {
  readonly spawn: Spawn;
  readonly clock: Clock;
  /** What was changed before is left as it is. */
  readonly since: number;
}

/** Gives the reason where some may be left. `workspace` is a real path. */
export async function stripSetIds(workspace: string, deps: SetIdDeps): Promise<string | undefined> {
  if (process.getuid?.() !== 0 || ownerOf(workspace).uid !== 0) return undefined;
  const listed: Buffer[] = [];
  let bytes = 0;
  const since = `@${Math.floor(deps.since / 1_000)}`;
  const argv = [systemProgram('find'), workspace, '-type', 'f', '-perm', '/6000', '-newerct', since, '-print0'];
  const program = startProgram(argv, {
    spawn: deps.spawn,
    clock: deps.clock,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    onOutput(chunk, from) {
      if (from === 'stderr') return;
      bytes += chunk.length;
      if (bytes <= MAX_LISTED_BYTES) listed.push(chunk);
      else program.kill();
    },
  });
  let isLate = false;
  const timer = deps.clock.after(TIMEOUT_MS, () => {
    isLate = true;
    program.kill();
  });
  const { code, error } = await program.ended;
  // The last name may be cut off.
  const names = Buffer.concat(listed).toString('latin1').split('\0').slice(0, -1);
  for (const name of names) {
    if (isLate) break;
    await strip(Buffer.from(name, 'latin1'), workspace);
  }
  timer.cancel();
  if (isLate) return `the workspace has more files than can be looked through in ${TIMEOUT_MS / 1_000} s`;
  if (bytes > MAX_LISTED_BYTES) return 'there were too many of them';
  if (error) return `find cannot be started (${error.code})`;
  // 1: something went away while it looked.
  return code === 0 || code === 1 ? undefined : `find ended with code ${code}`;
}

async function strip(path: Buffer, workspace: string): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (!file) return;
  try {
    const found = await file.stat();
    const real = await readlink(`/proc/self/fd/${file.fd}`);
    if (found.isFile() && (found.mode & SET_ID) !== 0 && isInside(real, workspace)) await file.chmod(found.mode & MODE & ~SET_ID);
  } catch {
    // It went away meanwhile.
  } finally {
    await file.close();
  }
}
