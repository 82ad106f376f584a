import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { defineCommand } from '../command.ts';
import { quoted, usageError } from '../failure.ts';
import { requestOverHttp } from '../http-request.ts';
import { required, text } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const sessionExport = defineCommand({
  path: 'session export',
  summary: 'Write a session as lines of JSON, to stdout or a new file',
  examples: ['session export notes > notes.jsonl', 'session export notes -o notes.jsonl'],
  args: { key: required('Its key') },
  options: { out: { ...text('<file>', 'A new file, readable by you alone'), short: 'o' } },
  async run(context) {
    const { args, options, out, params } = context;
    const { key } = await params('sessions.export', { key: await sessionKey(args.key) }, { key: '<key>' });
    const work = async (write: (line: string) => void) => {
      const { body } = await requestOverHttp(context, '/api/sessions/export', { key });
      let lines = 0;
      for await (const line of linesOf(body)) {
        write(line);
        lines++;
      }
      return lines;
    };
    if (options.out === undefined) {
      await work((line) => out.line(line));
      return;
    }
    const lines = await intoFile(options.out, work);
    out.show({ file: options.out, key, lines }, () => `${lines} ${lines === 1 ? 'line' : 'lines'} in ${options.out}`);
  },
});

/** Line by line as they come: a session may be larger than memory is cheap. */
async function* linesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

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
