import type { Entry, Result } from '@tenon/protocol';
import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { integer, on, optional, text } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const sessionHistory = defineCommand({
  path: 'session history',
  summary: 'Print what was said, oldest first',
  examples: ['session history', 'session history notes -n 50', 'session history notes --all --json'],
  args: { key: optional('Its key (default: main)') },
  options: {
    limit: integer('<n>', 'How many entries at most', { min: 1, max: 200, short: 'n' }),
    before: text('<entry>', 'The page before this entry'),
    all: on('Every page'),
    verbose: on('Show all output of tools'),
  },
  async run({ args, options, out, io, call }) {
    const key = await sessionKey(args.key ?? 'main');
    const entries: Entry[] = [];
    let before = options.before;
    let page: Result<'chat.history'>;
    do {
      page = await call('chat.history', { sessionKey: key, limit: options.limit, before }, { sessionKey: '<key>' });
      entries.unshift(...page.entries);
      before = page.more;
    } while (options.all && before !== undefined);

    const more = before === undefined ? {} : { more: before };
    if (out.json) return out.show({ session: page.session, entries, leafId: page.leafId, runs: page.runs, ...more }, () => []) as undefined;
    const { createPlainScreen } = await import('../chat/screen.ts');
    const { createView } = await import('../chat/view.ts');
    const { createFollower } = await import('../chat/follow.ts');
    const style: typeof out.style = (name, piece) => out.style(name, piece);
    const screen = createPlainScreen({ write: (piece) => void io.stdout.write(piece), style, width: io.stdout.columns || 100 });
    const view = createView({ screen, style, verbose: options.verbose, now: io.now, canAnswer: false, sign: '> ', onChange() {} });
    const follower = createFollower({ sessionKey: key, show: view, fetchEntry() {} });
    for (const entry of entries) follower.entry(entry);
    follower.interrupted();
    if (entries.length === 0) out.talk('Nothing was said yet');
    if (before !== undefined) out.talk(`There is more before: tenon session history ${key} --before ${before}   (or --all)`);
    const open = page.runs.length;
    if (open > 0)
      out.talk(`${open} ${open === 1 ? 'message is' : 'messages are'} under way since ${relative(page.runs[0]!.run.createdAt, io.now())}`);
    return;
  },
});
