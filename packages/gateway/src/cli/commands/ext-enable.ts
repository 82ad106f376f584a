// After an extension was put into the store: the gateway of this home, if it runs, is asked to enable exactly those files. That
// takes a person's word; where nobody can be asked, the extension stays off and the command to type is told.
import type { Installed, Prepared } from '../../install/install.ts';
import type { CommandContext } from '../context.ts';
import { describeFailure, exitCodes } from '../failure.ts';
import { readRunning } from '../running.ts';
import { agreeToHooks, exitCodeOf, PATIENCE_MS } from './ext-hooks.ts';

const START = 'tenon start';

export interface Outcome {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  readonly treeHash: string;
  readonly integrity?: string;
  readonly commit?: string;
  readonly replaced?: string;
  /** These files were there already. */
  readonly unchanged?: true;
  readonly enabled: boolean;
  /** As the gateway has it. */
  readonly state?: string;
  readonly reason?: string;
  /** The command that would enable it, or undo what went wrong. */
  readonly next?: string;
}

type Context = Pick<CommandContext, 'home' | 'call' | 'consent' | 'out'>;

export interface EnableOptions {
  readonly yes: boolean;
  /** Leave it off. */
  readonly noEnable: boolean;
}

export async function enableInstalled(
  context: Context,
  installed: Installed,
  prepared: Prepared | undefined,
  { yes, noEnable }: EnableOptions,
): Promise<{ outcome: Outcome; exitCode: number }> {
  const { name, version } = installed;
  const outcome = outcomeOf(installed);
  const isRunning = readRunning(await context.home()) !== undefined;
  const next = `${isRunning ? '' : 'tenon start, then: '}tenon ext trust ${name}`;
  // Whether the same files are on is known to a gateway only.
  if (!isRunning) return { outcome: { ...outcome, next: installed.isSame ? START : next }, exitCode: exitCodes.ok };
  // With its files, so that the gateway looks for it.
  const known = (await context.call('plugins.get', { id: name, files: true })).plugin;
  const { treeHash } = version;
  if (installed.isSame && known.enabled) {
    const { state, reason } = await agreeToHooks(context, known, { yes, treeHash });
    const why = state === 'ungranted' && reason !== undefined ? { reason } : {};
    return {
      outcome: { ...outcome, enabled: true, state, ...why },
      exitCode: state === 'ungranted' ? exitCodes.needsConsent : exitCodes.ok,
    };
  }
  // One of that name may have been removed while no gateway ran: that it was on says nothing of this one.
  const stayOff = async () => {
    if (!installed.replaced && !installed.isSame && known.enabled) await context.call('plugins.disable', { id: name });
  };
  if (noEnable) await stayOff();
  // One that was off stays off, whatever its version.
  if (noEnable || (installed.replaced && !known.enabled)) return { outcome: { ...outcome, next }, exitCode: exitCodes.ok };
  try {
    // For a new version, that was asked before it was put in place.
    if (!installed.replaced) await context.consent(`Enable extension "${name}"`, name, yes);
  } catch (error) {
    if (describeFailure(error).exitCode !== exitCodes.needsConsent) throw error;
    await stayOff();
    return { outcome: { ...outcome, next: `${next} --yes` }, exitCode: exitCodes.needsConsent };
  }
  const asked = prepared?.extension.asPlugin.grants ?? [];
  // What was not granted to the version before is not granted to this one either. Of one that is not at work, nobody knows.
  const before = known.state === 'loaded' || known.granted.length > 0 ? (prepared?.replaces?.grants ?? []) : [];
  const denied = before.filter((grant) => !known.granted.includes(grant));
  const grants = installed.replaced ? { grants: asked.filter((grant) => !denied.includes(grant)) } : {};
  const first = await context.call('plugins.enable', { id: name, treeHash, ...grants }, {}, PATIENCE_MS);
  const plugin = await agreeToHooks(context, first.plugin, { yes, treeHash, denied });
  const { state, reason } = plugin;
  // One whose new process is no good goes on with the old one, and says so.
  const exitCode = exitCodeOf(plugin);
  const isAtWork = exitCode === exitCodes.ok;
  const back = isAtWork || !installed.replaced ? {} : { next: `tenon ext rollback ${name}` };
  const told = { ...outcome, enabled: true, state, ...(reason === undefined ? {} : { reason }), ...back };
  return { outcome: told, exitCode };
}

function outcomeOf({ name, version, replaced, isSame }: Installed): Outcome {
  const { source, treeHash, integrity, commit } = version;
  return {
    name,
    version: version.version,
    source,
    treeHash,
    ...(integrity === undefined ? {} : { integrity }),
    ...(commit === undefined ? {} : { commit }),
    ...(replaced ? { replaced: replaced.version } : {}),
    ...(isSame ? { unchanged: true } : {}),
    enabled: false,
  };
}

export function outcomeLine({ name, version, replaced, unchanged, enabled, state, reason, next }: Outcome): string {
  const what = `${name} ${version} is installed${unchanged ? ' already' : ''}${replaced === undefined ? '' : ` in place of ${replaced}`}`;
  if (enabled) {
    const undo = next === undefined ? '' : `; go back with: ${next}`;
    return `${what}, ${state}${reason === undefined ? '' : `: ${reason}`}${undo}`;
  }
  if (next === START) return `${what}, and no gateway is running; start it with: ${START}`;
  return `${what} and off${next === undefined ? '' : `; enable it with: ${next}`}`;
}
