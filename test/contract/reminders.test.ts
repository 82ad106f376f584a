// The bundled plugin `reminders`, with the clock of the test: what people write, the card with its buttons at the time, what each
// button does, and what is left after a restart. No model is asked.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Delivery, Entry, JsonValue } from '@tenon/protocol';
import type { RegisterApi, ScheduledTurnHandler, SessionAttachment } from '@tenon/plugin-sdk';
import type { TestHost, TestHostOptions } from '@tenon/plugin-sdk/testing';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import reminders from '../../plugins/reminders/index.ts';
import manifest from '../../plugins/reminders/tenon.plugin.json' with { type: 'json' };
import { readWish, showTime } from '../../plugins/reminders/times.ts';
import { verifies } from '../support/verifies.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A Sunday, noon in Berlin. */
const START = Date.parse('2026-11-15T11:00:00Z');
const tz = 'Europe/Berlin';

function open(options: TestHostOptions = {}): Promise<TestHost> {
  return createTestHost(reminders, { manifest, config: { timeZone: tz }, startAt: START, ...options });
}

interface Card {
  readonly entryId: string;
  readonly title: string | undefined;
  readonly blocks: readonly (string | undefined)[];
  readonly buttons: readonly string[];
}

async function cards(host: TestHost): Promise<Card[]> {
  const { entries } = await host.call<{ entries: Entry[] }>('chat.history', { sessionKey: host.sessionKey });
  return entries.flatMap((entry) => {
    if (entry.type !== 'custom' || entry.customType !== 'delivery') return [];
    const { presentation } = entry.data as Delivery;
    const { title, blocks = [], buttons = [] } = presentation ?? {};
    return [{ entryId: entry.id, title, blocks: blocks.map(({ text }) => text), buttons: buttons.map(({ label }) => label) }];
  });
}

const press = (host: TestHost, { entryId }: Card, buttonId: string) =>
  host.call<{ answer: JsonValue }>('deliveries.press', { sessionKey: host.sessionKey, entryId, buttonId });

const jobs = async (host: TestHost) => (await host.call<{ jobs: { name: string; nextAt: number }[] }>('cron.list', {})).jobs;

test('what people write is a time', () => {
  const at = (text: string) => {
    const wish = readWish(text, START, tz);
    if ('wrong' in wish) return wish.wrong;
    const { when } = wish;
    return [
      ('at' in when && new Date(when.at).toISOString()) || ('delayMs' in when && when.delayMs) || ('cron' in when && when.cron),
      wish.text,
    ];
  };
  assert.deepEqual(at('in 20m water the plants'), [20 * MINUTE, 'water the plants']);
  assert.deepEqual(at('in 1h30m x'), [90 * MINUTE, 'x']);
  assert.deepEqual(at('in 2 hours 5 minutes 3 dogs'), [2 * HOUR + 5 * MINUTE, '3 dogs']);
  assert.deepEqual(at('at 18:00 x'), ['2026-11-15T17:00:00.000Z', 'x']);
  assert.deepEqual(at('at 9:30 x'), ['2026-11-16T08:30:00.000Z', 'x'], 'that time is over today');
  assert.deepEqual(at('6pm x y'), ['2026-11-15T17:00:00.000Z', 'x y']);
  assert.deepEqual(at('tomorrow 9:00 x'), ['2026-11-16T08:00:00.000Z', 'x']);
  assert.deepEqual(at('Tomorrow at 12am x'), ['2026-11-15T23:00:00.000Z', 'x']);
  assert.deepEqual(at('friday 9:00 x'), ['2026-11-20T08:00:00.000Z', 'x']);
  assert.deepEqual(at('sunday 9:00 x'), ['2026-11-22T08:00:00.000Z', 'x']);
  assert.deepEqual(at('2027-07-01 18:00 x'), ['2027-07-01T16:00:00.000Z', 'x'], 'summer time');
  assert.deepEqual(at('every weekday 9:00 stand up'), ['0 9 * * 1-5', 'stand up']);
  assert.deepEqual(at('every day at 7pm x'), ['0 19 * * *', 'x']);
  assert.deepEqual(at('every mon 8:05 x'), ['5 8 * * 1', 'x']);
  for (const [text, why] of [
    ['', /^When\?/],
    ['soon x', /^When\?/],
    ['in a while x', /^When\?/],
    ['3 dogs', /^When\?/],
    ['at 25:00 x', /no such time/],
    ['13pm x', /no such time/],
    ['today 9:00 x', /is over/],
    ['2026-01-01 9:00 x', /is over/],
    ['2027-13-01 9:00 x', /no day 2027-13-01/],
    ['2027-02-29 9:00 x', /no day 2027-02-29/],
    ['every 9:00 x', /^Every what\?/],
    ['every tomorrow 9:00 x', /^Every what\?/],
    ['weekday 9:00 x', /^When\?/],
  ] as const)
    assert.match(String(at(text)), why, text);
  assert.equal(showTime(START, tz, START), 'Sun 15 Nov 12:00');
  assert.equal(showTime(Date.UTC(2030, 0, 31, 17), tz, START), 'Thu 31 Jan 2030 18:00');
});

