import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { createManualClock } from '../../testing/manual-clock.ts';
import type { ExtensionProcess, ProcessEnd } from './process/process.ts';
import type { TreeUse } from '../../kernel/process-tree.ts';
import { createSupervisor } from './supervisor.ts';
import { verifies } from '../../../../../test/support/verifies.ts';

type Answer = (method: string, params: Record<string, unknown>, process: FakeProcess) => unknown;

/** A process that is this test: it answers what it is asked, and ends when it is told to. */
interface FakeProcess extends ExtensionProcess {
  readonly asked: string[];
  readonly signals: string[];
  end(end?: Partial<ProcessEnd>): void;
  isStopped: boolean;
}

const SILENT = Symbol('no answer');

function fakeProcess(answer: Answer): FakeProcess {
  const input = new PassThrough();
  const output = new PassThrough();
  const over = Promise.withResolvers<ProcessEnd>();
  const process: FakeProcess = {
    pid: 1,
    input,
    output,
    asked: [],
    signals: [],
    isStopped: false,
    ended: over.promise,
    use: () => ({ isStopped: process.isStopped }) as TreeUse,
    end(end = {}) {
      input.end();
      over.resolve({ code: 0, signal: null, ...end });
    },
    stop() {
      process.signals.push('SIGTERM');
      process.end({ code: null, signal: 'SIGTERM' });
    },
    kill() {
      process.signals.push('SIGKILL');
      process.end({ code: null, signal: 'SIGKILL' });
    },
  };
  output.setEncoding('utf8');
  output.on('data', (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) {
      const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params: Record<string, unknown> };
      process.asked.push(method);
      if (id === undefined) continue;
      const result = answer(method, params, process);
      if (result !== SILENT) input.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
    }
  });
  return process;
}

const GOOD = { protocol_version: 1, extension: { name: 'x', version: '1' } };
const good: Answer = (method, _params, process) => {
  if (method === 'shutdown') setImmediate(() => process.end());
  return method === 'initialize' ? GOOD : {};
};

function world(answers: (generation: number) => Answer = () => good) {
  const clock = createManualClock();
  const started: FakeProcess[] = [];
  const states: string[] = [];
  const supervisor = createSupervisor<{ version: string }, string>({
    clock,
    random: () => 0,
    launch(_source, generation) {
      const process = fakeProcess(answers(generation));
      started.push(process);
      return process;
    },
    hello: (source) => ({ protocol_version: 1, flags: { source } }),
    readHello(result) {
      const { extension } = result as { extension?: { version?: unknown } };
      if (typeof extension?.version !== 'string') throw new Error('extension/version is missing');
      return { version: extension.version };
    },
    request: () => undefined,
    notification: () => undefined,
    noticed() {},
    changed: (state, reason) => states.push(reason === undefined ? state : `${state}: ${reason}`),
  });
  return { clock, supervisor, started, states };
}

const settled = async () => {
  for (let step = 0; step < 12; step++) await new Promise((resolve) => setImmediate(resolve));
};

test('an extension is ready when it has introduced itself, and calls go to it', async () => {
  const { supervisor, started, states } = world();
  assert.equal(supervisor.state, 'stopped');
  await supervisor.start('a');
  assert.equal(supervisor.state, 'ready');
  assert.deepEqual(supervisor.current?.introduced, { version: '1' });
  assert.deepEqual(await supervisor.request('tool/execute', {}, { timeoutMs: 1_000 }), {});
  assert.deepEqual(started[0]?.asked, ['initialize', 'tool/execute']);
  assert.deepEqual(states, ['starting', 'ready']);
  await supervisor.stop();
});

test('G5: one that does not introduce itself in time is ended, and started again later', async () => {
  const { supervisor, started, states, clock } = world((generation) => (generation === 1 ? () => SILENT : good));
  const start = supervisor.start('a');
  await settled();
  clock.advance(9_999);
  assert.equal(supervisor.state, 'starting');
  clock.advance(1);
  await start;
  assert.deepEqual(started[0]?.signals, ['SIGKILL']);
  assert.match(states.at(-1)!, /^restarting: it did not introduce itself: no answer to initialize within 10000 ms$/);
  clock.advance(1_000);
  await settled();
  assert.equal(supervisor.state, 'ready');
  await supervisor.stop();
});

test('G15: one whose introduction cannot be read is ended', async () => {
  const { supervisor, started, states } = world(() => () => ({ protocol_version: 1, extension: 5 }));
  await supervisor.start('a');
  assert.deepEqual(started[0]?.signals, ['SIGKILL']);
  assert.match(states.at(-1)!, /restarting: it did not introduce itself: extension\/version is missing/);
  await supervisor.stop();
});

