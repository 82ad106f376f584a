import { defineCommand } from '../command.ts';
import { refuseIfRunning } from '../running.ts';
import { on } from '../values.ts';

export const newStore = defineCommand({
  path: 'new-store',
  summary: 'Begin with an empty store where the earlier one is gone; the gateway must be stopped',
  examples: ['new-store', 'new-store --yes --home /srv/tenon'],
  options: { yes: on('Do not ask', 'y') },
  async run({ options, out, config, consent }) {
    const settings = await config();
    refuseIfRunning(settings.home);
    await consent(`Give up the earlier store of ${settings.home}`, settings.home, options.yes);
    const { createNewStore } = await import('../../maintenance.ts');
    const { store, kept } = await createNewStore({ config: settings });
    const { visible } = await import('@tenon/protocol');
    out.show({ store, kept }, () => visible(`There is a new, empty store: ${store}`));
    if (out.json) return;
    for (const file of kept) out.talk(visible(`Kept of the earlier one: ${file}`));
    out.talk('Start the gateway with: tenon start');
  },
});
