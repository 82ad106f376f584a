import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { defineCommand } from '../command.ts';
import { quoted, usageError } from '../failure.ts';
import { requestOverHttp } from '../http-request.ts';
import { required, text } from '../values.ts';

export const attachGet = defineCommand({
  path: 'attach get',
  summary: 'Save a file that is kept into a new file, readable by you alone',
  examples: ['attach get 2Yp4u0m9Qk3xV7cA1bZsTg -o report.pdf'],
  args: { handle: required('Its handle') },
  options: { out: { ...text('<file>', 'The new file'), short: 'o' } },
  async run(context) {
    const { args, options, out, params } = context;
    if (options.out === undefined) throw usageError('--out says where it is saved, such as: tenon attach get <handle> -o report.pdf');
    const { handle } = await params('attachments.remove', { handle: args.handle }, { handle: '<handle>' });
    const bytes = await intoFile(options.out, () => requestOverHttp(context, `/attachments/${handle}`, {}));
    out.show({ file: options.out, handle, bytes }, () => `${bytes} bytes in ${options.out}`);
  },
});

/** A file that was not finished is removed. */
async function intoFile(file: string, request: () => Promise<Response>): Promise<number> {
  let target: number;
  try {
    target = openSync(file, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(`--out cannot be ${quoted(file)}: ${code === 'EEXIST' ? 'the file exists' : code}`);
  }
  let bytes = 0;
  let isWhole = false;
  try {
    for await (const chunk of (await request()).body ?? []) {
      for (let written = 0; written < chunk.length; ) written += writeSync(target, chunk, written);
      bytes += chunk.length;
    }
    fsyncSync(target);
    isWhole = true;
    return bytes;
  } finally {
    closeSync(target);
    if (!isWhole) rmSync(file, { force: true });
  }
}
