// The shape of the store, as an append-only list: a released entry is never edited. Written so that both engines read
// it; `{{…}}` marks the few places where they differ.
import type { Dialect } from './sql.ts';

interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

const migrations: readonly Migration[] = [
  {
    name: 'foundation',
    statements: [
      `create table stream (id integer primary key check (id = 1), epoch text not null, head bigint not null)`,
      `create table events (seq bigint primary key, event text not null, payload text not null, session_key text, at bigint not null)`,
      `create table sessions (
         ord {{serial}}, key text not null unique, session_id text not null, agent_id text not null,
         title text not null, label text, pinned integer not null, archived integer not null,
         revision bigint not null, words text not null, created_at bigint not null, updated_at bigint not null)`,
      `create index sessions_by_change on sessions (archived, updated_at, ord)`,
      `create index sessions_by_agent on sessions (agent_id, archived, updated_at, ord)`,
      `create index sessions_by_label on sessions (label, archived, updated_at, ord)`,
      `{{session_search}}`,
      `create table answers (
         principal text not null, key text not null, method text not null, digest text not null, answer text,
         created_at bigint not null, primary key (principal, key))`,
      `create index answers_by_age on answers (created_at)`,
      `create table tokens (
         id text primary key, name text not null, digest text not null unique, salt text not null, scopes text not null,
         session_key text, created_at bigint not null, expires_at bigint, revoked_at bigint, last_used_at bigint)`,
      `create table devices (
         id text primary key, public_key text not null, name text not null, platform text not null, scopes text not null,
         approved_at bigint not null, approved_by text not null, last_seen_at bigint, revoked_at bigint)`,
      `create table pairings (
         request_id text primary key, device_id text not null unique, public_key text not null, name text not null,
         platform text not null, scopes text not null, address text not null, requested_at bigint not null, expires_at bigint not null)`,
      `create table audit (
         seq bigint primary key, at bigint not null, actor text not null, action text not null, target text not null,
         details text not null, hash text not null)`,
      `create table audit_chain (
         id integer primary key check (id = 1), anchor_seq bigint not null, anchor_hash text not null,
         head_seq bigint not null, head_hash text not null)`,
      `insert into audit_chain values (1, 0, '', 0, '')`,
      `create table probe (id integer primary key check (id = 1), at bigint not null)`,
      `insert into probe values (1, 0)`,
    ],
  },
  {
    name: 'exact words, commit marks',
    statements: [`{{exact_words}}`, `{{commit_marks}}`],
  },
  {
    name: 'turns',
    statements: [
      ...['leaf_id', 'model', 'thinking', 'permissions', 'queue', 'parent_key'].map(
        (column) => `alter table sessions add column ${column} text`,
      ),
      `alter table sessions add column status text not null default 'idle'`,
      // A parent always has a smaller number than its children.
      `create table entries (
         ord {{serial}}, session_id text not null, id text not null, parent_id text, type text not null, role text,
         run_id text, at bigint not null, preview text not null, label_of text, body text not null, unique (session_id, id))`,
      `create index entries_in_order on entries (session_id, ord, id, parent_id)`,
      `create index entries_labels on entries (session_id, label_of, ord) where label_of is not null`,
      `create index entries_answers on entries (session_id, run_id, ord) where role = 'assistant'`,
      `create table runs (
         ord {{serial}}, run_id text not null unique, session_key text not null, session_id text not null, state text not null,
         mode text not null, origin text not null, principal text not null, message text not null, options text not null, joined text,
         created_at bigint not null, started_at bigint, ended_at bigint, outcome text, usage text not null)`,
      `create index runs_open on runs (ord) where state <> 'ended'`,
      `create index runs_by_session on runs (session_key, state, ord)`,
      `create index runs_by_end on runs (ended_at) where ended_at is not null`,
      `create table calls (
         ord {{serial}}, session_id text not null, entry_id text not null, call_id text not null, run_id text not null, name text not null,
         args text not null, state text not null, attempts integer not null, result_id text, unique (session_id, entry_id, call_id))`,
      `create index calls_by_run on calls (run_id, ord)`,
      `create table approvals (
         ord {{serial}}, id text not null unique, session_key text not null, run_id text not null, call_id text not null,
         digest text not null, principal text not null, state text not null, shown text not null, decision text, decided_by text,
         decided_at bigint, created_at bigint not null, expires_at bigint not null, unique (run_id, call_id, digest))`,
      `create index approvals_by_session on approvals (session_key, state, ord)`,
      `create index approvals_pending on approvals (ord) where state = 'pending'`,
      `create index approvals_decided on approvals (decided_at, ord) where state <> 'pending'`,
      `create table approval_rules (
         ord {{serial}}, id text not null unique, agent_id text not null, tool_name text not null, digest text not null,
         shown text not null, created_at bigint not null, created_by text not null, unique (agent_id, tool_name, digest))`,
      `create table usage (
         session_key text not null, model text not null, day bigint not null, calls bigint not null, input bigint not null,
         output bigint not null, cache_read bigint not null, cache_write bigint not null, cost double precision not null,
         primary key (session_key, model, day))`,
      `create index usage_by_day on usage (day)`,
      `create table retired_sessions (session_id text primary key, session_key text not null, at bigint not null)`,
      `create index retired_by_age on retired_sessions (at)`,
      `create index retired_by_session on retired_sessions (session_key)`,
    ],
  },
  {
    name: 'plugins',
    statements: [
      // Without a value: it was removed, and its revision goes on from there.
      `create table plugin_state (
         session_key text not null, session_id text not null, plugin_id text not null, namespace text not null, value text,
         bytes bigint not null, revision bigint not null, updated_at bigint not null, primary key (session_key, plugin_id, namespace))`,
      `create index plugin_state_by_plugin on plugin_state (plugin_id, namespace, session_key)`,
      // run_id: the run that has taken it. told_at: the model has answered in that run.
      `create table injections (
         ord {{serial}}, id text not null, session_key text not null, plugin_id text not null, text text not null, placement text not null,
         priority integer not null, metadata text, created_at bigint not null, expires_at bigint, run_id text, told_at bigint)`,
      `create unique index injections_waiting on injections (session_key, plugin_id, id) where told_at is null`,
      `create index injections_by_session on injections (session_key)`,
      `create index injections_by_plugin on injections (plugin_id, session_key)`,
      `create index injections_by_run on injections (run_id) where run_id is not null`,
      `create index injections_by_expiry on injections (expires_at) where run_id is null`,
      `create table plugin_grants (
         plugin_id text not null, grant_name text not null, tree_hash text not null, granted_by text not null, granted_at bigint not null,
         primary key (plugin_id, grant_name))`,
      `create table plugin_settings (
         plugin_id text primary key, enabled integer, config text, changed_at bigint not null, changed_by text not null)`,
    ],
  },
  {
    name: 'schedules',
    statements: [
      // next_at: when it is due next; null while it rests, and when it is never due again.
      `create table jobs (
         ord {{serial}}, id text not null unique, name text not null, session_key text, agent_id text, schedule text not null,
         message text not null, state text not null, note text, on_miss text not null, overlap text not null, retry text,
         delivery text not null, owner text not null, tag text, keep integer not null, next_at bigint, revision bigint not null,
         created_at bigint not null, updated_at bigint not null, finished_at bigint)`,
      `create index jobs_due on jobs (next_at, ord) where next_at is not null`,
      `create index jobs_unfinished on jobs (ord) where state <> 'finished'`,
      `create index jobs_by_owner on jobs (owner, state)`,
      `create index jobs_by_session on jobs (session_key, state) where session_key is not null`,
      `create index jobs_by_end on jobs (finished_at) where finished_at is not null`,
      // wake_at: when one that waits is looked at. covers, until: several that were missed in a row.
      `create table occurrences (
         ord {{serial}}, job_id text not null, due_at bigint not null, state text not null, reason text, session_key text, run_id text,
         attempt integer not null, manual integer not null, covers bigint not null, until bigint, wake_at bigint, started_at bigint,
         ended_at bigint, unique (job_id, due_at))`,
      `create index occurrences_in_order on occurrences (job_id, ord)`,
      `create index occurrences_open on occurrences (job_id, due_at) where state in ('waiting', 'running')`,
      `create index occurrences_waking on occurrences (wake_at, ord) where wake_at is not null`,
      `create index occurrences_by_run on occurrences (run_id) where state = 'running'`,
      `create index occurrences_by_end on occurrences (ended_at) where ended_at is not null`,
    ],
  },
  {
    name: 'attachments and deliveries',
    statements: [
      // The files lie in the home folder under their digest. Without a session: uploaded, and said nowhere yet.
      `create table attachments (
         ord {{serial}}, handle text not null unique, sha256 text not null, bytes bigint not null, mime text not null, name text not null,
         session_key text, owner text not null, upload_id text unique, created_at bigint not null)`,
      `create index attachments_by_session on attachments (session_key, ord)`,
      `create index attachments_by_digest on attachments (sha256)`,
      `create index attachments_unused on attachments (created_at) where session_key is null`,
      // Files that nothing may need any more.
      `create table attachment_garbage (sha256 text primary key)`,
      `create table uploads (
         upload_id text primary key, name text not null, bytes bigint not null, session_key text, owner text not null,
         created_at bigint not null, expires_at bigint not null)`,
      `create table session_routes (session_key text primary key, channel text not null, recipient text not null, updated_at bigint not null)`,
      `create table deliveries (
         ord {{serial}}, id text not null unique, session_key text not null, session_id text not null, entry_id text not null,
         plugin_id text not null, channel text not null, recipient text not null, request_key text, state text not null,
         attempts integer not null, next_at bigint, reason text, receipt text, buttons text not null, pressed_button text,
         pressed_by text, pressed_at bigint, created_at bigint not null, unique (session_id, entry_id))`,
      `create index deliveries_by_session on deliveries (session_key, ord)`,
      `create index deliveries_waiting on deliveries (next_at) where state = 'waiting'`,
      `create unique index deliveries_by_request on deliveries (session_key, plugin_id, request_key) where request_key is not null`,
      `create index deliveries_by_age on deliveries (created_at)`,
      `create table action_requests (
         ord {{serial}}, id text not null unique, session_key text not null, plugin_id text not null, plugin_name text not null,
         title text not null, actions text, request_key text not null, created_at bigint not null,
         unique (session_key, plugin_id, request_key))`,
      `create index action_requests_by_plugin on action_requests (plugin_id, session_key)`,
    ],
  },
  {
    name: 'plugins that are not loaded',
    statements: [
      // names: those of all plugins that it had when it was loaded last, as JSON. held: why it is not loaded until somebody says so.
      `alter table plugin_settings add column names text`,
      `alter table plugin_settings add column held text`,
    ],
  },
  {
    name: 'edits of deliveries',
    statements: [
      // shown: what it says now, as JSON; null: as its entry says. pressed_said: what stands with the press. edit_*: how its channel follows.
      `alter table deliveries add column revision integer not null default 0`,
      `alter table deliveries add column shown text`,
      `alter table deliveries add column pressed_said text`,
      `alter table deliveries add column edit_state text`,
      `alter table deliveries add column edit_attempts integer not null default 0`,
      `alter table deliveries add column edit_next_at bigint`,
      `alter table deliveries add column edit_reason text`,
      `create index deliveries_editing on deliveries (edit_next_at) where edit_state = 'waiting'`,
    ],
  },
  {
    name: 'values of extensions',
    statements: [
      // name and value: as JSON. The value stands last, so that what is before it is read without it.
      `create table extension_values (
         plugin_id text not null, name text {{binary}} not null, bytes bigint not null, updated_at bigint not null, value text not null,
         primary key (plugin_id, name))`,
      `create table extension_use (plugin_id text primary key, names bigint not null, bytes bigint not null)`,
    ],
  },
  {
    name: 'what was accepted of plugins',
    statements: [
      // files, asked, tools: as they were then, as JSON; files null where they were too many, tools null until it has run. pending:
      // tools whose texts have changed since; nothing of it runs until somebody accepts them.
      `create table plugin_consents (
         plugin_id text primary key, tree_hash text not null, files text, asked text not null, tools text, pending text,
         accepted_by text not null, accepted_at bigint not null)`,
    ],
  },
  {
    name: 'questions of extensions',
    statements: [
      // asked: what is shown, as JSON. via: the credential that relays it from elsewhere.
      `create table ui_questions (
         ord {{serial}}, id text not null unique, session_key text not null, extension text not null, via text, kind text not null,
         asked text not null, state text not null, reason text, answer text, answered_by text, created_at bigint not null,
         expires_at bigint not null, settled_at bigint)`,
      `create index ui_questions_pending on ui_questions (session_key, ord) where state = 'pending'`,
      `create index ui_questions_settled on ui_questions (settled_at) where settled_at is not null`,
    ],
  },
  {
    name: 'what extensions ask for when they run',
    statements: [
      // Grants that the manifest says nothing of, as JSON.
      `alter table plugin_consents add column requested text`,
    ],
  },
  {
    name: 'crashes of extensions',
    statements: [
      // What a gateway that starts must know of those that crash, as JSON.
      `alter table plugin_settings add column crashes text`,
    ],
  },
  {
    name: 'the gateway that writes',
    statements: [
      // Not in a backup: a store that is restored has no writer yet.
      `create table writer (
         id integer primary key check (id = 1), boot_id text not null, pid bigint not null, lock_id text not null, at bigint not null)`,
    ],
  },
];

