// Before something is destroyed: --yes, or the name typed by a person. Without a terminal nothing is asked.
import { CliError, exitCodes, usageError } from './failure.ts';
import type { Io } from './io.ts';

export interface ConsentRequest {
  /** `Delete session "agent:main:notes"` */
  readonly deed: string;
  /** What has to be typed. */
  readonly name: string;
  readonly yes: boolean;
}

export async function askConsent({ deed, name, yes }: ConsentRequest, io: Io): Promise<void> {
  if (yes) return;
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true)
    throw usageError(`${deed}: this needs --yes when there is no terminal to ask on`);
  const prompts = await import('@clack/prompts');
  const { visible } = await import('@tenon/protocol');
  const typed = await prompts.text({
    message: visible(`${deed}? Type ${name} to go on`),
    output: process.stderr,
    validate: (value) => (value === name ? undefined : `Type ${visible(name)}, or press Ctrl-C to leave everything as it is`),
  });
  if (prompts.isCancel(typed))
    throw new CliError('NEEDS_CONSENT', exitCodes.needsConsent, 'Nothing was changed', 'use --yes to go ahead without being asked');
}
