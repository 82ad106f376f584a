// Whether the files of a plugin are trusted, and what it may do. Trust is bound to the files as the operator saw them: the
// grants of a plugin hold for one digest of its folder. Bundled plugins are part of the program, so their digest is a
// constant; they start switched off like all others.
import { createHash } from 'node:crypto';
import { GatewayError } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { CONSENT_FILES_BYTES, type ToolTexts } from '../store/plugin-consents.ts';
import type { Store } from '../store/store.ts';
import { askedOf, type Known } from './known-plugin.ts';
import { LoadError } from './load-plugin.ts';
import type { Compared } from './plugin-changes.ts';
import { hashTree, type TreeEntry } from './tree-hash.ts';

export interface PluginTrust {
  /** What holds for the files as they are now. Throws LoadError where they are not fit. */
  grantsOf(plugin: Known): Promise<Trusted | Untrusted>;
  /** The digest of the files as they are now; undefined where they are not fit. */
  treeHashOf(plugin: Known): Promise<string | undefined>;
  /** Grants are written for the files as they are now, and with them that these files are trusted, as `how` says. */
  write(plugin: Known, grants: readonly string[], by: string, how?: Acceptance): Promise<void>;
  /** Refuses where other files of this plugin are trusted than those that are there: a grant is no consent to them. */
  requireUnchanged(plugin: Known): Promise<void>;
  /** Those that were not there before say this from now on. */
  recordTools(plugin: Known, trusted: Trusted, tools: ToolTexts): Promise<void>;
  /** Puts on record what it asks for now that it runs; everything that it has asked for. */
  request(plugin: Known, trusted: Trusted, wanted: readonly string[]): Promise<readonly string[]>;
  /** These do not say what was accepted: until somebody accepts it, it is not trusted. */
  holdTools(plugin: Known, trusted: Trusted, pending: ToolTexts): Promise<void>;
  compare(plugin: Known): Promise<Compared>;
  /** What was granted before and is not among these holds no longer. */
  takeBackAllBut(plugin: Known, grants: readonly string[], by: string): Promise<void>;
}

export interface Acceptance {
  /** The digest that somebody was shown: only if the files are still those. */
  readonly shown?: string | undefined;
  /** What its tools say is accepted too. */
  readonly tools?: boolean;
}

export interface Trusted {
  readonly held: ReadonlySet<string>;
  /** What is trusted. */
  readonly hash: string;
  /** Of the files alone. */
  readonly tree: string;
  /** Grants that it has asked for when it ran. */
  readonly requested: readonly string[];
  /** What its tools say, as it was accepted; absent until it has run. Of an extension. */
  readonly tools?: ToolTexts;
  /** Names of tools that say something else than what was accepted. */
  readonly pending?: readonly string[];
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
  async function treeOf(plugin: Known, entries?: TreeEntry[]): Promise<string> {
    if (plugin.found.origin === 'bundled') return BUNDLED_HASH;
    const tree = await hashTree(plugin.found.folder, { uid }, entries);
    if (!tree.ok) throw new LoadError(tree.reason);
    return tree.hash;
  }

  async function digestOf(plugin: Known, entries?: TreeEntry[]): Promise<string> {
    return scoped(await treeOf(plugin, entries), plugin);
  }

