// Which files are kept, for whom, and under which handle. The bytes lie in the home folder (attachment-files.ts), whole before
// a row says so; a file that no row needs any more is named as garbage in the commit that made it so.
import { appendAudit } from './audit.ts';
import { all, change, type Dialect, joinSql, one, type Operation, refuse, type Row, sql } from './sql.ts';
import type { Attachment } from '@tenon/protocol';

export interface Quotas {
  readonly sessionBytes: number;
  readonly totalBytes: number;
}

export interface NewAttachment {
  readonly handle: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly mime: string;
  readonly name: string;
  readonly owner: string;
}

export interface Upload {
  readonly uploadId: string;
  readonly name: string;
  readonly bytes: number;
  readonly sessionKey?: string;
  readonly owner: string;
  readonly expiresAt: number;
}

export interface UploadBounds {
  readonly open: number;
  readonly openPerOwner: number;
}

export function* beginUpload(args: Upload & { bounds: UploadBounds; quotas: Quotas; at: number }): Operation<Upload> {
  const { bounds, quotas, at, ...upload } = args;
  const counted = yield* one<{ n: number; own: number; bytes: number }>(sql`
    select count(*) as n, cast(coalesce(sum(case when owner = ${upload.owner} then 1 else 0 end), 0) as bigint) as own,
      cast(coalesce(sum(bytes), 0) as bigint) as bytes
    from uploads where expires_at > ${at}`);
  if ((counted?.own ?? 0) >= bounds.openPerOwner) tooManyUploads(bounds.openPerOwner);
  if ((counted?.n ?? 0) >= bounds.open) tooManyUploads(bounds.open);
  yield* requireRoom(upload.bytes, upload.sessionKey, { ...quotas, totalBytes: quotas.totalBytes - (counted?.bytes ?? 0) });
  yield* change(sql`
    insert into uploads (upload_id, name, bytes, session_key, owner, created_at, expires_at)
    values (${upload.uploadId}, ${upload.name}, ${upload.bytes}, ${upload.sessionKey ?? null}, ${upload.owner}, ${at}, ${upload.expiresAt})`);
  return upload;
}

function tooManyUploads(most: number): never {
  refuse('CONFLICT', `${most} uploads are under way already; commit or abort one`, { code: 'TOO_MANY_UPLOADS' });
}

export function* getUpload(args: { uploadId: string; at: number }): Operation<{ upload?: Upload; kept?: Attachment }> {
  const row = yield* one(sql`select * from uploads where upload_id = ${args.uploadId} and expires_at > ${args.at}`);
  if (row) return { upload: toUpload(row) };
  const kept = yield* one(sql`select * from attachments where upload_id = ${args.uploadId}`);
  return kept ? { kept: toAttachment(kept) } : {};
}

export function* abortUpload(args: { uploadId: string }): Operation<{ uploadId: string; aborted: boolean }> {
  const removed = yield* change(sql`delete from uploads where upload_id = ${args.uploadId}`);
  return { uploadId: args.uploadId, aborted: removed > 0 };
}

/** The upload becomes an attachment; its file is whole and in its place. */
export function* commitUpload(
  args: NewAttachment & { uploadId: string; quotas: Quotas; at: number },
): Operation<{ attachment: Attachment }> {
  const { uploadId, quotas, at, ...made } = args;
  const upload = yield* one(sql`delete from uploads where upload_id = ${uploadId} and expires_at > ${at} returning *`);
  if (!upload) {
    const kept = yield* one(sql`select * from attachments where upload_id = ${uploadId}`);
    return { attachment: toAttachment(kept ?? noUpload(uploadId)) };
  }
  // Of a session that is not there yet it is, like others, once a message names it; until then it goes as those do.
  const session = yield* one<{ key: string }>(sql`select key from sessions where key = ${upload.session_key as string | null}`);
  const sessionKey = session?.key ?? null;
  yield* requireRoom(made.bytes, sessionKey ?? undefined, quotas);
  return { attachment: yield* insertAttachment(made, sessionKey, at, uploadId) };
}

export function noUpload(uploadId: string): never {
  refuse('NOT_FOUND', `Cannot find upload "${uploadId}"; it may have expired: begin anew`, { code: 'NO_UPLOAD' });
}

