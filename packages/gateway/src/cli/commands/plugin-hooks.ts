import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { optional } from '../values.ts';

export const pluginHooks = defineCommand({
  path: 'plugin hooks',
  summary: 'Show which plugins take part in which hook, in their order, and how that goes',
  examples: ['plugin hooks', 'plugin hooks before_tool_call', 'plugin hooks --json'],
  args: { hook: optional('Only this one') },
  async run({ args, out, io, call }) {
    const { hookNames, isHookName, visible } = await import('@tenon/protocol');
    if (args.hook !== undefined && !isHookName(args.hook)) {
      const { quoted, unknownWord } = await import('../failure.ts');
      throw await unknownWord(`There is no hook ${quoted(args.hook)}`, args.hook, hookNames);
    }
    const status = await call('hooks.status');
    const hooks = status.hooks.filter(({ hook }) => args.hook === undefined || hook === args.hook);
    const rows = hooks.flatMap(({ hook, handlers }) => handlers.map((handler, index) => ({ hook, order: index + 1, ...handler })));
    out.show({ ...status, hooks }, () =>
      out.table(
        [
          { title: 'HOOK', cell: (row) => row.hook },
          { title: 'ORDER', cell: (row) => String(row.order) },
          { title: 'PLUGIN', cell: (row) => visible(row.plugin) },
          { title: 'PRIORITY', cell: (row) => String(row.priority) },
          { title: 'TIMEOUT', cell: (row) => `${row.timeoutMs} ms` },
          { title: 'CALLS', cell: (row) => String(row.calls) },
          { title: 'ERRORS', cell: (row) => String(row.errors) },
          { title: 'TIMEOUTS', cell: (row) => String(row.timeouts) },
          { title: 'LAST', cell: (row) => relative(row.lastAt ?? null, io.now()) },
        ],
        rows,
      ),
    );
    if (!out.json && rows.length === 0) out.talk('No plugin takes part');
  },
});
