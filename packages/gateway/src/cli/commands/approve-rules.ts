import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { integer, text } from '../values.ts';
import { shortId } from './pick.ts';

export const approveRules = defineCommand({
  path: 'approve rules',
  summary: 'List what "always, for exactly this" has allowed',
  examples: ['approve rules', 'approve rules --json'],
  options: {
    limit: integer('<n>', 'How many at most', { min: 1, max: 200, short: 'n' }),
    cursor: text('<cursor>', 'Go on where an earlier list ended'),
  },
  async run({ options, out, io, call }) {
    const page = await call('approvals.rules', options);
    const [{ visible }, { ruleLines }] = await Promise.all([import('@tenon/protocol'), import('../chat/question.ts')]);
    out.show(page, () =>
      page.rules.flatMap((rule) => [
        `${out.style('bold', shortId(rule.id))}  ${visible(rule.toolName)} of ${visible(rule.agentId)}, since ${relative(rule.createdAt, io.now())} by ${visible(rule.createdBy)}`,
        ...ruleLines(rule).map((line) => `  ${line}`),
      ]),
    );
    if (out.json) return;
    if (page.rules.length === 0) out.talk('There are no such rules');
    else out.talk('Take one back with: tenon approve forget <id>');
    if (page.nextCursor !== undefined) out.talk(`There are more: tenon approve rules --cursor ${visible(page.nextCursor)}`);
    return;
  },
});
