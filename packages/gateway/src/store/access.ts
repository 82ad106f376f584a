// Tokens, devices and pairing requests. A secret is never here, only its digest and the salt that it was derived with.
import { voidApprovals } from './approvals.ts';
import { appendAudit } from './audit.ts';
import { pauseJobsOf } from './job-removal.ts';
import { cancelQueuedOf } from './runs.ts';
import { all, change, type Dialect, emit, one, type Operation, refuse, type Row, sql } from './sql.ts';
import type { Device, PairingRequest, Scope, Token } from '@tenon/protocol';

/** The id under which the token of the token file is kept. */
export const SHARED_TOKEN_ID = 'shared-token-file';

const REVOKED = 'The credential that made it was revoked';

export interface TokenSecret {
  readonly digest: string;
  readonly salt: string;
}

interface Actor {
  readonly actor: string;
  readonly at: number;
  /** What the actor itself holds, with all that it implies: nothing wider can be given, taken or renewed. */
  readonly held: readonly Scope[];
}

/** Makes this the token of the token file. One that was revoked stays so. */
export function* putSharedToken(args: { digest: string; scopes: readonly Scope[]; at: number }): Operation<'taken' | 'revoked'> {
  const current = yield* one<{ digest: string; revoked_at: number | null }>(
    sql`select digest, revoked_at from tokens where id = ${SHARED_TOKEN_ID}`,
  );
  if (current?.digest === args.digest) return current.revoked_at === null ? 'taken' : 'revoked';
  yield* change(sql`
    insert into tokens (id, name, digest, salt, scopes, session_key, created_at, expires_at, revoked_at, last_used_at)
    values (${SHARED_TOKEN_ID}, 'token file', ${args.digest}, '', ${JSON.stringify(args.scopes)}, null, ${args.at}, null, null, null)
    on conflict (id) do update set digest = excluded.digest, scopes = excluded.scopes, revoked_at = null, created_at = excluded.created_at`);
  return 'taken';
}

export function* createToken(
  args: Actor & {
    id: string;
    name: string;
    scopes: readonly Scope[];
    sessionKey: string | null;
    expiresAt: number | null;
    limit: number;
  } & TokenSecret,
  dialect: Dialect,
): Operation<{ record: Token; salt: string }> {
  requireSubset(args.scopes, args.held);
  const live = yield* one<{ n: number }>(sql`
    select count(*) as n from tokens where revoked_at is null and (expires_at is null or expires_at > ${args.at})`);
  if ((live?.n ?? 0) >= args.limit) refuse('CONFLICT', `There are ${args.limit} live tokens already; revoke one first`);
  yield* change(sql`
    insert into tokens (id, name, digest, salt, scopes, session_key, created_at, expires_at, revoked_at, last_used_at)
    values (${args.id}, ${args.name}, ${args.digest}, ${args.salt}, ${JSON.stringify(args.scopes)}, ${args.sessionKey}, ${args.at},
      ${args.expiresAt}, null, null)`);
  yield* appendAudit({ ...args, action: 'tokens.create', target: args.id, details: { scopes: [...args.scopes] } }, dialect);
  return { record: yield* tokenById(args.id), salt: args.salt };
}

export function* rotateToken(args: Actor & { id: string } & TokenSecret, dialect: Dialect): Operation<{ record: Token; salt: string }> {
  const token = yield* tokenById(args.id);
  if (args.id === SHARED_TOKEN_ID)
    refuse('INVALID_REQUEST', 'The token of the token file is changed by removing the file and starting again');
  if (token.revokedAt !== null) refuse('CONFLICT', `Token "${args.id}" is revoked`);
  requireSubset(token.scopes, args.held);
  yield* change(sql`update tokens set digest = ${args.digest}, salt = ${args.salt} where id = ${args.id}`);
  yield* voidApprovals({ principal: `token:${args.id}`, at: args.at }, dialect);
  yield* appendAudit({ ...args, action: 'tokens.rotate', target: args.id }, dialect);
  return { record: token, salt: args.salt };
}

export function* revokeToken(args: Actor & { id: string }, dialect: Dialect): Operation<{ record: Token }> {
  const token = yield* tokenById(args.id);
  requireSubset(token.scopes, args.held);
  if (token.revokedAt === null) {
    yield* change(sql`update tokens set revoked_at = ${args.at} where id = ${args.id}`);
    yield* voidApprovals({ principal: `token:${args.id}`, at: args.at }, dialect);
    yield* cancelQueuedOf({ principal: `token:${args.id}`, at: args.at }, dialect);
    yield* pauseJobsOf({ owner: `token:${args.id}`, note: REVOKED, at: args.at }, dialect);
    yield* appendAudit({ ...args, action: 'tokens.revoke', target: args.id }, dialect);
  }
  return { record: yield* tokenById(args.id) };
}

