import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogRecord, logLevels } from '@tenon/protocol';
import { LOG_FOLDER } from '../../home.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { jsonLine, type Output } from '../output.ts';
import { choice, integer, on } from '../values.ts';

const POLL_MS = 500;
const PAGE = 500;
/** The table's own list, held to it by the compiler: to load the table for it would slow every other command down. */
const LEVELS: typeof logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

export const logs = defineCommand({
  path: 'logs',
  summary: 'Print the log of the gateway, the latest records last',
  examples: ['logs', 'logs -f', 'logs -f --level warn', 'logs -n 500 --json'],
  options: {
    follow: on('Go on as records come', 'f'),
    level: choice(LEVELS, 'Only records of this level or above'),
    lines: integer('<n>', 'How many to begin with', { min: 1, max: 10_000, short: 'n' }),
  },
  async run({ options, out, io, home, hasGateway, call }) {
    const { visible } = await import('@tenon/protocol');
    const { level } = options;
    const wanted = options.lines ?? 100;
    const print = (records: readonly LogRecord[]) => {
      for (const record of records) out.line(out.json ? jsonLine(record) : logLine(record, out, visible));
    };
    if (!options.follow && !(await hasGateway())) {
      const { readLogFile } = await import('./log-file.ts');
      const file = join(await home(), LOG_FOLDER, 'gateway.log');
      const least = LEVELS.indexOf(level ?? 'trace');
      print(
        readLogFile(file)
          .filter((record) => LEVELS.indexOf(record.level) >= least)
          .slice(-wanted),
      );
      if (!out.json) out.talk(`No gateway is running; this is from ${visible(file)}`);
      return;
    }

    const latest = await readAll(call, level);
    print(latest.records.slice(-wanted));
    if (!options.follow) return;
    const signal = io.interrupted();
    let { cursor } = latest;
    while (!signal.aborted) {
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      const page = await call('logs.tail', { after: cursor, limit: PAGE, level });
      if (page.dropped > 0) out.talk(`${page.dropped} records came faster than they could be read`);
      print(page.records);
      cursor = page.cursor;
    }
    return;
  },
});

/** Everything that the gateway holds, page by page until a page brings nothing. */
async function readAll(call: CommandContext['call'], level: string | undefined): Promise<{ records: LogRecord[]; cursor: number }> {
  const records: LogRecord[] = [];
  let cursor = 0;
  for (;;) {
    const page = await call('logs.tail', { after: cursor, limit: PAGE, level });
    records.push(...page.records);
    if (page.cursor <= cursor) return { records, cursor };
    cursor = page.cursor;
  }
}

const COLOURS = { trace: 'dim', debug: 'dim', info: 'green', warn: 'yellow', error: 'red', fatal: 'red' } as const;

function logLine({ time, level, message, fields }: LogRecord, out: Output, visible: (text: string) => string): string {
  const rest = fields === undefined ? '' : ` ${out.style('dim', jsonLine(fields))}`;
  return `${out.style('dim', new Date(time).toISOString())} ${out.style(COLOURS[level], level.padEnd(5))} ${visible(message)}${rest}`;
}
