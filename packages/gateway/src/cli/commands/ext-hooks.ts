// An extension that was enabled and does not run, because its process takes part in hooks that nobody was asked about before it ran: a
// person agrees to those too, or it stays as it is.
import type { PluginInfo } from '@tenon/protocol';
import type { CommandContext } from '../context.ts';
import { describeFailure, exitCodes } from '../failure.ts';

/** Its process is started and has to introduce itself. */
export const PATIENCE_MS = 30_000;

/** As it stands afterwards. `treeHash`: of the files that were shown. `denied`: what it was refused before stays refused. */
export async function agreeToHooks(
  { out, call, consent }: Pick<CommandContext, 'out' | 'call' | 'consent'>,
  plugin: PluginInfo,
  { yes, treeHash, denied = [] }: { readonly yes: boolean; readonly treeHash: string | undefined; readonly denied?: readonly string[] },
): Promise<PluginInfo> {
  if (plugin.state !== 'ungranted' || plugin.missing?.some((grant) => denied.includes(grant))) return plugin;
  const { grantRow, UNCONFINED_GRANT, visible } = await import('@tenon/protocol');
  // To run without a sandbox is agreed to by its own name.
  const isOffered = (grant: string) => plugin.granted.includes(grant) || (grant !== UNCONFINED_GRANT && !denied.includes(grant));
  const grants = plugin.asked.filter(isOffered);
  if (!out.json) {
    out.talk(`${visible(plugin.name)} takes part in hooks, and asks for more now that it has run:`);
    for (const grant of grants.filter((each) => !plugin.granted.includes(each))) {
      const row = grantRow(grant);
      out.talk(
        `  ${visible(grant)}: ${row?.summary ?? 'not known here'}${row?.wide ? ' Wide: it reaches far beyond the extension itself.' : ''}`,
      );
    }
  }
  try {
    await consent(`Grant this to extension "${plugin.id}"`, plugin.id, yes);
  } catch (error) {
    if (describeFailure(error).exitCode !== exitCodes.needsConsent) throw error;
    return plugin;
  }
  const files = treeHash === undefined ? {} : { treeHash };
  return (await call('plugins.enable', { id: plugin.id, grants, ...files }, {}, PATIENCE_MS)).plugin;
}

/** What the command ends with: one that waits for a grant is for a person to decide about. */
export function exitCodeOf({ state, reason }: Pick<PluginInfo, 'state' | 'reason'>): number {
  if (state === 'ungranted') return exitCodes.needsConsent;
  return state === 'loaded' && reason === undefined ? exitCodes.ok : exitCodes.failed;
}
