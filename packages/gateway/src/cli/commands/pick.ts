// Tokens, devices and approvals have long ids. A person may type the beginning of one, or the name.
import { CliError, exitCodes, quoted, usageError } from '../failure.ts';

const SHORTEST_PREFIX = 4;
const SHOWN = 12;

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The one item that the text means; throws when it means none or several. */
export function pick<Item extends Named>(items: readonly Item[], typed: string, kind: string, listed = `tenon ${kind} ls`): Item {
  const exact = items.find(({ id }) => id === typed);
  if (exact) return exact;
  const named = items.filter(({ name }) => name === typed);
  const begun = typed.length >= SHORTEST_PREFIX ? items.filter(({ id }) => id.startsWith(typed)) : [];
  const found = [...new Set([...named, ...begun])];
  if (found.length === 1) return found[0]!;
  if (found.length === 0)
    throw new CliError('NOT_FOUND', exitCodes.failed, `Cannot find ${kind} ${quoted(typed)}`, `list them with: ${listed}`);
  throw usageError(`${quoted(typed)} means more than one ${kind}: ${found.map(({ id }) => shortId(id)).join(', ')}`);
}

export function shortId(id: string): string {
  return id.slice(0, SHOWN);
}
