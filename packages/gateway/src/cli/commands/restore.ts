import { resolve } from 'node:path';
import { defineCommand } from '../command.ts';
import { refuseIfRunning } from '../running.ts';
import { on, required } from '../values.ts';
import { missingLines, showProgress } from './progress.ts';

export const restore = defineCommand({
  path: 'restore',
  summary: 'Put a backup in place of what is in the home folder; the gateway must be stopped',
  examples: ['restore tenon-2026-01-31.db', 'restore tenon.db --dry-run', 'restore tenon.db --yes --home /srv/tenon'],
  args: { file: required('The backup') },
  options: { yes: on('Do not ask', 'y'), dryRun: on('Check the backup and change nothing') },
  async run({ args, options, out, io, config, consent }) {
    const settings = await config();
    refuseIfRunning(settings.home);
    const { restoreBackup } = await import('../../maintenance.ts');
    if (!options.dryRun) await consent(`Replace everything in ${settings.home}`, settings.home, options.yes);
    const progress = showProgress(io, out, options.dryRun ? 'Checking' : 'Restoring');
    const request = { config: settings, file: resolve(args.file), dryRun: options.dryRun, onProgress: progress.report };
    const result = await restoreBackup(request).finally(progress.end);
    const { visible } = await import('@tenon/protocol');
    out.show({ dryRun: options.dryRun, ...result }, () =>
      options.dryRun
        ? `The backup can be restored${result.sealed ? ': every byte is as it was written' : ''}`
        : visible(`Restored to ${settings.home}`),
    );
    if (!out.json && !result.sealed)
      out.talk('This backup is from before backups carried digests: a byte that changed since may go unnoticed');
    if (out.json || options.dryRun) return;
    if (result.kept !== undefined) out.talk(visible(`The old store is kept as ${result.kept}`));
    if (result.keptFiles !== undefined) out.talk(visible(`Its files are kept in ${result.keptFiles}`));
    if (result.files && !result.files.inBackup)
      out.talk('This backup is from before files were part of one: those that are in the home folder are used');
    if (result.files) for (const line of missingLines(result.files, 'is not there after the restore')) out.talk(visible(line));
    out.talk('Start the gateway with: tenon start');
  },
});
