// Questions of extensions to the people who watch a session. One is a row before anybody sees it, and stays one after it is
// settled: by the first answer, by time, or because nobody waits for it any more. The text of an `input` is not kept, because it
// may be a secret.
import { appendAudit } from './audit.ts';
import { type Press, pressIn } from './deliveries.ts';
import { appendOnLeaf } from './entries.ts';
import { lockSession, requireSession } from './session-row.ts';
import { all, change, type Dialect, emit, one, type Operation, refuse, type Row, sql, type Sql } from './sql.ts';
import type { UiQuestion, UiReply } from '@tenon/protocol';

/** The limits `uiPending` of the gateway and of the extension protocol: the writer's thread does without their schemas. */
const PENDING_IN_SESSION = 256;
const PENDING_OF_ONE = 16;

type Asked = Pick<UiQuestion, 'prompt' | 'options' | 'default'>;

export interface NewQuestion {
  readonly key: string;
  readonly id: string;
  readonly extension: string;
  readonly via?: string;
  readonly kind: UiQuestion['kind'];
  readonly asked: Asked;
  readonly expiresAt: number;
  readonly at: number;
  /** The operator has said before that it is a yes. */
  readonly confirmedBy?: string;
}

export function* askPeople(args: NewQuestion, dialect: Dialect): Operation<{ question: UiQuestion }> {
  const { key, id, extension, via = null, kind, asked, expiresAt, at, confirmedBy } = args;
  yield* requireSession(key, dialect);
  const values = sql`${id}, ${key}, ${extension}, ${via}, ${kind}, ${JSON.stringify(asked)}, ${at}, ${expiresAt}`;
  if (confirmedBy !== undefined) {
    const row = yield* one(sql`
      insert into ui_questions (id, session_key, extension, via, kind, asked, created_at, expires_at, state, answer, answered_by, settled_at)
      values (${values}, 'answered', '{"confirmed":true}', ${confirmedBy}, ${at}) returning *`);
    const details = { extension, sessionKey: key, prompt: asked.prompt.slice(0, 512) };
    yield* appendAudit({ actor: confirmedBy, action: 'ui.autoConfirm', target: id, details, at }, dialect);
    return { question: toQuestion(row as Row) };
  }
  yield* checkNumber(key, extension, via);
  const row = yield* one(sql`
    insert into ui_questions (id, session_key, extension, via, kind, asked, created_at, expires_at, state) values (${values}, 'pending')
    returning *`);
  const question = toQuestion(row as Row);
  yield* emit('ui.requested', question, at, key);
  return { question };
}

function* checkNumber(key: string, extension: string, via: string | null): Operation<void> {
  const here = yield* one<{ n: number }>(sql`select count(*) as n from ui_questions where state = 'pending' and session_key = ${key}`);
  if (Number(here?.n) >= PENDING_IN_SESSION)
    refuse('TOO_LARGE', `${PENDING_IN_SESSION} questions of extensions wait in session "${key}" already`);
  const whose = via === null ? sql`extension = ${extension} and via is null` : sql`via = ${via}`;
  const own = yield* one<{ n: number }>(sql`select count(*) as n from ui_questions where state = 'pending' and ${whose}`);
  if (Number(own?.n) >= PENDING_OF_ONE)
    refuse('TOO_LARGE', `${PENDING_OF_ONE} questions of ${via === null ? `extension "${extension}"` : 'this credential'} wait already`);
}

/** The first answer counts. `boundTo`: of this session alone. */
export function* answerQuestion(
  args: { id: string; reply: UiReply; by: string; boundTo?: string; at: number },
  dialect: Dialect,
): Operation<{ question: UiQuestion }> {
  const { id, reply, by, boundTo, at } = args;
  const found = (yield* one(sql`select * from ui_questions where id = ${id}`)) ?? noQuestion(id);
  if (boundTo !== undefined && found.session_key !== boundTo) noQuestion(id);
  yield* lockSession(found.session_key as string, dialect);
  const question = toQuestion(
    dialect === 'sqlite' ? found : ((yield* one(sql`select * from ui_questions where id = ${id} for update`)) ?? noQuestion(id)),
  );
  const { state, answeredBy, expiresAt } = question;
  if (state !== 'pending')
    refuse('GONE', `Question "${id}" is settled already: ${state}`, {
      code: 'ALREADY_ANSWERED',
      state,
      ...(answeredBy === undefined ? {} : { answeredBy }),
    });
  // A refusal changes nothing: `ui.settle` makes it expired.
  if (expiresAt <= at) refuse('GONE', `Question "${id}" has expired`, { code: 'EXPIRED', expiresAt });
  const wrong = wrongReply(question, reply);
  if (wrong !== undefined) refuse('INVALID_REQUEST', `Question "${id}" ${wrong}`, { code: 'WRONG_REPLY', kind: question.kind });
  if ('cancelled' in reply) {
    const row = yield* settle(sql`id = ${id}`, { state: 'cancelled', reason: 'it was put away', by, at });
    return { question: toQuestion(row[0] as Row) };
  }
  const kept = 'text' in reply ? null : JSON.stringify(reply);
  const [row] = yield* settle(sql`id = ${id}`, { state: 'answered', by, at }, kept);
  return { question: toQuestion(row as Row) };
}

