// Carries deliveries to their channels. A delivery is durable before its channel hears of it; one that the channel does not
// take is tried again, later and later, a bounded number of times, also after a restart, and then has failed on record. Each
// attempt carries the id of the delivery, so that a channel can tell that it has taken it before.
import { type Delivery, type DeliveryRecord, limits, matches } from '@tenon/protocol';
import type { OutgoingDelivery } from '@tenon/plugin-sdk';
import { Type } from 'typebox';
import type { Clock, Timer } from '../kernel/clock.ts';
import { faultpoint } from '../kernel/fault.ts';
import { createLanes } from '../kernel/lane.ts';
import type { Log } from '../kernel/log.ts';
import type { AttachmentFiles } from '../store/attachment-files.ts';
import type { Store } from '../store/store.ts';
import { AGENT } from '../store/deliveries.ts';
import { placed, type PluginCaller } from './call-plugin.ts';
import type { ContributionRegistry, RegisteredItem } from './contribution-registry.ts';
import { gateSending, type SendingHooks, tellSent } from './message-hooks.ts';
import { copyPlain } from './plain-data.ts';
import { splitText } from './split-text.ts';

export interface Deliverer {
  /** Asks the channel, unless it is asked already or has it; gives how it stands then. Contract: does not throw. */
  attempt(record: DeliveryRecord): Promise<DeliveryRecord>;
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

/** `isFinal`: it is not tried again. */
type Taken = { readonly receipt: string } | { readonly reason: string; readonly isFinal?: true };

/** Before the second attempt, the third, and so on. */
const PAUSES_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const;
const AT_ONCE = 50;
const MAX_REASON = 512;
const MOST_PARTED = 1_000;
const LONGEST_WAIT_MS = 60_000;
const Receipt = Type.Object({ id: Type.String({ minLength: 1, maxLength: 256 }) }, { additionalProperties: false });

export function createDeliverer({ store, files, clock, log, registry, caller, hooks }: Deps): Deliverer {
  /** By the id of the delivery: the receipts of its parts. */
  const partsTaken = new Map<string, string[]>();
  const lanes = createLanes();
  const underWay = new Map<string, Promise<DeliveryRecord>>();
  let timer: Timer | undefined;
  /** The wall clock's time for which the timer was set. */
  let armedFor = Number.POSITIVE_INFINITY;
  let isClosed = false;

  function attempt(record: DeliveryRecord): Promise<DeliveryRecord> {
    const running = underWay.get(record.id);
    if (running) return running;
    // One after another for each channel: a person gets things in the order in which they were sent.
    const work = lanes.run(record.channel, () => tryOnce(record)).finally(() => underWay.delete(record.id));
    underWay.set(record.id, work);
    return work;
  }

  async function tryOnce(given: DeliveryRecord): Promise<DeliveryRecord> {
    const { id } = given;
    try {
      // In the lane nobody else asks: what stands there now is what counts, whoever asked a moment before.
      const { found } = await store.read('deliveries.get', { id });
      if (found?.record.state !== 'waiting' || (found.record.nextAt ?? 0) > clock.now()) return found?.record ?? given;
      const { record, delivery } = found;
      const number = record.attempts + 1;
      const taken = await ask(record, delivery, number);
      if ('receipt' in taken) faultpoint('delivery.taken');
      const pause = PAUSES_MS[number - 1];
      const isLast = number >= limits.deliveryAttempts.value || pause === undefined || 'isFinal' in taken;
      const outcome =
        'receipt' in taken ? taken : { reason: taken.reason.slice(0, MAX_REASON), ...(isLast ? {} : { nextAt: clock.now() + pause }) };
      const settled = await store.write('deliveries.settle', { id, attempt: number, outcome, at: clock.now() });
      faultpoint('delivery.settled');
      if (settled.record?.state !== 'waiting') partsTaken.delete(id);
      if (settled.record) tellSent(hooks, settled.record, delivery);
      if ('reason' in taken) {
        log.warn(
          { delivery: id, channel: record.channel, attempt: number, reason: taken.reason, isLast },
          'a channel did not take a delivery',
        );
        if (!isLast) arm(clock.now() + pause);
      }
      return settled.record ?? record;
    } catch (error) {
      if (!isClosed) log.error({ error, delivery: id }, 'cannot put on record how a delivery went');
      return given;
    }
  }

  async function ask(record: DeliveryRecord, delivery: Delivery, number: number): Promise<Taken> {
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
      const taken = await askOne(record, registered, {
        id: index === 0 ? id : `${id}.${index + 1}`,
        attempt: number,
        ...(part === '' ? {} : { text: part }),
        ...(isLast && presentation !== undefined ? { presentation } : {}),
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

  async function askOne(
    { sessionKey, entryId, to, channel }: DeliveryRecord,
    { plugin, item }: RegisteredItem<'channel'>,
    {
      files: sent,
      presentation,
      ...said
    }: Pick<OutgoingDelivery, 'id' | 'attempt' | 'text'> & Pick<Delivery, 'presentation'> & { files: Delivery['attachments'] },
  ): Promise<Taken> {
    const outgoing = {
      ...said,
      sessionKey,
      entryId,
      to,
      ...(presentation === undefined ? {} : { presentation: structuredClone(presentation) }),
    };
    faultpoint('delivery.asking');
    const answer = await caller.call(
      placed(plugin, 'channel', item),
      (given: Omit<OutgoingDelivery, 'signal' | 'files'>, own) =>
        item.send({
          ...given,
          files: sent.map((file) => ({ ...file, read: () => readFile(file.handle) })),
          get signal() {
            return own.signal;
          },
        }),
      outgoing,
      acceptReceipt,
      undefined,
      { sessionKey },
    );
    return answer.ok ? { receipt: answer.value } : { reason: `the channel ${channel} ${inWords[answer.kind]}: ${answer.message}` };
  }

  async function readFile(handle: string): Promise<Uint8Array> {
    const { attachment } = await store.read('attachments.get', { handle });
    const content = await files.read(attachment);
    if (!content) throw new Error(`the file of attachment "${handle}" is not in this home folder`);
    return new Uint8Array(content);
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

  async function resume(): Promise<void> {
    try {
      const { due, nextAt } = await store.read('deliveries.due', { at: clock.now(), limit: AT_ONCE });
      await Promise.all(due.map(({ record }) => attempt(record)));
      if (isClosed) return;
      if (due.length === AT_ONCE) arm(clock.now());
      else if (nextAt !== undefined) arm(nextAt);
    } catch (error) {
      if (isClosed) return;
      log.error({ error }, 'cannot go on with deliveries that wait');
      arm(clock.now() + LONGEST_WAIT_MS);
    }
  }

  return {
    attempt,
    resume,
    close() {
      isClosed = true;
      timer?.cancel();
    },
  };
}

const inWords = {
  threw: 'failed',
  'timed-out': 'took too long',
  'wrong-shape': 'gave no receipt',
  dropped: 'was not asked',
  aborted: 'was not asked',
} as const;

function acceptReceipt(raw: unknown): { readonly value: string } | { readonly wrong: string } {
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  return matches(Receipt, copied.value) ? { value: copied.value.id } : { wrong: 'it is not {id}' };
}
