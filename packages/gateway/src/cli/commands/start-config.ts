// What `start` and `restart` have in common: one flag per setting, and the configuration that they make.
import type { SettingName } from '@tenon/protocol';
import type { Config } from '../../config.ts';
import { usageError } from '../failure.ts';
import type { Globals } from '../globals.ts';
import type { Io } from '../io.ts';
import type { RunningNote } from '../running.ts';
import type { OptionSpec } from '../spec.ts';
import { readSecret, saidToken } from '../target.ts';

export interface StartConfig {
  readonly config: Config;
  /** In place of the one of the token file. */
  readonly token: string | undefined;
}

type Given = Readonly<Record<string, string | undefined>>;

export async function readStartConfig(globals: Globals, options: Given, io: Io): Promise<StartConfig> {
  const { loadConfig } = await import('../../config.ts');
  const config = loadConfig({ home: globals.home, env: io.env, flags: await typedFlags(globals, options, io) });
  return { config, token: await sharedToken(globals.token, io) };
}

/** As the running one was started, but for what is typed now. Secrets are in no note: where one was given, it is asked for. */
export async function readRestartConfig(running: RunningNote, globals: Globals, options: Given, io: Io): Promise<StartConfig> {
  const { flagOf, loadConfig } = await import('../../config.ts');
  const { settingRow } = await import('@tenon/protocol');
  const { given = {}, givenSecrets = [], port } = running;
  const typed = await typedFlags(globals, options, io);
  const load = (kept: Partial<Record<SettingName, unknown>>) =>
    loadConfig({ home: globals.home, env: io.env, flags: { ...given, ...kept, ...typed } });
  let config = load(given['gateway.port'] === undefined ? {} : { 'gateway.port': port });
  // Clients know the port that the system picked for it.
  if (config.settings['gateway.port'] === 0 && globals.port === undefined) config = load({ 'gateway.port': port });
  for (const name of givenSecrets) {
    if (name === 'token' || !['default', 'file'].includes(config.sources[name as SettingName])) continue;
    const { env } = settingRow(name as SettingName);
    const flag = flagOf(name as SettingName);
    throw usageError(`The running gateway was given ${name} at its start`, `give it again, with ${flag} @file${env ? ` or ${env}` : ''}`);
  }
  if (!givenSecrets.includes('token')) return { config, token: globals.token && (await sharedToken(globals.token, io)) };
  const token = await sharedToken(globals.token, io);
  if (token === undefined)
    throw usageError('The running gateway was given its token at its start', 'give it again, with --token @file or TENON_TOKEN');
  return { config, token };
}

async function typedFlags(globals: Globals, options: Given, io: Io): Promise<Partial<Record<SettingName, unknown>>> {
  const [{ flagOf }, { settingNames, settingRow }] = await Promise.all([import('../../config.ts'), import('@tenon/protocol')]);
  const flags: Partial<Record<SettingName, unknown>> = globals.port === undefined ? {} : { 'gateway.port': globals.port };
  for (const name of settingNames) {
    const given = options[optionName(flagOf(name))];
    if (given === undefined) continue;
    if (settingRow(name).secret && given !== '-' && !given.startsWith('@')) {
      throw usageError(`${flagOf(name)} must be @file or - for stdin: the command line of a process can be seen by others`);
    }
    flags[name] = settingRow(name).secret ? await readSecret(given, io, flagOf(name)) : given;
  }
  return flags;
}

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
export async function settingOptions(): Promise<Record<string, OptionSpec<string>>> {
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
