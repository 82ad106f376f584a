// The settings of a running gateway: read with where each comes from, changed in tenon.toml, applied at once where the
// row says so.
import {
  type ConfigResult,
  GatewayError,
  isSettingName,
  type JsonValue,
  type SettingName,
  settingNames,
  settingRow,
  type Settings,
} from '@tenon/protocol';
import { type Config, checkSetting, ConfigError, readConfigText, redactSetting } from '../config.ts';
import { patchConfigText, writeConfigFile } from '../config-file.ts';

export interface ConfigService {
  readonly settings: Settings;
  describe(): ConfigResult;
  /** Refuses the whole change when one value is wrong. */
  patch(changes: Readonly<Record<string, JsonValue>>): Promise<ConfigResult>;
}

export function createConfigService(started: Config, onChange: (settings: Settings) => void): ConfigService {
  let current = started;
  const restartNeeded = new Set<SettingName>();

  function describe(): ConfigResult {
    const settings: ConfigResult['settings'] = {};
    for (const name of settingNames) {
      const row = settingRow(name);
      const value = current.settings[name] as JsonValue;
      settings[name] = {
        value: redactSetting(name, value),
        source: current.sources[name],
        takesEffect: row.takesEffect,
        summary: row.summary,
      };
    }
    return { file: current.file, settings, restartNeeded: [...restartNeeded] };
  }

  function check(changes: Readonly<Record<string, JsonValue>>): Map<SettingName, JsonValue | undefined> {
    const checked = new Map<SettingName, JsonValue | undefined>();
    for (const [name, value] of Object.entries(changes)) {
      if (!isSettingName(name))
        throw new GatewayError('INVALID_REQUEST', `There is no setting "${name}"`, { details: { code: 'UNKNOWN_SETTING' } });
      const fault = value === null ? undefined : checkSetting(name, value);
      if (fault) throw new GatewayError('INVALID_REQUEST', fault, { details: { code: 'INVALID_SETTING' } });
      checked.set(name, value ?? undefined);
    }
    return checked;
  }

  function apply(checked: ReadonlyMap<SettingName, JsonValue | undefined>): void {
    const settings: Record<string, unknown> = { ...current.settings };
    const sources = { ...current.sources };
    for (const [name, value] of checked) {
      // A flag or a variable was given for this run and stays above the file.
      if (sources[name] === 'flag' || sources[name] === 'environment') continue;
      if (settingRow(name).takesEffect === 'restart') restartNeeded.add(name);
      settings[name] = value ?? settingRow(name).default;
      sources[name] = value === undefined ? 'default' : 'file';
    }
    current = { ...current, settings: settings as unknown as Settings, sources };
    onChange(current.settings);
  }

  return {
    get settings() {
      return current.settings;
    },
    describe,
    async patch(changes) {
      try {
        const checked = check(changes);
        writeConfigFile(current.file, patchConfigText(readConfigText(current.file), checked));
        apply(checked);
      } catch (error) {
        if (error instanceof ConfigError)
          throw new GatewayError('INVALID_REQUEST', error.message.replaceAll(current.file, 'tenon.toml'), {
            details: { code: 'INVALID_SETTING' },
          });
        if (isDiskFault(error)) throw new GatewayError('STORAGE', 'The settings file cannot be written', { cause: error });
        throw error;
      }
      return describe();
    },
  };
}

function isDiskFault(error: unknown): boolean {
  return ['ENOSPC', 'EROFS', 'EIO', 'EMFILE', 'EACCES', 'EPERM', 'EDQUOT'].includes((error as { code?: string }).code ?? '');
}
