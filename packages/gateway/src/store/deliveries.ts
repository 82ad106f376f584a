// What plugins hand over in a session, and how it went: the entry in the transcript, the files and the row of the ledger are
// one commit. A delivery waits until its channel has taken it; a button of it is pressed once, in the commit of what it does.
import { randomId } from '../kernel/ids.ts';
import { insertAttachment, type NewAttachment, cursorIn, type Quotas, requireRoom } from './attachments.ts';
import { appendAudit } from './audit.ts';
import { appendOnLeaf } from './entries.ts';
import { requireSwitchedOn } from './plugins.ts';
import { deliveryOf, type RunOrigin } from './run-origin.ts';
import type { RunRow } from './run-row.ts';
import { requireSession, type SessionRow } from './session-row.ts';
import { all, change, type Dialect, joinSql, one, type Operation, refuse, type Row, type Sql, sql } from './sql.ts';
import type { Delivery, DeliveryButton, DeliveryEdits, DeliveryRecord, EntryDraft } from '@tenon/protocol';

/** The limit `deliveriesWaiting` of the protocol: the writer's thread does without its schemas. */
const DELIVERIES_WAITING = 1_000;
/** Without a row: the page, the CLI and programs. */
const DEFAULT_ROUTE = { channel: 'webchat', to: 'webchat' };

export interface Route {
  readonly channel: string;
  readonly to: string;
}

export function* routeOf(args: { key: string }): Operation<Route> {
  const row = yield* one(sql`select channel, recipient from session_routes where session_key = ${args.key}`);
  return row ? { channel: row.channel as string, to: row.recipient as string } : DEFAULT_ROUTE;
}

/** Where the session's messages come from, and what is sent in it goes to. */
export function* setRoute(key: string, { channel, to }: Route, at: number): Operation<void> {
  yield* change(sql`
    insert into session_routes (session_key, channel, recipient, updated_at) values (${key}, ${channel}, ${to}, ${at})
    on conflict (session_key) do update set channel = excluded.channel, recipient = excluded.recipient, updated_at = excluded.updated_at`);
}

export interface NewDelivery {
  readonly key: string;
  readonly id: string;
  readonly pluginId: string;
  readonly pluginName: string;
  readonly route: Route;
  readonly requestKey?: string;
  readonly text?: string;
  readonly presentation?: Delivery['presentation'];
  /** `unseen`: why an image is not shown. */
  readonly files: readonly (NewAttachment & { readonly unseen?: 'pixels' })[];
  readonly quotas: Quotas;
  readonly at: number;
}

/** `known`: it was asked for before, under the same key. */
export function* createDelivery(args: NewDelivery, dialect: Dialect): Operation<{ record: DeliveryRecord; known: boolean }> {
  const { key, id, pluginId, route, text, presentation, files, at } = args;
  const session = yield* requireSession(key, dialect);
  yield* requireSwitchedOn(pluginId, dialect);
  const earlier =
    args.requestKey === undefined
      ? undefined
      : yield* one(sql`
          select * from deliveries where session_key = ${key} and plugin_id = ${pluginId} and request_key = ${args.requestKey}`);
  if (earlier) return { record: toRecord(earlier), known: true };
  const waiting = yield* one<{ n: number }>(sql`select count(*) as n from deliveries where state = 'waiting'`);
  if ((waiting?.n ?? 0) >= DELIVERIES_WAITING) refuse('TOO_LARGE', `${DELIVERIES_WAITING} deliveries wait for their channels already`);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (files.length > 0) yield* requireRoom(bytes, key, args.quotas);
  for (const file of files) yield* insertAttachment(file, key, at);
  const data: Delivery = {
    channel: route.channel,
    by: pluginId,
    byName: args.pluginName,
    ...(text === undefined ? {} : { text }),
    attachments: files.map(({ handle, name, mime, bytes: size, unseen }) => ({
      ...{ handle, name, mime, bytes: size },
      ...(unseen === undefined ? {} : { unseen }),
    })),
    ...(presentation === undefined ? {} : { presentation }),
  };
  const [entry] = yield* appendOnLeaf(session, [{ draft: { type: 'custom', customType: 'delivery', data } as EntryDraft }], at);
  const row = yield* one(sql`
    insert into deliveries (id, session_key, session_id, entry_id, plugin_id, channel, recipient, request_key, state, attempts, next_at,
      buttons, created_at)
    values (${id}, ${key}, ${session.session_id}, ${entry?.id ?? ''}, ${pluginId}, ${route.channel}, ${route.to}, ${args.requestKey ?? null},
      'waiting', 0, ${at}, ${JSON.stringify(presentation?.buttons ?? [])}, ${at})
    returning *`);
  const details = {
    sessionKey: key,
    channel: route.channel,
    to: route.to,
    files: files.length,
    bytes,
    buttons: presentation?.buttons?.length ?? 0,
  };
  yield* appendAudit({ actor: `plugin:${pluginId}`, action: 'deliveries.send', target: id, details, at }, dialect);
  return { record: toRecord(row as Row), known: false };
}

