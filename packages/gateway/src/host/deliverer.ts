// Carries deliveries to their channels. A delivery is durable before its channel hears of it; one that the channel does not
// take is tried again, later and later, a bounded number of times, also after a restart, and then has failed on record. Each
// attempt carries the id of the delivery, so that a channel can tell that it has taken it before. What becomes of a delivery
// follows it in the same way: after it, the newest state as a whole.
import { type DeliveryRecord, limits } from '@tenon/protocol';
import type { Clock, Timer } from '../kernel/clock.ts';
import { faultpoint } from '../kernel/fault.ts';
import { createLanes } from '../kernel/lane.ts';
import type { Log } from '../kernel/log.ts';
import type { AttachmentFiles } from '../store/attachment-files.ts';
import type { Store } from '../store/store.ts';
import { AGENT, type WaitingDelivery } from '../store/deliveries.ts';
import { createAskChannel, type Taken } from './ask-channel.ts';
import type { PluginCaller } from './call-plugin.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import { gateSending, type SendingHooks, tellSent } from './message-hooks.ts';
import { splitText } from './split-text.ts';

export interface Deliverer {
  /** Asks the channel, unless it is asked already or has it; gives how it stands then. Contract: does not throw. */
  attempt(record: DeliveryRecord): Promise<DeliveryRecord>;
  /** Asks the channel to show what became of it, if that is wished for; gives how it stands then. Contract: does not throw. */
  edit(record: DeliveryRecord): Promise<DeliveryRecord>;
  /** Goes on with what waits. Contract: does not throw. */
  resume(): Promise<void>;
  close(): void;
}

interface Deps {
  readonly store: Store;
  readonly files: AttachmentFiles;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: ContributionRegistry;
  readonly caller: PluginCaller;
  readonly hooks?: SendingHooks;
}

/** Before the second attempt, the third, and so on. */
const PAUSES_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const;
const AT_ONCE = 50;
const MAX_REASON = 512;
const MOST_PARTED = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Channels that are at work at the same time. */
const MOST_BUSY = 100;

