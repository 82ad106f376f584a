// The audit log: append-only, each record hashed over the one before it. The head is also kept outside the store, so
// that a tail cut off or an older copy put in its place is noticed.
import { sha256 } from '../kernel/ids.ts';
import { all, type AuditHead, change, type Dialect, one, type Operation, sql } from './sql.ts';
import type { AuditRecord, JsonValue } from '@tenon/protocol';

export interface AuditEntry {
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly details?: JsonValue;
  readonly at: number;
}

interface ChainRow {
  anchor_seq: number;
  anchor_hash: string;
  head_seq: number;
  head_hash: string;
}

interface AuditRow {
  seq: number;
  at: number;
  actor: string;
  action: string;
  target: string;
  details: string;
  hash: string;
}

export function* appendAudit(entry: AuditEntry, dialect: Dialect): Operation<AuditHead> {
  const chain = yield* one<ChainRow>(
    dialect === 'sqlite'
      ? sql`select head_seq, head_hash from audit_chain where id = 1`
      : sql`select head_seq, head_hash from audit_chain where id = 1 for update`,
  );
  const seq = (chain?.head_seq ?? 0) + 1;
  const details = JSON.stringify(entry.details ?? null);
  const hash = hashOf(chain?.head_hash ?? '', { ...entry, seq, details });
  yield* change(sql`
    insert into audit (seq, at, actor, action, target, details, hash)
    values (${seq}, ${entry.at}, ${entry.actor}, ${entry.action}, ${entry.target}, ${details}, ${hash})`);
  yield* change(sql`update audit_chain set head_seq = ${seq}, head_hash = ${hash} where id = 1`);
  const head = { seq, hash };
  yield { kind: 'audit', head };
  return head;
}

export function* listAudit(args: { before?: number; limit: number }): Operation<AuditRecord[]> {
  const before = args.before ?? Number.MAX_SAFE_INTEGER;
  const rows = yield* all<AuditRow>(sql`
    select seq, at, actor, action, target, details, hash from audit where seq < ${before} order by seq desc limit ${args.limit}`);
  return rows.map((row) => ({ ...row, details: JSON.parse(row.details) as JsonValue }));
}

/** Walks the chain a page at a time: the caller repeats with what it gets until `next` is absent. */
export function* verifyAuditPage(args: { after?: { seq: number; hash: string }; limit: number }): Operation<{
  fault?: string;
  checked: number;
  next?: { seq: number; hash: string };
  hashes: { seq: number; hash: string }[];
  anchorSeq: number;
}> {
  // One statement, so that the chain and its records are of one moment: it may grow or be cut while it is walked.
  const found = yield* all<ChainRow & (AuditRow | { seq: null })>(sql`
    select anchor_seq, anchor_hash, head_seq, head_hash, page.*
    from audit_chain left join (
      select seq, at, actor, action, target, details, hash from audit
      where seq > ${args.after?.seq ?? 0} and seq > (select anchor_seq from audit_chain where id = 1)
      order by seq limit ${args.limit}) as page on true
    where id = 1 order by page.seq`);
  const [chain] = found;
  if (!chain) return { fault: 'the chain record is gone', checked: 0, hashes: [], anchorSeq: 0 };
  const rows = found.filter((row) => row.seq !== null);
  const anchorSeq = chain.anchor_seq;
  let { seq, hash } = args.after && args.after.seq >= anchorSeq ? args.after : { seq: anchorSeq, hash: chain.anchor_hash };
  const hashes: { seq: number; hash: string }[] = [];
  for (const row of rows) {
    if (row.seq !== seq + 1) return { fault: `record ${seq + 1} is missing`, checked: hashes.length, hashes, anchorSeq };
    if (hashOf(hash, row) !== row.hash) return { fault: `record ${row.seq} was changed`, checked: hashes.length, hashes, anchorSeq };
    ({ seq, hash } = row);
    hashes.push({ seq, hash });
  }
  if (rows.length === args.limit) return { checked: rows.length, next: { seq, hash }, hashes, anchorSeq };
  if (seq !== chain.head_seq || hash !== chain.head_hash)
    return { fault: `records after ${seq} are missing`, checked: rows.length, hashes, anchorSeq };
  return { checked: rows.length, hashes, anchorSeq };
}

/** Cuts off the oldest records beyond the bound; the hash of the last one cut becomes the anchor. */
export function* trimAudit(args: { keep: number; limit: number }): Operation<number> {
  const chain = yield* one<ChainRow>(sql`select anchor_seq, anchor_hash, head_seq, head_hash from audit_chain where id = 1`);
  if (!chain) return 0;
  const cut = Math.min(chain.head_seq - args.keep, chain.anchor_seq + args.limit);
  if (cut <= chain.anchor_seq) return 0;
  const last = yield* one<{ hash: string }>(sql`select hash from audit where seq = ${cut}`);
  if (!last) return 0;
  yield* change(sql`update audit_chain set anchor_seq = ${cut}, anchor_hash = ${last.hash} where id = 1`);
  return yield* change(sql`delete from audit where seq <= ${cut}`);
}

function hashOf(previous: string, row: Pick<AuditRow, 'seq' | 'at' | 'actor' | 'action' | 'target' | 'details'>): string {
  return sha256(`${previous}\n${JSON.stringify([row.seq, row.at, row.actor, row.action, row.target, row.details])}`);
}