/** A turn has ended: what the agent said last goes to where the session came from, in the commit of the end, as the run says. */
export function* deliverAnswer(session: SessionRow, run: RunRow, at: number): Operation<void> {
  const known = yield* one(sql`select channel, recipient from session_routes where session_key = ${session.key}`);
  if (!known && run.origin !== 'schedule' && run.origin !== 'heartbeat') return;
  const answer = yield* one(sql`
    select id, body from entries where session_id = ${session.session_id} and run_id = ${run.run_id} and role = 'assistant' order by ord desc limit 1`);
  const text = answer ? textIn(answer.body as string) : '';
  if (!answer || text === '') return;
  const wish = deliveryOf(run.origin, JSON.parse(run.options) as RunOrigin, text);
  if (wish === 'never' || (wish === 'route' && !known)) return;
  const route = known ?? { channel: DEFAULT_ROUTE.channel, recipient: DEFAULT_ROUTE.to };
  yield* change(sql`
    insert into deliveries (id, session_key, session_id, entry_id, plugin_id, channel, recipient, state, attempts, next_at, buttons, created_at)
    values (${randomId()}, ${session.key}, ${session.session_id}, ${answer.id as string}, ${AGENT}, ${route.channel as string},
      ${route.recipient as string}, 'waiting', 0, ${at}, '[]', ${at})
    on conflict (session_id, entry_id) do nothing`);
}

/** Who sends what the agent says. */
export const AGENT = 'agent';

/** What it says now, for a channel. */
export function deliveryIn(row: Row): Delivery {
  const body = row.body as string;
  if (row.plugin_id !== AGENT) {
    const { data } = JSON.parse(body) as { data: Delivery };
    if (row.shown === null) return data;
    const { text: _text, presentation: _presentation, ...kept } = data;
    return { ...kept, ...(JSON.parse(row.shown as string) as Pick<Delivery, 'text' | 'presentation'>) };
  }
  return { channel: row.channel as string, by: AGENT, byName: 'Agent', text: textIn(body), attachments: [] };
}

function textIn(body: string): string {
  const { message } = JSON.parse(body) as { message?: { content: { type: string; text?: string }[] } };
  return (message?.content ?? []).map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('');
}

export interface WaitingDelivery {
  readonly record: DeliveryRecord;
  /** As it is now. */
  readonly delivery: Delivery;
  readonly pressed?: { readonly buttonId: string; readonly label: string; readonly text?: string };
}

export function toWaiting(row: Row): WaitingDelivery {
  const record = toRecord(row);
  const buttonId = record.pressed?.buttonId;
  if (buttonId === undefined) return { record, delivery: deliveryIn(row) };
  const said =
    row.pressed_said === null
      ? { label: labelOf(JSON.parse(row.buttons as string) as DeliveryButton[], buttonId) }
      : (JSON.parse(row.pressed_said as string) as { label: string; text?: string });
  return { record, delivery: deliveryIn(row), pressed: { buttonId, ...said } };
}

