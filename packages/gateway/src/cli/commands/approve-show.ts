import { defineCommand } from '../command.ts';
import { required } from '../values.ts';
import { findApproval } from './approve-find.ts';

export const approveShow = defineCommand({
  path: 'approve show',
  summary: 'Show one question whole: exactly what would be done',
  examples: ['approve show 3kf9', 'approve show 3kf9 --json'],
  args: { id: required('Its id, or the beginning of it') },
  async run({ args, out, io, call }) {
    const approval = await findApproval(args.id, { call }, false);
    const { questionLines } = await import('../chat/question.ts');
    out.show({ approval }, () => questionLines(approval, (style, piece) => out.style(style, piece), io.now()));
  },
});
