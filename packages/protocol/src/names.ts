// The grammars of everything that is named on the wire. Identifiers are ASCII only, so that two that look alike are alike.
import { Type } from 'typebox';

/** Object keys that reach into JavaScript's own machinery: refused wherever a key can come from outside. */
export const RESERVED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const NOT_RESERVED = '(?!(?:__proto__|constructor|prototype)$)';

export const NonEmptyString = Type.String({ minLength: 1, maxLength: 4096 });

/** Text that people read: titles, names, reasons. */
export const DisplayText = Type.String({ maxLength: 512 });

/** An id of a plugin, an extension or an agent. */
export const OwnerId = Type.String({
  pattern: `^${NOT_RESERVED}[a-z0-9][a-z0-9_-]{0,63}$`,
  description: 'up to 64 lower-case letters, digits, - and _, the first a letter or digit',
});

const AGENT = '(?!(?:__proto__|constructor|prototype):)[a-z0-9][a-z0-9_-]{0,63}';

export const SESSION_KEY_PATTERN = `^agent:${AGENT}:${NOT_RESERVED}[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,191}$`;

/** `agent:<agentId>:<rest>` */
export const SessionKey = Type.String({ pattern: SESSION_KEY_PATTERN, description: 'agent:<agentId>:<name>, such as agent:main:notes' });

export const Label = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  description: 'up to 64 letters, digits, ., - and _, the first a letter or digit',
});

/** A name that a plugin gives to what it shows of a session. */
export const SlotName = Type.String({
  pattern: `^${NOT_RESERVED}[A-Za-z][A-Za-z0-9_]{0,63}$`,
  description: 'up to 64 letters, digits and _, the first a letter',
});

export const MethodOrEventName = Type.String({ minLength: 1, maxLength: 128 });

export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'up to 128 visible ASCII characters',
});

/** 128 random bits or more, in base64url or hex. */
export const RandomId = Type.String({ pattern: '^[A-Za-z0-9_-]{16,64}$', description: 'an id of 16 to 64 letters, digits, - and _' });

/** Milliseconds since 1970, as a number that JSON carries exactly. */
export const Timestamp = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });

export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** Where an event stands in the store's event stream. */
export const Position = Count;

export const Epoch = Type.String({ pattern: '^[A-Za-z0-9_-]{8,64}$', description: 'the epoch of an event stream' });

export const DEFAULT_AGENT_ID = 'main';