/** Those that are due, oldest first, with what they carry. `except`: channels of which nothing is wanted now. */
export function* dueDeliveries(args: DueWish): Operation<{ due: WaitingDelivery[]; nextAt?: number }> {
  const rows = yield* all(sql`
    select deliveries.*, entries.body as body from deliveries
    join entries on entries.session_id = deliveries.session_id and entries.id = deliveries.entry_id
    where state = 'waiting' and next_at <= ${args.at} and ${notOf(args.except)} order by next_at, deliveries.ord limit ${args.limit}`);
  const next = yield* one<{ at: number | null }>(sql`
    select min(next_at) as at from deliveries where state = 'waiting' and next_at > ${args.at}`);
  return {
    due: rows.map(toWaiting),
    ...(next?.at == null ? {} : { nextAt: next.at }),
  };
}

export interface DueWish {
  readonly at: number;
  readonly limit: number;
  readonly except?: readonly string[];
}

export function notOf(channels: readonly string[] = []): Sql {
  if (channels.length === 0) return sql`true`;
  const names = channels.map((channel) => sql`${channel}`);
  return sql`deliveries.channel not in (${joinSql(names, ', ')})`;
}

/** As it stands, with what it carries. */
export function* getDelivery(args: { id: string }): Operation<{ found?: WaitingDelivery }> {
  const row = yield* one(sql`
    select deliveries.*, entries.body as body from deliveries
    join entries on entries.session_id = deliveries.session_id and entries.id = deliveries.entry_id
    where deliveries.id = ${args.id}`);
  return row ? { found: toWaiting(row) } : {};
}

export interface AttemptOutcome {
  readonly id: string;
  /** Of what the channel was asked to take. */
  readonly revision: number;
  readonly attempt: number;
  readonly outcome: { readonly receipt: string } | { readonly reason: string; readonly nextAt?: number };
  readonly at: number;
}

/** How an attempt went. One that is settled already stays as it is. */
export function* settleDelivery(args: AttemptOutcome, dialect: Dialect): Operation<{ record?: DeliveryRecord }> {
  const { id, revision, attempt, outcome, at } = args;
  let row =
    'receipt' in outcome
      ? yield* one(sql`
          update deliveries set state = 'sent', attempts = ${attempt}, next_at = null, reason = null, receipt = ${outcome.receipt}
          where id = ${id} and state = 'waiting' returning *`)
      : yield* one(sql`
          update deliveries set state = ${outcome.nextAt === undefined ? 'failed' : 'waiting'}, attempts = ${attempt},
            next_at = ${outcome.nextAt ?? null}, reason = ${outcome.reason}
          where id = ${id} and state = 'waiting' returning *`);
  // What it became meanwhile went with it, or there is nothing to change; otherwise the channel is asked next.
  if (row?.edit_state === 'waiting' && (row.state === 'failed' || (row.state === 'sent' && (row.revision as number) <= revision)))
    row = yield* one(sql`
      update deliveries set edit_state = ${row.state === 'failed' ? 'none' : 'done'}, edit_next_at = null where id = ${id} returning *`);
  if (row?.state === 'failed') {
    const details = { channel: row.channel as string, reason: row.reason as string, attempts: attempt };
    yield* appendAudit({ actor: 'gateway', action: 'deliveries.failed', target: id, details, at }, dialect);
    // Who reads the conversation sees that this did not arrive.
    const session = yield* requireSession(row.session_key as string, dialect);
    const data = { ...details, entryId: row.entry_id as string };
    if (session.session_id === row.session_id)
      yield* appendOnLeaf(session, [{ draft: { type: 'custom', customType: 'delivery_failed', data } }], at);
  }
  return row ? { record: toRecord(row) } : {};
}

