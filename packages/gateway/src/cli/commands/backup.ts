import { resolve } from 'node:path';
import { bytes } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { required } from '../values.ts';
import { showProgress } from './progress.ts';

export const backup = defineCommand({
  path: 'backup',
  summary: 'Write a copy of everything to one file, while the gateway runs or not',
  examples: ['backup tenon-2026-01-31.tar', 'backup /mnt/backup/tenon.tar --json'],
  args: { file: required('The new file') },
  async run({ args, out, io, config }) {
    const { createBackup } = await import('../../maintenance.ts');
    const progress = showProgress(io, out, 'Backing up');
    const result = await createBackup({ config: await config(), file: resolve(args.file), onProgress: progress.report }).finally(
      progress.end,
    );
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => `${visible(result.file)}: ${bytes(result.bytes)}, ${result.sessions} sessions`);
  },
});
