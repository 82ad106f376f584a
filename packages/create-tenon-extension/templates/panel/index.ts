import { defineExtension } from '@tenon/extension-sdk';

export const extension = defineExtension((tenon) => {
  tenon.name = '__NAME__';
  tenon.version = '0.1.0';

  async function add(by: number): Promise<number> {
    const { value, revision } = await tenon.call('state/get', { namespace: 'count' });
    const count = Number((value as { count?: number } | null)?.count ?? 0) + by;
    // Somebody else may have been faster: then the host refuses, and whoever asked can ask again.
    await tenon.call('state/patch', { namespace: 'count', value: { count }, if_revision: revision });
    return count;
  }

  // Each session has its own, and the page is told when it changes.
  tenon.registerState({ namespace: 'count', description: 'How many there are', project: '' });
  tenon.registerAction({ id: 'add', description: 'One more' }, async () => ({ ok: true, result: { count: await add(1) } }));
  tenon.registerDescriptor({
    id: 'count',
    surface: 'session',
    label: 'Count',
    view: [{ kind: 'key-value', from: { namespace: 'count' } }],
    actions: [{ label: 'One more', action_id: 'add' }],
  });
  tenon.registerCommand('add', {
    description: 'Add to the count: /add 3',
    handler: async (args) => {
      const by = args === '' ? 1 : Number(args);
      if (!Number.isInteger(by)) return `"${args}" is not a whole number`;
      if (!tenon.host.capabilities.state) return 'This host keeps no state in sessions';
      return `There are ${await add(by)} now`;
    },
  });
});

if (import.meta.main) extension.serve();
