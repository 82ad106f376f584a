import type { JsonValue, SettingName } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { quoted, usageError } from '../failure.ts';
import type { Io } from '../io.ts';
import { readSecret } from '../target.ts';
import { many, on } from '../values.ts';
import { reportChange } from './config-change.ts';
import { settingName } from './settings-access.ts';

export const configSet = defineCommand({
  path: 'config set',
  summary: 'Change settings in tenon.toml',
  examples: [
    'config set gateway.port 4000',
    'config set log.level=debug log.files=10',
    'config set store.engine=postgres store.url=@database.url',
  ],
  args: { settings: many('name=value, several if you like; or one name and its value') },
  options: { dryRun: on('Only show what would change') },
  async run(context) {
    const changes = new Map<SettingName, JsonValue | undefined>();
    for (const [typed, text] of assignments(context.args.settings)) {
      const name = await settingName(typed);
      changes.set(name, await readValue(name, text, context.io));
    }
    await reportChange(context, changes, context.options.dryRun);
  },
});

function assignments(words: readonly string[]): [name: string, value: string][] {
  if (words.length === 2 && !words[0]!.includes('=')) return [[words[0]!, words[1]!]];
  return words.map((word) => {
    const at = word.indexOf('=');
    if (at < 1) throw usageError(`${quoted(word)} must be name=value`);
    return [word.slice(0, at), word.slice(at + 1)];
  });
}

async function readValue(name: SettingName, text: string, io: Io): Promise<JsonValue> {
  const [{ parseSetting }, { settingRow }] = await Promise.all([import('../../config.ts'), import('@tenon/protocol')]);
  if (!settingRow(name).secret) return parseSetting(name, text, 'config set', 'flag');
  if (text !== '' && text !== '-' && !text.startsWith('@')) {
    throw usageError(`${name} must be given as @file or - for stdin: the command line of a process can be seen by others`);
  }
  return parseSetting(name, await readSecret(text, io, name), 'config set', 'flag');
}