export function* listDeliveries(args: {
  sessionKey?: string;
  limit: number;
  cursor?: string;
}): Operation<{ deliveries: DeliveryRecord[]; nextCursor?: string }> {
  const before = args.cursor === undefined ? Number.MAX_SAFE_INTEGER : cursorIn(args.cursor, 'deliveries.list');
  const where = args.sessionKey === undefined ? sql`` : sql`session_key = ${args.sessionKey} and`;
  const rows = yield* all(sql`select * from deliveries where ${where} ord < ${before} order by ord desc limit ${args.limit + 1}`);
  const page = rows.slice(0, args.limit);
  return { deliveries: page.map(toRecord), ...(rows.length > args.limit ? { nextCursor: String(page.at(-1)?.ord) } : {}) };
}

export interface Trouble {
  readonly channel: string;
  readonly state: string;
  readonly count: number;
  readonly reason: string;
  /** It was sent, and the channel does not show what became of it. */
  readonly isEdit?: true;
}

/** Those that a channel has not taken, or not changed: of each channel how many, and why the latest. */
export function* countTroubled(_: object): Operation<{ troubled: Trouble[] }> {
  const rows = yield* all(sql`
    select channel, state, count(*) as n, max(ord) as latest from deliveries
    where state = 'failed' or (state = 'waiting' and attempts > 0) group by channel, state order by channel, state`);
  const troubled: Trouble[] = [];
  for (const row of rows) {
    const latest = yield* one(sql`select reason from deliveries where ord = ${row.latest as number}`);
    troubled.push({
      channel: row.channel as string,
      state: row.state as string,
      count: row.n as number,
      reason: (latest?.reason as string | null | undefined) ?? '',
    });
  }
  const edits = yield* all(sql`
    select channel, edit_state, count(*) as n, max(ord) as latest from deliveries
    where edit_state = 'failed' or (edit_state = 'waiting' and edit_attempts > 0) group by channel, edit_state order by channel, edit_state`);
  for (const { channel, edit_state: state, n, latest } of edits) {
    const row = yield* one(sql`select edit_reason from deliveries where ord = ${latest as number}`);
    const reason = (row?.edit_reason as string | null | undefined) ?? '';
    troubled.push({ channel: channel as string, state: state as string, count: n as number, reason, isEdit: true });
  }
  return { troubled };
}

export interface OpenButton {
  readonly pluginId: string;
  readonly channel: string;
  readonly button: DeliveryButton;
}

/** The button, if it can still be pressed. */
export function* findButton(args: { key: string; entryId: string; buttonId: string }): Operation<OpenButton> {
  const row = yield* one(sql`
    select deliveries.* from deliveries join sessions on sessions.session_id = deliveries.session_id
    where sessions.key = ${args.key} and entry_id = ${args.entryId}`);
  return openButton(row, args.entryId, args.buttonId);
}

function openButton(row: Row | undefined, entryId: string, buttonId: string): OpenButton {
  if (!row) refuse('NOT_FOUND', `Cannot find a delivery in entry "${entryId}"`, { code: 'NO_DELIVERY', entryId });
  const buttons = JSON.parse(row.buttons as string) as DeliveryButton[];
  const button = buttons.find(({ id }) => id === buttonId);
  if (!button) refuse('NOT_FOUND', `The delivery in entry "${entryId}" has no button "${buttonId}"`, { code: 'NO_BUTTON', entryId });
  if (row.pressed_button !== null)
    refuse('GONE', `A button of this delivery was pressed already: "${labelOf(buttons, row.pressed_button as string)}"`, {
      code: 'ALREADY_PRESSED',
      buttonId: row.pressed_button as string,
      at: row.pressed_at as number,
    });
  return { pluginId: row.plugin_id as string, channel: row.channel as string, button };
}

function labelOf(buttons: readonly DeliveryButton[], id: string): string {
  return buttons.find((button) => button.id === id)?.label ?? id;
}

export interface Press {
  readonly entryId: string;
  readonly buttonId: string;
  readonly by: string;
  /** What the plugin said to it. */
  readonly text?: string;
}

