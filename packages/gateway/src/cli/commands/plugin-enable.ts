import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { describeFailure, exitCodes } from '../failure.ts';
import { list, on, required } from '../values.ts';
import { isUnconfined } from '../unconfined.ts';
import { agreeToHooks } from './ext-hooks.ts';
import { reachLines } from './plugin-inspect.ts';

export const pluginEnable = defineCommand({
  path: 'plugin enable',
  summary: 'Trust the files of a plugin as they are now and what its tools say, grant what it asks for, and load it',
  examples: ['plugin enable todo', 'plugin enable todo --grant tools.register,ui.descriptors --yes'],
  args: { id: required('Its id') },
  options: { grant: list('<grants>', 'Grant only these'), yes: on('Do not ask', 'y') },
  run: ({ options, ...context }) =>
    enable({ ...context, options: { ...options, unconfined: false } }, { noun: 'plugin', inspect: 'plugin inspect' }),
});

interface EnableOptions {
  readonly grant: readonly string[] | undefined;
  readonly yes: boolean;
  /** Also to run without a sandbox, where none works. */
  readonly unconfined: boolean;
}

type EnableContext = CommandContext<{ readonly id: string }, EnableOptions>;

/** For extensions too. `inspect`: the command that shows more of it. */
export async function enable(
  { args, options, out, call, check, consent }: EnableContext,
  { noun, inspect }: Record<'noun' | 'inspect', string>,
) {
  const labels = { id: 'the id', grants: '--grant' };
  await check('plugins.enable', { id: args.id, grants: options.grant }, labels);
  const { grantRow, UNCONFINED_GRANT, visible } = await import('@tenon/protocol');
  const { plugin } = await lookAt(args.id);
  const mayBeUnconfined = options.unconfined && plugin.asked.includes(UNCONFINED_GRANT);
  const grants = [
    ...(options.grant ?? plugin.asked).filter((grant) => grant !== UNCONFINED_GRANT || options.grant !== undefined),
    ...(mayBeUnconfined ? [UNCONFINED_GRANT] : []),
  ];
  const left = plugin.asked.filter((grant) => !grants.includes(grant));
  if (grants.length > 0) out.talk(`${visible(plugin.name)} asks for:`);
  for (const grant of grants) {
    const row = grantRow(grant);
    const isWide = row !== undefined && 'wide' in row && row.wide;
    out.talk(`  ${visible(grant)}: ${row?.summary ?? 'not known here'}${isWide ? ' Wide: it reaches far beyond the plugin itself.' : ''}`);
  }
  if (plugin.process) for (const line of reachLines(plugin.process.reach)) out.talk(`  ${visible(line)}`);
  const [changes, { changeLines, toolTextLines }] = await Promise.all([
    call('plugins.changes', { id: plugin.id }, labels),
    import('../change-lines.ts'),
  ]);
  const changed = changeLines(changes, visible);
  if (changed.length > 0) out.talk('Changed since it was accepted:');
  for (const line of changed) out.talk(`  ${line}`);
  const said = toolTextLines(changes, visible);
  if (said.length > 0) out.talk('What its tools say:');
  for (const line of said) out.talk(`  ${line}`);
  if (left.length > 0) out.talk(`Not granted: ${left.map(visible).join(', ')}`);
  if (isUnconfined(plugin)) {
    const why = visible(plugin.process?.sandbox ?? '');
    if (left.includes(UNCONFINED_GRANT))
      out.talk(out.style('yellow', `It does not start until you let it run unconfined, with your rights, by --unconfined (${why})`));
    else out.talk(out.style('yellow', `It runs unconfined, with your rights: its code can do whatever you can. Wide. (${why})`));
  }
  await consent(`Load ${noun} "${plugin.id}" from ${plugin.folder}`, plugin.id, options.yes);
  // Those files, and no others that took their place while somebody was reading this.
  const { treeHash } = changes;
  const first = await call(
    'plugins.enable',
    { id: plugin.id, grants: mayBeUnconfined ? grants : options.grant, ...(treeHash === undefined ? {} : { treeHash }) },
    labels,
  );
  // Where the operator has said which grants it gets, those are all that it gets.
  const isLimited = options.grant !== undefined;
  const result = isLimited
    ? first
    : { ...first, plugin: await agreeToHooks({ out, call, consent }, first.plugin, { yes: options.yes, treeHash }) };
  out.show(
    result,
    () => `${result.plugin.state} ${visible(result.plugin.id)}${result.plugin.reason ? `: ${visible(result.plugin.reason)}` : ''}`,
  );
  const refused = result.plugin.registrations.filter(({ accepted }) => !accepted);
  if (refused.length > 0 && !out.json)
    out.talk(`${refused.length} of its registrations ${refused.length === 1 ? 'was' : 'were'} not taken: tenon ${inspect} ${plugin.id}`);
  if (result.plugin.state === 'ungranted') return exitCodes.needsConsent;
  return result.plugin.state === 'loaded' ? exitCodes.ok : exitCodes.failed;

  /** One whose folder was put there since the gateway looked is looked for; it is not loaded by that. */
  async function lookAt(id: string) {
    const get = () => call('plugins.get', { id }, labels);
    try {
      return await get();
    } catch (error) {
      if (describeFailure(error).code !== 'NOT_FOUND') throw error;
      await call('plugins.reload', { id }, labels);
      return get();
    }
  }
}
