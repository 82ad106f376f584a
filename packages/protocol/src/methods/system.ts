import { Type, type Static } from 'typebox';
import { JsonValue } from '../json.ts';
import { Count, MethodOrEventName, NonEmptyString, Position, Timestamp } from '../names.ts';
import { Health, PresenceEntry, Status } from '../status.ts';
import { read, write } from './row.ts';

const closed = { additionalProperties: false };

/** From the least severe on. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export const LogLevel = Type.Enum([...logLevels]);

export const LogRecord = Type.Object(
  {
    cursor: Position,
    time: Timestamp,
    level: LogLevel,
    message: Type.String(),
    fields: Type.Optional(JsonValue),
  },
  closed,
);
export type LogRecord = Static<typeof LogRecord>;

export const AuditRecord = Type.Object(
  {
    seq: Position,
    at: Timestamp,
    actor: Type.String(),
    action: Type.String(),
    target: Type.String(),
    details: JsonValue,
    hash: Type.String(),
  },
  closed,
);
export type AuditRecord = Static<typeof AuditRecord>;

export const Finding = Type.Object(
  {
    check: Type.String(),
    severity: Type.Enum(['ok', 'info', 'warning', 'error']),
    message: Type.String(),
    /** What to do about it. */
    remedy: Type.Optional(Type.String()),
    fixable: Type.Optional(Type.Boolean()),
    fixed: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type Finding = Static<typeof Finding>;

const ConfigEntry = Type.Object(
  {
    value: JsonValue,
    source: Type.Enum(['default', 'file', 'environment', 'flag']),
    takesEffect: Type.Enum(['now', 'restart']),
    summary: Type.String(),
  },
  closed,
);
const ConfigResult = Type.Object(
  {
    file: Type.String(),
    settings: Type.Record(Type.String(), ConfigEntry),
    /** Settings that were changed in the file and wait for a restart. */
    restartNeeded: Type.Array(Type.String()),
  },
  closed,
);
export type ConfigResult = Static<typeof ConfigResult>;

const Subscription = Type.Object({ events: Type.Array(Type.String()) }, closed);
const EventNames = Type.Array(MethodOrEventName, { minItems: 1, maxItems: 64 });

export const systemMethods = {
  health: read({ summary: 'Is the gateway well?', scope: 'any', params: {}, result: Health }),
  status: read({ summary: 'What the gateway is and how it does.', scope: 'operator.read', params: {}, result: Status }),
  'system.echo': read({
    summary: 'Say the text back.',
    scope: 'operator.read',
    params: { text: NonEmptyString },
    result: Type.Object({ ok: Type.Boolean(), text: NonEmptyString }, closed),
  }),
  'presence.list': read({
    summary: 'Who is connected.',
    scope: 'operator.read',
    params: {},
    result: Type.Object({ presence: Type.Array(PresenceEntry) }, closed),
  }),
  'events.subscribe': read({
    summary: 'Receive these events on this connection. A connection starts with all that its scopes allow.',
    scope: 'any',
    params: { events: EventNames },
    result: Subscription,
  }),
  'events.unsubscribe': read({
    summary: 'Receive these events no longer on this connection.',
    scope: 'any',
    params: { events: EventNames },
    result: Subscription,
  }),
  'config.get': read({
    summary: 'Read the settings with where each comes from. Secrets are redacted.',
    scope: 'operator.read',
    params: {},
    result: ConfigResult,
  }),
  'config.patch': write({
    summary: 'Change settings in tenon.toml; null returns one to its default. Checked whole before anything is written.',
    scope: 'operator.admin',
    params: { set: Type.Record(Type.String({ maxLength: 128 }), JsonValue) },
    result: ConfigResult,
  }),
  'logs.tail': read({
    summary: 'Read log records after a cursor, oldest first.',
    scope: 'operator.admin',
    params: {
      after: Type.Optional(Position),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
      level: Type.Optional(LogLevel),
    },
    result: Type.Object({ records: Type.Array(LogRecord), cursor: Position, dropped: Count }, closed),
  }),
  'audit.list': read({
    summary: 'Read audit records, newest first, with the state of their hash chain.',
    scope: 'operator.admin',
    params: {
      before: Type.Optional(Position),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
    },
    result: Type.Object(
      {
        records: Type.Array(AuditRecord),
        chain: Type.Object({ ok: Type.Boolean(), checked: Count, reason: Type.Optional(Type.String()) }, closed),
      },
      closed,
    ),
  }),
  'doctor.run': write({
    summary: 'Check the installation; with `fix`, mend what can be mended safely.',
    scope: 'operator.admin',
    params: { fix: Type.Optional(Type.Boolean()) },
    result: Type.Object({ ok: Type.Boolean(), findings: Type.Array(Finding) }, closed),
  }),
  'gateway.shutdown': write({
    summary: 'Drain and stop the gateway.',
    scope: 'operator.admin',
    params: { reason: Type.Optional(Type.String({ maxLength: 256 })) },
    result: Type.Object({ stopping: Type.Literal(true) }, closed),
  }),
};
