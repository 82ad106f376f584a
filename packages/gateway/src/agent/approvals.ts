// Waiting for the operator. The question and its answer live in the store; here is only who waits for which answer, and
// the clock that turns silence into a denial.
import type { Approval, EventPayload } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { faultpoint } from '../kernel/fault.ts';
import type { Log } from '../kernel/log.ts';
import type { WriteArgs } from '../store/operations.ts';
import type { Store } from '../store/store.ts';
import type { StoredEvent } from '../store/stream.ts';

export interface Approvals {
  /** Asks, or finds that this was asked before, and resolves with the decision; pending only when the signal ended the waiting. */
  ask(question: WriteArgs<'approvals.request'>, signal: AbortSignal): Promise<Approval>;
  /** The same for a question that a plugin asks by itself; `always` where a rule of the operator answers it. */
  askForPlugin(question: WriteArgs<'approvals.askForPlugin'>, signal: AbortSignal): Promise<{ approval: Approval } | { always: true }>;
  /** From the store, after the commit. */
  committed(batch: readonly StoredEvent[]): void;
  /** Whether somebody asked for the rule that allows exactly this. */
  isAlwaysAllowed(wanted: { agentId: string; toolName: string; digest: string }): Promise<boolean>;
  close(): void;
}

const EXPIRY_CHECK_MS = 1_000;

export function createApprovals({ store, clock, log }: { store: Store; clock: Clock; log: Log }): Approvals {
  const waiting = new Map<string, Set<() => void>>();
  // Questions of a former life may still expire: looked for until there are none.
  let mayExpire = true;
  let expiring = false;
  const timer = clock.every(EXPIRY_CHECK_MS, () => void expire());

  /** Contract: must not throw. */
  async function expire(): Promise<void> {
    if (!mayExpire || expiring) return;
    expiring = true;
    try {
      const { approvals } = await store.read('approvals.list', { state: 'pending', limit: 1 });
      if (approvals.length === 0) mayExpire = false;
      else await store.write('approvals.expire', { at: clock.now() });
    } catch (error) {
      log.warn({ error }, 'cannot look for approvals that have expired');
    } finally {
      expiring = false;
    }
  }

  async function ask(question: WriteArgs<'approvals.request'>, signal: AbortSignal): Promise<Approval> {
    const { approval } = await store.write('approvals.request', question);
    faultpoint('approval.asked');
    return answerTo(approval, signal);
  }

  async function askForPlugin(question: WriteArgs<'approvals.askForPlugin'>, signal: AbortSignal) {
    const asked = await store.write('approvals.askForPlugin', question);
    return 'always' in asked ? asked : { approval: await answerTo(asked.approval, signal) };
  }

  async function answerTo(approval: Approval, signal: AbortSignal): Promise<Approval> {
    mayExpire = true;
    let current = approval;
    while (current.state === 'pending' && !signal.aborted) {
      const told = hear(current.id, signal);
      try {
        // Read after listening began: an answer in between is not missed.
        current = (await store.read('approvals.get', { id: current.id })).approval;
        if (current.state === 'pending') {
          await told.heard;
          current = (await store.read('approvals.get', { id: current.id })).approval;
        }
      } finally {
        told.stop();
      }
    }
    return current;
  }

  function hear(id: string, signal: AbortSignal): { heard: Promise<void>; stop(): void } {
    const { promise: heard, resolve } = Promise.withResolvers<void>();
    const listeners = waiting.get(id) ?? new Set();
    const tell = () => resolve();
    listeners.add(tell);
    waiting.set(id, listeners);
    signal.addEventListener('abort', tell, { once: true });
    return {
      heard,
      stop() {
        listeners.delete(tell);
        if (listeners.size === 0) waiting.delete(id);
        signal.removeEventListener('abort', tell);
      },
    };
  }

  return {
    ask,
    askForPlugin,
    committed(batch) {
      for (const { event, payload } of batch) {
        if (event === 'approval.requested') mayExpire = true;
        if (event !== 'approval.resolved') continue;
        const { id } = JSON.parse(payload) as EventPayload<'approval.resolved'>;
        for (const tell of waiting.get(id) ?? []) tell();
      }
    },
    isAlwaysAllowed: async (wanted) => (await store.read('approvals.findRule', wanted)).rule !== undefined,
    close: () => timer.cancel(),
  };
}