export function* listTokens(_: object): Operation<Token[]> {
  return (yield* all(sql`select * from tokens order by created_at desc, id limit 2000`)).map(toToken);
}

/** The live token with this digest. */
export function* findToken(args: { digest: string; at: number }): Operation<Token | undefined> {
  const row = yield* one(sql`
    select * from tokens where digest = ${args.digest} and revoked_at is null and (expires_at is null or expires_at > ${args.at})`);
  return row && toToken(row);
}

export function* touchToken(args: { id: string; at: number }): Operation<void> {
  yield* change(sql`update tokens set last_used_at = ${args.at} where id = ${args.id}`);
}

/** Keeps the request of an unknown device, one per device; the oldest makes room when too many wait. */
export function* requestPairing(
  args: PairingRequest & { publicKey: string; limit: number },
  dialect: Dialect,
): Operation<{ requestId: string; isNew: boolean }> {
  const waiting = yield* one<{ request_id: string; scopes: string }>(sql`
    select request_id, scopes from pairings where device_id = ${args.deviceId} and expires_at > ${args.requestedAt}`);
  if (waiting && waiting.scopes === JSON.stringify(args.scopes)) return { requestId: waiting.request_id, isNew: false };
  yield* change(sql`delete from pairings where device_id = ${args.deviceId} or expires_at <= ${args.requestedAt}`);
  const count = yield* one<{ n: number }>(sql`select count(*) as n from pairings`);
  if ((count?.n ?? 0) >= args.limit) refuse('RATE_LIMITED', 'Too many devices wait for approval; try again later');
  yield* change(sql`
    insert into pairings (request_id, device_id, public_key, name, platform, scopes, address, requested_at, expires_at)
    values (${args.requestId}, ${args.deviceId}, ${args.publicKey}, ${args.name}, ${args.platform}, ${JSON.stringify(args.scopes)},
      ${args.address}, ${args.requestedAt}, ${args.expiresAt})`);
  const { publicKey: _, limit: __, ...request } = args;
  yield* appendAudit(
    {
      actor: `device:${args.deviceId}`,
      action: 'device.pair.request',
      target: args.requestId,
      details: { address: args.address },
      at: args.requestedAt,
    },
    dialect,
  );
  yield* emit('device.pair.requested', request, args.requestedAt);
  return { requestId: args.requestId, isNew: true };
}

export function* listPairings(args: { at: number }): Operation<PairingRequest[]> {
  const rows = yield* all(sql`select * from pairings where expires_at > ${args.at} order by requested_at desc`);
  return rows.map((row) => ({
    requestId: row.request_id as string,
    deviceId: row.device_id as string,
    name: row.name as string,
    platform: row.platform as string,
    scopes: scopesOf(row),
    address: row.address as string,
    requestedAt: row.requested_at as number,
    expiresAt: row.expires_at as number,
  }));
}

export function* approvePairing(
  args: Actor & { requestId: string; scopes?: readonly Scope[]; name?: string; limit: number },
  dialect: Dialect,
): Operation<{ device: Device }> {
  const request = yield* takePairing(args.requestId, args.at);
  const scopes = args.scopes ?? scopesOf(request);
  requireSubset(scopes, args.held);
  const count = yield* one<{ n: number }>(sql`select count(*) as n from devices where revoked_at is null`);
  if ((count?.n ?? 0) >= args.limit) refuse('CONFLICT', `There are ${args.limit} paired devices already; revoke one first`);
  const id = request.device_id as string;
  yield* change(sql`
    insert into devices (id, public_key, name, platform, scopes, approved_at, approved_by, last_seen_at, revoked_at)
    values (${id}, ${request.public_key as string}, ${args.name ?? (request.name as string)}, ${request.platform as string},
      ${JSON.stringify(scopes)}, ${args.at}, ${args.actor}, null, null)
    on conflict (id) do update set name = excluded.name, platform = excluded.platform, scopes = excluded.scopes,
      approved_at = excluded.approved_at, approved_by = excluded.approved_by, revoked_at = null`);
  yield* appendAudit({ ...args, action: 'device.pair.approve', target: id, details: { scopes: [...scopes] } }, dialect);
  yield* emit('device.pair.resolved', { requestId: args.requestId, deviceId: id, decision: 'approved' }, args.at);
  return { device: yield* deviceById(id) };
}

