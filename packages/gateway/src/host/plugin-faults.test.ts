import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { systemClock } from '../kernel/clock.ts';
import { createMetrics } from '../kernel/metrics.ts';
import { createPluginFaults } from './plugin-faults.ts';
import { createPluginIncidents } from './plugin-incidents.ts';

function open(current = 1) {
  const incidents = createPluginIncidents(systemClock);
  const ended: string[] = [];
  const faults = createPluginFaults({
    clock: systemClock,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    incidents,
    pluginOf: (generation) => (generation === 7 ? 'seven' : undefined),
    isCurrent: ({ generation }) => generation === current,
    changed: () => {},
    isGuard: () => false,
    endLoad: (_, reason) => Promise.resolve(void ended.push(reason)),
  });
  return { faults, incidents, ended };
}

test('what is not of a plugin is not taken', () => {
  const { faults } = open();
  for (const thrown of [new Error('ours'), 'a text', undefined, null, Object.create(null)]) {
    assert.equal(faults.take(thrown, 'threw', undefined), false);
  }
});

test('where no context is left, the stack says whose it was', () => {
  const { faults, incidents } = open(7);
  const error = new Error('from a listener that somebody else called');
  error.stack = `Error\n    at file:///home/x/seven/index.js?tenon-generation=7%3A%2Fhome%2Fx%2Fseven:3:1\n    at node:events:1`;
  assert.equal(faults.take(error, 'threw', undefined), true);
  assert.equal(incidents.of('seven')[0]?.generation, 7);
  error.stack = error.stack.replace('=7', '=8');
  assert.equal(faults.take(error, 'threw', undefined), false, 'a generation that never was');
});

test('anything at all can be thrown, of any size', () => {
  const { faults, incidents } = open();
  const scope = { plugin: 'odd', generation: 2 };
  const hostile = new Proxy(new Error('x'), {
    get() {
      throw new Error('no');
    },
  });
  for (const thrown of [undefined, null, 12, Symbol('x'), 'x'.repeat(500_000_000), hostile, { toString: () => 'shown' }]) {
    assert.equal(faults.take(thrown, 'threw', scope), true);
  }
  assert.ok(incidents.of('odd').every(({ message }) => message.length <= 512));
});

test('three of one load end it, those of an earlier load none', () => {
  const { faults, ended, incidents } = open(2);
  for (let times = 0; times < 10; times++) faults.take(new Error('old'), 'threw', { plugin: 'p', generation: 1 });
  assert.deepEqual(ended, []);
  assert.equal(incidents.of('p')[0]?.count, 10);
  for (let times = 0; times < 3; times++) faults.take(new Error(`new ${times}`), 'rejected', { plugin: 'p', generation: 2 });
  assert.equal(ended.length, 1);
  assert.match(ended[0]!, /left a promise rejected outside of a call 3 times/);
});

test('what is on record is bounded', () => {
  const { faults, incidents } = open();
  for (let index = 0; index < 1_000; index++) faults.take(new Error(`${index}`), 'threw', { plugin: 'p', generation: 0 });
  assert.equal(incidents.of('p').length, 32);
});
