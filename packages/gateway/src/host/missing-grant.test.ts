import assert from 'node:assert/strict';
import { test } from 'node:test';
import { howToGrant, missingGrant } from './missing-grant.ts';

test('a refusal names the right and the command that gives it', () => {
  assert.equal(
    missingGrant('one', 'turns.start', new Set(['turns.start'])),
    'plugin one needs the grant turns.start; the operator gives it with: tenon plugin grant one turns.start',
  );
});

test('a right that the manifest does not ask for cannot be given, and no command is named', () => {
  assert.equal(howToGrant('one', 'turns.start', new Set()), 'its manifest does not ask for it, so that the operator cannot give it');
});
