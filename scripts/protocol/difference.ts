/** Where a committed file departs from what it should be, in one line. Undefined when it does not. */
export function firstDifference(actual: string | undefined, expected: string): string | undefined {
  if (actual === expected) return undefined;
  if (actual === undefined) return 'is missing';
  const actualLines = actual.split('\n');
  const expectedLines = expected.split('\n');
  const index = expectedLines.findIndex((line, at) => line !== actualLines[at]);
  const at = index === -1 ? expectedLines.length : index;
  return `line ${at + 1} is ${quote(actualLines[at])}, should be ${quote(expectedLines[at])}`;
}

function quote(line: string | undefined): string {
  return line === undefined ? 'absent' : JSON.stringify(line.slice(0, 160));
}
