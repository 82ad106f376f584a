// The contract tests of session attachments, title by title, in a host without sockets. What has no test of its own here is
// answered where it stands:
// - "hint precedence", "happy path with hints": there is one hint, `forceDocumentMime`; deliveries.test.ts. The others are refused below.
// - "relative paths in agent workspace", "malformed/oversized/symlink/MIME cases", "no best-effort for batches", "sniff window only",
//   "unreadable MIME probe": deliveries.test.ts, with real files; what cannot be read is refused in words, as what is not there.
// - "escape plain captions": text is handed to a channel as it was said, and what it becomes there is the channel's; the page
//   shows it as text, see "stays text" in time-page.test.ts.
// - "thread precedence": a route is a channel and a recipient; there are no threads, and `threadId` is refused below.
// - "missing receipt = failure": channel-deliveries.test.ts. What is sent is durable first, so the answer says `state: 'waiting'`.
// - "gateway-mode channel refused": a channel has one mode.
// - "trusted contract cases": there is no trust by origin; only the grant counts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePluginEntry, type RegisterApi } from '@tenon/plugin-sdk';
import type { TestHost } from '@tenon/plugin-sdk/testing';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import { verifies } from '../support/verifies.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
type Any = any;

const GRANTS = ['channels.serve', 'attachments.send'];

/** `apis`: one for each load. */
async function open(): Promise<{ host: TestHost; apis: RegisterApi[]; sent: string[] }> {
  const apis: RegisterApi[] = [];
  const sent: string[] = [];
  const register = (api: RegisterApi) => {
    apis.push(api);
    api.registerChannel({
      id: 'line',
      label: 'Line',
      send: ({ id, text = '' }) => {
        sent.push(text);
        return { id };
      },
    });
    api.session.controls.registerSessionAction({ id: 'yes', handler: () => ({ reply: 'done' }) });
  };
  const host = await createTestHost(definePluginEntry({ id: 'one', name: 'One', register }), { grants: GRANTS });
  return { host, apis, sent };
}

const send = (api: RegisterApi, what: object): Promise<Any> => api.session.workflow.sendSessionAttachment(what as never);
const presentation = { title: 'Which?', buttons: [{ id: 'yes', label: 'Yes', action: { actionId: 'yes' } }] };

test('external refused: without the grant nothing is sent, and it counts at the moment of the call, not of the registration (live config used)', async () => {
  verifies('seams:A19', 'seams:A20', 'compat:C1');
  const { host, apis } = await open();
  await using _ = host;
  const [api] = apis as [RegisterApi];
  await host.revoke('attachments.send');
  const refused = await send(api, { sessionKey: host.sessionKey, text: 'x' });
  assert.deepEqual([refused.ok, refused.reason], [false, 'not-granted']);
  assert.match(refused.message, /attachments\.send.*tenon plugin grant one attachments\.send/);
  await host.grant('attachments.send');
  assert.equal((await send(apis.at(-1)!, { sessionKey: host.sessionKey, text: 'x' })).ok, true);
});

test('stale-registry protection: what a load that has ended still holds sends nothing', async () => {
  verifies('seams:A19');
  const { host, apis } = await open();
  await using _ = host;
  await host.reload();
  const [old, now] = apis as [RegisterApi, RegisterApi];
  const stale = await send(old, { sessionKey: host.sessionKey, text: 'from the past' });
  assert.deepEqual([stale.ok, stale.reason], [false, 'not-loaded']);
  assert.equal((await send(now, { sessionKey: host.sessionKey, text: 'now' })).ok, true);
  assert.equal((await host.call<Any>('deliveries.list', { sessionKey: host.sessionKey })).deliveries.length, 1);
});

