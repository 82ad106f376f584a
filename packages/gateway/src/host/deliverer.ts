// Carries deliveries to their channels. A delivery is durable before its channel hears of it; one that the channel does not
// take is tried again, later and later, a bounded number of times, also after a restart, and then has failed on record. Each
// attempt carries the id of the delivery, so that a channel can tell that it has taken it before.
import { type Delivery, type DeliveryRecord, limits, matches } from '@tenon/protocol';
import type { OutgoingDelivery } from '@tenon/plugin-sdk';
import { Type } from 'typebox';
import type { Clock, Timer } from '../kernel/clock.ts';
import { createLanes } from '../kernel/lane.ts';
import type { Log } from '../kernel/log.ts';
import type { AttachmentFiles } from '../store/attachment-files.ts';
import type { Store } from '../store/store.ts';
import { placed, type PluginCaller } from './call-plugin.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import { copyPlain } from './plain-data.ts';

export interface Deliverer {
  /** Asks the channel, unless it is asked already; gives how it stands then. Contract: does not throw. */
  attempt(record: DeliveryRecord, delivery: Delivery): Promise<DeliveryRecord>;
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
}

/** Before the second attempt, the third, and so on. */
const PAUSES_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const;
const AT_ONCE = 50;
const MAX_REASON = 512;
const LONGEST_WAIT_MS = 60_000;
const Receipt = Type.Object({ id: Type.String({ minLength: 1, maxLength: 256 }) }, { additionalProperties: false });

export function createDeliverer({ store, files, clock, log, registry, caller }: Deps): Deliverer {
  const lanes = createLanes();
  const underWay = new Map<string, Promise<DeliveryRecord>>();
  let timer: Timer | undefined;
  let isClosed = false;

  function attempt(record: DeliveryRecord, delivery: Delivery): Promise<DeliveryRecord> {
    const running = underWay.get(record.id);
    if (running) return running;
    // One after another for each channel: a person gets things in the order in which they were sent.
    const work = lanes.run(record.channel, () => tryOnce(record, delivery)).finally(() => underWay.delete(record.id));
    underWay.set(record.id, work);
    return work;
  }

  async function tryOnce(record: DeliveryRecord, delivery: Delivery): Promise<DeliveryRecord> {
    const { id } = record;
    const number = record.attempts + 1;
    try {
      const taken = await ask(record, delivery, number);
      const pause = PAUSES_MS[number - 1];
      const isLast = number >= limits.deliveryAttempts.value || pause === undefined;
      const outcome =
        'receipt' in taken ? taken : { reason: taken.reason.slice(0, MAX_REASON), ...(isLast ? {} : { nextAt: clock.now() + pause }) };
      const settled = await store.write('deliveries.settle', { id, attempt: number, outcome, at: clock.now() });
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
      return record;
    }
  }

  async function ask(record: DeliveryRecord, delivery: Delivery, number: number): Promise<{ receipt: string } | { reason: string }> {
    const { id, channel, sessionKey, entryId, to } = record;
    const registered = registry.findAny('channel', channel);
    if (!registered) return { reason: `no plugin serves the channel ${channel}` };
    const { text, presentation, attachments } = delivery;
    const outgoing = {
      id,
      attempt: number,
      sessionKey,
      entryId,
      to,
      ...(text === undefined ? {} : { text }),
      ...(presentation === undefined ? {} : { presentation: structuredClone(presentation) }),
    };
    const { plugin, item } = registered;
    const answer = await caller.call(
      placed(plugin, 'channel'),
      (given: Omit<OutgoingDelivery, 'signal' | 'files'>, own) =>
        item.send({
          ...given,
          files: attachments.map((file) => ({ ...file, read: () => readFile(file.handle) })),
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
    if (isClosed) return;
    timer?.cancel();
    // The wall clock may be moved while this waits.
    timer = clock.after(Math.min(Math.max(at - clock.now(), 0), LONGEST_WAIT_MS), () => void resume());
  }

  async function resume(): Promise<void> {
    try {
      const { due, nextAt } = await store.read('deliveries.due', { at: clock.now(), limit: AT_ONCE });
      await Promise.all(due.map(({ record, delivery }) => attempt(record, delivery)));
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
