// Before something is destroyed: --yes, or the name typed by a person. Without a terminal nothing is asked.
import type { Readable, Writable } from 'node:stream';
import { CliError, exitCodes } from './failure.ts';
import type { Io } from './io.ts';

export interface ConsentRequest {
  /** `Delete session "agent:main:notes"` */
  readonly deed: string;
  /** What has to be typed. */
  readonly name: string;
  readonly yes: boolean;
}

/** Throws unless somebody agreed. */
export async function askConsent({ deed, name, yes }: ConsentRequest, io: Io): Promise<void> {
  if (yes) return;
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true)
    throw refused(`${deed}: there is no terminal to ask on`, 'agree to it with --yes');
  const { visible } = await import('@tenon/protocol');
  const typed = await ask(visible(`${deed}? Type ${name} to go on: `), io);
  if (typed !== name) throw refused('Nothing was changed', 'use --yes to go ahead without being asked');
}

function refused(message: string, hint: string): CliError {
  return new CliError('NEEDS_CONSENT', exitCodes.needsConsent, message, hint);
}

/** What was typed; undefined when the person left with Ctrl-C or Ctrl-D. */
async function ask(question: string, io: Io): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises');
  // Not stdout: that is for data. Both are streams of Node here, or there would be no terminal.
  const prompt = createInterface({ input: io.stdin as unknown as Readable, output: io.stderr as unknown as Writable });
  const left = new Promise<undefined>((resolve) => prompt.once('SIGINT', resolve).once('close', resolve));
  try {
    return await Promise.race([prompt.question(question), left]);
  } finally {
    prompt.close();
  }
}
