// Every file that is derived from the tables, by the word that `generate-protocol.ts` takes for it.
import { renderCommands } from './commands.ts';
import { firstDifference } from './difference.ts';
import { renderHookSchema, renderJsonSchema } from './json-schema.ts';
import { renderReference } from './reference.ts';
import { renderScopeMatrix } from './scope-matrix.ts';
import { renderSep } from './sep/outputs.ts';
import { renderSwift } from './swift.ts';
import type { ProtocolTables } from './tables.ts';

type Files = ReadonlyMap<string, string>;

const commandsPage = await renderCommands();

const outputs = {
  schema: (tables: ProtocolTables): Files =>
    new Map([
      ['packages/protocol/dist/protocol.schema.json', renderJsonSchema(tables)],
      ['packages/protocol/dist/hooks.schema.json', renderHookSchema(tables)],
    ]),
  docs: (tables: ProtocolTables): Files =>
    new Map([
      ...renderReference(tables),
      ['docs/reference/commands.md', commandsPage],
      ['test/security/scope-matrix.json', renderScopeMatrix(tables)],
    ]),
  sep: (): Files => renderSep(),
  swift: (tables: ProtocolTables): Files => new Map([['packages/protocol/swift/GatewayModels.swift', renderSwift(tables)]]),
};

export type Group = keyof typeof outputs;
export const groups = Object.keys(outputs) as Group[];

export function isGroup(word: string): word is Group {
  return Object.hasOwn(outputs, word);
}

/** Path from the root of the repository → text. */
export function generate(tables: ProtocolTables, wanted: readonly Group[]): Files {
  return new Map(wanted.flatMap((group) => [...outputs[group](tables)]));
}

/** One line for each committed file that is not what the tables would make. */
export function findStale(tables: ProtocolTables, read: (path: string) => string | undefined): string[] {
  return [...generate(tables, groups)].flatMap(([path, expected]) => {
    const difference = firstDifference(read(path), expected);
    return difference === undefined ? [] : [`${path}: ${difference}`];
  });
}
