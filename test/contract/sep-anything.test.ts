// Whatever a peer sends: the readers of the extension protocol answer, and none of them throws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  blockText,
  fillTemplate,
  parseSlash,
  readBlock,
  readFrame,
  readManifest,
  readParams,
  readRegistrations,
  readResult,
  manifestInPackage,
  wire,
} from '@tenon/protocol/sep';
import fc from 'fast-check';
import { examples } from '@tenon/protocol/sep/conformance';
import { verifies } from '../support/verifies.ts';

const options = { seed: 20_261_115, numRuns: 1_000 };
const keys = fc.oneof(
  fc.constantFrom(
    'jsonrpc',
    'id',
    'method',
    'params',
    'result',
    'error',
    'kind',
    'text',
    'children',
    'items',
    'body',
    'rows',
    'columns',
    'value',
  ),
  fc.constantFrom('tools', 'hooks', 'name', 'run', 'env', '__proto__', 'constructor', 'toString', 'patch', 'action', 'tag', 'template'),
  fc.string({ maxLength: 8 }),
);
const words = fc.oneof(
  fc.constantFrom('2.0', 'stack', 'table', 'keyvalue', 'widget', 'progress', 'modify', 'set_widget'),
  fc.string({ maxLength: 16 }),
);
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.double(),
    fc.integer(),
    words,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.array(fc.tuple(keys, tie('value')), { maxLength: 5 }).map((entries) => JSON.parse(textOf(entries)) as unknown),
})).value;

/** As it comes off a line: `__proto__` is a key like others there. */
function textOf(entries: readonly (readonly [string, unknown])[]): string {
  return `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value) ?? 'null'}`).join(',')}}`;
}

test('readFrame gives every value a kind', () => {
  fc.assert(
    fc.property(anything, (value) => {
      assert.ok(['request', 'notification', 'success', 'failure', 'invalid'].includes(readFrame(value).kind));
    }),
    options,
  );
});

test('params and results of every method are taken or refused in words', () => {
  const part = fc.constantFrom(...wire.methodNames);
  fc.assert(
    fc.property(part, anything, (method, value) => {
      const row = wire.methodRow(method);
      for (const read of [readParams(method, value), ...(row.kind === 'notification' ? [] : [readResult(method as 'ping', value)])]) {
        if (!read.ok) assert.match(read.message, /^(params|result)/);
      }
      for (const alias of row.aliases ?? []) readParams(method, value, alias);
    }),
    options,
  );
});

test('an example with one field spoiled is taken or refused in words', () => {
  const method = fc.constantFrom(...wire.methodNames);
  fc.assert(
    fc.property(method, fc.nat(), anything, (name, nth, value) => {
      const [example = {}] = examples[name].params as readonly object[];
      const fields = Object.keys(example);
      const field = fields[nth % Math.max(1, fields.length)];
      const read = readParams(name, field === undefined ? example : { ...example, [field]: value });
      if (!read.ok) assert.match(read.message, /^params/);
    }),
    options,
  );
});

test('registrations, manifests, blocks, templates and commands of any shape do no harm', () => {
  verifies('sep:blocks');
  fc.assert(
    fc.property(anything, anything, words, (value, data, text) => {
      const { taken, leftOut } = readRegistrations(value);
      for (const { message } of leftOut) assert.match(message, /^registrations\//);
      assert.ok(Object.keys(taken).every((key) => (wire.registrationKeys as string[]).includes(key)));
      readRegistrations({ tools: [value], descriptors: [data], message_renderers: [{ tag: 't', template: value }] });
      const manifest = readManifest(value);
      if (!manifest.ok) assert.match(manifest.message, /^manifest/);
      readManifest(manifestInPackage({ name: text, tenon: value }));
      assert.equal(typeof blockText(value), 'string');
      readBlock(value);
      fillTemplate(value, data);
      parseSlash(`/${text}`);
    }),
    options,
  );
});
