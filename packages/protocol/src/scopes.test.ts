import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../../test/support/verifies.ts';
import { expandScopes, missingScopes, scopeNames, scopes, type Scope } from './scopes.ts';

const seed = 20_260_103;
const someScopes = fc.uniqueArray(fc.constantFrom(...scopeNames));

/** The rule as the design says it, apart from the table: admin is everything, writing includes reading, nothing else implies anything. */
function covers(held: readonly Scope[], wanted: Scope): boolean {
  if (held.includes(wanted) || held.includes('operator.admin')) return true;
  return wanted === 'operator.read' && held.includes('operator.write');
}

test('S20 what is missing is exactly what the rule does not cover', () => {
  verifies('S20');
  fc.assert(
    fc.property(someScopes, someScopes, (held, wanted) => {
      const uncovered = wanted.filter((scope) => !covers(held, scope));
      const missing = missingScopes(expandScopes(held), wanted);
      assert.equal(missing.length === 0, uncovered.length === 0);
      for (const scope of uncovered) assert.ok(missing.includes(scope));
    }),
    { seed, numRuns: 10_000 },
  );
});

test('S20 a credential made by a credential, and so on, never has more rights than the first', () => {
  verifies('S20');
  fc.assert(
    fc.property(someScopes, fc.array(someScopes, { maxLength: 6 }), (first, requests) => {
      let held = first;
      for (const wanted of requests) if (missingScopes(expandScopes(held), wanted).length === 0) held = wanted;
      for (const scope of expandScopes(held)) assert.ok(covers(first, scope), `${first.join()} made ${scope}`);
    }),
    { seed, numRuns: 10_000 },
  );
});

test('S20 nobody but admin can make an admin', () => {
  verifies('S20');
  const others = scopeNames.filter((scope) => scope !== 'operator.admin');
  assert.deepEqual(missingScopes(expandScopes(others), ['operator.admin']), ['operator.admin']);
});

test('the table implies what it says in one step, and admin implies every other scope', () => {
  for (const scope of scopeNames) {
    const direct = new Set<string>([scope, ...scopes[scope].implies]);
    for (const implied of scopes[scope].implies)
      for (const next of scopes[implied].implies) assert.ok(direct.has(next), `${scope} → ${next}`);
  }
  assert.deepEqual([...expandScopes(['operator.admin'])].sort(), [...scopeNames].sort());
});