test('at its time a card with buttons arrives, without a model; later means later, and done means done, once', async () => {
  verifies('seed1:scheduled-turns', 'compat:C2', 'compat:C3');
  await using host = await open();
  assert.equal(await host.command('/remind in 20m water the plants'), '1. water the plants (Sun 15 Nov 12:20)');
  await host.advance(20 * MINUTE - 1);
  assert.deepEqual(await cards(host), []);
  await host.advance(1);
  const [first, ...none] = await cards(host);
  assert.deepEqual([first?.title, first?.blocks, none], ['Reminder: water the plants', [], []]);
  assert.deepEqual(first?.buttons, ['In 10 minutes', 'In 1 hour', 'Done']);
  assert.equal(await host.command('/remind'), '1. water the plants (due since Sun 15 Nov 12:20)');
  assert.deepEqual(await jobs(host), []);

  await press(host, first!, 'snooze-10');
  await assert.rejects(press(host, first!, 'done'), { code: 'GONE' });
  assert.equal(await host.command('/remind list'), '1. water the plants (Sun 15 Nov 12:30)');
  await host.restart();
  await host.advance(10 * MINUTE);
  const [, second] = await cards(host);
  assert.equal(second?.title, 'Reminder: water the plants');

  await host.restart();
  await press(host, second!, 'done');
  await assert.rejects(press(host, second!, 'done'), { code: 'GONE' });
  assert.match(await host.command('/remind list'), /^There are no reminders\./);
  await host.advance(HOUR);
  assert.equal((await cards(host)).length, 2);
  assert.deepEqual([host.requests, await jobs(host)], [[], []]);
  const { entries } = await host.call<{ entries: Entry[] }>('chat.history', { sessionKey: host.sessionKey });
  const kinds = new Set(entries.map((entry) => (entry.type === 'custom' ? entry.customType : entry.type)));
  assert.deepEqual([...kinds].sort(), ['delivery', 'delivery_pressed'], 'no turn, and what was replied to a press stands with the press');
});

test('one that comes late says when it was due', async () => {
  const sent: SessionAttachment[] = [];
  let handler: ScheduledTurnHandler['handler'] | undefined;
  const given = {
    now: () => START + HOUR,
    pluginConfig: { timeZone: tz },
    registerScheduledTurnHandler: (registered: ScheduledTurnHandler) => {
      handler = registered.handler;
    },
    session: {
      state: { update: async () => ({ ok: true, revision: 1 }) },
      workflow: {
        sendSessionAttachment: async (card: SessionAttachment) => {
          sent.push(card);
          return { ok: true };
        },
      },
    },
  };
  // It registers more than is looked at here.
  reminders.register(new Proxy(given, { get: (all, name) => Reflect.get(all, name) ?? (() => {}) }) as unknown as RegisterApi);
  const turn = { sessionKey: 'agent:main:x', agentId: 'main', runId: 'r', jobId: 'j', name: 'x', message: '', dueAt: START };
  const context = { getSessionExtension: () => undefined, signal: AbortSignal.timeout(1) };
  assert.deepEqual(await handler?.({ ...turn, ...context, tag: 'remind-1' }), { handled: true });
  assert.equal(sent[0]?.presentation?.blocks?.[0]?.text, 'It was due Sun 15 Nov 12:00.');
  assert.equal(await handler?.({ ...turn, ...context, tag: 'other' }), undefined, 'what is not a reminder is not its own');
});

