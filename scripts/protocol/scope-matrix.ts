// Which credential may call which method, as one table to read and to hold a running gateway against.
import type { ProtocolTables } from './tables.ts';

export const NO_SCOPE = '(no scope)';

export function renderScopeMatrix({ methods, scopes }: ProtocolTables): string {
  const holders = [NO_SCOPE, ...Object.keys(scopes)];
  const lines = Object.entries(methods).map(([name, { scope }]) => {
    const allowed = holders.filter((holder) => scope === 'any' || holder === scope || scopes[holder]?.implies.includes(scope));
    return `  ${JSON.stringify(name)}: [${allowed.map((holder) => JSON.stringify(holder)).join(', ')}]`;
  });
  return `{\n${lines.join(',\n')}\n}\n`;
}
