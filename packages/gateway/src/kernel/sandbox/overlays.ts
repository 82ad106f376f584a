// Files of the workspace that a program sees as they were copied, whatever they hold by now. The mount covers each of them; the
// program's own start looks once more whether it does, because the folders above could be moved while the mounts were made.
import { statSync } from 'node:fs';
import { type Overlay, systemProgram } from './profile.ts';
import { SETUP_FAILED } from './unshare.ts';

/** The words that run `argv` if all copies are in their places. */
export function guarded(argv: readonly string[], overlays: readonly Overlay[]): readonly string[] {
  if (overlays.length === 0) return argv;
  const wanted = overlays.map(({ from }) => {
    const { dev, ino } = statSync(from, { bigint: true });
    return `${dev}:${ino}`;
  });
  const paths = overlays.map(({ path }) => `'${path.replaceAll("'", "'\\''")}'`);
  const script =
    `[ "$(${systemProgram('stat')} -c %d:%i -- ${paths.join(' ')})" = '${wanted.join('\n')}' ] || ` +
    `{ echo 'A file that belongs to what was approved was moved away; nothing was run.' >&2; exit ${SETUP_FAILED}; }; exec "$@"`;
  return ['/bin/sh', '-c', script, 'sandbox', ...argv];
}
