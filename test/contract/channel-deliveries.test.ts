// The ledger of deliveries with channels that fail, hang, lie and are short of room, and what plugins have to say about
// messages: in a host without sockets, on its own clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hookRow, matches } from '@tenon/protocol';
import { definePluginEntry, type OutgoingDelivery, type RegisterApi } from '@tenon/plugin-sdk';
import type { TestHost, TestHostOptions } from '@tenon/plugin-sdk/testing';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import { verifies } from '../support/verifies.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
type Any = any;

const GRANTS = ['channels.serve', 'attachments.send', 'ui.interact', 'conversation.read'];
const HOOKS = ['hooks.observe:message_received', 'hooks.intercept:message_sending', 'hooks.observe:message_sent'];

interface Line {
  readonly host: TestHost;
  /** What the channel was asked, in order. */
  readonly asked: Pick<OutgoingDelivery, 'id' | 'attempt' | 'text' | 'to'>[];
  readonly heard: [string, Any][];
  /** Somebody says something over the channel; gives the outcome of the call. */
  receive(message?: object): Promise<Any>;
  send(what: object): Promise<Any>;
  ledger(sessionKey?: string): Promise<Any[]>;
}

/** A channel that takes what it is sent, unless the test says otherwise. */
async function openLine(
  send: (given: OutgoingDelivery) => unknown = ({ id }) => ({ id: `r-${id}` }),
  options: TestHostOptions & { limits?: object; also?: (api: RegisterApi) => void } = {},
): Promise<Line & AsyncDisposable> {
  const asked: Line['asked'] = [];
  const heard: Line['heard'] = [];
  const { limits, also, ...more } = options;
  const register = (api: RegisterApi) => {
    api.registerChannel({
      id: 'line',
      label: 'Line',
      ...(limits ? { limits } : {}),
      send: (given) => {
        const { id, attempt, text, to } = given;
        asked.push({ id, attempt, to, ...(text === undefined ? {} : { text }) });
        return send(given) as never;
      },
    });
    api.session.controls.registerSessionAction({
      id: 'receive',
      handler: async ({ payload }) => ({ result: (await api.channels.receive(payload as never)) as never }),
    });
    api.session.controls.registerSessionAction({
      id: 'send',
      handler: async ({ payload }) => ({ result: (await api.session.workflow.sendSessionAttachment(payload as never)) as never }),
    });
    api.session.controls.registerSessionAction({ id: 'yes', handler: () => ({ reply: 'done' }) });
    for (const name of ['message_received', 'message_sent'] as const) api.on(name, (event) => void heard.push([name, event]));

    also?.(api);
  };
  const grants = [...GRANTS, ...HOOKS];
  const host = await createTestHost(definePluginEntry({ id: 'one', name: 'One', register }), { grants, ...more });
  const act = async (actionId: string, payload: object): Promise<Any> => {
    const answer = await host.press(actionId, payload as never);
    assert.ok(answer.ok, JSON.stringify(answer));
    return answer.result;
  };
  return {
    host,
    asked,
    heard,
    receive: (message = {}) => act('receive', { channel: 'line', from: 'ada', text: 'Hello', ...message }),
    send: (what) => act('send', what),
    ledger: async (sessionKey = 'agent:main:line:ada') => (await host.call<Any>('deliveries.list', { sessionKey })).deliveries as Any[],
    [Symbol.asyncDispose]: () => host.close(),
  };
}

const MINUTE = 60_000;

