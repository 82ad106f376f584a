// The page of the command line, from the registry of commands.
import { commands, groups } from '../../packages/gateway/src/cli/commands.ts';
import type { CommandSpec } from '../../packages/gateway/src/cli/command.ts';
import { exitCodes } from '../../packages/gateway/src/cli/failure.ts';
import { globalOptions } from '../../packages/gateway/src/cli/globals.ts';
import { exampleLine } from '../../packages/gateway/src/cli/program.ts';
import { type ArgSpec, kebab, type OptionTable } from '../../packages/gateway/src/cli/spec.ts';
import { table } from './markdown.ts';

const exitTexts: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'It is done.',
  failed: 'It failed, or what was looked at is not well.',
  usage: 'It was typed wrongly; the message names the flag or argument.',
  locked: 'Another gateway works in this home folder.',
  denied: 'Refused: the token is missing, wrong or may not do it.',
  unreachable: 'The gateway cannot be reached.',
  needsConsent: 'Somebody has to agree, and nobody could be asked.',
  interrupted: 'Stopped with Ctrl-C.',
};

/** Some options are made when they are asked for, so it takes a moment. */
export async function renderCommands(): Promise<string> {
  const shown = commands.filter(({ hidden }) => !hidden);
  const parts = [
    '# Commands',
    'Generated from packages/gateway/src/cli; do not edit.',
    'Everything that `tenon` can be told, as `-h` behind a command shows it.',
    '## Options of every command',
    optionTable(globalOptions),
    '## Exit codes',
    table(
      ['code', ''],
      Object.entries(exitCodes).map(([name, code]) => [`\`${code}\``, exitTexts[name as keyof typeof exitCodes]]),
    ),
  ];
  parts.push('## tenon');
  for (const spec of shown) if (!spec.path.includes(' ')) parts.push(...(await sectionOf(spec)));
  for (const [noun, summary] of Object.entries(groups)) {
    parts.push(`## tenon ${noun}`, `${summary}.`);
    for (const spec of shown) if (spec.path.startsWith(`${noun} `)) parts.push(...(await sectionOf(spec)));
  }
  return `${parts.join('\n\n')}\n`;
}

async function sectionOf(spec: CommandSpec): Promise<string[]> {
  const { path, alias, summary, examples, args = {} } = spec;
  const options = typeof spec.options === 'function' ? await spec.options() : (spec.options ?? {});
  const words = Object.entries(args).map(([name, arg]) => argumentText(name, arg));
  const also = alias === undefined ? '' : ` Also: \`${alias}\`.`;
  return [
    `### tenon ${path}`,
    `${summary}.${also}`,
    ['```sh', ...examples.map(exampleLine), '```'].join('\n'),
    ...(words.length === 0
      ? []
      : [
          table(
            ['argument', ''],
            Object.values(args).map(({ summary: text }, index) => [`\`${words[index]}\``, text]),
          ),
        ]),
    ...(Object.keys(options).length === 0 ? [] : [optionTable(options)]),
  ];
}

function argumentText(name: string, { count }: ArgSpec): string {
  const word = `${kebab(name)}${count === 'many' ? '...' : ''}`;
  return count === 'optional' ? `[${word}]` : `<${word}>`;
}

function optionTable(options: OptionTable): string {
  return table(
    ['option', ''],
    Object.entries(options).map(([name, { short, value, summary }]) => {
      const long = `--${kebab(name)}${value === undefined ? '' : ` ${value}`}`;
      return [`\`${short === undefined ? '' : `-${short}, `}${long}\``, summary];
    }),
  );
}