/** In a session that is locked: it was pressed, and nobody presses another one. Gives what the transcript says of it. */
export function* pressIn(session: SessionRow, press: Press, at: number, dialect: Dialect): Operation<EntryDraft> {
  const { entryId, buttonId, by, text } = press;
  const lock = dialect === 'sqlite' ? sql`` : sql`for update`;
  const row = yield* one(sql`select * from deliveries where session_id = ${session.session_id} and entry_id = ${entryId} ${lock}`);
  const { pluginId, button } = openButton(row, entryId, buttonId);
  const shown = { label: button.label, ...(text === undefined ? {} : { text }) };
  const isLost = row?.state === 'failed';
  // Its channel still shows the buttons: that it is told of the press is wished for in the same commit.
  yield* change(sql`
    update deliveries set pressed_button = ${buttonId}, pressed_by = ${by}, pressed_at = ${at}, pressed_said = ${JSON.stringify(shown)},
      revision = revision + 1, edit_state = ${isLost ? 'none' : 'waiting'}, edit_attempts = 0, edit_next_at = ${isLost ? null : at}, edit_reason = null
    where session_id = ${session.session_id} and entry_id = ${entryId}`);
  const data = { entryId, buttonId, label: button.label, pluginId, ...(text === undefined ? {} : { text }) };
  yield* appendAudit(
    { actor: by, action: 'deliveries.press', target: entryId, details: { buttonId, pluginId, sessionKey: session.key }, at },
    dialect,
  );
  return { type: 'custom', customType: 'delivery_pressed', data };
}

/** For a press that the plugin was told of, and that changes nothing else. */
export function* recordPress<Answer>(args: { key: string; press: Press; answer: Answer; at: number }, dialect: Dialect): Operation<Answer> {
  const session = yield* requireSession(args.key, dialect);
  const draft = yield* pressIn(session, args.press, args.at, dialect);
  yield* appendOnLeaf(session, [{ draft }], args.at);
  return args.answer;
}

/** The session begins anew or ends: what it was sent is of no use any more. */
export function* dropDeliveries(sessionKey: string): Operation<void> {
  yield* change(sql`delete from deliveries where session_key = ${sessionKey}`);
}

const STEP = 2_000;

/** Those that are settled and have no button that could still be pressed. */
export function* sweepDeliveries(before: number): Operation<number> {
  return yield* change(sql`
    delete from deliveries where ord in (
      select ord from deliveries where created_at < ${before} and state <> 'waiting' and (buttons = '[]' or pressed_button is not null)
        and (edit_state is null or edit_state <> 'waiting')
      order by created_at limit ${STEP})`);
}

export function toRecord(row: Row): DeliveryRecord {
  return {
    id: row.id as string,
    sessionKey: row.session_key as string,
    entryId: row.entry_id as string,
    channel: row.channel as string,
    to: row.recipient as string,
    by: row.plugin_id as string,
    state: row.state as DeliveryRecord['state'],
    attempts: row.attempts as number,
    ...(row.next_at === null ? {} : { nextAt: row.next_at as number }),
    ...(row.reason === null ? {} : { reason: row.reason as string }),
    ...(row.receipt === null ? {} : { receipt: row.receipt as string }),
    ...(row.pressed_button === null
      ? {}
      : { pressed: { buttonId: row.pressed_button as string, by: row.pressed_by as string, at: row.pressed_at as number } }),
    ...(row.edit_state === null ? {} : { edits: toEdits(row) }),
    createdAt: row.created_at as number,
  };
}

function toEdits(row: Row): DeliveryEdits {
  return {
    state: row.edit_state as DeliveryEdits['state'],
    revision: row.revision as number,
    attempts: row.edit_attempts as number,
    ...(row.edit_next_at === null ? {} : { nextAt: row.edit_next_at as number }),
    ...(row.edit_reason === null ? {} : { reason: row.edit_reason as string }),
  };
}
