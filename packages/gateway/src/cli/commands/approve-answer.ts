// The three answers to a question. The first one that arrives counts, wherever it was given.
import type { Decision } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { required } from '../values.ts';
import { findApproval } from './approve-find.ts';

function answer(verb: string, decision: Decision, summary: string) {
  return defineCommand({
    path: `approve ${verb}`,
    summary,
    examples: [`approve ${verb} 3kf9`, `approve ${verb} 3kf9 --json`],
    args: { id: required('Its id, or the beginning of it') },
    async run({ args, out, call }) {
      const { id } = await findApproval(args.id, { call }, true);
      const { approval } = await call('approvals.resolve', { id, decision });
      const [{ visible }, { stateText }] = await Promise.all([import('@tenon/protocol'), import('../chat/question.ts')]);
      out.show({ approval }, () => `${visible(approval.title)} ${stateText(approval)}`);
    },
  });
}

export const approveAllow = answer('allow', 'allow-once', 'Allow it, this once');
export const approveDeny = answer('deny', 'deny', 'Refuse it');
export const approveAlways = answer('always', 'allow-always', 'Allow it, and from now on exactly this');
