// The frames of the seed, as its document shows them. Only the version number is ours.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifies } from '../../../test/support/verifies.ts';
import { ConnectParams, HelloOk } from './connect.ts';
import { ErrorShape, errorCodes, GatewayError } from './errors.ts';
import { events } from './events.ts';
import { GatewayFrame, PROTOCOL_VERSION } from './frames.ts';
import { JsonValue } from './json.ts';
import { methods } from './methods.ts';
import { explain, matches } from './validate.ts';

const connect = {
  type: 'req',
  id: 'c1',
  method: 'connect',
  params: {
    minProtocol: PROTOCOL_VERSION,
    maxProtocol: PROTOCOL_VERSION,
    client: { id: 'clawdbot-macos', displayName: 'macos', version: '1.0.0', platform: 'macos 15.1', mode: 'ui', instanceId: 'A1B2' },
  },
};

const helloOk = {
  type: 'res',
  id: 'c1',
  ok: true,
  payload: {
    type: 'hello-ok',
    protocol: PROTOCOL_VERSION,
    server: { version: 'dev', connId: 'ws-1' },
    features: { methods: ['health'], events: ['tick'] },
    snapshot: { presence: [], health: {}, stateVersion: { presence: 0, health: 0 }, uptimeMs: 0 },
    policy: { maxPayload: 1048576, maxBufferedBytes: 1048576, tickIntervalMs: 30000 },
  },
};

const minimalConnect = {
  type: 'req',
  id: 'c1',
  method: 'connect',
  params: { minProtocol: 3, maxProtocol: 3, client: { id: 'cli', displayName: 'example', version: 'dev', platform: 'node', mode: 'cli' } },
};

test('every example frame of the seed validates, and so does what it carries', () => {
  verifies('seed4:frames');
  const health = { type: 'res', id: 'r1', ok: true, payload: { ok: true } };
  const tick = { type: 'event', event: 'tick', payload: { ts: 1730000000 }, seq: 12 };
  for (const frame of [
    connect,
    helloOk,
    minimalConnect,
    { type: 'req', id: 'r1', method: 'health' },
    { type: 'req', id: 'h1', method: 'health' },
    health,
    tick,
  ]) {
    assert.equal(explain(GatewayFrame, frame, 'frame'), undefined);
  }
  assert.equal(explain(ConnectParams, connect.params, 'params'), undefined);
  assert.equal(explain(ConnectParams, minimalConnect.params, 'params'), undefined);
  assert.equal(explain(HelloOk, helloOk.payload, 'payload'), undefined);
  assert.equal(explain(methods.health.result, health.payload, 'payload'), undefined);
  assert.equal(explain(events.tick.payload, tick.payload, 'payload'), undefined);
});

test('the version of the protocol is 3', () => {
  verifies('seed4:protocol-range');
  assert.equal(PROTOCOL_VERSION, 3);
});

test('a frame with a field too many, one too few or of a wrong kind is refused with a line that names the place', () => {
  verifies('seed4:closed-objects');
  assert.equal(explain(ConnectParams, { ...connect.params, admin: true }, 'params'), 'params has an unknown field "admin"');
  const client = { ...connect.params.client, root: 1 };
  assert.equal(explain(ConnectParams, { ...connect.params, client }, 'params'), 'params/client has an unknown field "root"');
  assert.match(explain(methods['sessions.list'].params, { limit: 201 }, 'params') ?? '', /^params\/limit must be <= 200/);
  assert.match(explain(methods['system.echo'].params, {}, 'params') ?? '', /^params .*text/);
  for (const frame of [
    { ...connect, extra: 1 },
    { ...connect, id: '' },
    { ...connect, type: 'hello' },
    { ...connect, id: 7 },
    [],
    null,
    'req',
  ]) {
    assert.ok(!matches(GatewayFrame, frame), JSON.stringify(frame));
  }
});

test('the recursive JSON schema compiles and validates nested payloads, inside frames too', () => {
  verifies('foundation:json-value', 'seams:A6');
  const nested = { a: [1, 'two', null, { b: [[{ c: true }], {}] }], d: { e: { f: { g: [0.5] } } } };
  assert.ok(matches(JsonValue, nested));
  assert.ok(matches(GatewayFrame, { type: 'req', id: '1', method: 'x', params: nested }));
  for (const bad of [undefined, () => 0, { a: undefined }, [[{ b: Symbol('x') }]], { a: [1n] }]) {
    assert.ok(!matches(JsonValue, bad));
    assert.ok(!matches(GatewayFrame, { type: 'event', event: 'x', payload: { deep: [bad] } }));
  }
});

test('a refusal becomes a shape that fits its schema, whatever is in it', () => {
  for (const code of errorCodes) {
    const shape = new GatewayError(code, 'x'.repeat(10_000), {
      details: { why: [code] },
      retryAfterMs: -1.5,
      cause: new Error('secret'),
    }).toShape();
    assert.equal(explain(ErrorShape, shape, 'error'), undefined);
    assert.equal(shape.retryAfterMs, 0);
    assert.ok(!JSON.stringify(shape).includes('secret'));
  }
});
