import type { SettingName } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import type { OptionSpec } from '../spec.ts';
import type { Io } from '../io.ts';
import { readSecret, saidToken } from '../target.ts';

export const start = defineCommand({
  path: 'start',
  summary: 'Start the gateway, in the foreground',
  examples: ['start', 'start --port 0 --json', 'start --auth none', 'start --log-level debug'],
  options: settingOptions,
  async run({ globals, options, io }) {
    for (const name of ['url', 'timeout'] as const) {
      if (globals[name] !== undefined) throw usageError(`--${name} has no meaning for start`);
    }
    const [{ flagOf, loadConfig }, { settingNames, settingRow }] = await Promise.all([
      import('../../config.ts'),
      import('@tenon/protocol'),
    ]);
    const flags: Partial<Record<SettingName, unknown>> = { 'gateway.port': globals.port };
    for (const name of settingNames) {
      const given = options[optionName(flagOf(name))];
      if (given === undefined) continue;
      if (settingRow(name).secret && given !== '-' && !given.startsWith('@')) {
        throw usageError(`${flagOf(name)} must be @file or - for stdin: the command line of a process can be seen by others`);
      }
      flags[name] = settingRow(name).secret ? await readSecret(given, io, flagOf(name)) : given;
    }
    const config = loadConfig({ home: globals.home, env: io.env, flags });
    const token = await sharedToken(globals.token, io);
    const { runGateway } = await import('../../main.ts');
    return runGateway({ config, json: globals.json, ...(token === undefined ? {} : { token }) });
  },
});

const SHORTEST_TOKEN = 16;

/** The token that clients of this run need, in place of the one of the token file. */
async function sharedToken(given: string | undefined, io: Io): Promise<string | undefined> {
  const token = await saidToken(given, io);
  if (token !== undefined && token.length < SHORTEST_TOKEN) {
    throw usageError(
      `${given === undefined ? 'TENON_TOKEN' : '--token'} is too short: a token that others cannot guess has ${SHORTEST_TOKEN} characters or more`,
    );
  }
  return token;
}

/** One flag per row of the settings table, but for lists of tables, and the port, which is a flag of every command. The settings check the values. */
async function settingOptions(): Promise<Record<string, OptionSpec<string>>> {
  const [{ flagOf }, { settingNames, settingRow }] = await Promise.all([import('../../config.ts'), import('@tenon/protocol')]);
  const options: Record<string, OptionSpec<string>> = {};
  for (const name of settingNames) {
    if (name === 'gateway.port' || settingRow(name).tables) continue;
    const { summary, schema, env, secret } = settingRow(name);
    const shape = schema as { readonly type?: string; readonly enum?: readonly string[] };
    const choices = shape.type === 'boolean' ? ['true', 'false'] : shape.enum;
    options[optionName(flagOf(name))] = {
      summary: `${summary}${env ? ` (${env})` : ''}`,
      value: secret ? '<@file>' : shape.type === 'boolean' ? '[boolean]' : `<${shape.enum?.join('|') ?? shape.type}>`,
      parse: (text) => text,
      ...(choices ? { choices: () => choices } : {}),
    };
  }
  return options;
}

function optionName(flag: string): string {
  return flag.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
