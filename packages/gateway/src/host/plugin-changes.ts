// What has changed about a plugin since the operator accepted it: its files one by one, what it asks for, and what its tools say.
// For people who decide anew, so no list is longer than somebody reads.
import type { Result } from '@tenon/protocol';
import type { PluginConsent, ToolText, ToolTexts } from '../store/plugin-consents.ts';
import type { TreeEntry } from './tree-hash.ts';

/** What is there now, and what was accepted. */
export interface Compared {
  /** Undefined where the files are not fit. */
  readonly treeHash?: string;
  readonly entries: readonly TreeEntry[];
  readonly trustedHash?: string;
  /** Granted with those files. */
  readonly held: readonly string[];
  readonly consent?: PluginConsent;
}

export type PluginChanges = Result<'plugins.changes'>;
export type FileChange = PluginChanges['files'][number];
type ToolChange = PluginChanges['tools'][number];

const MAX_FILES = 500;

/** `asked`: now. `now`: what its tools say, if it is loaded. */
export function changesOf(
  { treeHash, entries, trustedHash, held, consent }: Compared,
  asked: readonly string[],
  now: ToolTexts | undefined,
): PluginChanges {
  const isSame = treeHash !== undefined && treeHash === trustedHash;
  const before = consent?.files === undefined ? undefined : (JSON.parse(consent.files) as readonly TreeEntry[]);
  const files = isSame || treeHash === undefined ? [] : filesBetween(before ?? [], entries);
  const known = consent?.asked ?? [];
  return {
    ...(treeHash === undefined ? {} : { treeHash }),
    ...(trustedHash === undefined ? {} : { trustedHash }),
    ...(consent ? { acceptedAt: consent.acceptedAt, acceptedBy: consent.acceptedBy } : {}),
    files: trustedHash !== undefined && !before ? [] : files.slice(0, MAX_FILES),
    ...(files.length > MAX_FILES && (trustedHash === undefined || before) ? { moreFiles: files.length - MAX_FILES } : {}),
    ...(trustedHash !== undefined && !isSame && !before ? { filesUnknown: true as const } : {}),
    asked: [...asked],
    held: [...held],
    grants: {
      added: consent ? asked.filter((grant) => !known.includes(grant)) : trustedHash === undefined ? [...asked] : [],
      removed: known.filter((grant) => !asked.includes(grant)),
    },
    tools: toolsBetween(consent?.tools, consent?.pending, now),
  };
}

export function filesBetween(before: readonly TreeEntry[], after: readonly TreeEntry[]): FileChange[] {
  const known = new Map(before.map((entry) => [entry[0], entry]));
  const there = new Set(after.map(([path]) => path));
  const changes: FileChange[] = [];
  for (const [path, mode, content] of after) {
    const old = known.get(path);
    if (!old) changes.push({ path, change: 'added' });
    else if (old[2] !== content) changes.push({ path, change: 'changed' });
    else if (old[1] !== mode) changes.push({ path, change: 'mode' });
  }
  for (const [path] of before) if (!there.has(path)) changes.push({ path, change: 'removed' });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Every tool that is known, also those that say what they said. */
function toolsBetween(accepted: ToolTexts = {}, pending: ToolTexts = {}, now?: ToolTexts): ToolChange[] {
  const names = new Set([...Object.keys(accepted), ...Object.keys(pending), ...Object.keys(now ?? {})]);
  return [...names].sort().map((name): ToolChange => {
    const before = own(accepted, name);
    const after = own(pending, name) ?? own(now ?? {}, name);
    if (!before) return { name, change: 'added', ...(after ? { after: shown(after) } : {}) };
    if (before.isLater && !own(pending, name)) return { name, change: 'added', after: shown(before) };
    if (after && after.digest !== before.digest) return { name, change: 'changed', before: shown(before), after: shown(after) };
    if (now && !after) return { name, change: 'removed', before: shown(before) };
    return { name, change: 'same', after: shown(before) };
  });
}

function own(texts: ToolTexts, name: string): ToolText | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

function shown({ description, parameters, risk }: ToolText) {
  return { description, parameters, risk };
}
