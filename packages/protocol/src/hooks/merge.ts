// How the answer of one handler changes the event that the next one sees. A merge decides who wins when two plugins
// disagree, so each is pure, has a name that the reference prints, and a test of its own. Merges of a single row stand
// beside that row; these are shared.

/** What a merge answers in place of the next event. */
export class Verdict {
  /** refused: the thing is not done. claimed: the handler has done it. wrong: the answer fits its schema but not the event. */
  readonly kind: 'refused' | 'claimed' | 'wrong';
  readonly reason: string;

  constructor(kind: Verdict['kind'], reason: string) {
    this.kind = kind;
    this.reason = reason;
  }
}

export interface Merge<Event, Result> {
  readonly name: string;
  readonly summary: string;
  /** The next event; the same object when nothing changes. Contract: pure, and keeps what it is given unchanged. */
  readonly apply: (event: Event, result: Result, plugin: string) => Event | Verdict;
  /** Fields that every handler adds to: two that give one do not disagree. */
  readonly joins?: readonly string[];
  /** The field whose parts a result names, where that is not the event itself. */
  readonly within?: string;
}

/** A merge of whatever row. */
export interface AnyMerge {
  readonly name: string;
  readonly summary: string;
  readonly apply: (event: never, result: never, plugin: string) => object;
  readonly joins?: readonly string[];
  readonly within?: string;
}

/** Each field that a handler gives replaces the one so far. */
export function lastWins<Event extends object>(): Merge<Event, Partial<Event>> {
  return { name: 'lastWins', summary: 'A field that a handler gives replaces the one so far.', apply: replace };
}

export interface Blocking {
  block?: boolean;
  blockReason?: string;
}

export function lastWinsOrBlock<Event extends object>(): Merge<Event, Partial<Event> & Blocking> {
  return {
    name: 'lastWinsOrBlock',
    summary: 'The first `block: true` refuses. Otherwise a field that a handler gives replaces the one so far.',
    apply(event, { block, blockReason, ...fields }, plugin) {
      return block ? blocked(plugin, blockReason) : replace(event, fields as Partial<Event>);
    },
  };
}

export interface Cancelling {
  cancel?: boolean;
  cancelReason?: string;
}

export function lastWinsOrCancel<Event extends object>(): Merge<Event, Partial<Event> & Cancelling> {
  return {
    name: 'lastWinsOrCancel',
    summary: 'The first `cancel: true` refuses. Otherwise a field that a handler gives replaces the one so far.',
    apply(event, { cancel, cancelReason, ...fields }, plugin) {
      return cancel ? new Verdict('refused', cancelReason ?? `cancelled by ${plugin}`) : replace(event, fields as Partial<Event>);
    },
  };
}

/** Each field is decided by the first handler that gives it. */
export function firstDefined<Event extends object>(): Merge<Event, Partial<Event>> {
  return {
    name: 'firstDefined',
    summary: 'A field belongs to the first handler that gives it.',
    apply(event, result) {
      return replace(event, withoutKeysOf(result, event));
    },
  };
}

export interface ContextParts {
  prependContext?: string;
  appendContext?: string;
}

/** What handlers add is put one after another, with a blank line between. */
export function joinContext<Event extends ContextParts>(): Merge<Event, ContextParts> {
  return {
    name: 'joinContext',
    summary: 'What handlers give is joined in their order, with a blank line between.',
    joins: ['prependContext', 'appendContext'],
    apply: (event, result) =>
      replace(event, joined<keyof ContextParts>(event, result, ['prependContext', 'appendContext']) as Partial<Event>),
  };
}

/** The named texts of both, joined; only those that the result gives. Blank text adds nothing. */
export function joined<Name extends string>(
  event: { readonly [N in Name]?: string },
  result: { readonly [N in Name]?: string },
  names: readonly Name[],
): { [N in Name]?: string } {
  const parts: { [N in Name]?: string } = {};
  for (const name of names) {
    const added = result[name];
    if (added === undefined || added.trim() === '') continue;
    const before = event[name];
    parts[name] = before === undefined || before === '' ? added : `${before}\n\n${added}`;
  }
  return parts;
}

/** The event with the given fields; the very same event when there are none. */
export function replace<Event extends object>(event: Event, fields: Partial<Event>): Event {
  return Object.keys(fields).length === 0 ? event : { ...event, ...fields };
}

export function blocked(plugin: string, reason: string | undefined): Verdict {
  return new Verdict('refused', reason ?? `blocked by ${plugin}`);
}

function withoutKeysOf<Event extends object>(result: Partial<Event>, event: Event): Partial<Event> {
  return Object.fromEntries(
    Object.entries(result).filter(([name]) => (event as Record<string, unknown>)[name] === undefined),
  ) as Partial<Event>;
}
