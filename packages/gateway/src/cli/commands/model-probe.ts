import { defineCommand } from '../command.ts';
import { exitCodes } from '../failure.ts';
import { required } from '../values.ts';

const PATIENCE_MS = 120_000;

export const modelProbe = defineCommand({
  path: 'model probe',
  summary: 'Ask a model for one word, to see whether it answers',
  examples: ['model probe demo', 'model probe gpt --json'],
  args: { id: required('Its id') },
  async run({ args, out, call }) {
    const result = await call('models.probe', { id: args.id }, { id: '<id>' }, PATIENCE_MS);
    const { visible } = await import('@tenon/protocol');
    const took = `${Math.round(result.latencyMs)} ms`;
    out.show(result, () =>
      result.ok
        ? `${visible(args.id)} answers, in ${took}`
        : `${visible(args.id)} does not answer: ${visible(result.reason ?? result.code ?? 'unknown')} (${took})`,
    );
    return result.ok ? exitCodes.ok : exitCodes.failed;
  },
});
