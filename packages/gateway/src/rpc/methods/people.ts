import { GatewayError } from '@tenon/protocol';
import type { Handlers } from '../handler.ts';

const MAX_PENDING = 1_000;

export const peopleHandlers = {
  'ui.pending': async ({ sessionKey }, { store, principal, ui }) => {
    if (principal.sessionKey !== undefined && sessionKey !== undefined && sessionKey !== principal.sessionKey)
      throw new GatewayError('NOT_FOUND', `Cannot find session "${sessionKey}"`);
    const key = principal.sessionKey ?? sessionKey;
    const { questions } = await store.read('ui.pending', { limit: MAX_PENDING, ...(key === undefined ? {} : { key }) });
    return { questions, shown: ui.shownIn(key) };
  },

  'ui.answer': ({ id, reply }, { commit, clock, principal, ui }) => {
    const boundTo = principal.sessionKey === undefined ? {} : { boundTo: principal.sessionKey };
    return commit('ui.answer', { id, reply, by: principal.id, ...boundTo, at: clock.now() }).then((answered) => {
      // Not before it is durable; of a repeat nobody waits any more.
      ui.answered(id, reply);
      return answered;
    });
  },
} satisfies Partial<Handlers>;
