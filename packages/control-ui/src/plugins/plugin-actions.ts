// What can be done with a plugin. Each says what became of it; the list is read anew when the gateway tells of the change.
import { useMemo, useState } from 'react';
import { type JsonObject, type PluginDetails, type PluginInfo, visible } from '@tenon/protocol';
import { usePage } from '../hooks/page-context.ts';

import type { Page } from '../state/page.ts';
import type { Call } from '../state/page-methods.ts';
import { type Trouble, troubleOf } from '../state/trouble.ts';
import { sentence } from './plugin-words.ts';

/** Loading a plugin may take as long as its own deadline; the gateway answers when it is done. */
const PATIENCE = { timeoutMs: 60_000 };

export interface PluginActions {
  /** `treeHash`: of the files that were shown. */
  enable(plugin: PluginInfo, grants: string[], treeHash?: string): Promise<boolean>;
  disable(plugin: PluginInfo): Promise<boolean>;
  reload(plugin: PluginInfo): Promise<boolean>;
  /** The process of an extension is started anew, and what it did before is forgotten. */
  retry(plugin: PluginInfo): Promise<boolean>;
  reloadAll(): Promise<boolean>;
  grant(plugin: PluginInfo, grant: string): Promise<boolean>;
  revoke(plugin: PluginInfo, grant: string): Promise<boolean>;
  /** Why it was not taken; undefined when it was. Null takes it back. */
  configure(plugin: PluginInfo, config: JsonObject | null): Promise<Trouble | undefined>;
}

/** With what is under way, by name: a button that waits does not ask twice. */
export function usePluginActions(): { readonly actions: PluginActions; readonly busy: string | undefined } {
  const page = usePage();
  const [busy, setBusy] = useState<string | undefined>();
  const actions = useMemo(() => createActions(page, setBusy), [page]);
  return { actions, busy };
}

function createActions(page: Page, setBusy: (what: string | undefined) => void): PluginActions {
  const call: Call = (method, params) => page.link().call(method, params, PATIENCE);

  async function attempt(what: string, failure: string, work: () => Promise<PluginInfo | undefined>, done: string): Promise<boolean> {
    setBusy(what);
    try {
      const after = await work();
      void page.link().readPlugins();
      if (after && (after.state === 'failed' || after.state === 'changed')) {
        page.toasts.say({ tone: 'bad', title: `${visible(after.name)} is not running`, detail: sentence(visible(after.reason ?? '')) });
      } else if (done !== '') page.toasts.say({ tone: 'ok', title: done });
      return true;
    } catch (error) {
      page.toasts.fail(failure, error);
      return false;
    } finally {
      setBusy(undefined);
    }
  }
  const words = ({ name }: PluginInfo) => visible(name);

  return {
    enable: (plugin, grants, treeHash) =>
      attempt(
        'enable',
        `${words(plugin)} could not be enabled`,
        async () => (await call('plugins.enable', { id: plugin.id, grants, ...(treeHash === undefined ? {} : { treeHash }) })).plugin,
        `${words(plugin)} is enabled`,
      ),
    disable: (plugin) =>
      attempt(
        'disable',
        `${words(plugin)} could not be disabled`,
        async () => (await call('plugins.disable', { id: plugin.id })).plugin,
        `${words(plugin)} is off`,
      ),
    reload: (plugin) =>
      attempt(
        'reload',
        `${words(plugin)} could not be loaded anew`,
        async () => (await call('plugins.reload', { id: plugin.id })).plugins[0],
        `${words(plugin)} was loaded anew`,
      ),
    retry: (plugin) =>
      attempt(
        'retry',
        `${words(plugin)} could not be started`,
        async () => (await call('plugins.reload', { id: plugin.id })).plugins[0],
        `${words(plugin)} is running again`,
      ),
    reloadAll: () =>
      attempt(
        'reload',
        'The plugins could not be loaded anew',
        async () => {
          await call('plugins.reload', {});
          return undefined;
        },
        'All plugins that are on were loaded anew',
      ),
    grant: (plugin, grant) =>
      attempt(
        grant,
        `${grant} could not be granted`,
        async () => (await call('plugins.grant', { id: plugin.id, grants: [grant] })).plugin,
        '',
      ),
    revoke: (plugin, grant) =>
      attempt(
        grant,
        `${grant} could not be revoked`,
        async () => (await call('plugins.revoke', { id: plugin.id, grants: [grant] })).plugin,
        '',
      ),
    async configure(plugin, config) {
      setBusy('config');
      try {
        const { plugin: after }: { plugin: PluginDetails } = await call('plugins.config', { id: plugin.id, config });
        if (after.state === 'failed')
          return { message: `It is saved, but the plugin does not run with it: ${sentence(visible(after.reason ?? ''))}` };
        page.toasts.say({
          tone: 'ok',
          title: config === null ? 'The configuration was taken back' : 'The configuration is saved',
          ...(after.state === 'loaded' ? { detail: `${words(plugin)} was loaded anew with it.` } : {}),
        });
        return undefined;
      } catch (error) {
        return troubleOf(error);
      } finally {
        setBusy(undefined);
      }
    },
  };
}
