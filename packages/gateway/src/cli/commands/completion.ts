import { defineCommand } from '../command.ts';
import { BadValue } from '../spec.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

export const completion = defineCommand({
  path: 'completion',
  summary: 'Print a completion script for a shell',
  examples: [
    'completion bash > ~/.local/share/bash-completion/completions/tenon',
    'completion zsh > ~/.zfunc/_tenon',
    'completion fish > ~/.config/fish/completions/tenon.fish',
  ],
  args: {
    shell: {
      summary: 'bash, zsh or fish',
      count: 'one',
      choices: () => shells,
      parse(given: string) {
        const shell = shells.find((each) => each === given);
        if (!shell) throw new BadValue(`one of ${shells.join(', ')}`);
        return shell;
      },
    },
  },
  async run({ args, out, words }) {
    const { renderCompletion } = await import('../completion.ts');
    out.line(renderCompletion(args.shell, await words()));
  },
});
