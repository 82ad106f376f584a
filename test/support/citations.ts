// Reads the `verifies(...)` calls of test files and compares them with the requirements.
import { tokensOf } from '../../scripts/source/tokens.ts';
import type { Requirement } from '../requirements/row.ts';

export interface Citation {
  readonly id: string;
  readonly file: string;
}

/** The ids in the `verifies(...)` calls of one source; commented-out calls do not count. */
export function citedIds(source: string): string[] {
  const tokens = tokensOf(source);
  return tokens.flatMap((token, at) => {
    const isCall =
      token.kind === 'word' && token.text === 'verifies' && tokens[at + 1]?.text === '(' && tokens[at - 1]?.text !== 'function';
    if (!isCall) return [];
    const end = tokens.findIndex((each, index) => index > at && each.kind === 'sign' && each.text === ')');
    return tokens
      .slice(at + 2, end === -1 ? undefined : end)
      .filter((each) => each.kind === 'string')
      .map((each) => each.text);
  });
}

export function findFaults(
  requirements: Readonly<Record<string, Requirement>>,
  finishedIssues: readonly number[],
  citations: readonly Citation[],
): string[] {
  const cited = new Set(citations.map((citation) => citation.id));
  const unknown = citations
    .filter(({ id }) => !Object.hasOwn(requirements, id))
    .map(({ id, file }) => `${file} cites "${id}", which does not exist`);
  const missing = Object.entries(requirements)
    .filter(([id, { issue }]) => typeof issue === 'number' && finishedIssues.includes(issue) && !cited.has(id))
    .map(([id, { issue, text }]) => `no test cites ${id} of issue ${issue}: ${text}`);
  return [...unknown, ...missing];
}
