// What the operator has accepted of a plugin, in enough detail to say later what has changed: its files, what it asked for, and
// the texts of its tools. Trust itself stands with the grants; both are written together.
import { appendAudit } from './audit.ts';
import { grantPlugin, PLUGIN_GRANTS } from './plugins.ts';
import { change, type Dialect, one, type Operation, refuse, type Row, sql } from './sql.ts';

/** One tool, as the agent is told of it. Its digest is that of the whole, whatever was cut. */
export interface ToolText {
  readonly digest: string;
  readonly description: string;
  /** JSON Schema, as text. */
  readonly parameters: string;
  readonly risk: string;
  /** It came after the first load of these files. */
  readonly isLater?: true;
}
export type ToolTexts = Readonly<Record<string, ToolText>>;

export interface PluginConsent {
  readonly pluginId: string;
  readonly treeHash: string;
  /** JSON; absent where they were too many, or were not asked for. */
  readonly files?: string;
  /** The grants that its manifest asked for. */
  readonly asked: readonly string[];
  /** Grants that it asked for when it ran, beside those of its manifest. */
  readonly requested: readonly string[];
  /** Absent until it has run. */
  readonly tools?: ToolTexts;
  /** Tools whose texts are not those that were accepted. */
  readonly pending?: ToolTexts;
  readonly acceptedBy: string;
  readonly acceptedAt: number;
}

export const CONSENT_FILES_BYTES = 4_194_304;
export const CONSENT_TOOLS = 512;
const AUDITED_NAMES = 32;

/**
 * These files are trusted, with these grants. `acceptsTools`: and what its tools say now; of other files than before, that is what
 * they say when they run the first time.
 */
export function* acceptPlugin(
  args: {
    pluginId: string;
    grants: readonly string[];
    treeHash: string;
    files: string | null;
    asked: readonly string[];
    acceptsTools: boolean;
    by: string;
    at: number;
  },
  dialect: Dialect,
): Operation<void> {
  const { pluginId, grants, treeHash, files, asked, acceptsTools, by, at } = args;
  if (files !== null && Buffer.byteLength(files) > CONSENT_FILES_BYTES)
    refuse('TOO_LARGE', `The list of the files of plugin "${pluginId}" has more than ${CONSENT_FILES_BYTES} bytes`);
  for (const grant of grants) yield* grantPlugin({ pluginId, grant, treeHash, by, at }, dialect);
  const before = yield* one(sql`select tree_hash, tools, pending, requested from plugin_consents where plugin_id = ${pluginId}`);
  const isSame = before?.tree_hash === treeHash;
  const known = isSame ? textsIn(before.tools) : undefined;
  const pending = isSame ? textsIn(before.pending) : undefined;
  const tools = acceptsTools && known ? accepted({ ...known, ...pending }) : known;
  const left = acceptsTools ? undefined : pending;
  if (acceptsTools && pending)
    yield* appendAudit({ actor: by, action: 'plugins.acceptTools', target: pluginId, details: named(pending), at }, dialect);
  const requested = isSame ? (before.requested ?? null) : null;
  yield* change(sql`
    insert into plugin_consents (plugin_id, tree_hash, files, asked, tools, pending, requested, accepted_by, accepted_at)
    values (${pluginId}, ${treeHash}, ${files}, ${JSON.stringify(asked)}, ${textOf(tools)}, ${textOf(left)}, ${requested}, ${by}, ${at})
    on conflict (plugin_id) do update set tree_hash = excluded.tree_hash, files = excluded.files, asked = excluded.asked,
      tools = excluded.tools, pending = excluded.pending, requested = excluded.requested, accepted_by = excluded.accepted_by, accepted_at = excluded.accepted_at`);
}

