// The extensions of a gateway, for whoever has some: what they need (the schemas of their protocol above all) is loaded when there is
// something in one of their places, because most gateways start without.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { extensionFolders } from '@tenon/protocol/sep/wire';
import { EXTENSION_LOCK_FILE } from './find/extension-lock.ts';
import type { ExtensionDeps, Extensions } from './open-extensions.ts';

export function extensionsWhenThere(deps: ExtensionDeps): Extensions {
  const { home: own, workspace: inside } = extensionFolders;
  const places = [join(deps.home, ...own), ...(deps.workspaces ?? []).flatMap((each) => inside.map((folder) => join(each, folder)))];
  let opened: Promise<Extensions> | undefined;

  async function open(): Promise<Extensions> {
    const { openExtensions } = await import('./open-extensions.ts');
    return openExtensions(deps);
  }

  return {
    async find() {
      if (!opened && !(await isAny(places)) && !existsSync(join(deps.home, EXTENSION_LOCK_FILE))) return { found: [], rejected: [] };
      opened ??= open();
      return (await opened).find();
    },
    async close() {
      await (await opened)?.close();
    },
  };
}

async function isAny(places: readonly string[]): Promise<boolean> {
  for (const place of places) if ((await readdir(place).catch(() => [])).length > 0) return true;
  return false;
}
