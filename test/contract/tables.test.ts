// The tables of the protocol, row by row: what a row promises by being there. A new row is covered the day it is added.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  errorCodes,
  eventNames,
  eventRow,
  explain,
  hookNames,
  matches,
  methodNames,
  methodRow,
  type MethodSpec,
  scopeNames,
  settingNames,
  settingRow,
} from '@tenon/protocol';
import { Type, type TSchema } from 'typebox';
import { findStale, generate, groups } from '../../scripts/protocol/outputs.ts';
import { protocolTables } from '../../scripts/protocol/tables.ts';
import { verifies } from '../support/verifies.ts';

const root = join(import.meta.dirname, '../..');
const page = (name: string) => readFileSync(join(root, 'docs/reference', `${name}.md`), 'utf8');

/** The first cell of every row of the tables in a page, without its link and code marks. */
function firstCells(text: string): string[] {
  return [...text.matchAll(/^\| \[?`([^`]+)`/gm)].map(([, cell]) => cell!);
}

/** Methods whose session may be left out by those who are not bound to one. */
const optionalBound: ReadonlySet<string> = new Set(['agent', 'usage.get']);

for (const name of methodNames) {
  const row = methodRow(name);

  test(`${name}: its scope is a row, its summary a sentence, its params closed`, () => {
    verifies('foundation:tables', 'seed4:closed-objects');
    assert.ok(row.scope === 'any' || scopeNames.includes(row.scope));
    assert.match(row.summary, /^[A-Z].*[.?]$/);
    assert.match(name, /^[a-z]+(\.[a-z]+)*$/i);
    assert.equal((row.params as { additionalProperties?: unknown }).additionalProperties, false);
    assert.ok(!matches(row.params, { nobodyKnowsThis: 1 }));
  });

  test(`${name}: ${row.repeat === 'keyed' ? 'takes an' : 'has no'} idempotencyKey`, () => {
    verifies('seed4:idempotency-key');
    const key = row.params.properties.idempotencyKey as TSchema | undefined;
    assert.equal(key !== undefined, row.repeat === 'keyed');
    if (!key) return;
    assert.ok(matches(key, 'a-key_1') && !matches(key, '') && !matches(key, 'a b') && !matches(key, 'x'.repeat(129)));
    // Where the key is the id of the run it must be given; everywhere else it may be left out.
    const isRunId = ((row.result as { required?: string[] }).required ?? []).includes('runId');
    assert.equal(row.params.required?.includes('idempotencyKey') ?? false, isRunId);
  });

  test(`${name}: what it says of bound credentials names one of its params, a session`, () => {
    if (typeof row.bound !== 'object') return;
    const param = row.params.properties[row.bound.param];
    assert.ok(param, `there is no param "${row.bound.param}"`);
    assert.ok(matches(param, 'agent:main:notes') && !matches(param, 'notes'));
    // Left out, it is no session at all, and a bound credential is refused: see test/security/turns.test.ts.
    if (!row.params.required?.includes(row.bound.param)) assert.ok(optionalBound.has(name), `${name} must require ${row.bound.param}`);
  });

  test(`${name}: both schemas compile`, () => {
    verifies('seams:A6');
    for (const schema of [row.params, row.result]) assert.equal(typeof explain(schema, Symbol('nothing'), 'value'), 'string');
  });
}

for (const name of eventNames) {
  test(`event ${name}: its scope is a row, its payload closed, its session field there`, () => {
    verifies('foundation:tables', 'seed4:closed-objects');
    const row = eventRow(name);
    assert.ok(row.scope === 'any' || row.scope === 'handshake' || scopeNames.includes(row.scope));
    assert.match(row.summary, /^[A-Z].*\.$/);
    assert.ok(!matches(row.payload, { nobodyKnowsThis: 1 }));
    const { anyOf = [row.payload] } = row.payload as { anyOf?: TSchema[] };
    for (const shape of anyOf) {
      const { properties = {}, required = [] } = shape as { properties?: object; required?: string[] };
      if (row.sessionField) assert.ok(Object.hasOwn(properties, row.sessionField) && required.includes(row.sessionField));
    }
  });
}

for (const name of settingNames) {
  test(`setting ${name}: its default fits its schema`, () => {
    verifies('foundation:tables');
    const row = settingRow(name);
    assert.equal(explain(row.schema, row.default, name), undefined);
    // A list of tables, `[[models]]`, may be a name of its own; everything else stands in a table.
    const isListOfTables = (row.schema as { items?: { type?: string } }).items?.type === 'object';
    assert.match(name, isListOfTables ? /^[a-z]+(\.[a-zA-Z]+)?$/ : /^[a-z]+\.[a-zA-Z]+$/);
  });
}

test('a method without a scope does not compile', () => {
  // @ts-expect-error: `scope` is missing, and tsc fails if that is no error any more.
  const row: MethodSpec = { summary: 'x', repeat: 'safe', params: Type.Object({}), result: Type.Object({}) };
  assert.ok(row);
});

test('every error code is documented, and every documented code exists', () => {
  verifies('foundation:docs');
  assert.deepEqual(firstCells(page('errors')).sort(), [...errorCodes].sort());
});

test('every method, event and hook is documented, and nothing else is', () => {
  verifies('foundation:docs');
  const headings = (text: string, level: string) => [...text.matchAll(new RegExp(`^${level} (.+)$`, 'gm'))].map(([, heading]) => heading!);
  assert.deepEqual(headings(page('methods'), '###').sort(), [...methodNames].sort());
  assert.deepEqual(headings(page('events'), '##').sort(), [...eventNames].sort());
  assert.deepEqual(headings(page('hooks'), '##'), ['Where it happens', ...hookNames, 'Hooks that are not here']);
});

test('every scope, limit and setting is documented, and nothing else is', () => {
  verifies('foundation:docs');
  const tables = protocolTables();
  for (const name of ['scopes', 'limits', 'settings'] as const)
    assert.deepEqual(firstCells(page(name)).sort(), Object.keys(tables[name]).sort(), name);
});

test('the committed files are what the tables say', () => {
  verifies('seed4:protocol-check', 'foundation:tables');
  assert.deepEqual(
    findStale(protocolTables(), (path) => readFileSync(join(root, path), 'utf8')),
    [],
  );
});

test('a file that is missing or differs is named with its first differing line', () => {
  verifies('seed4:protocol-check');
  const tables = protocolTables();
  const files = new Map(generate(tables, groups));
  files.delete('docs/reference/limits.md');
  files.set('docs/reference/errors.md', files.get('docs/reference/errors.md')!.replace('# Errors', '# Mistakes'));
  assert.deepEqual(
    findStale(tables, (path) => files.get(path)),
    ['docs/reference/errors.md: line 1 is "# Mistakes", should be "# Errors"', 'docs/reference/limits.md: is missing'],
  );
});

test('a changed row makes every derived file stale', () => {
  verifies('seed4:protocol-check');
  const tables = protocolTables();
  const committed = new Map(generate(tables, groups));
  const methods = { ...tables.methods, 'planted.call': tables.methods['system.echo']! };
  const stale = findStale({ ...tables, methods }, (path) => committed.get(path)).map((line) => line.split(':')[0]);
  assert.deepEqual(stale, [
    'packages/protocol/dist/protocol.schema.json',
    'docs/reference/methods.md',
    'docs/reference/scopes.md',
    'test/security/scope-matrix.json',
    'packages/protocol/swift/GatewayModels.swift',
  ]);
});