test('restarts wait longer each time; the third crash within five minutes is quarantine, and a retry ends it', async () => {
  let isBroken = true;
  const crash: Answer = (method, params, process) => {
    if (!isBroken) return good(method, params, process);
    process.end({ code: 3 });
    return SILENT;
  };
  const { supervisor, started, states, clock } = world(() => crash);
  await supervisor.start('a');
  assert.equal(states.at(-1), 'restarting: it ended with code 3');
  await assert.rejects(supervisor.request('hook', {}, { timeoutMs: 1_000 }), /extension restarting/);
  for (const [delayMs, spawned] of [
    [1_000, 2],
    [5_000, 3],
  ] as const) {
    clock.advance(delayMs - 1);
    assert.equal(started.length, spawned - 1);
    clock.advance(1);
    await settled();
    assert.equal(started.length, spawned);
  }
  assert.match(states.at(-1)!, /^quarantined: it crashed 3 times within 5 minutes, at last because it ended with code 3$/);
  clock.advance(3_600_000);
  await settled();
  assert.equal(started.length, 3, 'it stays down');
  isBroken = false;
  assert.equal(await supervisor.reload('a'), undefined);
  assert.equal(supervisor.state, 'ready');
  assert.deepEqual(supervisor.crashes, []);
  await supervisor.stop();
});

test('crashes that are far apart are not quarantine; without ten minutes of work between them it has failed after three restarts', async () => {
  const { supervisor, started, states, clock } = world();
  await supervisor.start('a');
  for (const delayMs of [1_000, 5_000, 25_000]) {
    clock.advance(240_000);
    started.at(-1)!.end({ code: null, signal: 'SIGSEGV' });
    await settled();
    assert.equal(states.at(-1), 'restarting: it ended with SIGSEGV');
    clock.advance(delayMs);
    await settled();
    assert.equal(supervisor.state, 'ready');
  }
  clock.advance(240_000);
  started.at(-1)!.end();
  await settled();
  assert.match(states.at(-1)!, /^failed: it crashed again after 3 restarts, at last because it ended with code 0$/);
});

test('after ten minutes of work its crashes are forgotten', async () => {
  const { supervisor, started, clock } = world();
  await supervisor.start('a');
  for (let round = 0; round < 6; round++) {
    for (let minute = 0; minute < 10; minute++) {
      clock.advance(60_000);
      await settled();
    }
    started.at(-1)!.end({ code: 1 });
    await settled();
    assert.equal(supervisor.state, 'restarting');
    clock.advance(1_000);
    await settled();
  }
  assert.equal(supervisor.state, 'ready');
  await supervisor.stop();
});

test('what cannot be started at all has failed at once', async () => {
  const { supervisor, states } = world(() => (_method, _params, process) => {
    process.end({ code: null, error: Object.assign(new Error('spawn x ENOENT'), { code: 'ENOENT' }) });
    return SILENT;
  });
  await supervisor.start('a');
  assert.equal(states.at(-1), 'failed: it cannot be started (ENOENT)');
});

test('R10: a silent extension is asked whether it is there; two unanswered pings are a crash', async () => {
  let isHung = false;
  const { supervisor, started, states, clock } = world(
    () => (method, params, process) => (isHung ? SILENT : good(method, params, process)),
  );
  await supervisor.start('a');
  clock.advance(10_000);
  await settled();
  assert.deepEqual(started[0]?.asked, ['initialize', 'ping']);
  isHung = true;
  clock.advance(10_000);
  await settled();
  clock.advance(5_000);
  await settled();
  assert.equal(supervisor.state, 'ready', 'one may be missed');
  clock.advance(5_000);
  await settled();
  assert.deepEqual(started[0]?.signals, ['SIGKILL']);
  assert.equal(states.at(-1), 'restarting: it did not answer 2 pings');
  await supervisor.stop();
});

test('one that works on a long call is left alone, unless it is stopped by a signal', async () => {
  const { supervisor, started, clock } = world(
    () => (method, params, process) =>
      method === 'tool/execute' || (method === 'ping' && process.isStopped) ? SILENT : good(method, params, process),
  );
  await supervisor.start('a');
  const call = supervisor.request('tool/execute', {}, { timeoutMs: 120_000 });
  call.catch(() => {});
  await settled();
  for (let step = 0; step < 12; step++) {
    clock.advance(5_000);
    await settled();
  }
  assert.deepEqual(started[0]?.asked, ['initialize', 'tool/execute']);
  started[0]!.isStopped = true;
  for (let step = 0; step < 3; step++) {
    clock.advance(5_000);
    await settled();
  }
  assert.equal(supervisor.state, 'restarting');
  await assert.rejects(call, /connection closed/);
  await supervisor.stop();
});

