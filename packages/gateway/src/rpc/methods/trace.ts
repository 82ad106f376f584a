import { GatewayError } from '@tenon/protocol';
import type { Handlers } from '../handler.ts';

export const traceHandlers = {
  'hooks.trace.record': ({ sessionKey, turns, off }, { commitAnswer, trace, store }) => {
    if (off && turns !== undefined) throw new GatewayError('INVALID_REQUEST', 'params/turns and params/off cannot both be given');
    return commitAnswer(async () => {
      if (off) return { sessionKey, ...trace.stop(sessionKey) };
      await store.read('sessions.expect', { key: sessionKey });
      return { sessionKey, ...trace.record(sessionKey, { ...(turns === undefined ? {} : { turns }) }) };
    });
  },

  'hooks.trace': ({ sessionKey, ...options }, { trace }) => trace.read(sessionKey, options),
} satisfies Partial<Handlers>;
