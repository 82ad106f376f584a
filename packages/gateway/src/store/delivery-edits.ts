// What becomes of a delivery after it was made: what it says now, with the entry that tells clients, in one commit with the wish
// that its channel shows it, too. Only the newest state counts: a change that comes before the channel was asked takes its place.
import { isDeepStrictEqual } from 'node:util';
import { appendAudit } from './audit.ts';
import { type AttemptOutcome, deliveryIn, type DueWish, notOf, toRecord, toWaiting, type WaitingDelivery } from './deliveries.ts';
import { appendOnLeaf } from './entries.ts';
import { requireSwitchedOn } from './plugins.ts';
import { requireSession } from './session-row.ts';
import { all, type Dialect, one, type Operation, refuse, type Row, sql } from './sql.ts';
import type { Delivery, DeliveryEdited, DeliveryRecord, EntryDraft } from '@tenon/protocol';

/** The limits `deliveryEdits` and `deliveriesWaiting` of the protocol: the writer's thread does without its schemas. */
const DELIVERY_EDITS = 100;
const EDITS_WAITING = 1_000;

export interface DeliveryChange {
  readonly key: string;
  readonly id: string;
  readonly pluginId: string;
  /** Without it, as it is; null: none. */
  readonly text?: string | null;
  readonly presentation?: Delivery['presentation'] | null;
  readonly at: number;
}

/** For the plugin that made it, in the session that it was made in. */
export function* ownDelivery(args: { key: string; id: string; pluginId: string }): Operation<WaitingDelivery> {
  const { key, id, pluginId } = args;
  return toWaiting(requireOwn(yield* find(key, id), id, pluginId));
}

/** `changed`: false where it says so already. */
export function* updateDelivery(args: DeliveryChange, dialect: Dialect): Operation<{ record: DeliveryRecord; changed: boolean }> {
  const { key, id, pluginId, at } = args;
  const session = yield* requireSession(key, dialect);
  yield* requireSwitchedOn(pluginId, dialect);
  const row = requireOwn(yield* find(key, id, dialect), id, pluginId);
  const { by, byName, text, presentation, attachments } = deliveryIn(row);
  const said = args.text === undefined ? text : (args.text ?? undefined);
  const laidOut = args.presentation === undefined ? presentation : (args.presentation ?? undefined);
  const next = { ...(said === undefined ? {} : { text: said }), ...(laidOut === undefined ? {} : { presentation: laidOut }) };
  if (said === undefined && laidOut === undefined && attachments.length === 0)
    refuse('INVALID_REQUEST', 'Nothing would be left of the delivery: it needs at least one of files, text and presentation');
  const revision = (row.revision as number) + 1;
  if (isDeepStrictEqual({ text: said, presentation: laidOut }, { text, presentation })) return { record: toRecord(row), changed: false };
  if (revision > DELIVERY_EDITS) refuse('TOO_LARGE', `The delivery was changed ${DELIVERY_EDITS} times; send another one`);
  const waiting = yield* one<{ n: number }>(sql`select count(*) as n from deliveries where edit_state = 'waiting'`);
  if ((waiting?.n ?? 0) >= EDITS_WAITING) refuse('TOO_LARGE', `${EDITS_WAITING} deliveries wait to be changed in their channels already`);
  const data: DeliveryEdited = { entryId: row.entry_id as string, by, byName, revision, ...next };
  yield* appendOnLeaf(session, [{ draft: { type: 'custom', customType: 'delivery_edited', data } as EntryDraft }], at);
  const changed = yield* one(sql`
    update deliveries set shown = ${JSON.stringify(next)}, buttons = ${JSON.stringify(laidOut?.buttons ?? [])}, revision = ${revision},
      edit_state = 'waiting', edit_attempts = 0, edit_next_at = ${at}, edit_reason = null
    where id = ${id} returning *`);
  const details = { sessionKey: key, channel: row.channel as string, revision, buttons: laidOut?.buttons?.length ?? 0 };
  yield* appendAudit({ actor: `plugin:${pluginId}`, action: 'deliveries.update', target: id, details, at }, dialect);
  return { record: toRecord(changed as Row), changed: true };
}

function* find(key: string, id: string, dialect: Dialect = 'sqlite'): Operation<Row | undefined> {
  const lock = dialect === 'sqlite' ? sql`` : sql`for update of deliveries`;
  return yield* one(sql`
    select deliveries.*, entries.body as body from deliveries
    join entries on entries.session_id = deliveries.session_id and entries.id = deliveries.entry_id
    where deliveries.id = ${id} and deliveries.session_key = ${key} ${lock}`);
}

function requireOwn(row: Row | undefined, id: string, pluginId: string): Row {
  if (!row)
    refuse('INVALID_REQUEST', `There is no delivery "${id}" in this session, or it was settled long ago`, { code: 'NO_DELIVERY', id });
  if (row.plugin_id !== pluginId)
    refuse('INVALID_REQUEST', `Plugin ${pluginId} has not sent the delivery "${id}"`, { code: 'NOT_OWN', id });
  if (row.state === 'failed')
    refuse('GONE', `The delivery "${id}" could not be sent: there is nothing to change`, { code: 'NOT_SENT', id });
  return row;
}

/** Those whose channel is to be asked, oldest wish first. */
export function* dueEdits(args: DueWish): Operation<{ due: DeliveryRecord[]; nextAt?: number }> {
  const rows = yield* all(sql`
    select * from deliveries where edit_state = 'waiting' and state = 'sent' and edit_next_at <= ${args.at} and ${notOf(args.except)}
    order by edit_next_at, ord limit ${args.limit}`);
  const next = yield* one<{ at: number | null }>(sql`
    select min(edit_next_at) as at from deliveries where edit_state = 'waiting' and state = 'sent' and edit_next_at > ${args.at}`);
  return { due: rows.map(toRecord), ...(next?.at == null ? {} : { nextAt: next.at }) };
}

/** How an attempt went; `none`: the channel cannot. What was changed meanwhile still waits, and so does not settle. */
export function* settleEdit(
  args: Omit<AttemptOutcome, 'outcome'> & { outcome: AttemptOutcome['outcome'] | 'none' },
  dialect: Dialect,
): Operation<{ record?: DeliveryRecord }> {
  const { id, revision, attempt, outcome, at } = args;
  const receipt = typeof outcome === 'object' && 'receipt' in outcome ? outcome.receipt : undefined;
  if (receipt !== undefined) yield* one(sql`update deliveries set receipt = ${receipt} where id = ${id} and state = 'sent' returning id`);
  const { reason = null, nextAt = null } = typeof outcome === 'object' && 'reason' in outcome ? outcome : {};
  const state = receipt !== undefined ? 'done' : outcome === 'none' ? 'none' : nextAt === null ? 'failed' : 'waiting';
  const row = yield* one(sql`
    update deliveries set edit_state = ${state}, edit_attempts = ${attempt}, edit_next_at = ${nextAt}, edit_reason = ${reason}
    where id = ${id} and edit_state = 'waiting' and revision = ${revision} returning *`);
  if (row?.edit_state === 'failed') {
    const details = { channel: row.channel as string, reason: row.edit_reason as string, attempts: attempt, revision };
    yield* appendAudit({ actor: 'gateway', action: 'deliveries.edit-failed', target: id, details, at }, dialect);
  }
  const now = row ?? (yield* one(sql`select * from deliveries where id = ${id}`));
  return now ? { record: toRecord(now) } : {};
}