test('a channel that fails is asked again after 5 s, 30 s, 2 min, 10 min and 1 h, and then it has failed, for all to see', async () => {
  verifies('compat:C2');
  await using line = await openLine(() => {
    throw new Error('the line is dead');
  });
  await line.receive();
  await line.host.settled();
  const pauses = [5_000, 30_000, 2 * MINUTE, 10 * MINUTE, 60 * MINUTE];
  for (const [index, pause] of pauses.entries()) {
    const [row] = await line.ledger();
    assert.deepEqual([row.state, row.attempts, row.nextAt - line.host.now()], ['waiting', index + 1, pause], `attempt ${index + 1}`);
    // Not a moment before; and the wait is cut into pieces, as the wall clock may be moved.
    await line.host.advance(pause - 1);
    assert.equal(line.asked.length, index + 1);
    for (let ms = 0; ms < MINUTE && line.asked.length === index + 1; ms += MINUTE / 2) await line.host.advance(MINUTE / 2);
  }
  const [row] = await line.ledger();
  assert.deepEqual([row.state, row.attempts, row.nextAt], ['failed', 6, undefined]);
  assert.match(row.reason, /the channel line failed: the line is dead/);
  await line.host.advance(600 * MINUTE);
  assert.equal(line.asked.length, 6, 'it is not tried any more');
  assert.equal(new Set(line.asked.map(({ id }) => id)).size, 1, 'each time under the same id');
  assert.deepEqual(
    line.asked.map(({ attempt }) => attempt),
    [1, 2, 3, 4, 5, 6],
  );
  const { entries } = await line.host.call<Any>('chat.history', { sessionKey: 'agent:main:line:ada' });
  const said = entries.filter(({ customType }: Any) => customType === 'delivery_failed').map(({ data }: Any) => data);
  assert.deepEqual(
    said.map(({ entryId, channel, attempts }: Any) => [entryId, channel, attempts]),
    [[row.entryId, 'line', 6]],
  );
  const { findings } = await line.host.call<Any>('doctor.run', {});
  const found = findings.find(({ check }: Any) => check === 'deliveries');
  assert.deepEqual(
    [found.severity, /1 could not be sent over line: the channel line failed/.test(found.message)],
    ['warning', true],
    found.message,
  );
  const { records } = await line.host.call<Any>('audit.list', { limit: 5 });
  assert.ok(records.some(({ action, target }: Any) => action === 'deliveries.failed' && target === row.id));
  assert.deepEqual(
    line.heard
      .filter(([name]) => name === 'message_sent')
      .map(([, { success, attempts, error }]) => [success, attempts, /dead/.test(error)]),
    [[false, 6, true]],
  );
});

test('one that has to wait for long does not make another one wait', async () => {
  verifies('compat:C2');
  await using line = await openLine(() => {
    throw new Error('the line is dead');
  });
  await line.receive();
  await line.host.settled();
  // Its next pause is 2 min.
  await line.host.advance(5_000);
  await line.host.advance(30_000);
  await line.receive({ from: 'bob' });
  await line.host.settled();
  await line.host.advance(5_000);
  const attempts = async (sessionKey: string) => (await line.ledger(sessionKey)).map((row) => row.attempts);
  assert.deepEqual([await attempts('agent:main:line:ada'), await attempts('agent:main:line:bob')], [[3], [2]]);
});

test('a channel that hangs, with more for it than one look takes, holds up no other channel', async () => {
  verifies('compat:C2');
  const asked: number[] = [];
  const also = (api: RegisterApi) => {
    api.registerChannel({
      id: 'other',
      label: 'Other',
      send: ({ id, attempt }) => {
        asked.push(attempt);
        if (attempt === 1) throw new Error('not now');
        return { id };
      },
    });
    api.session.controls.registerSessionAction({
      id: 'flood',
      handler: ({ payload }) => {
        for (let n = 0; n < 55; n++) void api.session.workflow.sendSessionAttachment({ ...(payload as Any), text: `n ${n}` });
        return {};
      },
    });
  };
  let isStuck = false;
  await using line = await openLine(({ id }) => (isStuck ? new Promise(() => {}) : { id }), { also });
  const { sessionKey } = await line.receive();
  await line.host.settled();
  const ledger = async () => (await line.host.call<Any>('deliveries.list', { sessionKey, limit: 100 })).deliveries as Any[];
  const until = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
  };
  isStuck = true;
  await line.host.press('flood', { sessionKey });
  await until(async () => (await ledger()).length === 56);
  const { sessionKey: elsewhere } = await line.receive({ channel: 'other' });
  await until(async () => (await line.ledger(elsewhere))[0]?.attempts === 1);
  const [answer] = await line.ledger(elsewhere);
  assert.deepEqual([asked, answer.nextAt - line.host.now()], [[1], 5_000], 'at once');
  await line.host.advance(5_000);
  await until(async () => (await line.ledger(elsewhere))[0].state === 'sent');
  assert.deepEqual(asked, [1, 2], 'and again at its time');
  isStuck = false;
  for (let minutes = 0; minutes < 10 && (await ledger()).some(({ state }) => state === 'waiting'); minutes++)
    await line.host.advance(MINUTE);
  assert.ok(
    (await ledger()).every(({ state }) => state === 'sent'),
    'what waited was not forgotten',
  );
});

