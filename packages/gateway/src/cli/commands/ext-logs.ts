import { setTimeout as sleep } from 'node:timers/promises';
import type { ExtensionLogLine } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { jsonLine, type Output } from '../output.ts';
import { integer, on, required } from '../values.ts';

const POLL_MS = 500;
const PAGE = 1_000;

export const extLogs = defineCommand({
  path: 'ext logs',
  summary: 'Print the last of what an extension wrote to its standard error and logged, and what became of its process',
  examples: ['ext logs notes', 'ext logs notes -f', 'ext logs notes -n 500 --json'],
  args: { id: required('Its name') },
  options: {
    follow: on('Go on as lines come', 'f'),
    lines: integer('<n>', 'How many to begin with; 100 without it', { min: 1, max: PAGE, short: 'n' }),
  },
  async run({ args: { id }, options, out, io, call }) {
    const { visible } = await import('@tenon/protocol');
    const labels = { id: 'the name' };
    const print = (lines: readonly ExtensionLogLine[]) => {
      for (const line of lines) out.line(out.json ? jsonLine(line) : logLine(line, out, visible));
    };
    const first = await call('plugins.logs', { id, limit: options.lines ?? 100 }, labels);
    if (first.cursor === 0 && !out.json) {
      const { plugin } = await call('plugins.get', { id }, labels);
      out.talk(plugin.process ? 'Nothing of it has run yet' : 'It runs inside the gateway; what it logs is in: tenon logs');
    }
    print(first.lines);
    const signal = io.interrupted();
    let { cursor } = first;
    while (options.follow && !signal.aborted) {
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      const page = await call('plugins.logs', { id, after: cursor, limit: PAGE }, labels);
      if (page.dropped > 0) out.talk(`${page.dropped} lines came faster than they could be read`);
      print(page.lines);
      ({ cursor } = page);
    }
  },
});

const COLOURS = { trace: 'dim', debug: 'dim', info: 'green', warn: 'yellow', error: 'red' } as const;

function logLine({ at, from, level, text }: ExtensionLogLine, out: Output, visible: (text: string) => string): string {
  return `${out.style('dim', new Date(at).toISOString())} ${from.padEnd(7)} ${out.style(COLOURS[level], level.padEnd(5))} ${visible(text)}`;
}
