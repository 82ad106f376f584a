// The head of the audit chain, kept outside the store. It may lag a little behind after a crash, never run ahead.
import { join } from 'node:path';
import { readIfThere, writeFileDurably } from '../kernel/durable-file.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { AuditHead } from './sql.ts';
import type { Store } from './store.ts';

export interface AuditKeeper {
  /**
   * Whether the store still has the record that the head kept apart names; asked before anything is added to it. If it
   * has not, the head stays as it is from then on, because it is the evidence.
   */
  begin(store: Store): Promise<boolean>;
  /** After a commit that moved the head. */
  moved(head: AuditHead): void;
  verify(store: Store): Promise<{ ok: boolean; checked: number; reason?: string }>;
  close(): void;
}

export const AUDIT_HEAD_FILE = 'audit-head.json';
const WRITE_AFTER_MS = 200;
/** Few enough that others are served between two pages. */
const PAGE = 250;

export function openAuditKeeper(home: string, clock: Clock, onFailure: (error: unknown) => void): AuditKeeper {
  const file = join(home, AUDIT_HEAD_FILE);
  let head: AuditHead | undefined;
  let timer: Timer | undefined;
  let frozen = false;
  let verifying: ReturnType<AuditKeeper['verify']> | undefined;

  function save(): void {
    timer = undefined;
    try {
      if (head) writeFileDurably(file, `${JSON.stringify(head)}\n`);
    } catch (error) {
      onFailure(error);
    }
  }

  return {
    async begin(store) {
      frozen = !(await hasRecord(store, readAuditHead(home)));
      return !frozen;
    },
    moved(next) {
      if (frozen || (head && next.seq <= head.seq)) return;
      head = next;
      timer ??= clock.after(WRITE_AFTER_MS, save);
    },
    // Those who ask while it is walked share one walk.
    verify(store) {
      verifying ??= verifyAgainst(store, readAuditHead(home)).finally(() => {
        verifying = undefined;
      });
      return verifying;
    },
    close() {
      timer?.cancel();
      if (timer) save();
    },
  };
}

/** A new home begins with the head of an empty chain; from then on a missing file means that somebody removed it. */
export function initialiseAuditHead(home: string): void {
  const file = join(home, AUDIT_HEAD_FILE);
  if (readIfThere(file) === undefined) writeFileDurably(file, `${JSON.stringify({ seq: 0, hash: '' })}\n`);
}

/** Contract: must not throw. A record that cannot be read is not the one. */
async function hasRecord(store: Store, kept: AuditHead | undefined | 'unreadable'): Promise<boolean> {
  if (kept === undefined || kept === 'unreadable') return false;
  if (kept.seq === 0) return true;
  try {
    const { anchorSeq } = await store.read('audit.verifyPage', { limit: 1 });
    if (anchorSeq >= kept.seq) return true;
    const [record] = await store.read('audit.list', { before: kept.seq + 1, limit: 1 });
    return record?.seq === kept.seq && record.hash === kept.hash;
  } catch {
    return false;
  }
}

async function verifyAgainst(store: Store, kept: AuditHead | undefined | 'unreadable'): ReturnType<AuditKeeper['verify']> {
  if (kept === 'unreadable') return { ok: false, checked: 0, reason: `${AUDIT_HEAD_FILE} cannot be read` };
  let checked = 0;
  let after: AuditHead | undefined;
  let seen = kept === undefined || kept.seq === 0;
  do {
    const page = await store.read('audit.verifyPage', { limit: PAGE, ...(after ? { after } : {}) });
    checked += page.checked;
    if (page.fault) return { ok: false, checked, reason: page.fault };
    const mine = kept && page.hashes.find((record) => record.seq === kept.seq);
    if (mine && mine.hash !== kept.hash)
      return { ok: false, checked, reason: `record ${kept.seq} is not the one that the head kept apart names` };
    seen ||= mine !== undefined || (kept !== undefined && page.anchorSeq >= kept.seq);
    after = page.next;
    if (after) await new Promise((resolve) => setImmediate(resolve));
  } while (after);
  if (kept === undefined) return checked === 0 ? { ok: true, checked } : { ok: false, checked, reason: `${AUDIT_HEAD_FILE} is missing` };
  if (!seen) return { ok: false, checked, reason: `records up to ${kept.seq} were written, but they are gone` };
  return { ok: true, checked };
}

export function readAuditHead(home: string): AuditHead | undefined | 'unreadable' {
  const text = readIfThere(join(home, AUDIT_HEAD_FILE));
  if (text === undefined) return undefined;
  try {
    const { seq, hash } = JSON.parse(text) as AuditHead;
    return Number.isSafeInteger(seq) && typeof hash === 'string' ? { seq, hash } : 'unreadable';
  } catch {
    return 'unreadable';
  }
}
