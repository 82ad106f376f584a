// Every requirement of a finished issue is cited by a test, and every citation names a requirement.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readTree } from '../../scripts/layers.ts';
import { finishedIssues, requirements } from '../requirements.ts';
import { citedIds, findFaults, type Citation } from '../support/citations.ts';
import { verifies } from '../support/verifies.ts';

const root = join(import.meta.dirname, '../..');

function citationsOfTree(): Citation[] {
  const tests = [...readTree(root)].filter(([path]) => path.endsWith('.test.ts'));
  return tests.flatMap(([file, source]) => citedIds(source).map((id) => ({ id, file })));
}

test('every id of a finished issue is cited by a test, and every cited id exists', () => {
  verifies('foundation:requirements');
  const citations = citationsOfTree();
  assert.ok(
    citations.some(({ id, file }) => id === 'foundation:requirements' && file === 'test/contract/requirements.test.ts'),
    'this test does not find itself, so it reads nothing',
  );
  assert.deepEqual(findFaults(requirements, finishedIssues, citations), []);
});

const plantedRequirements = {
  R01: { issue: 1, text: 'holds' },
  R02: { issue: 1, text: 'holds too' },
  R03: { issue: 2, text: 'comes next' },
  R04: { issue: 'later', text: 'comes some day' },
} as const;

test('an id of a finished issue that nobody cites is reported', () => {
  verifies('foundation:requirements');
  assert.deepEqual(findFaults(plantedRequirements, [1], [{ id: 'R01', file: 'a.test.ts' }]), ['no test cites R02 of issue 1: holds too']);
});

test('ids of issues that are not finished need no test', () => {
  verifies('foundation:requirements');
  assert.deepEqual(findFaults(plantedRequirements, [], []), []);
});

test('a citation of an id that does not exist is reported with its file', () => {
  verifies('foundation:requirements');
  assert.deepEqual(findFaults(plantedRequirements, [], [{ id: 'R99', file: 'a.test.ts' }]), [
    'a.test.ts cites "R99", which does not exist',
  ]);
});

test('citedIds reads calls, not comments, strings or the declaration', () => {
  const source = `
    import { verifies } from './verifies.ts';
    // verifies('R01');
    const text = "verifies('R02')";
    test('x', () => {
      verifies('R03', "seed4:swift");
      verifies(
        'seams:A1', // why
      );
    });
    function verifies(...ids: 'R05'[]) {}`;
  assert.deepEqual(citedIds(source), ['R03', 'seed4:swift', 'seams:A1']);
});

test('the lists are whole: R01 to R20, S01 to S83, A1 to A22, W1 to W20, C1 to C20', () => {
  const ids = new Set(Object.keys(requirements));
  const range = (prefix: string, count: number, digits: number) =>
    Array.from({ length: count }, (_, index) => prefix + String(index + 1).padStart(digits, '0'));
  const expected = [
    range('R', 20, 2),
    range('S', 83, 2),
    range('seams:A', 22, 1),
    range('seams:W', 20, 1),
    range('compat:C', 20, 1),
  ].flat();
  assert.deepEqual(
    expected.filter((id) => !ids.has(id)),
    [],
  );
});