export function* insertAttachment(
  made: NewAttachment,
  sessionKey: string | null,
  at: number,
  uploadId: string | null = null,
): Operation<Attachment> {
  const row = yield* one(sql`
    insert into attachments (handle, sha256, bytes, mime, name, session_key, owner, upload_id, created_at)
    values (${made.handle}, ${made.sha256}, ${made.bytes}, ${made.mime}, ${made.name}, ${sessionKey}, ${made.owner}, ${uploadId}, ${at})
    returning *`);
  yield* change(sql`delete from attachment_garbage where sha256 = ${made.sha256}`);
  return toAttachment(row as Row);
}

/** Refuses what would take more room than there is. */
export function* requireRoom(bytes: number, sessionKey: string | undefined, quotas: Quotas): Operation<void> {
  if (sessionKey !== undefined) {
    const { bytes: used } = yield* usageOf(sessionKey);
    if (used + bytes > quotas.sessionBytes) noRoom(`The attachments of session "${sessionKey}" may take`, used, quotas.sessionBytes);
  }
  const { bytes: used } = yield* usageOf();
  if (used + bytes > quotas.totalBytes) noRoom('All attachments may take', used, quotas.totalBytes);
}

function noRoom(what: string, used: number, most: number): never {
  refuse('TOO_LARGE', `${what} ${most} bytes and take ${used} already; remove some, or raise the setting`, {
    code: 'QUOTA',
    usedBytes: used,
    maxBytes: most,
  });
}

function* usageOf(sessionKey?: string): Operation<{ count: number; bytes: number }> {
  const where = sessionKey === undefined ? sql`` : sql`where session_key = ${sessionKey}`;
  const row = yield* one<{ n: number; bytes: number }>(sql`
    select count(*) as n, cast(coalesce(sum(bytes), 0) as bigint) as bytes from attachments ${where}`);
  return { count: row?.n ?? 0, bytes: row?.bytes ?? 0 };
}

/** They belong to this session from now on. One of another session is refused as if it were not there. */
export function* bindAttachments(handles: readonly string[], key: string, quotas: Quotas): Operation<void> {
  for (const handle of handles) {
    const row = yield* one(sql`select * from attachments where handle = ${handle}`);
    if (!row || (row.session_key !== null && row.session_key !== key)) noAttachment(handle);
    if (row.session_key === key) continue;
    yield* requireRoom(row.bytes as number, key, { ...quotas, totalBytes: Number.MAX_SAFE_INTEGER });
    yield* change(sql`update attachments set session_key = ${key} where handle = ${handle}`);
  }
}

export function noAttachment(handle: string): never {
  refuse('NOT_FOUND', `Cannot find attachment "${handle}"`, { code: 'NO_ATTACHMENT' });
}

export function* getAttachment(args: { handle: string }): Operation<{ attachment: Attachment }> {
  const row = yield* one(sql`select * from attachments where handle = ${args.handle}`);
  return { attachment: toAttachment(row ?? noAttachment(args.handle)) };
}

export function* listAttachments(args: {
  sessionKey?: string;
  limit: number;
  cursor?: string;
}): Operation<{ attachments: Attachment[]; nextCursor?: string; used: { count: number; bytes: number } }> {
  const before = args.cursor === undefined ? Number.MAX_SAFE_INTEGER : cursorIn(args.cursor, 'attachments.list');
  const where = args.sessionKey === undefined ? sql`` : sql`session_key = ${args.sessionKey} and`;
  const rows = yield* all(sql`select * from attachments where ${where} ord < ${before} order by ord desc limit ${args.limit + 1}`);
  const page = rows.slice(0, args.limit);
  return {
    attachments: page.map(toAttachment),
    ...(rows.length > args.limit ? { nextCursor: String(page.at(-1)?.ord) } : {}),
    used: yield* usageOf(args.sessionKey),
  };
}

export function cursorIn(cursor: string, method: string): number {
  if (!/^[0-9]{1,15}$/.test(cursor)) refuse('INVALID_REQUEST', `params/cursor is not one that ${method} gave`);
  return Number(cursor);
}

