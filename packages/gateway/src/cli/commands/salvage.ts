import { defineCommand } from '../command.ts';
import { refuseIfRunning } from '../running.ts';
import { on } from '../values.ts';

export const salvage = defineCommand({
  path: 'salvage',
  summary: 'Give up acknowledged writes that a damaged store lost, and keep the rest; the gateway must be stopped',
  examples: ['salvage', 'salvage --yes --home /srv/tenon'],
  options: { yes: on('Do not ask', 'y') },
  async run({ options, out, config, consent }) {
    const settings = await config();
    refuseIfRunning(settings.home);
    await consent(`Give up what the store in ${settings.home} lost`, settings.home, options.yes);
    const { salvageStore } = await import('../../maintenance.ts');
    const result = await salvageStore({ config: settings });
    const { visible } = await import('@tenon/protocol');
    out.show({ salvaged: result !== undefined, ...result }, () =>
      result ? visible(`The store now ends at position ${result.position}: ${result.reason}`) : 'Nothing is lost; nothing was changed',
    );
    if (out.json || !result) return;
    for (const file of result.kept) out.talk(visible(`Kept as it was: ${file}`));
    out.talk('Start the gateway with: tenon start');
  },
});
