// SEP as others speak it. The fixture says, method by method, what they take and send; what is written here must fit it, and what
// they write must be read here.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { matches, reading } from '@tenon/protocol';
import {
  Failure,
  Notification,
  readFrame,
  readParams,
  readResult,
  readSchema,
  RenderBlock,
  Request,
  Success,
  wire,
  writeSchema,
} from '@tenon/protocol/sep';
import { blocks, examples } from '@tenon/protocol/sep/conformance';
import { verifies } from '../support/verifies.ts';

type Fact =
  | string
  | { readonly oneOf: readonly Fact[] }
  | { readonly enum: readonly unknown[] }
  | { readonly items: Fact }
  | { readonly fields: Readonly<Record<string, Fact>>; readonly open?: true };

interface Facts {
  readonly frames: Readonly<Record<string, Fact>>;
  readonly RenderBlock: Fact;
  readonly [method: string]: { readonly params?: Fact; readonly result?: Fact } | unknown;
}

const facts = JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures/sep/other-implementations.json'), 'utf8')) as Facts;
const parts = ['params', 'result'] as const;
const ofMethod = (method: string) => facts[method] as { readonly params?: Fact; readonly result?: Fact } | undefined;
const plain = wire.methodNames.filter((method) => !wire.methodRow(method).beyond);

