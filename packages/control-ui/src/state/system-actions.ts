// What the overview, the approvals and the settings read and do.
import type { Result } from '@tenon/protocol';
import type { ActionDeps } from './actions.ts';
import { withApprovals } from './changes.ts';
import { troubleOf } from './trouble.ts';

export interface SystemActions {
  readOverview(): Promise<void>;
  probe(modelId: string): Promise<Result<'models.probe'>>;
  moreDecided(): Promise<void>;
  readRules(): Promise<void>;
  forgetRule(id: string): Promise<boolean>;
}

export function createSystemActions({ store, link, toasts }: ActionDeps): SystemActions {
  return {
    async readOverview() {
      const [status, catalog, models] = await Promise.allSettled([
        link().call('status', {}),
        link().call('tools.catalog', {}),
        link().call('models.list', {}),
      ]);
      store.update((state) => ({
        ...state,
        status: settled(status, (value) => value),
        sandbox: settled(catalog, (value) => value.sandbox),
        models: settled(models, (value) => value.models),
        health: status.status === 'fulfilled' ? status.value.health : state.health,
      }));
    },

    async probe(id) {
      try {
        return await link().call('models.probe', { id }, { timeoutMs: 60_000 });
      } catch (error) {
        const { message, code } = troubleOf(error);
        return { ok: false, latencyMs: 0, reason: message, ...(code === undefined ? {} : { code }) };
      }
    },

    async moreDecided() {
      const { nextDecided } = store.get().approvals;
      if (nextDecided === undefined) return;
      try {
        const page = await link().call('approvals.list', { state: 'decided', limit: 50, cursor: nextDecided });
        store.update((state) => ({
          ...state,
          approvals: { ...withApprovals(state.approvals, page.approvals), nextDecided: page.nextCursor },
        }));
      } catch (error) {
        toasts.fail('Older decisions could not be read', error);
      }
    },

    async readRules() {
      try {
        const { rules } = await link().call('approvals.rules', { limit: 200 });
        store.update((state) => ({ ...state, approvals: { ...state.approvals, rules: { kind: 'ready', value: rules } } }));
      } catch (error) {
        store.update((state) => ({ ...state, approvals: { ...state.approvals, rules: { kind: 'failed', error: troubleOf(error) } } }));
      }
    },

    async forgetRule(id) {
      try {
        await link().call('approvals.forget', { id });
        store.update((state) => {
          const { rules } = state.approvals;
          if (rules?.kind !== 'ready') return state;
          return {
            ...state,
            approvals: { ...state.approvals, rules: { kind: 'ready', value: rules.value.filter((rule) => rule.id !== id) } },
          };
        });
        return true;
      } catch (error) {
        toasts.fail('The rule could not be removed', error);
        return false;
      }
    },
  };
}

function settled<Value, Kept>(outcome: PromiseSettledResult<Value>, keep: (value: Value) => Kept) {
  if (outcome.status === 'fulfilled') return { kind: 'ready', value: keep(outcome.value) } as const;
  return { kind: 'failed', error: troubleOf(outcome.reason) } as const;
}
