// Calls of a plugin for a person. They are kept until somebody has acted, so that whoever connects later sees them too.
import { lateParams, visible } from '@tenon/protocol';
import type { Refused, SessionWorkflow } from '@tenon/plugin-sdk';
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import type { Store } from '../store/store.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import type { PluginLoad } from './plugin-load.ts';

const Notify = lateParams['session.workflow.notifyActionRequired'];
const Withdraw = lateParams['session.workflow.withdrawActionRequired'];

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry: ContributionRegistry;
}

type Calls = Pick<SessionWorkflow, 'notifyActionRequired' | 'withdrawActionRequired'>;

/** `isTooMuch`: the plugin says more than anybody can read. */
export function createActionCalls(load: PluginLoad, { store, clock, registry }: Deps, isTooMuch: () => Refused | undefined): Calls {
  const { plugin, pluginName } = load.facts;
  return {
    async notifyActionRequired(given) {
      const blocked = barrier(load, 'session.workflow.notifyActionRequired');
      if (blocked) return blocked;
      const taken = take(Notify, given, 'request');
      if ('refused' in taken) return taken.refused;
      const { sessionKey, title: said, actions: offered, idempotencyKey } = taken.value;
      const shown = visible(said);
      if (shown.trim() === '') return refuse('invalid', 'request/title must not be empty');
      const foreign = offered?.find(({ actionId }) => !registry.find('sessionAction', plugin, actionId));
      if (foreign) return refuse('invalid', `plugin ${plugin} has no session action "${foreign.actionId}"`);
      const tooMuch = isTooMuch();
      if (tooMuch) return tooMuch;
      try {
        const asked = await store.write('actions.require', {
          key: sessionKey,
          id: randomId(),
          pluginId: plugin,
          pluginName,
          title: shown,
          ...(offered ? { actions: offered } : {}),
          requestKey: idempotencyKey ?? shown,
          at: clock.now(),
        });
        return Object.freeze({ ok: true, id: asked.id });
      } catch (error) {
        return refusalOf(error);
      }
    },
    async withdrawActionRequired(given) {
      const blocked = barrier(load, 'session.workflow.withdrawActionRequired');
      if (blocked) return blocked;
      const taken = take(Withdraw, given, 'request');
      if ('refused' in taken) return taken.refused;
      const { sessionKey, id: one } = taken.value;
      try {
        const which = { key: sessionKey, pluginId: plugin, at: clock.now(), ...(one === undefined ? {} : { id: one }) };
        return Object.freeze({ ok: true, ...(await store.write('actions.withdraw', which)) });
      } catch (error) {
        return refusalOf(error);
      }
    },
  };
}
