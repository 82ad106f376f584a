import { resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { bytes } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { CliError, exitCodes } from '../failure.ts';
import { readRunning, type RunningNote } from '../running.ts';
import { required } from '../values.ts';
import { missingLines, showProgress } from './progress.ts';

export const backup = defineCommand({
  path: 'backup',
  summary: 'Write a copy of everything to one file, while the gateway runs or not',
  examples: ['backup tenon-2026-01-31.db', 'backup /mnt/backup/tenon.db --json'],
  args: { file: required('The new file') },
  async run({ args, out, io, config }) {
    const settings = await config();
    checkSameStore(readRunning(settings.home), settings);
    const { createBackup } = await import('../../maintenance.ts');
    const progress = showProgress(io, out, 'Backing up');
    const result = await createBackup({ config: settings, file: resolve(args.file), onProgress: progress.report }).finally(progress.end);
    const { visible } = await import('@tenon/protocol');
    const { file, sessions, files } = result;
    const said = files && files.count > 0 ? `, ${files.count} files (${bytes(files.bytes)})` : '';
    out.show(result, () => `${visible(file)}: ${bytes(result.bytes)}, ${sessions} sessions${said}`);
    if (!out.json && files) for (const line of missingLines(files, 'is not in the backup')) out.talk(visible(line));
  },
});

/** A flag or a variable of the gateway may have named another store than the settings that are read here. */
function checkSameStore(running: RunningNote | undefined, { home, settings }: Config): void {
  if (running?.engine === undefined) return;
  const engine = settings['store.engine'];
  // Of the same home, so two SQLite stores are one.
  const same = running.engine === engine && (engine === 'sqlite' || isSameDatabase(running.store ?? '', settings['store.url']));
  if (same) return;
  const other = running.engine === engine ? `another ${engine} database` : `engine ${engine}`;
  throw new CliError(
    'CONFLICT',
    exitCodes.failed,
    `The gateway that runs in ${home} uses ${running.engine} at ${running.store}, but the settings of this command name ${other}`,
    'give it the same store.engine, and store.url or TENON_STORE_URL, as the gateway was started with',
  );
}

function isSameDatabase(a: string, b: string): boolean {
  // One that is not a URL cannot be compared.
  if (!URL.canParse(a) || !URL.canParse(b)) return true;
  const [one, other] = [new URL(a), new URL(b)];
  const place = ({ hostname, port, pathname }: URL) => `${hostname}:${port || 5432}${pathname}`;
  return place(one) === place(other);
}
