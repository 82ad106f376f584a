import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { integer, on, required, text } from '../values.ts';
import { sessionKey } from './session-key.ts';
import { sessionLines } from './session-show.ts';

export const sessionPatch = defineCommand({
  path: 'session patch',
  summary: 'Change a session',
  examples: [
    'session patch notes --title "Better notes"',
    'session patch notes --archive --if-revision 3',
    'session patch notes --pin --dry-run',
  ],
  args: { key: required('Its key') },
  options: {
    title: text('<text>', 'A new title'),
    label: text('<label>', 'A new label'),
    clearLabel: on('Take the label away'),
    pin: on('Pin it'),
    unpin: on('Unpin it'),
    archive: on('Archive it'),
    unarchive: on('Take it out of the archive'),
    ifRevision: integer('<n>', 'Only if the session is still at this revision', { min: 0, max: Number.MAX_SAFE_INTEGER }),
    dryRun: on('Only show what would change'),
  },
  async run({ args, options, out, io, params, call }) {
    const { title, label, ifRevision } = options;
    if (label !== undefined && options.clearLabel) throw usageError('--label and --clear-label cannot be given together');
    const changes = {
      title,
      label: options.clearLabel ? null : label,
      pinned: either(options.pin, options.unpin, '--pin and --unpin'),
      archived: either(options.archive, options.unarchive, '--archive and --unarchive'),
    };
    if (Object.values(changes).every((value) => value === undefined))
      throw usageError('Nothing to change: give --title, --label, --pin or --archive');
    const labels = { key: '<key>' };
    const patch = await params('sessions.patch', { key: await sessionKey(args.key), ...changes, ifRevision }, labels);
    const { GatewayError, visible } = await import('@tenon/protocol');

    if (options.dryRun) {
      const { session } = await call('sessions.get', { key: patch.key }, labels);
      if (ifRevision !== undefined && ifRevision !== session.revision) {
        throw new GatewayError('CONFLICT', `Session "${session.key}" is at revision ${session.revision}`);
      }
      const after = { ...session, ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) };
      out.show({ dryRun: true, before: session, after }, () => sessionLines(after, out, visible, io.now()));
      if (!out.json) out.talk('Dry run: nothing was changed');
      return;
    }
    const result = await call('sessions.patch', patch, labels);
    out.show(result, () => sessionLines(result.session, out, visible, io.now()));
    return;
  },
});

function either(yes: boolean, no: boolean, names: string): boolean | undefined {
  if (yes && no) throw usageError(`${names} cannot be given together`);
  return yes ? true : no ? false : undefined;
}
