import { setTimeout as sleep } from 'node:timers/promises';
import type { LogRecord } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { jsonLine, type Output } from '../output.ts';
import { choice, integer, on } from '../values.ts';

const POLL_MS = 500;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export const logs = defineCommand({
  path: 'logs',
  summary: 'Print the log of the gateway',
  examples: ['logs', 'logs -f', 'logs -f --level warn', 'logs -n 500 --json'],
  options: {
    follow: on('Go on as records come', 'f'),
    level: choice(LEVELS, 'Only records of this level or above'),
    lines: integer('<n>', 'How many to begin with', { min: 1, max: 500, short: 'n' }),
  },
  async run({ options, out, io, call }) {
    const { visible } = await import('@tenon/protocol');
    const { level } = options;
    const limit = options.lines ?? 100;
    const signal = options.follow ? io.interrupted() : undefined;
    let page = await call('logs.tail', { limit, level }, { limit: '--lines' });
    print(page);
    while (signal && !signal.aborted) {
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) break;
      page = await call('logs.tail', { after: page.cursor, limit: 500, level });
      print(page);
    }

    function print({ records, dropped }: typeof page): void {
      if (dropped > 0) out.talk(`${dropped} older records are not kept any more`);
      for (const record of records) out.line(out.json ? jsonLine(record) : logLine(record, out, visible));
    }
  },
});

const COLOURS = { trace: 'dim', debug: 'dim', info: 'green', warn: 'yellow', error: 'red', fatal: 'red' } as const;

function logLine({ time, level, message, fields }: LogRecord, out: Output, visible: (text: string) => string): string {
  const rest = fields === undefined ? '' : ` ${out.style('dim', jsonLine(fields))}`;
  return `${out.style('dim', new Date(time).toISOString())} ${out.style(COLOURS[level], level.padEnd(5))} ${visible(message)}${rest}`;
}