/** Where a value would be refused by the others; undefined when it is taken. */
function fault(fact: Fact, value: unknown, at: string): string | undefined {
  if (fact === 'any') return undefined;
  if (fact === 'RenderBlock') return fault(facts.RenderBlock, value, at);
  if (typeof fact === 'string')
    return fact.split('|').includes(typeOf(value)) || (fact === 'number' && typeOf(value) === 'integer') ? undefined : at;
  if ('oneOf' in fact) return fact.oneOf.some((each) => fault(each, value, at) === undefined) ? undefined : at;
  if ('enum' in fact) return fact.enum.includes(value) ? undefined : at;
  if ('items' in fact) {
    if (!Array.isArray(value)) return at;
    return value.map((item, index) => fault(fact.items, item, `${at}/${index}`)).find((each) => each !== undefined);
  }
  if (typeOf(value) !== 'object') return at;
  const given = value as Readonly<Record<string, unknown>>;
  const fields = new Map(Object.entries(fact.fields).map(([name, each]) => [name.replace('?', ''), each]));
  const unknown = Object.keys(given).find((name) => !fields.has(name));
  if (unknown !== undefined && !fact.open) return `${at}/${unknown}`;
  for (const [name, each] of Object.entries(fact.fields)) {
    if (name.endsWith('?') && !Object.hasOwn(given, name.slice(0, -1))) continue;
    const inside = fault(each, given[name.replace('?', '')], `${at}/${name.replace('?', '')}`);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Values that the others may send: with all fields, and with as few as they get away with. */
function samples(fact: Fact, depth = 0): unknown[] {
  if (fact === 'RenderBlock') return depth > 4 ? [{ kind: 'markdown', text: 'x' }] : samples(facts.RenderBlock, depth + 1).slice(0, 14);
  if (typeof fact === 'string')
    return fact
      .split('|')
      .map((type) => ({ string: 'x', integer: 1, number: 0.5, boolean: true, object: { a: 1 }, null: null, any: [1, 'x', null] })[type]);
  if ('oneOf' in fact) return fact.oneOf.flatMap((each) => samples(each, depth));
  if ('enum' in fact) return [...fact.enum];
  if ('items' in fact) return [[], samples(fact.items, depth)];
  const few: Record<string, unknown> = {};
  const all: Record<string, unknown>[] = [{}];
  for (const [name, each] of Object.entries(fact.fields)) {
    const values = samples(each, depth);
    if (!name.endsWith('?')) few[name] = values[0];
    for (let index = 0; index < values.length; index++) all[index] ??= { ...all[0] };
    for (const [index, whole] of all.entries()) whole[name.replace('?', '')] = values[index % values.length];
  }
  return [few, ...all];
}

test('every method of SEP is known to the fixture, and nothing else is', () => {
  assert.deepEqual(
    Object.keys(facts)
      .filter((name) => !['about', 'frames', 'RenderBlock'].includes(name))
      .sort(),
    [...plain].sort(),
  );
});

test('what is written here is taken by other implementations', () => {
  verifies('sep:generous', 'sep:initialize');
  for (const method of plain) {
    for (const part of parts) {
      const fact = ofMethod(method)?.[part];
      for (const example of examples[method][part] ?? []) {
        if (isAboutFurtherHook(example)) continue;
        // Where they only know the notification, an answer is empty.
        const place = fact === undefined ? (Object.keys(example).length === 0 ? undefined : part) : fault(fact, example, part);
        assert.equal(place, undefined, `${method}: ${JSON.stringify(example)}`);
      }
    }
  }
  for (const block of blocks) assert.equal(fault(facts.RenderBlock, block, 'block'), undefined);
});

test('no field is written that others do not know, and none is left out that they need', () => {
  verifies('sep:generous');
  for (const method of plain) {
    for (const part of parts) {
      const fact = ofMethod(method)?.[part];
      const schema = writeSchema(method, part);
      if (fact === undefined || schema === undefined) continue;
      assert.deepEqual(differences(schema, fact, part), [], method);
    }
  }
});

interface JsonShape {
  readonly properties?: Readonly<Record<string, JsonShape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: JsonShape;
  readonly anyOf?: readonly JsonShape[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: unknown;
}

/** Only these come with capabilities that the handshake has enabled. */
const further = [...wire.registrationKeys.filter((key) => 'beyond' in wire.registrations[key]), 'context'] as string[];

/** Only those who have registered them are asked about them. */
const furtherHooks: readonly unknown[] = wire.furtherHookNames;

function isAboutFurtherHook(example: object): boolean {
  return 'hook' in example && furtherHooks.includes(example.hook);
}

function differences(schema: JsonShape, fact: Fact, at: string): string[] {
  if (typeof fact === 'string') return [];
  if ('oneOf' in fact) {
    if (schema.anyOf?.length !== fact.oneOf.length) return [`${at} has other branches`];
    return fact.oneOf.flatMap((each, index) => differences(schema.anyOf![index]!, each, `${at}/${index}`));
  }
  if ('enum' in fact) {
    const ours = schema.enum ?? [schema.const];
    return ours.every((value) => fact.enum.includes(value) || furtherHooks.includes(value)) ? [] : [`${at} may be ${ours.join(', ')}`];
  }
  if ('items' in fact) return differences(schema.items ?? {}, fact.items, `${at}[]`);
  const fields = Object.entries(fact.fields);
  const names = fields.map(([name]) => name.replace('?', ''));
  const extra = Object.keys(schema.properties ?? {}).filter((name) => !names.includes(name) && !further.includes(name));
  const isTooOpen = !fact.open && schema.additionalProperties !== false;
  return [
    ...(fact.open ? [] : extra.map((name) => `${at}/${name} is not known`)),
    ...(isTooOpen ? [`${at} is open`] : []),
    ...fields.flatMap(([name, each]) => {
      const bare = name.replace('?', '');
      const property = schema.properties?.[bare];
      // A login is never given a token to renew.
      if (property === undefined) return name.endsWith('?') ? [] : [`${at}/${bare} is missing`];
      const lost = name === bare && !schema.required?.includes(bare) ? [`${at}/${bare} may be left out`] : [];
      return [...lost, ...differences(property, each, `${at}/${bare}`)];
    }),
  ];
}

test('what other implementations send is read here', () => {
  verifies('sep:generous');
  let count = 0;
  for (const method of plain) {
    for (const part of parts) {
      const fact = ofMethod(method)?.[part];
      if (fact === undefined) continue;
      for (const sample of samples(fact)) {
        const read = part === 'params' ? readParams(method, sample) : readResult(method as 'ping', sample);
        assert.ok(read.ok, `${method} ${part}: ${JSON.stringify(sample)}: ${read.ok ? '' : read.message}`);
        const more = { ...(sample as object), from_the_future: { any: 1 } };
        assert.ok(matches(readSchema(method, part)!, more), `${method} ${part} with a field of the future`);
        count++;
      }
    }
  }
  assert.ok(count > 100, String(count));
  for (const block of samples(facts.RenderBlock)) assert.ok(matches(reading(RenderBlock), block), JSON.stringify(block));
});

test('frames are the same on both sides', () => {
  verifies('sep:frames');
  const ours = { Request, Notification, SuccessResponse: Success, ErrorResponse: Failure };
  const kinds = { Request: 'request', Notification: 'notification', SuccessResponse: 'success', ErrorResponse: 'failure' };
  for (const name of Object.keys(ours) as (keyof typeof ours)[]) {
    const fact = facts.frames[name] as { fields: Record<string, Fact> };
    assert.deepEqual(
      differences(
        ours[name] as object as JsonShape,
        { fields: { ...fact.fields, ...(name === 'ErrorResponse' ? { id: 'any' } : {}) } },
        name,
      ),
      [],
    );
    for (const sample of samples(fact)) {
      const frame = { ...(sample as object), jsonrpc: '2.0' };
      assert.equal(readFrame(frame).kind, kinds[name], JSON.stringify(frame));
      assert.ok(matches(ours[name], frame), JSON.stringify(frame));
    }
  }
});

test('what they refuse to send is not written here either', () => {
  const context = { token: 't', tier: 'command' };
  const refused: [wire.SepMethodName, 'params' | 'result', unknown][] = [
    ['initialize', 'params', { host: { name: 'h', version: '1' }, workspace: { root: '/', trusted: true }, mode: 'tui' }],
    [
      'initialize',
      'params',
      { protocol_version: 0, host: { name: 'h', version: '1' }, workspace: { root: '/', trusted: true }, mode: 'tui' },
    ],
    [
      'initialize',
      'result',
      { protocol_version: 1, extension: { name: 'x', version: '1' }, registrations: { providers: [{ base_url: 'u' }] } },
    ],
    [
      'initialize',
      'result',
      { protocol_version: 1, extension: { name: 'x', version: '1' }, registrations: { providers: [{ name: 'p', models: [{}] }] } },
    ],
    ['hook', 'result', { action: 'bogus' }],
    ['hook', 'result', { action: 'modify' }],
    ['hook', 'params', { hook: 'tool_persisted', context, input: {} }],
    ['tool/execute', 'params', { tool: 'say', arguments: {}, context }],
    ['tool/execute', 'result', { is_error: true }],
    ['tool/update', 'params', { call_id: 'c', progress: 1.5 }],
    ['ui/request', 'params', { kind: 'toast', message: 'hi' }],
    ['ui/request', 'params', { kind: 'select', prompt: 'one' }],
    ['ui/request', 'params', { kind: 'notify', level: 'info' }],
    ['ui/request', 'params', { kind: 'confirm', prompt: 'Sure?', options: ['yes'] }],
    ['session/send_message', 'params', { text: 'without a context' }],
    ['command/complete', 'result', { completions: [{ description: 'without a value' }] }],
    ['provider/complete', 'params', { provider: 'p', model: 'm', messages: [] }],
    ['provider/delta', 'params', { request_id: 'r' }],
  ];
  for (const [method, part, value] of refused) assert.ok(!matches(writeSchema(method, part)!, value), `${method} ${JSON.stringify(value)}`);
});