/** A button of a channel answers it: both, or neither. */
export function* pressAnswer<Answer>(
  args: { key: string; press: Press; id: string; reply: UiReply; answer: Answer; at: number },
  dialect: Dialect,
): Operation<Answer> {
  const { key, press, id, reply, at } = args;
  const session = yield* requireSession(key, dialect);
  const draft = yield* pressIn(session, press, at, dialect);
  yield* answerQuestion({ id, reply, by: press.by, boundTo: key, at }, dialect);
  yield* appendOnLeaf(session, [{ draft }], at);
  return args.answer;
}

function wrongReply({ kind, options = [] }: UiQuestion, reply: UiReply): string | undefined {
  if ('cancelled' in reply) return undefined;
  if (kind === 'confirm') return 'confirmed' in reply ? undefined : 'takes {confirmed: true} or {confirmed: false}';
  if (kind === 'input') return 'text' in reply ? undefined : 'takes {text}';
  return 'value' in reply && options.includes(reply.value) ? undefined : 'takes {value}, one of its options';
}

/** Which of those that wait: one, those of an extension of this gateway, or all. */
export type Waiting = { readonly id: string } | { readonly extension: string } | { readonly all: true };

/** Nobody waits for the answer any more, or nobody gave one in time. */
export function* settleQuestions(
  args: { which: Waiting; state: 'cancelled' | 'expired'; reason: string; at: number },
  dialect: Dialect,
): Operation<{ settled: number }> {
  const { which, state, reason, at } = args;
  const where =
    'id' in which ? sql`id = ${which.id}` : 'extension' in which ? sql`extension = ${which.extension} and via is null` : sql`ord > 0`;
  const rows = yield* all<{ session_key: string }>(sql`
    select distinct session_key from ui_questions where state = 'pending' and ${where} order by session_key`);
  for (const { session_key } of rows) yield* lockSession(session_key, dialect);
  const settled = rows.length === 0 ? [] : yield* settle(where, { state, reason, at });
  return { settled: settled.length };
}

/** The session begins anew or ends. The caller has locked it. */
export function* dropQuestions(sessionKey: string, at: number, how: 'reset' | 'delete'): Operation<void> {
  yield* settle(sql`session_key = ${sessionKey}`, {
    state: 'cancelled',
    reason: `the session was ${how === 'reset' ? 'reset' : 'deleted'}`,
    at,
  });
  if (how === 'delete') yield* change(sql`delete from ui_questions where session_key = ${sessionKey}`);
}

interface Settled {
  readonly state: Exclude<UiQuestion['state'], 'pending'>;
  readonly reason?: string;
  readonly by?: string;
  readonly at: number;
}

function* settle(which: Sql, { state, reason, by, at }: Settled, answer: string | null = null): Operation<Row[]> {
  const rows = yield* all<Row & { ord: number }>(sql`
    update ui_questions set state = ${state}, reason = ${reason ?? null}, answer = ${answer}, answered_by = ${by ?? null}, settled_at = ${at}
    where state = 'pending' and ${which} returning *`);
  rows.sort((a, b) => a.ord - b.ord);
  for (const row of rows) {
    const { sessionKey, id, extension } = toQuestion(row);
    const more = { ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { answeredBy: by }) };
    yield* emit('ui.resolved', { sessionKey, id, extension, state, ...more }, at, sessionKey);
  }
  return rows;
}

export function* listQuestions(args: { key?: string; limit: number }): Operation<{ questions: UiQuestion[] }> {
  const ofSession = args.key === undefined ? sql`` : sql`and session_key = ${args.key}`;
  const rows = yield* all(sql`select * from ui_questions where state = 'pending' ${ofSession} order by ord limit ${args.limit}`);
  return { questions: rows.map(toQuestion) };
}

export function* getQuestion(args: { id: string }): Operation<{ question?: UiQuestion }> {
  const row = yield* one(sql`select * from ui_questions where id = ${args.id}`);
  return row ? { question: toQuestion(row) } : {};
}

const STEP = 2_000;

export function* sweepQuestions(before: number): Operation<number> {
  return yield* change(sql`
    delete from ui_questions where ord in (
      select ord from ui_questions where state <> 'pending' and settled_at < ${before} order by settled_at limit ${STEP})`);
}

function noQuestion(id: string): never {
  refuse('NOT_FOUND', `Cannot find question "${id}"`);
}

function toQuestion(row: Row): UiQuestion {
  return {
    id: row.id as string,
    sessionKey: row.session_key as string,
    extension: row.extension as string,
    ...(row.via === null ? {} : { via: row.via as string }),
    kind: row.kind as UiQuestion['kind'],
    ...(JSON.parse(row.asked as string) as Asked),
    state: row.state as UiQuestion['state'],
    ...(row.reason === null ? {} : { reason: row.reason as string }),
    ...(row.answer === null ? {} : { answer: JSON.parse(row.answer as string) as NonNullable<UiQuestion['answer']> }),
    ...(row.answered_by === null ? {} : { answeredBy: row.answered_by as string }),
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
    ...(row.settled_at === null ? {} : { settledAt: row.settled_at as number }),
  };
}