export const schemaVersion = migrations.length;

/** The tables that a backup carries, in the order in which they are filled. */
export const storedTables = [
  'stream',
  'events',
  'sessions',
  'entries',
  'runs',
  'calls',
  'approvals',
  'approval_rules',
  'usage',
  'retired_sessions',
  'plugin_state',
  'injections',
  'plugin_grants',
  'plugin_settings',
  'extension_values',
  'extension_use',
  'plugin_consents',
  'jobs',
  'occurrences',
  'attachments',
  'attachment_garbage',
  'uploads',
  'session_routes',
  'deliveries',
  'action_requests',
  'ui_questions',
  'answers',
  'tokens',
  'devices',
  'pairings',
  'audit',
  'audit_chain',
] as const;

/** Those whose rows the engine numbers itself. */
export const numberedTables = [
  'sessions',
  'entries',
  'runs',
  'calls',
  'approvals',
  'approval_rules',
  'injections',
  'jobs',
  'occurrences',
  'attachments',
  'deliveries',
  'action_requests',
  'ui_questions',
] as const satisfies readonly (typeof storedTables)[number][];

const dialectText: Record<Dialect, Record<string, string>> = {
  sqlite: {
    serial: 'integer primary key',
    session_search: `create virtual table session_words using fts5(words, content='sessions', content_rowid='ord', tokenize="unicode61 remove_diacritics 0");
      create trigger session_words_insert after insert on sessions begin
        insert into session_words (rowid, words) values (new.ord, new.words);
      end;
      create trigger session_words_delete after delete on sessions begin
        insert into session_words (session_words, rowid, words) values ('delete', old.ord, old.words);
      end;
      create trigger session_words_update after update of words on sessions when old.words <> new.words begin
        insert into session_words (session_words, rowid, words) values ('delete', old.ord, old.words);
        insert into session_words (rowid, words) values (new.ord, new.words);
      end`,
    // We cut the words ourselves: "ascii" takes every other letter as it is, also letters that are younger than SQLite's tables.
    exact_words: `drop table session_words;
      create virtual table session_words using fts5(words, content='sessions', content_rowid='ord', tokenize='ascii');
      insert into session_words (session_words) values ('rebuild')`,
  },
  postgres: {
    serial: 'bigint generated by default as identity primary key',
    binary: 'collate "C"',
    session_search: `create index session_words on sessions using gin (array_to_tsvector(string_to_array(words, ' ')))`,
    // One row for each transaction that may be open at a time: which one was the last to commit there.
    commit_marks: `create table commit_marks (place integer primary key, mark text not null)`,
  },
};

/** The statements that take a store from one version to the next ones. */
export function migrationsAfter(version: number, dialect: Dialect): readonly { version: number; name: string; statements: string[] }[] {
  return migrations.slice(version).map((migration, index) => ({
    version: version + index + 1,
    name: migration.name,
    statements: migration.statements
      .map((text) => text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => dialectText[dialect][name] ?? ''))
      .filter((text) => text !== ''),
  }));
}
