// The Swift models, read by a real Swift grammar.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { renderSwift } from '../../scripts/protocol/swift.ts';
import { eventName, paramsName, protocolTables, resultName } from '../../scripts/protocol/tables.ts';
import { parseSwift } from '../support/swift-grammar.ts';
import { verifies } from '../support/verifies.ts';

const tables = protocolTables();
const source = renderSwift(tables);

test('the models parse without a fault', () => {
  verifies('seed4:swift');
  assert.deepEqual(parseSwift(source).faults, []);
});

test('a planted syntax error is found where it is', () => {
  verifies('seed4:swift');
  const lines = source.split('\n');
  const at = lines.findIndex((line) => line.startsWith('public struct Session:'));
  for (const [broken, line] of [
    [lines.with(at, 'public struct Session Codable {').join('\n'), at],
    [lines.with(at + 1, '    public let key String').join('\n'), at + 1],
    [lines.slice(0, -2).join('\n'), undefined],
  ] as const) {
    const { faults } = parseSwift(broken);
    assert.ok(faults.length > 0);
    if (line !== undefined)
      assert.ok(Math.abs(faults[0]!.line - (line + 1)) <= 2, `found at line ${faults[0]!.line}, planted at ${line + 1}`);
  }
});

test('every method, event and shared type has its declaration', () => {
  verifies('seed4:swift', 'foundation:tables');
  const { declared } = parseSwift(source);
  const wanted = [
    ...Object.keys(tables.types),
    ...Object.keys(tables.methods).flatMap((method) => [paramsName(method), resultName(method)]),
    ...Object.keys(tables.events).map(eventName),
  ];
  assert.ok(wanted.length > 60);
  assert.deepEqual(
    wanted.filter((name) => !declared.has(name)),
    [],
  );
  for (const method of Object.keys(tables.methods)) {
    assert.equal(declared.get(paramsName(method)), 'struct');
    assert.ok(source.includes(`public static let name = ${JSON.stringify(method)}`), method);
  }
});

test('frames have the cases req, res, event and unknown; codes and the version are there', () => {
  verifies('seed4:swift', 'seed4:unknown-frames-survive');
  const { cases } = parseSwift(source);
  assert.deepEqual(cases.get('GatewayFrame'), ['req', 'res', 'event', 'unknown']);
  assert.equal(cases.get('ErrorCode')?.length, Object.keys(tables.errors).length + 1);
  assert.equal(cases.get('ErrorCode')?.at(-1), 'unknown');
  for (const code of Object.keys(tables.errors)) assert.ok(source.includes(`case "${code}": self = .`), code);
  assert.ok(source.includes(`public let GATEWAY_PROTOCOL_VERSION = ${tables.version}\n`));
});

test('names that Swift does not allow are renamed and keep their spelling on the wire', () => {
  verifies('seed4:swift');
  const Odd = Type.Object({
    default: Type.String(),
    'x-y': Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    '2nd': Type.Enum(['in', 'a-b']),
  });
  const odd = renderSwift({ ...tables, types: { ...tables.types, Odd } });
  assert.deepEqual(parseSwift(odd).faults, []);
  assert.ok(odd.includes('public let default_: String'));
  assert.ok(odd.includes('public let xY: Nullable<Int>?'));
  assert.ok(odd.includes('public let _2nd: Odd2nd'));
  assert.ok(odd.includes('case default_ = "default"') && odd.includes('case xY = "x-y"') && odd.includes('case _2nd = "2nd"'));
  assert.ok(odd.includes('case in_') && odd.includes('case "in": self = .in_'));
});

test('two names that become one in Swift stop the generator', () => {
  const Clash = Type.Object({ 'a-b': Type.String(), aB: Type.String() });
  assert.throws(() => renderSwift({ ...tables, types: { ...tables.types, Clash } }), /"Clash" would have two members called "aB"/);
});

test('a new row reaches the models without a change of the generator', () => {
  verifies('foundation:tables');
  const row = { ...tables.methods['system.echo']!, summary: 'Planted.' };
  const { declared, cases } = parseSwift(
    renderSwift({
      ...tables,
      methods: { ...tables.methods, 'planted.call': row },
      events: { ...tables.events, 'planted.happened': { ...tables.events.tick!, summary: 'Planted.' } },
    }),
  );
  for (const name of ['PlantedCallParams', 'PlantedCallResult', 'PlantedHappenedEvent']) assert.equal(declared.get(name), 'struct');
  assert.ok(cases.get('GatewayEvent')?.includes('plantedHappened'));
});
