// The docs check, seen to catch what it is for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDocFaults } from '../../scripts/docs.ts';
import { verifies } from '../support/verifies.ts';

const nothingElse = () => false;

test('links to files, folders, headings and the web pass', () => {
  verifies('foundation:docs');
  const pages = new Map([
    ['README.md', '# Tenon\n\n[a](docs/a.md#the-first-part) [b](#tenon) [c](https://example.org/x) [d](scripts/)\n\n[e]: docs/a.md\n'],
    ['docs/a.md', '# A\n\n## The `first` part!\n\n[up](../README.md)\n'],
  ]);
  assert.deepEqual(
    findDocFaults(pages, (path) => path === 'scripts/'),
    [],
  );
});

test('a link to a file or a heading that is not there is caught', () => {
  verifies('foundation:docs');
  const pages = new Map([['docs/a.md', '# A\n\n[x](missing.md) [y](#b) [z](../../outside.md)\n']]);
  assert.deepEqual(findDocFaults(pages, nothingElse), [
    'docs/a.md: "missing.md" leads nowhere',
    'docs/a.md: "#b" names a heading that docs/a.md does not have',
    'docs/a.md: "../../outside.md" leads nowhere',
  ]);
});

test('code is not read for links', () => {
  const pages = new Map([['a.md', '`[x](no.md)`\n\n```md\n[y](no.md)\n```\n']]);
  assert.deepEqual(findDocFaults(pages, nothingElse), []);
});

test('README and ARCHITECTURE stay short', () => {
  verifies('foundation:docs');
  const pages = new Map([
    ['README.md', 'line\n'.repeat(121)],
    ['ARCHITECTURE.md', 'line\n'.repeat(150)],
  ]);
  assert.deepEqual(findDocFaults(pages, nothingElse), ['README.md: 121 lines, at most 120 are wanted']);
});
