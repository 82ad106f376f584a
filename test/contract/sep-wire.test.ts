// The tables of the extension protocol hold together: with the gateway's hooks and grants, and with their own schemas.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { grantNames, hookNames, hookRow, logLevels } from '@tenon/protocol';
import { eventPayloads, hookShapes, registrationItems, shapesOf, wire } from '@tenon/protocol/sep';
import { importsOf } from '../../scripts/source/imports.ts';
import { verifies } from '../support/verifies.ts';

/** As much of a schema as is looked at here. */
interface Shape {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[] | undefined;
  readonly anyOf?: readonly Shape[];
  readonly const?: unknown;
}

const names = (shape: object) => Object.keys((shape as Shape).properties ?? {});
const sorted = (list: readonly string[]) => [...list].sort();

test('extensions take part in the hooks of the gateway that have a name of SEP, and fail as those do', () => {
  const rows = hookNames.map(hookRow).filter((row) => row.sep !== undefined);
  assert.deepEqual(sorted(rows.map((row) => row.sep!)), sorted(wire.hookNames));
  for (const row of rows) assert.equal(wire.hooks[row.sep as wire.SepHookName].onFailure, row.onFailure, row.sep);
});

test('every event that is made of a hook is one that extensions can follow', () => {
  const made = hookNames.map(hookRow).flatMap((row) => row.sepEvents ?? []);
  assert.deepEqual(
    made.filter((name) => !wire.isEventName(name)),
    [],
  );
});

test('a hook that fails closed waits a minute, the others five seconds', () => {
  for (const name of wire.hookNames) {
    const { onFailure, timeoutMs } = wire.hooks[name];
    assert.equal(timeoutMs, onFailure === 'closed' ? 60_000 : 5_000, name);
    assert.equal(onFailure === 'closed', ['tool_call', 'user_bash'].includes(name), name);
  }
});

test('what a group needs granted is a grant', () => {
  for (const name of wire.groupNames) {
    for (const grant of wire.groups[name].grants) assert.ok((grantNames as string[]).includes(grant), `${name}: ${grant}`);
  }
  for (const name of wire.methodNames) {
    for (const grant of wire.methodRow(name).grants ?? []) assert.ok((grantNames as string[]).includes(grant), `${name}: ${grant}`);
  }
});

test('every group has something, and everything of a group that is beyond SEP is beyond SEP', () => {
  for (const group of wire.groupNames) {
    const rows = [...wire.methodNames.map(wire.methodRow), ...wire.registrationKeys.map((key) => wire.registrations[key])] as {
      readonly group?: string;
      readonly othersGroup?: string;
      readonly beyond?: true;
    }[];
    const own = rows.filter((row) => row.group === group);
    assert.ok(own.length > 0 || rows.some((row) => row.othersGroup === group), group);
    if ('beyond' in wire.groups[group])
      assert.ok(
        own.every((row) => row.beyond),
        group,
      );
  }
});

test('a request has a result and a notification has none', () => {
  for (const name of wire.methodNames) {
    assert.equal(shapesOf(name).result !== undefined, wire.methodRow(name).kind !== 'notification', name);
  }
});

test('what is dispatched to an extension carries a context, and so does what must be of the command tier', () => {
  for (const name of wire.methodNames) {
    const { tier, kind } = wire.methodRow(name);
    if (tier === undefined) continue;
    const params: Shape = shapesOf(name).params;
    assert.ok(names(params).includes('context'), name);
    // Of a provider it says nothing that is needed.
    if (!name.startsWith('provider/')) assert.ok(params.required?.includes('context'), `${name} ${kind}`);
  }
});

test('all names on the wire are in snake case', () => {
  const seen: string[] = [];
  const walk = (shape: unknown): void => {
    if (typeof shape !== 'object' || shape === null) return;
    if (Array.isArray(shape)) return shape.forEach(walk);
    for (const [key, value] of Object.entries(shape)) {
      if (key === 'properties') seen.push(...Object.keys(value as object));
      walk(value);
    }
  };
  for (const name of wire.methodNames) walk(shapesOf(name));
  for (const name of wire.methodNames) seen.push(...name.split('/'));
  assert.deepEqual(
    [...new Set(seen)].filter((name) => !/^(?:[a-z][a-z0-9_]*|\$)$/.test(name)),
    [],
  );
});

