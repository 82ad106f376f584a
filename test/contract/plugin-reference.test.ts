// The pages for authors of plugins say what the validators do, because both are made from the same rows.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  contributionKinds,
  contributionRow,
  grantedFields,
  grantNames,
  grantRow,
  grants,
  hookNames,
  hookNeeds,
  lateCallNames,
  lateCallRow,
} from '@tenon/protocol';
import { findStale } from '../../scripts/protocol/outputs.ts';
import { protocolTables } from '../../scripts/protocol/tables.ts';
import { verifies } from '../support/verifies.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The part of a page under a heading. */
function section(page: string, heading: string): string {
  const [, text] = new RegExp(`^## ${heading.replaceAll('.', '\\.')}$([\\s\\S]*?)(?=^## |(?![\\s\\S]))`, 'm').exec(page) ?? [];
  assert.ok(text !== undefined, `there is no "${heading}"`);
  return text;
}

test('every contribution, grant, hook and call of the tables is on its page, with the grant that it needs', () => {
  verifies('seams:A22');
  const contributions = read('docs/reference/contributions.md');
  const granted = read('docs/reference/grants.md');
  const hooks = read('docs/reference/hooks.md');
  for (const kind of contributionKinds) {
    const { grant } = contributionRow(kind);
    const text = section(contributions, kind);
    if (grant === undefined) assert.doesNotMatch(text, /^Needs/m, kind);
    else assert.ok(text.includes(grant) && section(granted, grant).includes(`\`${kind}\``), kind);
  }
  for (const name of hookNames) {
    for (const need of hookNeeds(name)) {
      assert.ok(section(hooks, name).includes(`\`${need}\``), `${name} ${need}`);
      assert.ok(section(granted, need.split(':')[0]!).includes(`\`${name}\``), `${name} ${need}`);
    }
  }
  for (const call of lateCallNames) {
    const { grant } = lateCallRow(call);
    if (grant !== undefined) assert.ok(section(granted, grant).includes(`\`api.${call}\``), call);
  }
  for (const [field, { grant }] of Object.entries(grantedFields)) assert.ok(section(granted, grant).includes(`\`${field}\``), field);
  for (const name of grantNames) assert.equal(/ Wide\.$/m.test(section(granted, name)), 'wide' in grants[name], name);
});

test('every grant that a row names exists, and a page that is not what the rows say is stale', () => {
  verifies('seams:A22');
  for (const kind of contributionKinds) {
    const { grant } = contributionRow(kind);
    if (grant !== undefined) assert.ok(grantRow(grant), `${kind}: ${grant}`);
  }
  const tables = protocolTables();
  assert.deepEqual(findStale(tables, read), []);
  const changed = { ...tables, grants: { ...tables.grants, 'tools.register': { summary: 'Something else.' } } };
  assert.deepEqual(
    findStale(changed, read).map((line) => line.split(':')[0]),
    ['docs/reference/grants.md'],
  );
});