test('missing receipt = failure: what is no receipt is none, and a late one does not count', async () => {
  verifies('compat:C2');
  const lies: unknown[] = [undefined, null, 'ok', {}, { id: '' }, { id: 7 }, { id: 'x'.repeat(300) }, { id: 'a', more: 1 }];
  for (const lie of lies) {
    await using line = await openLine(() => lie);
    await line.receive();
    await line.host.settled();
    const [row] = await line.ledger();
    assert.deepEqual([row.state, row.attempts], ['waiting', 1], JSON.stringify(lie));
    assert.match(row.reason, /the channel line gave no receipt/, JSON.stringify(lie));
  }
  const late = Promise.withResolvers<unknown>();
  let calls = 0;
  await using line = await openLine(({ id }) => (++calls === 1 ? late.promise : { id: `second ${id}` }));
  await line.receive();
  while (line.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  // It hangs: nobody waits longer than the deadline says.
  await line.host.advance(60_000);
  const [row] = await line.ledger();
  assert.match(row.reason, /the channel line took too long/);
  late.resolve({ id: 'late' });
  await line.host.advance(5_000);
  const [settled] = await line.ledger();
  assert.deepEqual([settled.state, settled.attempts, settled.receipt], ['sent', 2, `second ${settled.id}`]);
});

test('once a channel has given its receipt it is not asked again, also after a restart', async () => {
  verifies('compat:C2');
  await using line = await openLine();
  const { sessionKey } = await line.receive();
  await line.host.settled();
  assert.equal(line.asked.length, 1);
  const sent = await line.send({ sessionKey, text: 'More', idempotencyKey: 'more' });
  assert.deepEqual([sent.state, sent.channel, sent.deliveredTo], ['sent', 'line', 'ada']);
  assert.equal((await line.send({ sessionKey, text: 'More', idempotencyKey: 'more' })).deliveryId, sent.deliveryId);
  await line.host.restart();
  await line.host.advance(10 * MINUTE);
  assert.equal(line.asked.length, 2);
  assert.deepEqual(
    (await line.ledger()).map(({ state, attempts }) => [state, attempts]),
    [
      ['sent', 1],
      ['sent', 1],
    ],
  );
});

test('one that waits is taken up after a restart, and after the plugin of its channel was away', async () => {
  let isUp = false;
  await using line = await openLine(({ id }) => {
    if (!isUp) throw new Error('not now');
    return { id };
  });
  await line.receive();
  await line.host.settled();
  await line.host.restart();
  isUp = true;
  await line.host.advance(5_000);
  assert.deepEqual(
    (await line.ledger()).map(({ state, attempts }) => [state, attempts]),
    [['sent', 2]],
  );
});

test('what the agent says is split where a channel takes less; what a plugin sends beyond a limit is refused in words', async () => {
  let broken = true;
  const long = `${'word '.repeat(30)}\n\n${'more '.repeat(10)}`.trim();
  await using line = await openLine(
    ({ id }) => {
      if (id.endsWith('.3') && broken) throw new Error('only two');
      return { id: `r-${id}` };
    },
    { limits: { textChars: 80, files: 0, buttons: 1 }, model: [long] },
  );
  const { sessionKey } = await line.receive();
  await line.host.settled();
  const [waiting] = await line.ledger();
  assert.deepEqual([waiting.state, line.asked.length], ['waiting', 3]);
  broken = false;
  await line.host.advance(5_000);
  const [row] = await line.ledger();
  assert.deepEqual([row.state, row.receipt], ['sent', `r-${row.id}`]);
  const texts = line.asked
    .filter(({ id }, index) => line.asked.findLastIndex((each) => each.id === id) === index)
    .map(({ text = '' }) => text);
  assert.equal(texts.join(' ').replaceAll(/\s+/g, ' '), long.replaceAll(/\s+/g, ' '));
  assert.ok(texts.every((text) => text.length <= 80));
  assert.equal(line.asked.filter(({ id }) => id === row.id).length, 1, 'parts that were taken are not sent again');
  const buttons = ['a', 'b'].map((id) => ({ id, label: id, action: { actionId: 'yes' } }));
  for (const [what, words] of [
    [{ text: 'x'.repeat(81) }, /takes 80 characters/],
    [{ files: [{ path: 'a' }] }, /takes 0 files/],
    [{ presentation: { title: 'x', buttons } }, /takes 1 buttons/],
  ] as const) {
    const { ok, reason, message } = await line.send({ sessionKey, ...what });
    assert.deepEqual([ok, reason], [false, 'limit']);
    assert.match(message, words);
  }
});

test('events of messages fit their rows, and a handler that throws, hangs or answers nonsense changes nothing', async () => {
  verifies('turns:hooks-fire', 'turns:hook-failure-policy');
  const faults = [
    () => {
      throw new Error('on purpose');
    },
    () => new Promise<never>(() => {}),
    () => ({ nonsense: true }) as never,
  ];
  const seen: [string, unknown][] = [];
  const names = ['message_received', 'message_sending', 'message_sent'] as const;
  await using line = await openLine(undefined, {
    also(api) {
      for (const name of names) {
        api.on(name, (event) => void seen.push([name, event]), { priority: 1 });
        for (const fault of faults) api.on(name, fault);
      }
    },
  });
  await line.receive();
  // The one that hangs is waited for as long as its row says.
  while (!seen.some(([name]) => name === 'message_sending')) await new Promise((resolve) => setImmediate(resolve));
  for (let step = 0; step < 10 && line.asked.length === 0; step++) await line.host.advance(5_000);
  await line.host.advance(60_000);
  assert.deepEqual(
    line.asked.map(({ text }) => text),
    ['ok'],
  );
  assert.deepEqual([...new Set(seen.map(([name]) => name))].sort(), [...names].sort());
  for (const [name, event] of seen) assert.ok(matches(hookRow(name as 'message_sent').event, event), `${name}: ${JSON.stringify(event)}`);
});

test('message_received tells of what a channel brings in, once for each message', async () => {
  await using line = await openLine();
  const first = await line.receive({ messageId: 'm1' });
  assert.equal((await line.receive({ messageId: 'm1' })).duplicate, true);
  await line.receive({ text: 'Again' });
  await line.host.settled();
  const told = line.heard.filter(([name]) => name === 'message_received').map(([, event]) => event);
  assert.deepEqual(
    told.map(({ channel, from, content, messageId, sessionKey }) => [channel, from, content, messageId, sessionKey]),
    [
      ['line', 'ada', 'Hello', 'm1', first.sessionKey],
      ['line', 'ada', 'Again', undefined, first.sessionKey],
    ],
  );
  assert.equal(told[0].runId, first.runId);
});

test('message_sending changes what is sent or stops it: of a plugin before it is kept, of the agent before the channel is asked', async () => {
  const seen: Any[] = [];
  await using line = await openLine(undefined, {
    model: ['the secret is 42', 'do not say this', 'fine'],
    also: (api) =>
      api.on('message_sending', (event) => {
        seen.push(event);
        if (/do not/.test(event.content)) return { cancel: true, cancelReason: 'it is not for others' };
        if (/throw/.test(event.content)) throw new Error('broken');
        return { content: event.content.replaceAll('42', '**') };
      }),
  });
  const { sessionKey } = await line.receive();
  await line.host.settled();
  assert.equal(line.asked[0]?.text, 'the secret is **');
  await line.receive({ text: 'Again' });
  await line.host.settled();
  const [stopped] = await line.ledger();
  assert.deepEqual([stopped.state, stopped.attempts, line.asked.length], ['failed', 1, 1], 'the channel is not asked, now or later');
  assert.match(stopped.reason, /plugin one does not let it be sent: it is not for others/);
  const { ok, reason, message } = await line.send({ sessionKey, text: 'do not' });
  assert.deepEqual([ok, reason], [false, 'unavailable']);
  assert.match(message, /plugin one does not let it be sent/);
  const sent = await line.send({ sessionKey, text: '42 it is' });
  const { entries } = await line.host.call<Any>('chat.history', { sessionKey });
  assert.equal(entries.find(({ id }: Any) => id === sent.entryId).data.text, '** it is', 'what is kept is what was sent');
  assert.equal((await line.send({ sessionKey, text: 'throw' })).ok, true, 'a handler that fails has no opinion');
  assert.deepEqual([seen[0].by, seen.at(-1).by], ['agent', 'one']);
  await line.host.settled();
  const told = line.heard.filter(([name]) => name === 'message_sent').map(([, { success, by, channel }]) => [success, by, channel]);
  assert.deepEqual(told, [
    [true, 'agent', 'line'],
    [false, 'agent', 'line'],
    [true, 'one', 'line'],
    [true, 'one', 'line'],
  ]);
});
