// A plugin that never yields, in a real gateway: while nothing else runs, the operator reads who it is in the log; after that,
// and after a kill and a restart, the gateway itself says it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { doer, openHostile, type HostileWorld } from '../support/hostile.ts';
import { verifies } from '../support/verifies.ts';

const config = 'blockedAfterMs = 200\n';

const GIVEN_UP_MS = 30_000;
const OUTSIDE = 'outside of a call';
/** What the log says while it lasts. */
const DURING: ReadonlySet<string> = new Set(['the gateway is blocked', 'a plugin blocks the gateway']);

/** Never yields until the log has said so this often, with the place in the code, however slow the machine is. */
function spin(id: string, times = 1): string {
  return `const { readFileSync } = process.getBuiltinModule('node:fs');
    const log = import.meta.dirname + '/../../logs/gateway.log';
    const says = (line) => line.includes('a plugin blocks the gateway') && line.includes('"plugin":"${id}"') && line.includes('"code":');
    const end = Date.now() + ${GIVEN_UP_MS};
    while (Date.now() < end && readFileSync(log, 'utf8').split('\\n').filter(says).length < ${times});`;
}

interface LogRecord {
  readonly message: string;
  readonly plugin?: string;
  readonly place?: string;
  readonly forMs?: number;
  readonly code?: string;
  readonly lastCalled?: string;
}

function logOf({ home }: HostileWorld): LogRecord[] {
  const lines = readFileSync(join(home, 'logs', 'gateway.log'), 'utf8')
    .split('\n')
    .filter(Boolean);
  return lines.map((line) => JSON.parse(line) as LogRecord);
}

/** Reads the log file whenever it changes, until it has such records. */
async function logged(world: HostileWorld, fits: (record: LogRecord) => boolean, count = 1): Promise<LogRecord[]> {
  const watcher = watch(join(world.home, 'logs'));
  const overdue = AbortSignal.timeout(GIVEN_UP_MS);
  try {
    for (;;) {
      const next = new Promise<void>((resolve) => {
        watcher.once('change', () => resolve());
        overdue.addEventListener('abort', () => resolve());
      });
      const found = logOf(world).filter(fits);
      if (found.length >= count) return found;
      if (overdue.aborted) throw new Error(`it was never logged: ${JSON.stringify(logOf(world).slice(-5))}`);
      await next;
    }
  } finally {
    watcher.close();
  }
}

