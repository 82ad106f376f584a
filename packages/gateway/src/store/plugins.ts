// What the operator has decided about plugins: what they may do, whether they are on, and how they are set up. Every change
// is in the audit log; the values of a configuration are not.
import { dropActions } from './action-requests.ts';
import { voidApprovals } from './approvals.ts';
import { appendAudit } from './audit.ts';
import { removeJobsOf } from './job-removal.ts';
import { all, change, type Dialect, joinSql, one, type Operation, refuse, type Row, sql } from './sql.ts';
import type { JsonObject } from '@tenon/protocol';

/** The limits `pluginGrants` and `pluginConfigBytes` of the protocol: the writer's thread does without its schemas. */
export const PLUGIN_GRANTS = 512;
export const PLUGIN_CONFIG_BYTES = 262_144;

const CRASHES_BYTES = 16_384;

/** Sessions from which one step of forgetting removes at most. */
const SESSIONS_AT_ONCE = 500;

export interface PluginGrant {
  readonly pluginId: string;
  readonly grant: string;
  /** Of the files that the operator saw; for others the grant does not hold. */
  readonly treeHash: string;
  readonly grantedBy: string;
  readonly grantedAt: number;
}

export interface PluginSettings {
  readonly pluginId: string;
  /** Absent: nobody has said. */
  readonly enabled?: boolean;
  readonly config?: JsonObject;
  /** Names that all plugins share and that it had when it was loaded last. */
  readonly names?: readonly string[];
  /** Why it is not loaded until somebody says so. */
  readonly held?: string;
  readonly changedAt: number;
  readonly changedBy: string;
}

export function* grantPlugin(
  args: { pluginId: string; grant: string; treeHash: string; by: string; at: number },
  dialect: Dialect,
): Operation<{ grant: PluginGrant }> {
  const { pluginId, grant, treeHash, by, at } = args;
  const known = yield* one(sql`select * from plugin_grants where plugin_id = ${pluginId} and grant_name = ${grant}`);
  if (known?.tree_hash === treeHash) return { grant: toGrant(known) };
  const held = yield* one<{ n: number }>(sql`select count(*) as n from plugin_grants where plugin_id = ${pluginId}`);
  if (!known && (held?.n ?? 0) >= PLUGIN_GRANTS)
    refuse('CONFLICT', `Plugin "${pluginId}" has ${PLUGIN_GRANTS} grants already; revoke one first`);
  const row = yield* one(sql`
    insert into plugin_grants (plugin_id, grant_name, tree_hash, granted_by, granted_at)
    values (${pluginId}, ${grant}, ${treeHash}, ${by}, ${at})
    on conflict (plugin_id, grant_name) do update set tree_hash = excluded.tree_hash, granted_by = excluded.granted_by,
      granted_at = excluded.granted_at
    returning *`);
  yield* appendAudit({ actor: by, action: 'plugins.grant', target: pluginId, details: { grant, treeHash }, at }, dialect);
  return { grant: toGrant(row as Row) };
}

export function* revokeGrant(
  args: { pluginId: string; grant: string; by: string; at: number },
  dialect: Dialect,
): Operation<{ revoked: boolean }> {
  const { pluginId, grant, by, at } = args;
  const removed = yield* change(sql`delete from plugin_grants where plugin_id = ${pluginId} and grant_name = ${grant}`);
  if (removed > 0) yield* appendAudit({ actor: by, action: 'plugins.revokeGrant', target: pluginId, details: { grant }, at }, dialect);
  if (removed > 0 && grant === 'schedule.turns') {
    const reason = 'The plugin that made it may not schedule turns any more';
    while ((yield* removeJobsOf({ owner: `plugin:${pluginId}`, reason, at }, dialect)).more);
  }
  return { revoked: removed > 0 };
}

/** Those of one plugin, or of all. */
export function* listGrants(args: { pluginId?: string }): Operation<{ grants: PluginGrant[] }> {
  const rows = yield* all(
    args.pluginId === undefined
      ? sql`select * from plugin_grants order by plugin_id, grant_name`
      : sql`select * from plugin_grants where plugin_id = ${args.pluginId} order by grant_name`,
  );
  return { grants: rows.map(toGrant) };
}