test('no spelling means two methods', () => {
  verifies('sep:aliases');
  const spellings = wire.methodNames.flatMap((name) => [name, ...(wire.methodRow(name).aliases ?? [])]);
  assert.equal(new Set(spellings).size, spellings.length);
  assert.equal(wire.methodOf('tools/register'), 'registry/update');
  assert.equal(wire.methodOf('tools/setActive'), 'tools/set_active');
  assert.equal(wire.methodOf('events/publish'), 'bus/publish');
  for (const odd of ['constructor', '__proto__', 'toString', '']) assert.equal(wire.methodOf(odd), undefined);
});

test('error codes are one each', () => {
  const codes = Object.values(wire.errors).map(({ code }) => code);
  assert.equal(new Set(codes).size, codes.length);
});

test('registrations, events, hooks, ui and blocks have the fields that their schemas have', () => {
  verifies('sep:blocks');
  assert.deepEqual(Object.keys(registrationItems), wire.registrationKeys);
  for (const key of wire.registrationKeys) {
    const row: { readonly summary: string; readonly key?: string } = wire.registrations[key];
    if (row.key !== undefined) assert.ok((registrationItems[key] as Shape).required?.includes(row.key), key);
  }
  const later: Shape = shapesOf('registry/update').params;
  assert.deepEqual(
    names(later),
    wire.registrationKeys.filter((key) => wire.registrations[key].later),
  );

  const where = ['session_key', 'run_id', 'agent_id'];
  for (const name of wire.eventNames) {
    const fields = names(eventPayloads[name]).filter((field) => !where.includes(field));
    assert.deepEqual(sorted(wire.events[name].payload.filter((field) => !where.includes(field))), sorted(fields), name);
  }
  for (const name of wire.hookNames) {
    const { input, patch } = hookShapes[name];
    for (const field of wire.hooks[name].input) assert.ok(names(input).includes(field), `${name} ${field}`);
    assert.deepEqual(sorted(wire.hooks[name].patch), sorted(names(patch)), name);
  }

  const branches = (shape: Shape) => new Map(shape.anyOf?.map((branch) => [branch.properties?.kind?.const, branch]));
  const requests = branches(shapesOf('ui/request').params);
  assert.deepEqual([...requests.keys()], wire.uiKinds);
  // Beside the context that each may have beyond SEP.
  for (const kind of wire.uiKinds) {
    const { context, ...properties } = requests.get(kind)!.properties!;
    assert.ok(context, kind);
    sameFields({ ...requests.get(kind)!, properties }, wire.uiRequests[kind], kind);
  }
  const answer: Shape = shapesOf('ui/request').result!;
  assert.deepEqual(names(answer), ['value', 'confirmed', 'text', 'cancelled']);

  const cyclic = (registrationItems.message_renderers.properties.template as { $defs?: Record<string, Shape> }).$defs!;
  const shown = branches(cyclic.RenderBlock!);
  assert.deepEqual([...shown.keys()], wire.renderBlockKinds);
  for (const kind of wire.renderBlockKinds) sameFields(shown.get(kind)!, wire.renderBlocks[kind], kind);
});

function sameFields(shape: Shape, row: { readonly required: readonly string[]; readonly optional: readonly string[] }, kind: string): void {
  const required = shape.required ?? [];
  assert.deepEqual(sorted(['kind', ...row.required]), sorted(required), kind);
  assert.deepEqual(sorted(row.optional), sorted(names(shape).filter((name) => !required.includes(name))), kind);
}

test('the log levels of the gateway are those of an extension', () => {
  for (const level of wire.logLevels) assert.ok(level === 'trace' || (logLevels as readonly string[]).includes(level), level);
});

test('the wire costs no schema: it imports nothing but plain tables', () => {
  const folder = join(import.meta.dirname, '../../packages/protocol/src/sep');
  const files = globSync('wire*.ts', { cwd: folder });
  assert.ok(files.length >= 5);
  for (const file of files) {
    const foreign = importsOf(readFileSync(join(folder, file), 'utf8')).filter((specifier) => !specifier.startsWith('./wire'));
    assert.deepEqual(foreign, [], file);
  }
});
