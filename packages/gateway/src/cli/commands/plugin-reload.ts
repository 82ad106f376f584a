import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { optional } from '../values.ts';

export const pluginReload = defineCommand({
  path: 'plugin reload',
  summary: 'Look for plugins anew, and load one anew or all of them',
  examples: ['plugin reload', 'plugin reload todo'],
  args: { id: optional('Its id; without one, all') },
  run: (context) => reload(context),
});

/** For extensions too. */
export async function reload({ args, out, call }: CommandContext<{ readonly id: string | undefined }>): Promise<number> {
  const { visible } = await import('@tenon/protocol');
  const result = await call('plugins.reload', { id: args.id }, { id: 'the id' });
  out.show(result, () => result.plugins.map(({ id, state, reason }) => `${state} ${visible(id)}${reason ? `: ${visible(reason)}` : ''}`));
  return result.plugins.some(({ state, enabled }) => enabled && state !== 'loaded') ? 1 : 0;
}
