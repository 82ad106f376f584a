import { type LogRecord, logLevels, PROTOCOL_VERSION, visible } from '@tenon/protocol';
import type { LogLine } from '../../kernel/log.ts';
import type { Handlers } from '../handler.ts';

export const systemHandlers = {
  health: (_, { health }) => health.snapshot(),

  status: async (_, { about, clock, config, connections, events, health, store }) => {
    const memory = process.memoryUsage();
    return {
      version: about.version,
      protocol: PROTOCOL_VERSION,
      pid: process.pid,
      url: about.url(),
      startedAt: about.startedAt,
      uptimeMs: Math.max(0, clock.now() - about.startedAt),
      auth: config.settings['gateway.auth'],
      store: { engine: store.engine, location: store.location, schemaVersion: store.schemaVersion },
      events: { epoch: events.epoch, seq: events.head },
      connections: connections.size,
      memory: { residentBytes: memory.rss, heapBytes: memory.heapUsed },
      health: health.snapshot(),
      warnings: [...about.warnings],
    };
  },

  'system.echo': ({ text }) => ({ ok: true, text }),

  'presence.list': (_, { connections }) => ({ presence: connections.presence() }),

  'events.subscribe': ({ events }, { connection }) => ({ events: connection.subscription?.subscribe(events) ?? [] }),

  'events.unsubscribe': ({ events }, { connection }) => ({ events: connection.subscription?.unsubscribe(events) ?? [] }),

  'config.get': (_, { config }) => config.describe(),

  'config.patch': ({ set }, { config, commitAnswer, store, actor }) =>
    commitAnswer(async () => {
      const described = await config.patch(set);
      await store.write('audit.append', {
        ...actor,
        action: 'config.patch',
        target: 'tenon.toml',
        details: { settings: Object.keys(set) },
      });
      return described;
    }),

  'logs.tail': ({ after = 0, limit = 200, level = 'trace' }, { logBook }) => {
    const { lines, cursor, dropped } = logBook.after(after, limit);
    const least = logLevels.indexOf(level);
    return { records: lines.map(toRecord).filter((record) => logLevels.indexOf(record.level) >= least), cursor, dropped };
  },

  'audit.list': async ({ before, limit = 50 }, { store, about }) => ({
    records: await store.read('audit.list', { limit, ...(before === undefined ? {} : { before }) }),
    chain: await about.auditChain(),
  }),

  'doctor.run': ({ fix = false }, { doctor, commitAnswer }) => commitAnswer(() => doctor.run(fix)),

  'gateway.shutdown': async ({ reason = 'asked to by a client' }, { shutdown, commitAnswer, store, actor }) => {
    let isFirst = false;
    const answer = await commitAnswer(async () => {
      isFirst = true;
      await store.write('audit.append', { ...actor, action: 'gateway.shutdown', target: 'gateway', details: { reason } });
      return { stopping: true as const };
    });
    // After the answer is kept: who asks again when the gateway is back must not stop it once more.
    if (isFirst) shutdown(visible(reason));
    return answer;
  },
} satisfies Partial<Handlers>;

function toRecord({ cursor, text }: LogLine): LogRecord {
  const { time, level, message = '', ...fields } = JSON.parse(text) as { time: number; level: LogRecord['level']; message?: string };
  return { cursor, time, level, message: visible(message), ...(Object.keys(fields).length > 0 ? { fields } : {}) };
}
