import type { Result, SandboxState } from '@tenon/protocol';
import { bytes, spell } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import type { Output } from '../output.ts';
import { renderPairs } from '../table.ts';
import { type Unconfined, unconfinedOf, unconfinedText } from '../unconfined.ts';
import { problemLines } from './health.ts';

export const status = defineCommand({
  path: 'status',
  summary: 'What the gateway is and how it does',
  examples: ['status', 'status --json'],
  async run({ out, call, ask }) {
    const result = await call('status');
    const { visible } = await import('@tenon/protocol');
    // Nice to know, and not for every token.
    const [catalog, pending] = [await ask('tools.catalog'), await ask('approvals.list', { state: 'pending' })];
    const unconfined = unconfinedOf((await ask('plugins.list'))?.plugins);
    const more = { ...(catalog ? { sandbox: catalog.sandbox } : {}), ...(pending ? { pendingApprovals: pending.approvals.length } : {}) };
    const all = { ...result, ...more, ...(unconfined ? { unconfined } : {}) };
    out.show(all, () => statusLines(all, out, visible));
  },
});

interface Status extends Result<'status'> {
  readonly sandbox?: SandboxState;
  readonly pendingApprovals?: number;
  readonly unconfined?: Unconfined;
}

export function statusLines(result: Status, out: Output, visible: (text: string) => string): string[] {
  const { store, events, memory } = result;
  const pairs: [string, string][] = [
    ['gateway', `${visible(result.url)}, process ${result.pid}`],
    ['version', `${visible(result.version)}, protocol ${result.protocol}`],
    ['up', spell(result.uptimeMs)],
    ['auth', visible(result.auth)],
    ['store', `${visible(store.engine)} at ${visible(store.location)}, schema ${store.schemaVersion}`],
    ['events', `${events.seq} (epoch ${visible(events.epoch)})`],
    ['clients', String(result.connections)],
    ...(result.sandbox ? [['sandbox', sandboxText(result.sandbox, visible)] as [string, string]] : []),
    ...(result.unconfined ? [['extensions', out.style('yellow', unconfinedText(result.unconfined, visible))] as [string, string]] : []),
    ...(result.pendingApprovals === undefined ? [] : [['approvals', approvalsText(result.pendingApprovals)] as [string, string]]),
    ['page', 'sign a browser in with: tenon ui'],
    ['memory', `${bytes(memory.residentBytes)} resident, ${bytes(memory.heapBytes)} heap`],
  ];
  return [
    ...renderPairs(pairs, (name) => out.style('dim', name)),
    ...problemLines(result.health, out, visible),
    ...result.warnings.map((warning) => out.style('yellow', `warning: ${visible(warning)}`)),
  ];
}

export function sandboxText({ kind, reason }: SandboxState, visible: (text: string) => string): string {
  return `${kind}: ${visible(reason)}`;
}

export function approvalsText(count: number): string {
  return count === 0 ? 'none waits' : `${count} wait${count === 1 ? 's' : ''} for you: tenon approve ls`;
}