export function* setEnabled(
  args: { pluginId: string; enabled: boolean; by: string; at: number },
  dialect: Dialect,
): Operation<{ settings: PluginSettings }> {
  const { pluginId, enabled, by, at } = args;
  const row = yield* one(sql`
    insert into plugin_settings (plugin_id, enabled, changed_at, changed_by) values (${pluginId}, ${Number(enabled)}, ${at}, ${by})
    on conflict (plugin_id) do update set enabled = excluded.enabled, changed_at = excluded.changed_at, changed_by = excluded.changed_by
    returning *`);
  yield* appendAudit({ actor: by, action: enabled ? 'plugins.enable' : 'plugins.disable', target: pluginId, at }, dialect);
  return { settings: toSettings(row as Row) };
}

/**
 * A plugin that was switched off keeps nothing: what a load of it still wanted to write when it ended must not come after what
 * it had was removed. The row is held, so that who switches it off waits for the writers before.
 */
export function* requireSwitchedOn(pluginId: string, dialect: Dialect): Operation<void> {
  const row = yield* one<{ enabled: number | null }>(
    dialect === 'sqlite'
      ? sql`select enabled from plugin_settings where plugin_id = ${pluginId}`
      : sql`select enabled from plugin_settings where plugin_id = ${pluginId} for share`,
  );
  if (row?.enabled === 0) refuse('UNAVAILABLE', `Plugin "${pluginId}" is switched off`, { code: 'PLUGIN_OFF' });
}

/** Null: as if nobody had set it up. */
export function* setConfig(
  args: { pluginId: string; config: JsonObject | null; by: string; at: number },
  dialect: Dialect,
): Operation<{ settings: PluginSettings }> {
  const { pluginId, by, at } = args;
  const config = args.config === null ? null : JSON.stringify(args.config);
  const bytes = config === null ? 0 : Buffer.byteLength(config);
  if (bytes > PLUGIN_CONFIG_BYTES)
    refuse('TOO_LARGE', `The configuration of plugin "${pluginId}" has ${bytes} bytes; ${PLUGIN_CONFIG_BYTES} are possible`);
  const row = yield* one(sql`
    insert into plugin_settings (plugin_id, config, changed_at, changed_by) values (${pluginId}, ${config}, ${at}, ${by})
    on conflict (plugin_id) do update set config = excluded.config, changed_at = excluded.changed_at, changed_by = excluded.changed_by
    returning *`);
  yield* appendAudit({ actor: by, action: 'plugins.config', target: pluginId, at }, dialect);
  return { settings: toSettings(row as Row) };
}

/** What it has while it is loaded; nobody has decided that, so it is in no log. */
export function* keepNames({ pluginId, names }: { pluginId: string; names: readonly string[] }): Operation<void> {
  yield* change(sql`update plugin_settings set names = ${names.length === 0 ? null : JSON.stringify(names)} where plugin_id = ${pluginId}`);
}

export interface CrashMemory {
  /** The latest last; by the clock on the wall. */
  readonly crashes: readonly { readonly at: number; readonly reason: string }[];
  /** How often it was started again since it was at work for long. */
  readonly restarts: number;
  /** It stays down, and why. */
  readonly down?: { readonly state: 'quarantined' | 'failed'; readonly reason: string };
}

/** How an extension crashed lately; without it, nothing is to be remembered. That it stays down is in the log. */
export function* keepCrashes(
  { pluginId, memory, at }: { pluginId: string; memory?: CrashMemory; at: number },
  dialect: Dialect,
): Operation<void> {
  const text = memory ? JSON.stringify(memory) : null;
  if (text !== null && Buffer.byteLength(text) > CRASHES_BYTES)
    refuse('TOO_LARGE', `Too much is remembered of the crashes of "${pluginId}"`);
  yield* change(sql`update plugin_settings set crashes = ${text} where plugin_id = ${pluginId}`);
  const down = memory?.down;
  if (down) yield* appendAudit({ actor: 'gateway', action: 'extensions.down', target: pluginId, details: { ...down }, at }, dialect);
}

export function* crashesOf({ pluginId }: { pluginId: string }): Operation<{ memory?: CrashMemory }> {
  const row = yield* one(sql`select crashes from plugin_settings where plugin_id = ${pluginId}`);
  return typeof row?.crashes === 'string' ? { memory: JSON.parse(row.crashes) as CrashMemory } : {};
}

