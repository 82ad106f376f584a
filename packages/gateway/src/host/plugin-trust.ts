// Whether the files of a plugin are trusted, and what it may do. Trust is bound to the files as the operator saw them: the
// grants of a plugin hold for one digest of its folder. Bundled plugins are part of the program, so their digest is a
// constant; they start switched off like all others.
import { GatewayError } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import type { Known } from './known-plugin.ts';
import { LoadError } from './load-plugin.ts';
import { hashTree } from './tree-hash.ts';

export interface PluginTrust {
  /** What holds for the files as they are now. Throws LoadError where they are not fit. */
  grantsOf(plugin: Known): Promise<Trusted | Untrusted>;
  /** The digest of the files as they are now; undefined where they are not fit. */
  treeHashOf(plugin: Known): Promise<string | undefined>;
  /** Grants are written for the files as they are now, and with them that these files are trusted; only if they are those `shown`. */
  write(plugin: Known, grants: readonly string[], by: string, shown?: string): Promise<void>;
  /** Refuses where other files of this plugin are trusted than those that are there: a grant is no consent to them. */
  requireUnchanged(plugin: Known): Promise<void>;
  /** What was granted before and is not among these holds no longer. */
  takeBackAllBut(plugin: Known, grants: readonly string[], by: string): Promise<void>;
}

interface Trusted {
  readonly held: ReadonlySet<string>;
  /** Of the files. */
  readonly hash: string;
}

interface Untrusted {
  /** Whether other files of this plugin were trusted before. */
  readonly was: boolean;
}

/** Kept beside the grants of a plugin: that its files are trusted, whatever they were granted. */
const TRUST = 'plugin.load';
const BUNDLED_HASH = 'bundled';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  /** Who owns the files. */
  readonly uid: number | undefined;
}

export function createPluginTrust({ store, clock, uid }: Deps): PluginTrust {
  /** The digest of the files as they are now. Throws LoadError where they are not fit. */
  async function digestOf(plugin: Known): Promise<string> {
    if (plugin.found.origin === 'bundled') return BUNDLED_HASH;
    const tree = await hashTree(plugin.found.folder, { uid });
    if (!tree.ok) throw new LoadError(tree.reason);
    return tree.hash;
  }

  return {
    treeHashOf: (plugin) =>
      digestOf(plugin).catch((error: unknown) => {
        if (error instanceof LoadError) return undefined;
        throw error;
      }),
    async grantsOf(plugin) {
      const hash = await digestOf(plugin);
      const { manifest } = plugin.found;
      const { grants } = await store.read('plugins.grants', { pluginId: manifest.id });
      const now = new Set(grants.filter(({ treeHash }) => treeHash === hash).map(({ grant }) => grant));
      if (!now.has(TRUST)) return { was: grants.length > 0 };
      return { held: new Set(manifest.grants.filter((grant) => now.has(grant))), hash };
    },
    async write(plugin, grants, by, shown) {
      const { manifest } = plugin.found;
      const unasked = grants.find((grant) => !manifest.grants.includes(grant));
      if (unasked !== undefined) {
        throw new GatewayError('INVALID_REQUEST', `Cannot grant "${unasked}" to plugin "${manifest.id}": its manifest does not ask for it`);
      }
      let treeHash: string;
      try {
        treeHash = await digestOf(plugin);
      } catch (error) {
        throw error instanceof LoadError
          ? new GatewayError('INVALID_REQUEST', `Cannot trust plugin "${manifest.id}": ${error.message}`)
          : error;
      }
      if (shown !== undefined && shown !== treeHash) throw changedSince(manifest.id, 'they were shown');
      for (const grant of [TRUST, ...grants]) {
        await store.write('plugins.grant', { pluginId: manifest.id, grant, treeHash, by, at: clock.now() });
      }
    },
    async requireUnchanged(plugin) {
      const { id: pluginId } = plugin.found.manifest;
      const { grants } = await store.read('plugins.grants', { pluginId });
      const trusted = grants.filter(({ grant }) => grant === TRUST);
      const now = trusted.length === 0 ? undefined : await digestOf(plugin).catch(() => undefined);
      if (trusted.length > 0 && !trusted.some(({ treeHash }) => treeHash === now)) throw changedSince(pluginId, 'they were trusted');
    },
    async takeBackAllBut(plugin, kept, by) {
      const { id: pluginId } = plugin.found.manifest;
      const { grants } = await store.read('plugins.grants', { pluginId });
      const left = new Set(grants.map(({ grant }) => grant).filter((grant) => grant !== TRUST && !kept.includes(grant)));
      for (const grant of left) await store.write('plugins.revokeGrant', { pluginId, grant, by, at: clock.now() });
    },
  };
}

function changedSince(plugin: string, since: string): GatewayError {
  return new GatewayError(
    'CONFLICT',
    `The files of plugin "${plugin}" have changed since ${since}; look at them, then enable it: tenon plugin enable ${plugin}`,
    { details: { code: 'FILES_CHANGED', plugin } },
  );
}
