import type { Result } from '@tenon/protocol';
import { bytes, spell } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import type { Output } from '../output.ts';
import { renderPairs } from '../table.ts';
import { problemLines } from './health.ts';

export const status = defineCommand({
  path: 'status',
  summary: 'What the gateway is and how it does',
  examples: ['status', 'status --json'],
  async run({ out, call }) {
    const result = await call('status');
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => statusLines(result, out, visible));
  },
});

export function statusLines(result: Result<'status'>, out: Output, visible: (text: string) => string): string[] {
  const { store, events, memory } = result;
  const pairs: [string, string][] = [
    ['gateway', `${visible(result.url)}, process ${result.pid}`],
    ['version', `${visible(result.version)}, protocol ${result.protocol}`],
    ['up', spell(result.uptimeMs)],
    ['auth', visible(result.auth)],
    ['store', `${visible(store.engine)} at ${visible(store.location)}, schema ${store.schemaVersion}`],
    ['events', `${events.seq} (epoch ${visible(events.epoch)})`],
    ['clients', String(result.connections)],
    ['memory', `${bytes(memory.residentBytes)} resident, ${bytes(memory.heapBytes)} heap`],
  ];
  return [
    ...renderPairs(pairs, (name) => out.style('dim', name)),
    ...problemLines(result.health, out, visible),
    ...result.warnings.map((warning) => out.style('yellow', `warning: ${visible(warning)}`)),
  ];
}
