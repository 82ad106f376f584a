// Everything that can be switched on: plugins, whose code runs here, and extensions, whose code runs in processes of their own.
// They share their names; a plugin goes before an extension.
import { type Discovered, type DiscoverOptions, discoverPlugins, type Found, type NotFit } from './discover.ts';

interface More {
  find(): Promise<Discovered>;
}

export async function findPlugins({ home, paths, bundledFolder, uid }: DiscoverOptions, extensions: More | undefined): Promise<Discovered> {
  const plugins = await discoverPlugins({ home, paths, bundledFolder, uid });
  const further = await extensions?.find();
  if (!further) return plugins;
  const ids = new Set(plugins.found.map(({ manifest }) => manifest.id));
  const isTaken = ({ manifest }: Found) => ids.has(manifest.id);
  return {
    found: [...plugins.found, ...further.found.filter((each) => !isTaken(each))],
    rejected: [...plugins.rejected, ...further.rejected, ...further.found.filter(isTaken).map(sameId)],
  };
}

function sameId({ folder, manifest }: Found): NotFit {
  return { origin: 'path', folder, id: manifest.id, manifest, reason: `its name "${manifest.id}" belongs to a plugin` };
}
