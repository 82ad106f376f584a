// Pieces that the schemas of the extension protocol share.
import { Type, type Static } from 'typebox';
import { tiers } from './wire.ts';

export const closed = { additionalProperties: false };

/** Any JSON object; what is in it is a matter of both sides. */
export const AnyObject = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });
/** Any JSON value. */
export const Anything = Type.Unknown();
export const Text = Type.String();
export const Name = Type.String({ minLength: 1, maxLength: 128 });
export const Empty = Type.Object({}, closed);

/** A whole number, or text. Each side counts for itself, so that both can use the same one at the same time. */
export const Id = Type.Union([Type.Integer(), Type.String()]);
export type Id = Static<typeof Id>;

/** Comes with every dispatch and goes back with what is done because of it. */
export const Context = Type.Object(
  {
    token: Type.String({ description: 'opaque; good for as long as its dispatch is under way' }),
    tier: Type.Enum([...tiers], { description: 'command: the session may be changed' }),
  },
  closed,
);
export type Context = Static<typeof Context>;
