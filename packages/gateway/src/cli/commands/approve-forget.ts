import type { Result } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { required } from '../values.ts';
import { pick } from './pick.ts';

export const approveForget = defineCommand({
  path: 'approve forget',
  summary: 'Take such a rule back: it asks again',
  examples: ['approve forget 3kf9'],
  args: { id: required('The id of the rule, or the beginning of it') },
  async run({ args, out, call }) {
    const rules: Result<'approvals.rules'>['rules'] = [];
    let cursor: string | undefined;
    do {
      const page = await call('approvals.rules', { limit: 200, cursor });
      rules.push(...page.rules);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const rule = pick(
      rules.map((each) => ({ ...each, name: each.id })),
      args.id,
      'rule',
      'tenon approve rules',
    );
    const result = await call('approvals.forget', { id: rule.id });
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => `forgotten: ${visible(rule.title)}`);
  },
});