export function* removeAttachment(
  args: { handle: string; by: string; at: number },
  dialect: Dialect,
): Operation<{ handle: string; removed: true }> {
  const row = yield* one(sql`delete from attachments where handle = ${args.handle} returning *`);
  if (!row) noAttachment(args.handle);
  yield* nameGarbage([row]);
  const details = { name: row.name as string, bytes: row.bytes as number, sessionKey: row.session_key as string | null };
  yield* appendAudit({ actor: args.by, action: 'attachments.remove', target: args.handle, details, at: args.at }, dialect);
  return { handle: args.handle, removed: true };
}

/** The session is deleted: its files go with it. */
export function* removeAttachmentsOf(sessionKey: string): Operation<void> {
  yield* nameGarbage(yield* all(sql`delete from attachments where session_key = ${sessionKey} returning sha256`));
  // Expired, so that what has arrived of them is removed with them.
  yield* change(sql`update uploads set expires_at = 0 where session_key = ${sessionKey}`);
}

function* nameGarbage(rows: readonly Row[]): Operation<void> {
  for (const digest of new Set(rows.map((row) => row.sha256 as string))) {
    yield* change(sql`insert into attachment_garbage (sha256) values (${digest}) on conflict (sha256) do nothing`);
  }
}

const STEP = 500;

/** Uploads that nobody went on with, and files that were said nowhere for too long. */
export function* expireAttachments(args: {
  at: number;
  unusedMs: number;
}): Operation<{ uploadIds: string[]; removed: number; more: boolean }> {
  const uploads = yield* all<{ upload_id: string }>(sql`delete from uploads where expires_at <= ${args.at} returning upload_id`);
  const rows = yield* all(sql`
    delete from attachments where ord in (
      select ord from attachments where session_key is null and created_at <= ${args.at - args.unusedMs} order by created_at limit ${STEP})
    returning sha256`);
  yield* nameGarbage(rows);
  return { uploadIds: uploads.map(({ upload_id }) => upload_id), removed: rows.length, more: rows.length === STEP };
}

export function* listGarbage(_: object): Operation<{ digests: string[] }> {
  const rows = yield* all<{ sha256: string }>(sql`select sha256 from attachment_garbage limit ${STEP}`);
  return { digests: rows.map(({ sha256 }) => sha256) };
}

/** Which of these files rows need. */
export function* knownDigests(args: { digests: readonly string[] }): Operation<{ digests: string[] }> {
  if (args.digests.length === 0) return { digests: [] };
  const wanted = joinSql(
    args.digests.map((digest) => sql`${digest}`),
    ', ',
  );
  const rows = yield* all<{ sha256: string }>(sql`select distinct sha256 from attachments where sha256 in (${wanted})`);
  return { digests: rows.map(({ sha256 }) => sha256) };
}

export interface NeededFile {
  readonly sha256: string;
  readonly bytes: number;
  /** As one of its rows has it. */
  readonly name: string;
  readonly sessionKey?: string;
}

/** Each file that rows need, once, in the order of their digests. */
export function* listNeeded(args: { after: string; limit: number }): Operation<{ files: NeededFile[] }> {
  const rows = yield* all(sql`
    select sha256, max(bytes) as bytes, min(name) as name, min(session_key) as session_key from attachments
    where sha256 > ${args.after} group by sha256 order by sha256 limit ${args.limit}`);
  const files = rows.map((row) => ({
    sha256: row.sha256 as string,
    bytes: row.bytes as number,
    name: row.name as string,
    ...(row.session_key === null ? {} : { sessionKey: row.session_key as string }),
  }));
  return { files };
}

/** The file is gone. */
export function* forgetGarbage(args: { sha256: string }): Operation<void> {
  yield* change(sql`delete from attachment_garbage where sha256 = ${args.sha256}`);
}

function toUpload(row: Row): Upload {
  return {
    uploadId: row.upload_id as string,
    name: row.name as string,
    bytes: row.bytes as number,
    ...(row.session_key === null ? {} : { sessionKey: row.session_key as string }),
    owner: row.owner as string,
    expiresAt: row.expires_at as number,
  };
}

function toAttachment(row: Row): Attachment {
  return {
    handle: row.handle as string,
    name: row.name as string,
    mime: row.mime as string,
    bytes: row.bytes as number,
    sha256: row.sha256 as string,
    ...(row.session_key === null ? {} : { sessionKey: row.session_key as string }),
    owner: row.owner as string,
    createdAt: row.created_at as number,
  };
}
