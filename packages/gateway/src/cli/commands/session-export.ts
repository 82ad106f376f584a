import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { defineCommand } from '../command.ts';
import { quoted, usageError } from '../failure.ts';
import { required, text } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const sessionExport = defineCommand({
  path: 'session export',
  summary: 'Write a session as lines of JSON, to stdout or a new file',
  examples: ['session export notes > notes.jsonl', 'session export notes -o notes.jsonl'],
  args: { key: required('Its key') },
  options: { out: { ...text('<file>', 'A new file, readable by you alone'), short: 'o' } },
  async run({ args, options, out, call, params }) {
    const { key } = await params('sessions.export', { key: await sessionKey(args.key) }, { key: '<key>' });
    const pages = async (write: (line: string) => void) => {
      let lines = 0;
      let after: number | undefined;
      do {
        const page = await call('sessions.export', { key, after }, { key: '<key>' });
        for (const line of page.lines) write(line);
        lines += page.lines.length;
        after = page.next;
      } while (after !== undefined);
      return lines;
    };
    if (options.out === undefined) {
      await pages((line) => out.line(line));
      return;
    }
    const lines = await intoFile(options.out, pages);
    out.show({ file: options.out, key, lines }, () => `${lines} lines in ${options.out}`);
    return;
  },
});

/** A file that was not finished is removed. */
async function intoFile(file: string, work: (write: (line: string) => void) => Promise<number>): Promise<number> {
  const handle = openNew(file);
  let finished = false;
  try {
    const lines = await work((line) => void writeSync(handle, `${line}\n`));
    fsyncSync(handle);
    finished = true;
    return lines;
  } finally {
    closeSync(handle);
    if (!finished) rmSync(file, { force: true });
  }
}

function openNew(file: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(`--out cannot be ${quoted(file)}: ${code === 'EEXIST' ? 'the file exists' : code}`);
  }
}