test('no route refused: where nobody serves the channel that a session came from, that is said, and nothing is kept', async () => {
  verifies('compat:C1');
  const { host, apis, sent } = await open();
  await using _ = host;
  const { sessionKey } = (await apis[0]!.channels.receive({ channel: 'line', from: 'ada', text: 'Hello' })) as Any;
  await host.settled();
  assert.equal((await send(apis[0]!, { sessionKey, text: 'first' })).channel, 'line');
  await host.revoke('channels.serve');
  const refused = await send(apis.at(-1)!, { sessionKey, text: 'second' });
  assert.deepEqual([refused.ok, refused.reason], [false, 'unavailable']);
  assert.match(refused.message, /no plugin serves the channel line/);
  assert.ok(!sent.includes('second'));
  assert.equal((await host.call<Any>('deliveries.list', { sessionKey })).deliveries.filter(({ by }: Any) => by === 'one').length, 1);
});

test('lookup failure structured: whatever is asked for, the answer is a value that says what is wrong', async () => {
  verifies('seams:A19');
  const { host, apis } = await open();
  await using _ = host;
  const [api] = apis as [RegisterApi];
  const { sessionKey } = host;
  const bad: [what: unknown, reason: string, words: RegExp][] = [
    [undefined, 'invalid', /attachment/],
    [null, 'invalid', /attachment/],
    ['text', 'invalid', /attachment/],
    [{}, 'invalid', /sessionKey/],
    [{ sessionKey, text: 7 }, 'invalid', /text/],
    [{ sessionKey, text: ' ' }, 'invalid', /at least one of/],
    [{ sessionKey, files: [] }, 'invalid', /at least one of/],
    [{ sessionKey, text: 'x', threadId: 't' }, 'invalid', /threadId/],
    [{ sessionKey, text: 'x', channelHints: { parseMode: 'HTML' } }, 'invalid', /parseMode/],
    [{ sessionKey, text: 'x', to: 'somebody else' }, 'invalid', /\bto\b/],
    [{ sessionKey, text: 'x', maxBytes: 0 }, 'invalid', /maxBytes/],
    [{ sessionKey: 'agent:main:none', text: 'x' }, 'no-session', /none/],
    [{ sessionKey, files: [{ path: 'a\0b' }] }, 'invalid', /not a path/],
    [
      { sessionKey, presentation: { ...presentation, buttons: [presentation.buttons[0], presentation.buttons[0]] } },
      'invalid',
      /two buttons/,
    ],
    [
      { sessionKey, presentation: { title: 'x', buttons: [{ id: 'a', label: 'a', action: { data: 'none:x' } }] } },
      'invalid',
      /no interactive/,
    ],
    [
      {
        get sessionKey() {
          throw new Error('on purpose');
        },
      },
      'invalid',
      /attachment/,
    ],
  ];
  for (const [what, reason, words] of bad) {
    const answer = await send(api, what as object);
    assert.deepEqual([answer.ok, answer.reason], [false, reason], String(words));
    assert.match(answer.message, words, String(words));
  }
  const { entries } = await host.call<Any>('chat.history', { sessionKey });
  assert.deepEqual(entries, []);
  const withoutFiles = await send(api, { sessionKey, files: [], presentation: { title: 'x' } });
  assert.deepEqual([withoutFiles.ok, withoutFiles.count], [true, 0], 'no files are none');
});

test('a plugin that is away leaves its buttons as they are: a press is refused in words, and works when it is back', async () => {
  verifies('compat:C3');
  const { host, apis } = await open();
  await using _ = host;
  const { sessionKey } = host;
  const { entryId } = await send(apis[0]!, { sessionKey, presentation });
  const press = () => host.call<Any>('deliveries.press', { sessionKey, entryId, buttonId: 'yes' });
  await host.call('plugins.disable', { id: 'one' });
  await assert.rejects(press(), { code: 'UNAVAILABLE' });
  const { deliveries } = await host.call<Any>('deliveries.list', { sessionKey });
  assert.deepEqual([deliveries.length, deliveries[0].pressed], [1, undefined]);
  await host.call('plugins.enable', { id: 'one', grants: GRANTS });
  assert.equal((await press()).answer.reply, 'done');
  await assert.rejects(press(), { code: 'GONE' });
});
