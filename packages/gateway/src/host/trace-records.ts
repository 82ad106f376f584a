// The records of one session that is traced: the latest ones, within a number and a size. What came of a call is often known
// only after its record was made, so a record can be amended while it is kept.
import { limits, type TraceRecord } from '@tenon/protocol';
import { hideSecrets } from '../kernel/redact.ts';
import type { Answer, Effect } from './call-plugin.ts';
import { differenceOf, type Hide, shownReason } from './trace-diff.ts';

export interface Kept {
  record: TraceRecord;
  bytes: number;
}

/** Called again and again, and asked for nothing that lasts. */
const REPEATED: ReadonlySet<string> = new Set(['agent_event', 'session_projection']);
const LOOK_BACK = 16;
const PAGE_BYTES = 262_144;

export class TraceRecords {
  /** Older ones that made room. */
  dropped = 0;
  /** Replaced when a recording begins: secrets may be others then. */
  hide: Hide = hideSecrets;
  readonly #kept: Kept[] = [];
  #bytes = 0;

  add(record: TraceRecord): Kept {
    const kept = { record, bytes: sizeOf(record) };
    this.#kept.push(kept);
    this.#bytes += kept.bytes;
    this.#makeRoom();
    return kept;
  }

  amend(kept: Kept, { outcome, reason, before, after }: Effect): void {
    const isCompared = before !== undefined || after !== undefined;
    const { changes, more } = isCompared ? differenceOf(before, after, this.hide) : { changes: [], more: 0 };
    const { changes: _, moreChanges: __, ...rest } = kept.record;
    kept.record = {
      ...rest,
      outcome: outcome === 'changed' && isCompared && changes.length === 0 ? 'unchanged' : (outcome ?? rest.outcome),
      ...(reason === undefined ? {} : { reason: shownReason(reason, this.hide) }),
      ...(changes.length === 0 ? {} : { changes }),
      ...(more === 0 ? {} : { moreChanges: more }),
    };
    const bytes = sizeOf(kept.record);
    // One that has made room already no longer counts.
    if (this.#kept.lastIndexOf(kept) !== -1) this.#bytes += bytes - kept.bytes;
    kept.bytes = bytes;
    this.#makeRoom();
  }

  /**
   * Whoever follows a stream is called for each piece of it: such calls are counted in one record as long as nothing comes
   * of them. True when this one was.
   */
  isRepeat({ plugin, place, runId, durationMs }: Omit<TraceRecord, 'seq' | 'outcome'>, answer: Answer<unknown>): boolean {
    if (!answer.ok || !REPEATED.has(place)) return false;
    for (const kept of this.#kept.slice(-LOOK_BACK).reverse()) {
      const { record } = kept;
      if (!REPEATED.has(record.place)) return false;
      if (record.plugin !== plugin || record.place !== place || record.runId !== runId || record.outcome !== 'unchanged') continue;
      kept.record = { ...record, times: (record.times ?? 1) + 1, durationMs: rounded(record.durationMs + durationMs) };
      return true;
    }
    return false;
  }

  page({ runId, after = 0, limit = limits.pageSize.value }: PageOptions): { records: TraceRecord[]; next?: number } {
    const records: TraceRecord[] = [];
    let bytes = 0;
    for (const { record, bytes: size } of this.#kept) {
      if (record.seq <= after || (runId !== undefined && record.runId !== runId)) continue;
      if (records.length >= limit || (bytes + size > PAGE_BYTES && records.length > 0)) return { records, next: records.at(-1)!.seq };
      records.push(record);
      bytes += size;
    }
    return { records };
  }

  #makeRoom(): void {
    while (this.#kept.length > limits.traceRecords.value || (this.#bytes > limits.traceBytes.value && this.#kept.length > 1)) {
      this.#bytes -= this.#kept.shift()!.bytes;
      this.dropped++;
    }
  }
}

export interface PageOptions {
  readonly runId?: string;
  readonly after?: number;
  readonly limit?: number;
}

/** What an answer tells of itself, where nobody says what became of it. */
export function effectOf(answer: Answer<unknown>, place: string): Effect {
  if (!answer.ok) {
    const outcome = answer.kind === 'threw' || answer.kind === 'wrong-shape' ? 'failed' : answer.kind;
    return { outcome, reason: answer.kind === 'wrong-shape' ? `its answer cannot be used: ${answer.message}` : answer.message };
  }
  const { value } = answer;
  if (value === undefined || value === null || REPEATED.has(place)) return {};
  if (typeof value !== 'object') return { outcome: 'changed', after: value };
  const { ok, error } = value as { ok?: unknown; error?: unknown };
  if (ok === false) return { outcome: 'refused', reason: typeof error === 'string' ? error : 'it said no' };
  return { outcome: 'changed', before: Array.isArray(value) ? [] : { ok }, after: value };
}

export function rounded(ms: number): number {
  return Math.max(0, Math.round(ms * 1_000) / 1_000);
}

function sizeOf(record: TraceRecord): number {
  return JSON.stringify(record).length;
}
