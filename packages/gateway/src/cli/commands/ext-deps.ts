// What `tenon ext install` and its like need of the world, and how far they are: a bar on a terminal, else a line for each thing
// that is begun. Nothing of it with --json.
import { spawn } from 'node:child_process';
import type { InstallDeps, Step } from '../../install/install-deps.ts';
import { bytes } from '../amounts.ts';
import type { CommandContext } from '../context.ts';
import type { Io } from '../io.ts';
import type { Output } from '../output.ts';

export interface Progress {
  readonly report: (step: Step) => void;
  /** Nothing of it is left on the screen. */
  readonly clear: () => void;
}

export async function installDeps({ home, config, io, out }: CommandContext): Promise<InstallDeps & { readonly progress: Progress }> {
  const [{ prepareHome }, { systemClock }] = await Promise.all([import('../../home.ts'), import('../../kernel/clock.ts')]);
  const folder = await home();
  const { settings } = await config();
  prepareHome(folder);
  const progress = createProgress(io, out);
  return {
    home: folder,
    cwd: process.cwd(),
    uid: process.getuid?.(),
    env: io.env,
    clock: systemClock,
    fetch: globalThis.fetch,
    spawn,
    registry: settings['extensions.registry'],
    signal: io.interrupted(),
    report: progress.report,
    progress,
  };
}

const CELLS = 24;
/** Nobody sees more, and a terminal is slow. */
const DRAW_MS = 50;

export function createProgress(io: Pick<Io, 'stderr' | 'now'>, out: Pick<Output, 'json' | 'plain' | 'talk'>): Progress {
  const isDrawn = io.stderr.isTTY === true && !out.json && !out.plain;
  let [last, doing, drawnAt] = ['', '', 0];
  const draw = (text: string) => {
    const cut = text.slice(0, Math.max(20, (io.stderr.columns ?? 80) - 1));
    if (cut !== last) io.stderr.write(`\r${cut.padEnd(last.length)}\r${cut}`);
    last = cut;
  };
  return {
    report(step) {
      const isNew = step.doing !== doing;
      ({ doing } = step);
      if (!isDrawn) return void (isNew && !out.json && out.talk(`${doing} …`));
      if (!isNew && step.done !== step.total && io.now() - drawnAt < DRAW_MS) return;
      drawnAt = io.now();
      draw(stepLine(step));
    },
    clear() {
      if (isDrawn && last !== '') draw('');
      last = '';
    },
  };
}

/** `Downloading [######------------------] 25%, 1.2 MB of 4.8 MB` */
export function stepLine({ doing, done, total, unit = 'files' }: Step): string {
  if (done === undefined) return `${doing} …`;
  const amount = (count: number) => (unit === 'bytes' ? bytes(count) : `${count}`);
  if (total === undefined || total <= 0) return `${doing}: ${amount(done)}${unit === 'files' ? ' files' : ''}`;
  const share = Math.min(1, done / total);
  const filled = Math.round(share * CELLS);
  const bar = `${'#'.repeat(filled)}${'-'.repeat(CELLS - filled)}`;
  return `${doing} [${bar}] ${Math.floor(share * 100)}%, ${amount(done)} of ${amount(total)}`;
}
