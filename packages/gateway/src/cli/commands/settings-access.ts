// The settings, through the running gateway if there is one (then a change takes effect and is on record), else in the file.
import type { ConfigResult, JsonValue, SettingName } from '@tenon/protocol';
import type { CommandContext } from '../context.ts';
import { quoted, usageError } from '../failure.ts';

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
  writeConfigFile(file, patchConfigText(readConfigText(file), changes));
  return readSettings(access);
}

export async function settingName(typed: string): Promise<SettingName> {
  const [{ isSettingName, settingNames }, { didYouMean }] = await Promise.all([
    import('@tenon/protocol'),
    import('../../kernel/nearest.ts'),
  ]);
  if (isSettingName(typed)) return typed;
  throw usageError(`Unknown setting ${quoted(typed)}${didYouMean(typed, settingNames)}`, 'list them with: tenon config get');
}