  return {
    treeHashOf: (plugin) =>
      digestOf(plugin).catch((error: unknown) => {
        if (error instanceof LoadError) return undefined;
        throw error;
      }),
    async grantsOf(plugin) {
      const tree = await treeOf(plugin);
      const hash = scoped(tree, plugin);
      const { manifest } = plugin.found;
      const { grants } = await store.read('plugins.grants', { pluginId: manifest.id });
      const now = new Set(grants.filter(({ treeHash }) => treeHash === hash).map(({ grant }) => grant));
      if (!now.has(TRUST)) return { was: grants.length > 0 };
      const heldOf = (asked: readonly string[]) => new Set(asked.filter((grant) => now.has(grant)));
      const { extension } = plugin.found;
      const asked = [...manifest.grants, ...((await extension?.needed()) ?? [])];
      const plain = { held: heldOf(asked), hash, tree, requested: [] };
      if (!extension) return plain;
      const { consent } = await store.read('plugins.consent', { pluginId: manifest.id });
      if (consent?.treeHash !== hash) return plain;
      const { tools, pending, requested } = consent;
      const held = heldOf([...asked, ...requested]);
      return { ...plain, held, requested, ...(tools ? { tools } : {}), ...(pending ? { pending: Object.keys(pending) } : {}) };
    },
    async write(plugin, grants, by, { shown, tools = false } = {}) {
      const { manifest } = plugin.found;
      const asked = askedOf(plugin);
      const unasked = grants.find((grant) => !asked.includes(grant));
      if (unasked !== undefined) {
        throw new GatewayError('INVALID_REQUEST', `Cannot grant "${unasked}" to plugin "${manifest.id}": its manifest does not ask for it`);
      }
      let treeHash: string;
      const entries: TreeEntry[] = [];
      try {
        treeHash = await digestOf(plugin, entries);
      } catch (error) {
        throw error instanceof LoadError
          ? new GatewayError('INVALID_REQUEST', `Cannot trust plugin "${manifest.id}": ${error.message}`)
          : error;
      }
      if (shown !== undefined && shown !== treeHash) throw changedSince(manifest.id, 'they were shown');
      const files = JSON.stringify(entries);
      await store.write('plugins.accept', {
        pluginId: manifest.id,
        grants: [TRUST, ...grants],
        treeHash,
        files: Buffer.byteLength(files) > CONSENT_FILES_BYTES ? null : files,
        asked,
        acceptsTools: tools,
        by,
        at: clock.now(),
      });
    },
    async recordTools({ found: { manifest } }, { hash, tools: known }, tools) {
      if (known && Object.keys(tools).every((name) => Object.hasOwn(known, name))) return;
      await store.write('plugins.recordTools', {
        pluginId: manifest.id,
        treeHash: hash,
        asked: manifest.grants,
        tools,
        at: clock.now(),
      });
    },
    async request({ found: { manifest } }, { hash, requested: before }, wanted) {
      const requested = [...new Set([...before, ...wanted.filter((grant) => !manifest.grants.includes(grant))])];
      if (requested.length === before.length) return before;
      const at = clock.now();
      await store.write('plugins.requestGrants', { pluginId: manifest.id, treeHash: hash, asked: manifest.grants, requested, at });
      return requested;
    },
    async holdTools({ found: { manifest } }, { hash }, pending) {
      await store.write('plugins.holdTools', { pluginId: manifest.id, treeHash: hash, pending, at: clock.now() });
    },
    async compare(plugin) {
      const { id: pluginId } = plugin.found.manifest;
      const entries: TreeEntry[] = [];
      const treeHash = await digestOf(plugin, entries).catch((error: unknown) => {
        if (error instanceof LoadError) return undefined;
        throw error;
      });
      const [{ grants }, { consent }] = await Promise.all([
        store.read('plugins.grants', { pluginId }),
        store.read('plugins.consent', { pluginId, files: true }),
      ]);
      const trustedHash = grants.find(({ grant }) => grant === TRUST)?.treeHash;
      return {
        ...(treeHash === undefined ? {} : { treeHash }),
        entries,
        ...(trustedHash === undefined ? {} : { trustedHash }),
        held: grants.flatMap(({ grant, treeHash: of }) => (of === trustedHash && grant !== TRUST ? [grant] : [])),
        ...(consent && consent.treeHash === trustedHash ? { consent } : {}),
      };
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

/** The same files elsewhere are not what was looked at: they belong to somebody else, and change with somebody else. */
function scoped(tree: string, { found: { workspace } }: Known): string {
  if (workspace === undefined) return tree;
  return createHash('sha256')
    .update(JSON.stringify(['workspace', workspace, tree]))
    .digest('hex');
}

function changedSince(plugin: string, since: string): GatewayError {
  return new GatewayError(
    'CONFLICT',
    `The files of plugin "${plugin}" have changed since ${since}; look at them, then enable it: tenon plugin enable ${plugin}`,
    { details: { code: 'FILES_CHANGED', plugin } },
  );
}
