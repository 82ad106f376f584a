// What `config set` and `config unset` have in common: make the change, or only show it, and say what comes of it.
import type { JsonValue, SettingName } from '@tenon/protocol';
import type { CommandContext } from '../context.ts';
import { jsonLine } from '../output.ts';
import { changeSettings, mendFile, readSettings } from './settings-access.ts';

interface Change {
  readonly name: SettingName;
  readonly before: JsonValue;
  readonly after: JsonValue;
  readonly takesEffect: 'now' | 'restart';
}

export async function reportChange(
  context: CommandContext,
  changes: ReadonlyMap<SettingName, JsonValue | undefined>,
  dryRun: boolean,
): Promise<void> {
  const { out } = context;
  const [{ redactSetting }, { settingRow }] = await Promise.all([import('../../config.ts'), import('@tenon/protocol')]);
  const mended = await mendFile(context, changes, dryRun);
  const before = mended === undefined ? await readSettings(context) : undefined;
  const planned: Change[] = [...changes].map(([name, value]) => ({
    name,
    before: before?.settings[name]?.value ?? null,
    after: redactSetting(name, value ?? (settingRow(name).default as JsonValue)),
    takesEffect: settingRow(name).takesEffect,
  }));
  const after = dryRun || !before ? before : await changeSettings(context, changes);
  out.show({ dryRun, file: after?.file ?? mended, changes: planned }, () =>
    planned.map((change) => `${change.name}: ${before ? jsonLine(change.before) : 'unusable'} -> ${jsonLine(change.after)}`),
  );
  if (out.json) return;
  if (dryRun) out.talk('Dry run: nothing was changed');
  const running = await context.hasGateway();
  if (mended !== undefined && running && !dryRun) out.talk('The file is whole again; the running gateway reads it when it is restarted');
  if (!after) return;
  for (const { name, takesEffect } of planned) {
    const source = after.settings[name]?.source;
    if (source === 'environment' || source === 'flag')
      out.talk(`${name} is set by ${source === 'flag' ? 'a flag' : settingRow(name).env}, which stays above the file`);
    else if (running && takesEffect === 'restart' && !dryRun) out.talk(`${name} takes effect when the gateway is restarted`);
  }
}
