// The settings, through the running gateway if there is one (then a change takes effect and is on record), else in the file.
import { dirname, join } from 'node:path';
import type { ConfigResult, JsonValue, SettingName } from '@tenon/protocol';
import { CONFIG_FILE, prepareHome } from '../../home.ts';
import type { CommandContext } from '../context.ts';
import { quoted, unknownWord } from '../failure.ts';

type Access = Pick<CommandContext, 'call' | 'config' | 'hasGateway'>;

export async function readSettings({ call, config, hasGateway }: Access): Promise<ConfigResult> {
  if (await hasGateway()) return call('config.get');
  const { file, sources, settings } = await config();
  const [{ redact }, { settingNames, settingRow }] = await Promise.all([import('../../config.ts'), import('@tenon/protocol')]);
  const shown = redact({ settings });
  const entries = settingNames.map((name) => {
    const { takesEffect, summary } = settingRow(name);
    return [name, { value: shown[name], source: sources[name], takesEffect, summary }] as const;
  });
  return { file, settings: Object.fromEntries(entries), restartNeeded: [] };
}

/** `undefined` returns a setting to its default. */
export async function changeSettings(access: Access, changes: ReadonlyMap<SettingName, JsonValue | undefined>): Promise<ConfigResult> {
  if (await access.hasGateway()) {
    return access.call('config.patch', { set: Object.fromEntries([...changes].map(([name, value]) => [name, value ?? null])) });
  }
  const { file } = await access.config();
  const [{ readConfigText }, { patchConfigText, writeConfigFile }] = await Promise.all([
    import('../../config.ts'),
    import('../../config-file.ts'),
  ]);
  prepareHome(dirname(file));
  writeConfigFile(file, patchConfigText(readConfigText(file), changes));
  return readSettings(access);
}

/**
 * A tenon.toml that cannot be used keeps every command from running, also the one that would mend it. So the change is made
 * to the text alone, if nothing is wrong with the file afterwards. The path of that file; undefined if there is no need.
 */
export async function mendFile(
  { globals, io, config }: Pick<CommandContext, 'globals' | 'io' | 'config'>,
  changes: ReadonlyMap<SettingName, JsonValue | undefined>,
  dryRun: boolean,
): Promise<string | undefined> {
  const [{ ConfigError, parseConfigText, readConfigText, resolveHome }, { patchConfigText, writeConfigFile }] = await Promise.all([
    import('../../config.ts'),
    import('../../config-file.ts'),
  ]);
  try {
    await config();
    return undefined;
  } catch (fault) {
    if (!(fault instanceof ConfigError) || fault.source !== 'file') throw fault;
    const file = join(resolveHome(globals.home, io.env), CONFIG_FILE);
    let text: string;
    try {
      text = patchConfigText(readConfigText(file), changes);
    } catch {
      throw fault;
    }
    parseConfigText(text, file);
    if (!dryRun) writeConfigFile(file, text);
    return file;
  }
}

export async function settingName(typed: string): Promise<SettingName> {
  const { isSettingName, settingNames } = await import('@tenon/protocol');
  if (isSettingName(typed)) return typed;
  throw await unknownWord(`Unknown setting ${quoted(typed)}`, typed, settingNames, 'list them with: tenon config get');
}
