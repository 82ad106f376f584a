import type { Result } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { exitCodes } from '../failure.ts';
import type { Output } from '../output.ts';

export const health = defineCommand({
  path: 'health',
  summary: 'Is the gateway well? Exits with 1 if not',
  examples: ['health', 'health --json --timeout 2s'],
  async run({ out, call }) {
    const result = await call('health');
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => (isWell(result) ? out.style('green', 'ok') : ['not well', ...problemLines(result, out, visible)]));
    return isWell(result) ? exitCodes.ok : exitCodes.failed;
  },
});

type Health = Result<'health'>;

export function isWell(result: Health): boolean {
  return result.ok !== false && !result.problems?.length;
}

export function problemLines(result: Health, out: Output, visible: (text: string) => string): string[] {
  return (result.problems ?? []).map(({ part, reason }) => out.style('red', `problem: ${visible(part)}: ${visible(reason)}`));
}