/** Tools that were not there before: from now on they say this. Those of the first load are what was accepted. */
export function* recordTools(
  args: { pluginId: string; treeHash: string; asked: readonly string[]; tools: ToolTexts; at: number },
  dialect: Dialect,
): Operation<void> {
  const { pluginId, treeHash, asked, tools, at } = args;
  const row = yield* one(sql`select tree_hash, tools from plugin_consents where plugin_id = ${pluginId}`);
  if (row && row.tree_hash !== treeHash) refuse('CONFLICT', `Other files of plugin "${pluginId}" were accepted meanwhile`);
  const known = textsIn(row?.tools ?? null);
  const fresh = Object.entries(tools).filter(([name]) => !Object.hasOwn(known ?? {}, name));
  if (known && fresh.length === 0) return;
  const next = { ...known, ...Object.fromEntries(fresh.map(([name, text]) => [name, known ? { ...text, isLater: true } : text])) };
  if (Object.keys(next).length > CONSENT_TOOLS)
    refuse(
      'CONFLICT',
      `Plugin "${pluginId}" has had more than ${CONSENT_TOOLS} tools since its files were accepted; that is too many to keep track of`,
    );
  yield* change(sql`
    insert into plugin_consents (plugin_id, tree_hash, asked, tools, accepted_by, accepted_at)
    values (${pluginId}, ${treeHash}, ${JSON.stringify(asked)}, ${JSON.stringify(next)}, 'gateway', ${at})
    on conflict (plugin_id) do update set tools = excluded.tools`);
  const details = named(Object.fromEntries(fresh));
  if (fresh.length > 0) yield* appendAudit({ actor: 'gateway', action: 'plugins.recordTools', target: pluginId, details, at }, dialect);
}

/** Its manifest leaves it open, and it asks now that it runs. All that it has asked for. */
export function* requestGrants(
  args: { pluginId: string; treeHash: string; asked: readonly string[]; requested: readonly string[]; at: number },
  dialect: Dialect,
): Operation<void> {
  const { pluginId, treeHash, asked, requested, at } = args;
  if (requested.length > PLUGIN_GRANTS) refuse('TOO_LARGE', `Plugin "${pluginId}" asks for more than ${PLUGIN_GRANTS} grants`);
  const text = JSON.stringify(requested);
  const kept = yield* change(sql`
    insert into plugin_consents (plugin_id, tree_hash, asked, requested, accepted_by, accepted_at)
    values (${pluginId}, ${treeHash}, ${JSON.stringify(asked)}, ${text}, 'gateway', ${at})
    on conflict (plugin_id) do update set requested = excluded.requested where plugin_consents.tree_hash = excluded.tree_hash`);
  if (kept === 0) refuse('CONFLICT', `Other files of plugin "${pluginId}" were accepted meanwhile`);
  yield* appendAudit(
    { actor: 'gateway', action: 'plugins.requestGrants', target: pluginId, details: { requested: [...requested] }, at },
    dialect,
  );
}

/** It says something else than what was accepted, and stands still until somebody has read it. */
export function* holdTools(
  args: { pluginId: string; treeHash: string; pending: ToolTexts; at: number },
  dialect: Dialect,
): Operation<void> {
  const { pluginId, treeHash, pending, at } = args;
  const held = yield* change(sql`
    update plugin_consents set pending = ${JSON.stringify(pending)} where plugin_id = ${pluginId} and tree_hash = ${treeHash}`);
  if (held > 0)
    yield* appendAudit({ actor: 'gateway', action: 'plugins.holdTools', target: pluginId, details: named(pending), at }, dialect);
}

export function* getConsent(args: { pluginId: string; files?: boolean }): Operation<{ consent?: PluginConsent }> {
  const row = yield* one(
    args.files
      ? sql`select * from plugin_consents where plugin_id = ${args.pluginId}`
      : sql`select plugin_id, tree_hash, null as files, asked, tools, pending, requested, accepted_by, accepted_at from plugin_consents
            where plugin_id = ${args.pluginId}`,
  );
  return row ? { consent: toConsent(row) } : {};
}

/** What came later was read too. */
function accepted(tools: ToolTexts): ToolTexts {
  return Object.fromEntries(Object.entries(tools).map(([name, { isLater: _later, ...text }]) => [name, text]));
}

function named(tools: ToolTexts): { tools: string[]; count: number } {
  const names = Object.keys(tools);
  return { tools: names.slice(0, AUDITED_NAMES), count: names.length };
}

function textsIn(value: Row[string] | undefined): ToolTexts | undefined {
  return typeof value === 'string' ? (JSON.parse(value) as ToolTexts) : undefined;
}

function textOf(tools: ToolTexts | undefined): string | null {
  return tools ? JSON.stringify(tools) : null;
}

function toConsent(row: Row): PluginConsent {
  const [tools, pending] = [textsIn(row.tools), textsIn(row.pending)];
  return {
    pluginId: row.plugin_id as string,
    treeHash: row.tree_hash as string,
    ...(typeof row.files === 'string' ? { files: row.files } : {}),
    asked: JSON.parse(row.asked as string) as string[],
    requested: typeof row.requested === 'string' ? (JSON.parse(row.requested) as string[]) : [],
    ...(tools ? { tools } : {}),
    ...(pending ? { pending } : {}),
    acceptedBy: row.accepted_by as string,
    acceptedAt: row.accepted_at as number,
  };
}