export function createDeliverer({ store, files, clock, log, registry, caller, hooks }: Deps): Deliverer {
  /** By the id of the delivery: the receipts of its parts. */
  const partsTaken = new Map<string, string[]>();
  const askChannel = createAskChannel({ store, files, caller });
  const lanes = createLanes();
  const underWay = new Map<string, Promise<DeliveryRecord>>();
  /** By the id of the delivery: those that have not begun, and so will see the newest state. */
  const editsQueued = new Map<string, Promise<DeliveryRecord>>();
  let timer: Timer | undefined;
  /** The wall clock's time for which the timer was set. */
  let armedFor = Number.POSITIVE_INFINITY;
  let isClosed = false;
  /** Channels that are at work on what a look has found. `again`: there may be more for them. */
  const busy = new Map<string, { again: boolean }>();
  /** Channels of which something could not be put on record, and the pauses after it. */
  const unrecorded = new Set<string>();
  const rests = new Set<Timer>();
  let isLooking = false;
  let hasNews = false;

  function attempt(record: DeliveryRecord): Promise<DeliveryRecord> {
    const running = underWay.get(record.id);
    if (running) return running;
    // One after another for each channel: a person gets things in the order in which they were sent.
    const work = lanes.run(record.channel, () => tryOnce(record)).finally(() => underWay.delete(record.id));
    underWay.set(record.id, work);
    return work;
  }

  function edit(record: DeliveryRecord): Promise<DeliveryRecord> {
    const { id, channel } = record;
    const queued = editsQueued.get(id);
    if (queued) return queued;
    const work = lanes.run(channel, async () => {
      await Promise.resolve();
      editsQueued.delete(id);
      return tryEdit(record);
    });
    editsQueued.set(id, work);
    return work;
  }

  /** After a failed attempt of this number. */
  function outcomeOf(taken: Taken, number: number): { receipt: string } | { reason: string; nextAt?: number } {
    if ('receipt' in taken) return taken;
    const pause = PAUSES_MS[number - 1];
    const isLast = number >= limits.deliveryAttempts.value || pause === undefined || 'isFinal' in taken;
    return { reason: taken.reason.slice(0, MAX_REASON), ...(isLast ? {} : { nextAt: clock.now() + pause }) };
  }

  async function tryOnce(given: DeliveryRecord): Promise<DeliveryRecord> {
    const { id } = given;
    try {
      // In the lane nobody else asks: what stands there now is what counts, whoever asked a moment before.
      const { found } = await store.read('deliveries.get', { id });
      if (found?.record.state !== 'waiting' || (found.record.nextAt ?? 0) > clock.now()) return found?.record ?? given;
      const { record, delivery } = found;
      const number = record.attempts + 1;
      const taken = await ask(found, number);
      if ('receipt' in taken) faultpoint('delivery.taken');
      const outcome = outcomeOf(taken, number);
      const revision = record.edits?.revision ?? 0;
      const settled = await store.write('deliveries.settle', { id, revision, attempt: number, outcome, at: clock.now() });
      faultpoint('delivery.settled');
      if (settled.record?.state !== 'waiting') partsTaken.delete(id);
      if (settled.record) tellSent(hooks, settled.record, delivery);
      if ('reason' in outcome) {
        const { reason, nextAt } = outcome;
        const about = { delivery: id, channel: record.channel, attempt: number, reason, isLast: nextAt === undefined };
        log.warn(about, 'a channel did not take a delivery');
        if (nextAt !== undefined) arm(nextAt);
      }
      // It was changed while the channel was asked.
      if (settled.record?.state === 'sent' && settled.record.edits?.state === 'waiting') void edit(settled.record);
      return settled.record ?? record;
    } catch (error) {
      unrecorded.add(given.channel);
      if (!isClosed) log.error({ error, delivery: id }, 'cannot put on record how a delivery went');
      return given;
    }
  }

  async function tryEdit(given: DeliveryRecord): Promise<DeliveryRecord> {
    const { id } = given;
    try {
      const { found } = await store.read('deliveries.get', { id });
      const { edits, state } = found?.record ?? {};
      if (!found || state !== 'sent' || edits?.state !== 'waiting' || (edits.nextAt ?? 0) > clock.now()) return found?.record ?? given;
      const { channel } = found.record;
      const number = edits.attempts + 1;
      const shown = await askToShow(found, number);
      if (shown !== 'none' && 'receipt' in shown) faultpoint('delivery.edited');
      const outcome = shown === 'none' ? shown : outcomeOf(shown, number);
      const attempt = shown === 'none' ? edits.attempts : number;
      const { record } = await store.write('deliveries.settleEdit', { id, revision: edits.revision, attempt, outcome, at: clock.now() });
      if (outcome !== 'none' && 'reason' in outcome) {
        const { reason, nextAt } = outcome;
        const about = { delivery: id, channel, attempt, revision: edits.revision, reason, isLast: nextAt === undefined };
        log.warn(about, 'a channel did not show what became of a delivery');
        if (nextAt !== undefined) arm(nextAt);
      }
      // Whoever changed it while the channel was asked asks for it, too; a press does not wait for that.
      if (record?.edits?.state === 'waiting' && record.edits.revision > edits.revision) void edit(record);
      return record ?? given;
    } catch (error) {
      unrecorded.add(given.channel);
      if (!isClosed) log.error({ error, delivery: id }, 'cannot put on record how the change of a delivery went');
      return given;
    }
  }

  async function askToShow({ record, delivery, pressed }: WaitingDelivery, attempt: number): Promise<Taken | 'none'> {
    const { id, channel, receipt = '' } = record;
    const registered = registry.findAny('channel', channel);
    if (!registered) return { reason: `no plugin serves the channel ${channel}` };
    if (!registered.item.edit) return 'none';
    const { text, presentation, attachments } = delivery;
    const most = registered.item.limits?.textChars;
    if (most !== undefined && (text?.length ?? 0) > most)
      return { reason: `the channel ${channel} takes ${most} characters of text`, isFinal: true };
    return askChannel(record, registered, {
      ...{ id, attempt, receipt, files: attachments },
      ...(text === undefined ? {} : { text }),
      ...(presentation === undefined ? {} : { presentation }),
      ...(pressed === undefined ? {} : { pressed }),
    });
  }

  async function ask({ record, delivery, pressed }: WaitingDelivery, number: number): Promise<Taken> {
    const { id, channel, sessionKey, to, by } = record;
    const registered = registry.findAny('channel', channel);
    if (!registered) return { reason: `no plugin serves the channel ${channel}` };
    const { text, presentation, attachments } = delivery;
    // What a plugin sends was looked at before it was kept.
    const gated: Awaited<ReturnType<typeof gateSending>> =
      by === AGENT
        ? await gateSending(hooks, { sessionKey, channel, to, by, content: text ?? '', files: [], buttons: [] })
        : { content: text ?? '' };
    if ('cancelled' in gated) return { reason: gated.cancelled, isFinal: true };
    const most = registered.item.limits?.textChars ?? Number.MAX_SAFE_INTEGER;
    const parts = splitText(gated.content, most);
    let receipt = '';
    for (const [index, part] of parts.entries()) {
      const known = partsTaken.get(id)?.[index];
      if (known !== undefined) continue;
      const isLast = index === parts.length - 1;
      faultpoint('delivery.asking');
      const taken = await askChannel(record, registered, {
        id: index === 0 ? id : `${id}.${index + 1}`,
        attempt: number,
        ...(part === '' ? {} : { text: part }),
        ...(isLast && presentation !== undefined ? { presentation } : {}),
        ...(isLast && pressed !== undefined ? { pressed } : {}),
        files: isLast ? attachments : [],
      });
      if (!('receipt' in taken)) return taken;
      if (index === 0) receipt = taken.receipt;
      if (parts.length > 1) keepPart(id, index, taken.receipt);
    }
    return { receipt: partsTaken.get(id)?.[0] ?? receipt };
  }

  /** What a channel has taken of a text that is too long for it, until all of it is: after a restart it is asked again. */
  function keepPart(id: string, index: number, receipt: string): void {
    const taken = partsTaken.get(id) ?? [];
    taken[index] = receipt;
    partsTaken.set(id, taken);
    if (partsTaken.size > MOST_PARTED) partsTaken.delete(partsTaken.keys().next().value as string);
  }

  /** Looks again at this time, or before. */
  function arm(at: number): void {
    if (isClosed || armedFor <= at) return;
    timer?.cancel();
    armedFor = at;
    // The wall clock may be moved while this waits.
    timer = clock.after(Math.min(Math.max(at - clock.now(), 0), LONGEST_WAIT_MS), () => {
      armedFor = Number.POSITIVE_INFINITY;
      void resume();
    });
  }

  /** One look at a time; who asks meanwhile is heeded by the one that is under way. */
  async function resume(): Promise<void> {
    hasNews = true;
    for (const lane of busy.values()) lane.again = true;
    if (isLooking) return;
    isLooking = true;
    try {
      while (hasNews && !isClosed && busy.size < MOST_BUSY) {
        hasNews = false;
        await look();
      }
    } catch (error) {
      if (isClosed) return;
      log.error({ error }, 'cannot go on with deliveries that wait');
      arm(clock.now() + LONGEST_WAIT_MS);
    } finally {
      isLooking = false;
    }
  }

  /** Begins what is due of channels that are not at work on what was found before: a channel that hangs holds up nobody else. */
  async function look(): Promise<void> {
    for (const lane of busy.values()) lane.again = true;
    const wanted = { at: clock.now(), limit: AT_ONCE, except: [...busy.keys()] };
    const { due, nextAt } = await store.read('deliveries.due', wanted);
    const edits = await store.read('deliveries.dueEdits', wanted);
    if (isClosed) return;
    const isFull = due.length === AT_ONCE || edits.due.length === AT_ONCE;
    const found = new Map<string, Promise<unknown>[]>();
    const add = (channel: string, work: Promise<unknown>) => found.set(channel, [...(found.get(channel) ?? []), work]);
    for (const { record } of due) add(record.channel, attempt(record));
    for (const record of edits.due) add(record.channel, edit(record));
    for (const [channel, works] of found) void goOn(channel, works, isFull);
    if (isFull) hasNews = true;
    for (const next of [nextAt, edits.nextAt]) if (next !== undefined) arm(next);
  }

  async function goOn(channel: string, works: readonly Promise<unknown>[], again: boolean): Promise<void> {
    const lane = { again };
    busy.set(channel, lane);
    unrecorded.delete(channel);
    await Promise.all(works);
    if (isClosed) return;
    if (!unrecorded.delete(channel)) {
      busy.delete(channel);
      if (lane.again) await resume();
      return;
    }
    // The store did not take it: asked at once, the channel would be asked without end.
    const rest = clock.after(LONGEST_WAIT_MS, () => {
      rests.delete(rest);
      busy.delete(channel);
      void resume();
    });
    rests.add(rest);
  }

  return {
    attempt,
    edit,
    resume,
    close() {
      isClosed = true;
      timer?.cancel();
      for (const rest of rests) rest.cancel();
    },
  };
}
