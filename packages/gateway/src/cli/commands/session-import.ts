import { readFileSync, statSync } from 'node:fs';
import type { Result } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { CliError, exitCodes, quoted, usageError } from '../failure.ts';
import { requestOverHttp } from '../http-request.ts';
import { readAll } from '../io.ts';
import { optional, required, text } from '../values.ts';
import { sessionKey } from './session-key.ts';

/** What is larger does not fit into one frame and goes over HTTP. */
const ONE_FRAME_BYTES = 900_000;
const PATIENCE_MS = 120_000;

export const sessionImport = defineCommand({
  path: 'session import',
  summary: 'Make a session from lines of JSON, as pi and tenon session export write them',
  examples: ['session import notes-2 notes.jsonl', 'session import notes-2 - < notes.jsonl'],
  args: { key: required('The key of the new session'), file: optional('The file; - or nothing reads stdin') },
  options: { title: text('<text>', 'Its title') },
  async run(context) {
    const { args, options, out, params, call } = context;
    const labels = { key: '<key>' };
    const { key, title } = await params('sessions.import', { key: await sessionKey(args.key), title: options.title, jsonl: '{}' }, labels);
    const jsonl = await readLines(args.file, context);
    const result =
      Buffer.byteLength(jsonl) <= ONE_FRAME_BYTES
        ? await call('sessions.import', { key, title, jsonl }, { ...labels, jsonl: 'The import' }, PATIENCE_MS)
        : await post(context, key, title, jsonl);
    const { visible } = await import('@tenon/protocol');
    const skipped = result.skipped === 0 ? '' : `, ${result.skipped} lines skipped`;
    out.show(result, () => `${visible(result.session.key)}: ${result.entries} entries${skipped}`);
  },
});

async function readLines(file: string | undefined, { io, globals }: Pick<CommandContext, 'io' | 'globals'>): Promise<string> {
  const { limits } = await import('@tenon/protocol');
  const most = limits.importBytes.value;
  if (file === undefined || file === '-') {
    if (file === undefined && io.stdin.isTTY === true) throw usageError('[file] is missing', 'or pipe it in');
    if (globals.token === '-') throw usageError('--token and the import cannot both be read from stdin');
    return readAll(io.stdin, most);
  }
  try {
    const { size } = statSync(file);
    if (size > most) throw new CliError('TOO_LARGE', exitCodes.usage, `${file} has ${size} bytes; ${most} are allowed`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(`[file] cannot be ${quoted(file)}: ${code === 'ENOENT' ? 'no such file' : code}`);
  }
}

async function post(
  context: Pick<CommandContext, 'http' | 'globals'>,
  key: string,
  title: string | undefined,
  text: string,
): Promise<Result<'sessions.import'>> {
  const response = await requestOverHttp(context, '/api/sessions/import', { key, title }, { type: 'application/x-ndjson', text });
  const body: unknown = await response.json().catch(() => undefined);
  const { matches, methodRow } = await import('@tenon/protocol');
  if (matches(methodRow('sessions.import').result, body)) return body as Result<'sessions.import'>;
  throw new CliError('FAILED', exitCodes.failed, 'The gateway answered the import with something else');
}