/** Without a reason, it may be loaded again. */
export function* holdPlugin(
  { pluginId, reason, by, at }: { pluginId: string; reason?: string; by: string; at: number },
  dialect: Dialect,
): Operation<void> {
  const held = yield* change(sql`
    update plugin_settings set held = ${reason ?? null}
    where plugin_id = ${pluginId} and coalesce(held, '') <> ${reason ?? ''}`);
  const action = reason === undefined ? 'plugins.release' : 'plugins.hold';
  if (held > 0)
    yield* appendAudit({ actor: by, action, target: pluginId, at, ...(reason === undefined ? {} : { details: { reason } }) }, dialect);
}

export function* listSettings(_: object): Operation<{ settings: PluginSettings[] }> {
  return { settings: (yield* all(sql`select * from plugin_settings order by plugin_id`)).map(toSettings) };
}

/**
 * Removes what a plugin has in sessions, its state and what it has queued; then what the operator has decided about it, and the
 * values that it keeps for itself. With `keepDecisions`, only the first. `more`: the caller asks again, so that no commit is long.
 */
export function* forgetPlugin(
  args: { pluginId: string; keepDecisions?: boolean; by: string; at: number },
  dialect: Dialect,
): Operation<{ states: number; injections: number; more: boolean }> {
  const { pluginId, by, at } = args;
  const rows = yield* all<{ session_key: string }>(sql`
    select session_key from plugin_state where plugin_id = ${pluginId}
    union select session_key from injections where plugin_id = ${pluginId}
    order by session_key limit ${SESSIONS_AT_ONCE}`);
  const details = { states: 0, injections: 0, jobs: 0, decisions: 0 };
  if (rows.length > 0) {
    const keys = joinSql(
      rows.map((row) => sql`${row.session_key}`),
      ', ',
    );
    // As everybody does who changes something in a session: its row first.
    if (dialect === 'postgres') yield* all(sql`select key from sessions where key in (${keys}) order by key for update`);
    details.states = yield* change(sql`delete from plugin_state where plugin_id = ${pluginId} and session_key in (${keys})`);
    details.injections = yield* change(sql`delete from injections where plugin_id = ${pluginId} and session_key in (${keys})`);
  }
  const jobs = yield* removeJobsOf({ owner: `plugin:${pluginId}`, reason: 'The plugin that made it was switched off', at }, dialect);
  details.jobs = jobs.removed;
  const actions = yield* dropActions({ pluginId }, at);
  if (actions > 0) Object.assign(details, { actions });
  // Nobody waits for the answer any more.
  yield* voidApprovals({ ofPlugin: pluginId, at }, dialect);
  if (!args.keepDecisions) {
    details.decisions += yield* change(sql`delete from plugin_grants where plugin_id = ${pluginId}`);
    details.decisions += yield* change(sql`delete from plugin_settings where plugin_id = ${pluginId}`);
    // After its settings, which whoever writes a value looks at first.
    yield* change(sql`delete from extension_use where plugin_id = ${pluginId}`);
    const values = yield* change(sql`delete from extension_values where plugin_id = ${pluginId}`);
    if (values > 0) Object.assign(details, { values });
    yield* change(sql`delete from plugin_consents where plugin_id = ${pluginId}`);
  }
  if (Object.values(details).some((removed) => removed > 0))
    yield* appendAudit({ actor: by, action: 'plugins.forget', target: pluginId, details, at }, dialect);
  return { states: details.states, injections: details.injections, more: rows.length === SESSIONS_AT_ONCE || jobs.more };
}

function toGrant(row: Row): PluginGrant {
  return {
    pluginId: row.plugin_id as string,
    grant: row.grant_name as string,
    treeHash: row.tree_hash as string,
    grantedBy: row.granted_by as string,
    grantedAt: row.granted_at as number,
  };
}

function toSettings(row: Row): PluginSettings {
  return {
    pluginId: row.plugin_id as string,
    ...(row.enabled === null ? {} : { enabled: row.enabled === 1 }),
    ...(row.config === null ? {} : { config: JSON.parse(row.config as string) as JsonObject }),
    ...(typeof row.names === 'string' ? { names: JSON.parse(row.names) as string[] } : {}),
    ...(typeof row.held === 'string' ? { held: row.held } : {}),
    changedAt: row.changed_at as number,
    changedBy: row.changed_by as string,
  };
}
