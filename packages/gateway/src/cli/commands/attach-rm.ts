import { defineCommand } from '../command.ts';
import { many, on } from '../values.ts';

export const attachRm = defineCommand({
  path: 'attach rm',
  alias: 'delete',
  summary: 'Remove files that are kept; messages that name them stay',
  examples: ['attach rm 2Yp4u0m9Qk3xV7cA1bZsTg', 'attach rm 2Yp4u0m9Qk3xV7cA1bZsTg --yes'],
  args: { handles: many('Their handles') },
  options: { yes: on('Do not ask', 'y') },
  async run({ args, options, out, params, call, consent }) {
    const labels = { handle: '<handles...>' };
    const handles: string[] = [];
    for (const typed of args.handles) handles.push((await params('attachments.remove', { handle: typed }, labels)).handle);
    for (const handle of handles) {
      await consent(`Remove attachment "${handle}"`, handle, options.yes);
      await call('attachments.remove', { handle }, labels);
    }
    out.show({ removed: handles }, () => handles.map((handle) => `removed ${handle}`));
  },
});