test('a reload starts the new one beside the old one, and the old one is asked to end when the new one is ready', async () => {
  const { supervisor, started, states } = world(
    (generation) => (method, params, process) =>
      method === 'initialize' && generation === 2
        ? { protocol_version: 1, extension: { name: 'x', version: '2' } }
        : good(method, params, process),
  );
  await supervisor.start('a');
  assert.equal(await supervisor.reload('b'), undefined);
  assert.equal(supervisor.current?.number, 2);
  assert.deepEqual(supervisor.current?.introduced, { version: '2' });
  await settled();
  assert.deepEqual(started[0]?.asked, ['initialize', 'shutdown']);
  assert.deepEqual(states, ['starting', 'ready', 'ready'], 'its end is no crash');
  await supervisor.stop();
});

test('a reload lets calls under way end with the old one', async () => {
  let answer: (() => void) | undefined;
  const { supervisor, started } = world(() => (method, params, process) => {
    if (method !== 'tool/execute') return good(method, params, process);
    answer = () => process.input.push(`${JSON.stringify({ jsonrpc: '2.0', id: 2, result: { content: 'old' } })}\n`);
    return SILENT;
  });
  await supervisor.start('a');
  const call = supervisor.request('tool/execute', {}, { timeoutMs: 120_000 });
  await settled();
  await supervisor.reload('b');
  await settled();
  assert.deepEqual(started[0]?.asked, ['initialize', 'tool/execute']);
  answer?.();
  assert.deepEqual(await call, { content: 'old' });
  await settled();
  assert.deepEqual(started[0]?.asked, ['initialize', 'tool/execute', 'shutdown']);
  await supervisor.stop();
});

test('a reload that fails leaves the old one at work, and says why', async () => {
  const { supervisor, started } = world((generation) => (generation === 2 ? () => ({}) : good));
  await supervisor.start('a');
  assert.match((await supervisor.reload('b')) ?? '', /did not introduce itself/);
  assert.equal(supervisor.state, 'ready');
  assert.equal(supervisor.current?.number, 1);
  assert.deepEqual(await supervisor.request('ping', {}, { timeoutMs: 1_000 }), {});
  assert.deepEqual(started[0]?.signals, []);
  await supervisor.stop();
});

test('G8: a stop waits for the end of the process, not for its answer', async () => {
  let finish: (() => void) | undefined;
  const { supervisor, started, clock } = world(() => (method, _params, process) => {
    if (method === 'shutdown') finish = () => process.end();
    return method === 'initialize' ? GOOD : {};
  });
  await supervisor.start('a');
  let isStopped = false;
  const stop = supervisor.stop().then(() => {
    isStopped = true;
  });
  await settled();
  clock.advance(4_000);
  await settled();
  assert.equal(isStopped, false);
  assert.deepEqual(started[0]?.signals, []);
  // A second stop waits for the first.
  const again = supervisor.stop();
  await settled();
  finish?.();
  await Promise.all([stop, again]);
  assert.deepEqual(started[0]?.signals, []);
  assert.equal(supervisor.state, 'stopped');
});

test('a stop ends what does not end by itself, and what is just being started', async () => {
  const { supervisor, started, clock } = world((generation) => (method) => (method === 'initialize' && generation === 1 ? GOOD : SILENT));
  await supervisor.start('a');
  const stop = supervisor.stop();
  await settled();
  clock.advance(5_000);
  await stop;
  assert.deepEqual(started[0]?.signals, ['SIGTERM']);
  const start = supervisor.start('a');
  await settled();
  await supervisor.stop();
  await start;
  assert.deepEqual(started[1]?.signals.slice(0, 1), ['SIGTERM']);
  assert.equal(supervisor.state, 'stopped');
});

test('a stop cancels a restart that waits', async () => {
  const { supervisor, started, clock } = world();
  await supervisor.start('a');
  started[0]!.end({ code: 1 });
  await settled();
  assert.equal(supervisor.state, 'restarting');
  await supervisor.stop();
  clock.advance(60_000);
  await settled();
  assert.equal(started.length, 1);
  await assert.rejects(supervisor.request('ping', {}, { timeoutMs: 1 }), /connection closed/);
});

test('S42: a call that is answered with garbage alone ends at its deadline, and who goes on like that is replaced', async () => {
  verifies('S42');
  const mad: Answer = (method) => (method === 'initialize' ? GOOD : SILENT);
  const { supervisor, started, states, clock } = world((generation) => (generation === 1 ? mad : good));
  await supervisor.start('a');
  const call = supervisor.request('tool/execute', {}, { timeoutMs: 120_000 });
  const failed = assert.rejects(call, /no answer to tool\/execute within 120000 ms/);
  const babble = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      started[0]!.input.push('garbage\n{"half":\n{"id":99999,"result":1}\nnull\n');
      clock.advance(1_000);
      await settled();
    }
  };
  await babble(119);
  assert.equal(supervisor.current?.peer.inFlight, 1);
  await babble(1);
  await failed;
  await babble(40);
  assert.match(states.join('; '), /restarting: it did not answer 2 pings/);
  assert.equal(supervisor.state, 'ready');
  await supervisor.stop();
});