describe('a plugin that blocks the event loop', () => {
  verifies('seams:W8');

  test('in a call: it is named with its place and its line, and stays on record until it is loaded anew', async () => {
    await using world = await openHostile([doer('spinner', spin('spinner', 2)), doer('good', 'return "fine";')], { config });
    await world.poke('spinner');
    const { incidents } = await world.until('spinner', (plugin) => plugin.incidents.length > 0);
    assert.equal(incidents[0]?.kind, 'blocked');
    assert.equal(incidents[0]?.place, 'gateway_method');
    assert.match(incidents[0]?.message ?? '', /nothing else for \d+\.\d s \(index\.js:\d+\)/);
    assert.deepEqual((await world.plugin('good')).incidents, []);
    const during = logOf(world).filter(({ message, plugin }) => message === 'a plugin blocks the gateway' && plugin === 'spinner');
    assert.ok(during.length >= 2, 'again at growing distances');
    assert.ok(during.every(({ place }) => place === 'gateway_method'));
    assert.ok(!existsSync(join(world.home, 'blocked.json')), 'the mark is for those who never come back');
    const { findings } = await world.ask('doctor.run');
    assert.ok(findings.some(({ message }: { message: string }) => /Plugin spinner blocked the gateway gateway_method/.test(message)));
    const [reloaded] = (await world.ask('plugins.reload', { id: 'spinner' })).plugins;
    assert.deepEqual(reloaded.incidents, []);
  });

  for (const [what, body] of Object.entries({
    'after it has waited for something': `await new Promise((resolve) => setImmediate(resolve)); ${spin('spinner')}`,
    'in a timer': `setTimeout(() => { ${spin('spinner')} }, 1);`,
  })) {
    test(`${what}: its code tells whose it is`, async () => {
      await using world = await openHostile([doer('good', 'return "fine";'), doer('spinner', body)], { config });
      await world.poke('spinner');
      const { incidents } = await world.until('spinner', (plugin) => plugin.incidents.length > 0);
      assert.equal(incidents[0]?.kind, 'blocked');
      assert.equal(incidents[0]?.place, 'outside of a call');
      assert.match(incidents[0]?.message ?? '', /index\.js:\d+/);
      assert.deepEqual((await world.plugin('good')).incidents, []);
    });
  }

  test('in something that is no code: the call tells it, and outside of a call whoever was called last', async () => {
    const stuck = `process.getBuiltinModule('node:child_process').execFileSync(
      'sh', ['-c', 'until [ $(grep -c "$0" logs/gateway.log) -gt "$1" ]; do sleep 0.1; done', params.until, String(params.seen)],
      { cwd: import.meta.dirname + '/../..', timeout: ${GIVEN_UP_MS} });`;
    await using world = await openHostile([doer('waiter', `if (params.later) setTimeout(() => { ${stuck} }, 1); else { ${stuck} }`)], {
      config,
    });
    await world.poke('waiter', { until: '"plugin":"waiter","place":"gateway_method".*a plugin blocks the gateway', seen: 0 });
    await world.until('waiter', (plugin) => plugin.incidents.some(({ place }) => place === 'gateway_method'));
    const called = 'waiter (gateway_method)';
    const outside = /"(lastCalled":"waiter|plugin":"waiter","place":"outside).* (is blocked|blocks the gateway)"/;
    // On a machine that is busy it may be looked at before it leaves its code, which tells whose it is: then once more.
    for (let time = 1; ; time++) {
      const seen = readFileSync(join(world.home, 'logs', 'gateway.log'), 'utf8')
        .split('\n')
        .filter((line) => outside.test(line)).length;
      const until = '"\\(lastCalled":"waiter\\|plugin":"waiter","place":"outside\\).* \\(is blocked\\|blocks the gateway\\)"';
      await world.poke('waiter', { until, seen, later: true });
      const records = await logged(world, ({ message, place }) => DURING.has(message) && place === OUTSIDE, time);
      const record = records.find(({ lastCalled }) => lastCalled === called);
      if (record) return assert.equal(record.plugin, undefined, 'nobody is blamed who may be innocent');
      assert.ok(time < 10, JSON.stringify(records));
    }
  });

  test('while its module is run, or in register', async () => {
    await using world = await openHostile(
      [
        { id: 'at-load', module: `{ ${spin('at-load')} } export default { id: 'at-load', register() {} };` },
        { id: 'at-register', register: spin('at-register') },
      ],
      { config },
    );
    for (const [id, place] of [
      ['at-load', 'load'],
      ['at-register', 'register'],
    ] as const) {
      const { incidents, state } = await world.until(id, (plugin) => plugin.incidents.length > 0);
      assert.deepEqual([state, incidents[0]?.kind, incidents[0]?.place], ['loaded', 'blocked', place]);
      assert.match(incidents[0]?.message ?? '', /index\.js:\d+/);
    }
  });

  test('for ever: named while it lasts, and by the gateway that is started after the kill', async () => {
    await using world = await openHostile([doer('endless', 'for (;;);'), doer('good', 'return "fine";')], { config });
    void world.poke('endless').catch(() => {});
    const [first] = await logged(world, ({ message }) => message === 'a plugin blocks the gateway');
    assert.equal(first?.plugin, 'endless');
    assert.equal(first?.place, 'gateway_method');
    await logged(world, ({ message }) => message === 'a plugin blocks the gateway', 2);
    await world.restart();
    const { incidents, state } = await world.plugin('endless');
    assert.equal(state, 'loaded');
    assert.equal(incidents[0]?.kind, 'blocked');
    assert.match(incidents[0]?.message ?? '', /until its process was ended/);
    assert.ok(logOf(world).some(({ message, plugin }) => message === 'the gateway was blocked when it ended' && plugin === 'endless'));
    await world.restart();
    assert.equal((await world.plugin('endless')).incidents.length, 1, 'until somebody does something about it');
    await world.ask('plugins.disable', { id: 'endless' });
    await world.restart();
    assert.deepEqual((await world.plugin('endless')).incidents, []);
    assert.equal((await world.poke('good')).payload, 'fine');
  });
});
