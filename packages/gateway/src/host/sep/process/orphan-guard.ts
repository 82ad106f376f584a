// Ends the extensions of a gateway that died without a word. One small shell, started with the first extension, waits on a
// pipe that only the gateway holds; when it closes, it ends the process groups that are left, and whatever carries the mark
// of this gateway in its environment. An ordinary stop leaves it nothing to do.
import type { ChildProcess, spawn } from 'node:child_process';
import { withoutInherited } from '../../../kernel/inherited-descriptors.ts';

export interface OrphanGuard {
  /** The mark of this gateway: each process of an extension carries it, with a number, in its environment. */
  readonly run: string;
  add(group: number): void;
  remove(group: number): void;
  close(): void;
}

/** The variable that carries it. */
export const RUN_VARIABLE = 'TENON_EXTENSION_RUN';

// Built-in commands only, until the gateway is gone. A group is forgotten when it has ended: its number may be used again.
const SCRIPT = `trap '' INT TERM HUP
groups=' '
while read -r what group; do
  case $what in
    add) groups="$groups$group " ;;
    remove) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -9 -- "-$group" 2>/dev/null; done
[ -d /proc/self ] || exit 0
for pass in 1 2 3; do
  for file in $(grep -lsz "^${RUN_VARIABLE}=$1\\." /proc/[0-9]*/environ 2>/dev/null); do
    pid=\${file#/proc/}; kill -9 "\${pid%/environ}" 2>/dev/null
  done
done
:`;

export function createOrphanGuard({ spawn: start, run }: { readonly spawn: typeof spawn; readonly run: string }): OrphanGuard {
  let guard: ChildProcess | undefined;

  function tell(text: string): void {
    if (process.platform === 'win32') return;
    if (!guard) {
      guard = start('/bin/sh', ['-c', SCRIPT, 'tenon-extensions', run], {
        stdio: withoutInherited(['pipe', 'ignore', 'ignore']),
        detached: true,
        env: { PATH: '/usr/bin:/bin' },
        cwd: '/',
      });
      guard.on('error', () => {});
      guard.stdin?.on('error', () => {});
      guard.unref();
      (guard.stdin as unknown as { unref?: () => void }).unref?.();
    }
    guard.stdin?.write(text);
  }

  return {
    run,
    add: (group) => tell(`add ${group}\n`),
    remove: (group) => tell(`remove ${group}\n`),
    close() {
      guard?.stdin?.end();
      guard = undefined;
    },
  };
}
