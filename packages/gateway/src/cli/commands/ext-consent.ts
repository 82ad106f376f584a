// What a person sees before an extension is put in use: where it is from, what its files are, what it asks for, and what is
// different from the version before.
import type { Agree, Prepared } from '../../install/install.ts';
import type { CommandContext } from '../context.ts';
import { CliError, exitCodes } from '../failure.ts';
import { readRunning } from '../running.ts';
import type { Progress } from './ext-deps.ts';

const MAX_NAMED = 12;

export async function preparedLines({ name, version, extension, origin, treeHash, replaces }: Prepared): Promise<string[]> {
  const { grantRow } = await import('@tenon/protocol');
  const grants = extension.asPlugin.grants;
  const summaryOf = (grant: string) => {
    const row = grantRow(grant);
    const isWide = row !== undefined && 'wide' in row && row.wide;
    return `${row?.summary ?? 'not known here'}${isWide ? ' Wide: it reaches far beyond the extension itself.' : ''}`;
  };
  return [
    `${name} ${version}${replaces ? `, in place of ${replaces.version.version}` : ''}`,
    `  from     ${origin.source}`,
    ...(origin.resolved === undefined ? [] : [`  address  ${origin.resolved}`]),
    ...(origin.integrity === undefined ? [] : [`  archive  ${origin.integrity}`]),
    ...(origin.commit === undefined ? [] : [`  commit   ${origin.commit}`]),
    `  files    ${treeHash}`,
    ...(grants.length === 0 ? ['It asks for nothing'] : ['It asks for:']),
    ...grants.map((grant) => `  ${replaces && !replaces.grants.includes(grant) ? 'new: ' : ''}${grant}: ${summaryOf(grant)}`),
    ...(replaces ? fileLines(replaces.files) : []),
  ];
}

function fileLines(files: NonNullable<Prepared['replaces']>['files']): string[] {
  const rest = files.length - MAX_NAMED;
  const named = files.slice(0, MAX_NAMED).map(({ path, change }) => `  ${change.padEnd(7)}  ${path}`);
  return [files.length === 1 ? '1 file differs:' : `${files.length} files differ:`, ...named, ...(rest > 0 ? [`  and ${rest} more`] : [])];
}

/** Shows it. What takes the place of another version needs a yes first; a new one is off until it is enabled. */
export function agreeing(
  { out, consent, home, ask }: Pick<CommandContext, 'out' | 'consent' | 'home' | 'ask'>,
  progress: Progress,
  { yes, showSame = false, keep }: { yes: boolean; showSame?: boolean; keep: (prepared: Prepared) => void },
): Agree {
  return async (prepared) => {
    progress.clear();
    const { visible } = await import('@tenon/protocol');
    if (!out.json && (showSame || !prepared.isSame)) for (const line of await preparedLines(prepared)) out.talk(visible(line));
    keep(prepared);
    const { name, version, replaces, isSame } = prepared;
    const isNew = !replaces && !isSame;
    if (isNew && readRunning(await home()) !== undefined && (await isOfPlugin(name, ask)))
      throw new CliError(
        'REFUSED',
        exitCodes.failed,
        `"${name}" is the name of a plugin`,
        'give the extension another one in its manifest',
      );
    if (replaces) await consent(`Use ${name} ${version} in place of ${replaces.version.version}`, name, yes);
  };
}

/** Whether the gateway has a plugin of that name: plugins go before extensions, so whatever is done by that name is done to it. */
export async function isOfPlugin(name: string, ask: CommandContext['ask']): Promise<boolean> {
  const plugin = (await ask('plugins.get', { id: name }))?.plugin;
  return plugin !== undefined && plugin.process === undefined && plugin.state !== 'rejected';
}