export function* rejectPairing(args: Actor & { requestId: string }, dialect: Dialect): Operation<{ requestId: string; rejected: true }> {
  const request = yield* takePairing(args.requestId, args.at);
  const deviceId = request.device_id as string;
  yield* appendAudit({ ...args, action: 'device.pair.reject', target: deviceId }, dialect);
  yield* emit('device.pair.resolved', { requestId: args.requestId, deviceId, decision: 'rejected' }, args.at);
  return { requestId: args.requestId, rejected: true };
}

export function* listDevices(_: object): Operation<Device[]> {
  return (yield* all(sql`select * from devices order by approved_at desc, id limit 2000`)).map(toDevice);
}

export function* findDevice(args: { id: string }): Operation<(Device & { publicKey: string }) | undefined> {
  const row = yield* one(sql`select * from devices where id = ${args.id} and revoked_at is null`);
  return row && { ...toDevice(row), publicKey: row.public_key as string };
}

export function* touchDevice(args: { id: string; at: number }): Operation<void> {
  yield* change(sql`update devices set last_seen_at = ${args.at} where id = ${args.id}`);
}

export function* renameDevice(args: Actor & { id: string; name: string }, dialect: Dialect): Operation<{ device: Device }> {
  requireSubset((yield* deviceById(args.id)).scopes, args.held);
  yield* change(sql`update devices set name = ${args.name} where id = ${args.id}`);
  yield* appendAudit({ ...args, action: 'device.rename', target: args.id, details: { name: args.name } }, dialect);
  return { device: yield* deviceById(args.id) };
}

export function* revokeDevice(args: Actor & { id: string }, dialect: Dialect): Operation<{ device: Device }> {
  const device = yield* deviceById(args.id);
  requireSubset(device.scopes, args.held);
  if (device.revokedAt === null) {
    yield* change(sql`update devices set revoked_at = ${args.at} where id = ${args.id}`);
    yield* voidApprovals({ principal: `device:${args.id}`, at: args.at }, dialect);
    yield* cancelQueuedOf({ principal: `device:${args.id}`, at: args.at }, dialect);
    yield* pauseJobsOf({ owner: `device:${args.id}`, note: REVOKED, at: args.at }, dialect);
    yield* appendAudit({ ...args, action: 'device.revoke', target: args.id }, dialect);
  }
  return { device: yield* deviceById(args.id) };
}

function* tokenById(id: string): Operation<Token> {
  const row = yield* one(sql`select * from tokens where id = ${id}`);
  if (!row) refuse('NOT_FOUND', `Cannot find token "${id}"`);
  return toToken(row);
}

function* deviceById(id: string): Operation<Device> {
  const row = yield* one(sql`select * from devices where id = ${id}`);
  if (!row) refuse('NOT_FOUND', `Cannot find device "${id}"`);
  return toDevice(row);
}

function* takePairing(requestId: string, at: number): Operation<Row> {
  const row = yield* one(sql`delete from pairings where request_id = ${requestId} and expires_at > ${at} returning *`);
  if (!row) refuse('NOT_FOUND', `Cannot find pairing request "${requestId}"; it may have expired`);
  return row;
}

function requireSubset(wanted: readonly Scope[], held: readonly Scope[]): void {
  const missing = wanted.filter((scope) => !held.includes(scope));
  if (missing.length > 0) {
    refuse('SCOPE', `This needs scopes that you do not hold: ${missing.join(', ')}`, { code: 'MISSING_SCOPE', missingScopes: missing });
  }
}

function scopesOf(row: Row): Scope[] {
  return JSON.parse(row.scopes as string) as Scope[];
}

function toToken(row: Row): Token {
  return {
    id: row.id as string,
    name: row.name as string,
    scopes: scopesOf(row),
    sessionKey: row.session_key as string | null,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number | null,
    revokedAt: row.revoked_at as number | null,
    lastUsedAt: row.last_used_at as number | null,
  };
}

function toDevice(row: Row): Device {
  return {
    id: row.id as string,
    name: row.name as string,
    platform: row.platform as string,
    scopes: scopesOf(row),
    approvedAt: row.approved_at as number,
    approvedBy: row.approved_by as string,
    lastSeenAt: row.last_seen_at as number | null,
    revokedAt: row.revoked_at as number | null,
  };
}