test('again and again, until it is cancelled; a snooze is beside it', async () => {
  await using host = await open({ startAt: Date.parse('2026-11-16T07:50:00Z') });
  assert.equal(await host.command('/remind every weekday 9:00 stand up'), '1. stand up (every weekday 9:00)');
  await host.advance(10 * MINUTE);
  const [monday] = await cards(host);
  assert.equal(monday?.title, 'Reminder: stand up');
  await press(host, monday!, 'snooze-60');
  await host.advance(HOUR);
  const [, again] = await cards(host);
  await press(host, again!, 'done');
  const next = (await jobs(host)).map(({ nextAt }) => new Date(nextAt).toISOString());
  assert.deepEqual(next, ['2026-11-17T08:00:00.000Z'], 'it goes on');
  assert.equal(await host.command('/remind cancel 1'), 'Reminder 1 is cancelled.');
  assert.deepEqual(await jobs(host), []);
  assert.match(await host.command('/help'), /^Commands of plugins: \/remind$/m);
  assert.match(await host.command('/remind cancel 1'), /no reminder "1": see \/remind list/);
});

test('the card of one that was cancelled is about that one, also where its number belongs to another', async () => {
  await using host = await open();
  for (const text of ['feed the cat', 'feed the dog']) {
    await host.command(`/remind in 5m ${text}`);
    await host.advance(5 * MINUTE);
    await host.command('/remind cancel 1');
  }
  await host.command('/remind in 2h call Ada');
  const [cat, dog] = await cards(host);
  await press(host, cat!, 'done');
  assert.equal(await host.command('/remind'), '1. call Ada (Sun 15 Nov 14:10)');
  await press(host, dog!, 'snooze-10');
  assert.equal(await host.command('/remind'), '1. call Ada (Sun 15 Nov 14:10)\n2. feed the dog (Sun 15 Nov 12:20)');
  assert.equal((await jobs(host)).length, 2);
});

test('the agent plans one with its tool, and is told what cannot be', async () => {
  const call = (args: Record<string, JsonValue>) => ({ calls: [{ name: 'remind', arguments: args }] });
  await using host = await open({
    approve: 'allow-once',
    model: [
      call({ action: 'add', when: 'in 5m', text: 'tea' }),
      call({ action: 'add', when: 'soon', text: 'tea' }),
      call({ action: 'list' }),
      call({ action: 'cancel', id: 7 }),
      'Done',
    ],
  });
  const { entries } = await host.send('Remind me of the tea in five minutes');
  const results = entries.flatMap((entry) =>
    entry.type === 'message' && entry.message.role === 'toolResult' ? [JSON.stringify(entry.message.content)] : [],
  );
  assert.match(results[0] ?? '', /1\. tea \(Sun 15 Nov 12:05\)/);
  assert.match(results[1] ?? '', /When\? Such as/);
  assert.match(results[2] ?? '', /1\. tea/);
  assert.match(results[3] ?? '', /no reminder \\"7\\": see \/remind list/);
  await host.advance(5 * MINUTE);
  assert.equal((await cards(host))[0]?.title, 'Reminder: tea');
});

test('where the card cannot be sent, the agent is told instead', async () => {
  await using host = await open({ model: ['Do not forget the tea.'] });
  await host.command('/remind in 5m tea');
  await host.revoke('attachments.send');
  await host.advance(5 * MINUTE);
  assert.deepEqual(await cards(host), []);
  assert.match(JSON.stringify(host.requests[0]?.messages), /is due now.*: tea/);
  assert.match(JSON.stringify(host.warnings), /tenon plugin grant reminders attachments\.send/);
});

test('without the grant for schedules nothing is planned, and the command that gives it is said', async () => {
  await using host = await open();
  await host.revoke('schedule.turns');
  assert.match(await host.command('/remind in 5m tea'), /cannot be planned: .*tenon plugin grant reminders schedule\.turns$/);
  assert.equal(await host.command('/remind in 5m'), 'Of what? Say it after the time');
  assert.match(await host.command(`/remind in 5m ${'x'.repeat(201)}`), /201 characters; 200 are possible/);
  assert.match(await host.command('/remind'), /^There are no reminders\./);
});

test('a time zone that there is not keeps it from being loaded, with the reason', async () => {
  await assert.rejects(open({ config: { timeZone: 'Mars/Base' } }), /Mars\/Base/);
});

test('it fits in 300 lines', () => {
  const folder = join(import.meta.dirname, '..', '..', 'plugins', 'reminders');
  const lines = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8').split('\n').length - 1);
  assert.ok(lines.reduce((sum, each) => sum + each, 0) < 300);
});
