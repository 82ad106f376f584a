// As whom a program runs. A gateway that is root can be anybody, and is then the owner of the workspace: what a program makes there
// belongs to who works there, and a program is root only where the workspace is.
import { statSync } from 'node:fs';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
  /** Whether that is somebody else than the gateway. */
  readonly isOther: boolean;
}

export function ownerOf(workspace: string): Owner {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const own = { uid, gid, isOther: false };
  if (uid !== 0 || process.platform === 'win32') return own;
  const found = statSync(workspace);
  return found.uid === 0 ? own : { uid: found.uid, gid: found.gid, isOther: true };
}
