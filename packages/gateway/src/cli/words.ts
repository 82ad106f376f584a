// Everything that can be typed, place by place, for the completion scripts.
import type { CommandSpec } from './command.ts';
import { commands, groups } from './commands.ts';
import type { CompletionNode, CompletionOption } from './completion.ts';
import { globalOptions } from './globals.ts';
import { kebab, type OptionSpec, type OptionTable } from './spec.ts';

export async function describeWords(): Promise<CompletionNode[]> {
  const shown = commands.filter(({ hidden }) => !hidden);
  const shared = [...(await optionsOf(globalOptions)), { long: '--help', short: '-h', summary: 'Help', takesValue: false, choices: [] }];
  const top = [...new Set(shown.map(({ path }) => path.split(' ')[0]!))];
  const nodes: CompletionNode[] = [
    {
      path: '',
      words: top.map((word) => ({ word, summary: groups[word] ?? shown.find(({ path }) => path === word)?.summary ?? '' })),
      options: [...shared, { long: '--version', short: '-V', summary: 'The version', takesValue: false, choices: [] }],
    },
  ];
  for (const noun of Object.keys(groups)) {
    const verbs = shown.filter(({ path }) => path.startsWith(`${noun} `));
    nodes.push({ path: noun, words: verbs.map(({ path, summary }) => ({ word: path.slice(noun.length + 1), summary })), options: shared });
  }
  for (const spec of shown) {
    const table = typeof spec.options === 'function' ? await spec.options() : (spec.options ?? {});
    nodes.push({ path: spec.path, words: await argumentWords(spec), options: [...(await optionsOf(table)), ...shared] });
  }
  return nodes;
}

async function argumentWords({ args = {} }: CommandSpec): Promise<CompletionNode['words']> {
  const words: { word: string; summary: string }[] = [];
  for (const { choices, summary } of Object.values(args)) {
    for (const word of (await choices?.()) ?? []) words.push({ word, summary });
  }
  return words;
}

async function optionsOf(table: OptionTable): Promise<CompletionOption[]> {
  return Promise.all(Object.entries(table).map(([name, spec]) => optionOf(name, spec)));
}

async function optionOf(name: string, { short, summary, value, choices }: OptionSpec): Promise<CompletionOption> {
  return {
    long: `--${kebab(name)}`,
    ...(short === undefined ? {} : { short: `-${short}` }),
    summary,
    // A value in brackets may be left out: the next word is then not part of the option.
    takesValue: value?.startsWith('<') ?? false,
    choices: (await choices?.()) ?? [],
  };
}
