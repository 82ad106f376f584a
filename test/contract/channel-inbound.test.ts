// What a channel other than webchat hands in beside text: files with a message, and the press of a button that it was sent.
// In a host without sockets, on its own clock.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { definePluginEntry, type RegisterApi } from '@tenon/plugin-sdk';
import type { TestHost } from '@tenon/plugin-sdk/testing';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import { verifies } from '../support/verifies.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
type Any = any;

const GRANTS = ['channels.serve', 'attachments.send', 'ui.interact', 'conversation.read', 'hooks.observe:message_received'];
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const SESSION = 'agent:main:line:ada';

interface Line extends AsyncDisposable {
  readonly host: TestHost;
  readonly api: () => RegisterApi;
  /** In the workspace of the agent. */
  readonly folder: string;
  readonly heard: Any[];
  readonly acted: unknown[];
  receive(message: object): Promise<Any>;
  press(press: object): Promise<Any>;
  /** Sends buttons in the session; gives what the channel is to press. */
  send(action?: object): Promise<{ deliveryId: string; entryId: string }>;
  rows(): Promise<Any[]>;
}

async function openLine(grants: readonly string[] = GRANTS): Promise<Line> {
  const apis: RegisterApi[] = [];
  const heard: Any[] = [];
  const acted: unknown[] = [];
  const register = (api: RegisterApi) => {
    apis.push(api);
    api.registerChannel({ id: 'line', label: 'Line', send: ({ id }) => ({ id }) });
    api.on('message_received', (event) => void heard.push(event));
    api.registerInteractiveHandler({
      ...{ channel: 'line', namespace: 'one' },
      handler: ({ payload, client }) => {
        acted.push([payload, client.scopes]);
        return { text: 'told' };
      },
    });
    api.registerSessionAction({
      id: 'answer',
      handler: ({ payload }) => {
        acted.push(payload);
        return payload === 'no' ? { ok: false, error: 'not today' } : { reply: `${String(payload)} it is` };
      },
    });
    api.registerSessionAction({ id: 'admin', requiredScopes: ['operator.admin'], handler: () => void acted.push('admin') });
  };
  const host = await createTestHost(definePluginEntry({ id: 'one', name: 'One', register }), { grants: [...grants] });
  const api = () => apis.at(-1)!;
  const folder = mkdtempSync(join(tmpdir(), 'tenon-inbound-'));
  return {
    ...{ host, api, folder, heard, acted },
    receive: (message) => api().channels.receive({ channel: 'line', from: 'ada', ...message }) as Promise<Any>,
    press: (press) =>
      api().channels.pressButton({ buttonId: 'yes', from: 'ada', isAuthorizedSender: true, ...press } as never) as Promise<Any>,
    async send(action = { actionId: 'answer', payload: 'yes' }) {
      const buttons = [
        { id: 'yes', label: 'Yes', action },
        { id: 'no', label: 'No', action: { actionId: 'answer', payload: 'no' } },
        { id: 'root', label: 'Root', action: { actionId: 'admin' } },
      ];
      const sent = await api().session.workflow.sendSessionAttachment({
        sessionKey: SESSION,
        presentation: { title: 'Which?', buttons } as never,
      });
      assert.ok(sent.ok, JSON.stringify(sent));
      return sent;
    },
    rows: async () => (await host.call<Any>('deliveries.list', { sessionKey: SESSION })).deliveries,
    async [Symbol.asyncDispose]() {
      await host.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

test('files that a channel brings in are said with the message as those of chat.send: kept, named, shown to the model, and not twice', async () => {
  verifies('compat:C2');
  await using line = await openLine();
  writeFileSync(join(line.folder, 'pixel.txt'), PNG);
  writeFileSync(join(line.folder, 'notes.txt'), 'Remember the milk');
  const files = [{ path: join(line.folder, 'pixel.txt'), name: 'pixel.png' }, { path: join(basename(line.folder), 'notes.txt') }];
  const came = await line.receive({ text: 'Look', files, messageId: 'm1' });
  assert.deepEqual([came.ok, came.sessionKey], [true, SESSION], JSON.stringify(came));
  rmSync(files[0]!.path);
  const again = await line.receive({ text: 'Look', files, messageId: 'm1' });
  assert.deepEqual([again.ok, again.duplicate, again.runId], [true, true, came.runId], 'a repeat needs the files no more');
  await line.host.settled();
  const { attachments } = await line.host.call<Any>('attachments.list', { sessionKey: SESSION });
  assert.deepEqual(
    attachments.map(({ name, mime, bytes, owner }: Any) => [name, mime, bytes, owner]).sort(),
    [
      ['notes.txt', 'text/plain', 17, 'channel:line'],
      ['pixel.png', 'image/png', PNG.length, 'channel:line'],
    ],
    'the type is what the bytes say',
  );
  const { entries } = await line.host.call<Any>('chat.history', { sessionKey: SESSION });
  const said = entries.filter(({ message }: Any) => message?.role === 'user').map(({ message }: Any) => message);
  assert.equal(said.length, 1);
  assert.deepEqual(
    [said[0].content.map(({ type }: Any) => type), said[0].attachments.map(({ name }: Any) => name)],
    [
      ['text', 'image'],
      ['pixel.png', 'notes.txt'],
    ],
  );
  assert.deepEqual(
    line.heard.map(({ content, files: names }) => [content, names]),
    [['Look', ['pixel.png', 'notes.txt']]],
  );
  const alone = await line.receive({ files: [files[1]!] });
  assert.equal(alone.ok, true, 'files need no text');
});

test('files that a plugin may not send it may not bring in either, and then nothing is said', async () => {
  await using line = await openLine();
  const { folder } = line;
  const file = (name: string, content: string | Buffer = 'x') => {
    writeFileSync(join(folder, name), content);
    return { path: join(folder, name) };
  };
  const good = file('good.txt');
  symlinkSync(good.path, join(folder, 'link.txt'));
  const large = Buffer.alloc(14 * 1024 * 1024);
  const cases: [object, string, RegExp][] = [
    [{ files: [{ path: '/etc/hostname' }] }, 'invalid', /message\/files\/0 .* lies outside of the folders/],
    [{ files: [good, { path: '../etc/passwd' }] }, 'invalid', /message\/files\/1 .* lies outside/],
    [{ files: [{ path: join(folder, 'link.txt') }] }, 'invalid', /is a link/],
    [{ files: [{ path: folder }] }, 'invalid', /is not a regular file/],
    [{ files: [{ path: join(folder, 'none') }] }, 'invalid', /is not there/],
    [{ files: [file('empty', '')] }, 'invalid', /is empty/],
    [{ files: [file('one', large), file('two', large)] }, 'invalid', /message\/files\/1 .* can be sent/],
    [{ files: Array.from({ length: 11 }, () => good) }, 'invalid', /message\/files/],
    [{ files: [{ ...good, more: 1 }] }, 'invalid', /message\/files/],
    [{ files: [], text: ' ' }, 'invalid', /at least one of text and files/],
    [{}, 'invalid', /at least one of text and files/],
    [{ files: [good], agentId: 'nobody' }, 'invalid', /there is no agent "nobody"/],
    [{ files: [good], channel: 'webchat' }, 'invalid', /does not serve the channel/],
  ];
  for (const [message, reason, words] of cases) {
    const refused = await line.receive(message);
    assert.deepEqual([refused.ok, refused.reason], [false, reason], JSON.stringify(message).slice(0, 200));
    assert.match(refused.message, words);
  }
  const { attachments } = await line.host.call<Any>('attachments.list', {});
  assert.deepEqual([attachments, line.heard], [[], []]);
  await using without = await openLine(GRANTS.filter((grant) => grant !== 'channels.serve'));
  assert.equal((await without.receive({ text: 'x', files: [good] })).reason, 'not-granted');
});

test('a button that is pressed in a channel is carried out once, on record, also after a restart', async () => {
  verifies('compat:C3');
  await using line = await openLine();
  await line.receive({ text: 'Hello' });
  await line.host.settled();
  const { deliveryId, entryId } = await line.send();
  const other = await line.send({ data: 'one:pick' });
  await line.host.restart();
  const no = await line.press({ deliveryId, buttonId: 'no' });
  assert.deepEqual([no.ok, no.reason], [false, 'unavailable']);
  assert.match(no.message, /plugin one did not do it: not today/);
  const both = await Promise.all([line.press({ deliveryId, sender: 'ada-phone' }), line.press({ deliveryId, sender: 'ada-phone' })]);
  assert.deepEqual(
    both[0],
    { ok: true, sessionKey: SESSION, entryId, pluginId: 'one', text: 'yes it is' },
    'what was refused left the buttons',
  );
  assert.deepEqual([both[1].ok, both[1].reason], [false, 'conflict']);
  await line.host.restart();
  const late = await line.press({ deliveryId, buttonId: 'no' });
  assert.deepEqual([late.reason, /pressed already: "Yes"/.test(late.message)], ['conflict', true]);
  const told = await line.press({ deliveryId: other.deliveryId });
  assert.deepEqual([told.ok, told.text], [true, 'told']);
  assert.deepEqual(line.acted, ['no', 'yes', ['pick', ['operator.read', 'operator.write']]]);
  const row = (await line.rows()).find(({ id }) => id === deliveryId);
  assert.deepEqual([row.pressed.buttonId, row.pressed.by], ['yes', 'channel:line:ada-phone']);
  const { entries } = await line.host.call<Any>('chat.history', { sessionKey: SESSION });
  assert.equal(entries.filter(({ customType }: Any) => customType === 'delivery_pressed').length, 2);
  const { records } = await line.host.call<Any>('audit.list', { limit: 50 });
  assert.deepEqual(
    records
      .filter(({ action }: Any) => action === 'deliveries.press')
      .map(({ actor }: Any) => actor)
      .sort(),
    ['channel:line:ada', 'channel:line:ada-phone'],
  );
});

test('a press is refused of a stranger, from elsewhere, of what another channel carries, and without the grant', async () => {
  verifies('compat:C3');
  await using line = await openLine();
  await line.receive({ text: 'Hello' });
  await line.receive({ text: 'Hello', from: 'bob' });
  await line.host.settled();
  const { deliveryId } = await line.send();
  const own = await line.host.call<Any>('sessions.create', { key: 'agent:main:page' });
  const page = (await line.api().session.workflow.sendSessionAttachment({
    sessionKey: own.session.key,
    presentation: { title: 'Which?', buttons: [{ id: 'yes', label: 'Yes', action: { actionId: 'answer', payload: 'yes' } }] },
  })) as Any;
  const cases: [object, string, RegExp][] = [
    [{ deliveryId, isAuthorizedSender: undefined }, 'not-granted', /does not say that "ada" may act here/],
    [{ deliveryId, isAuthorizedSender: false, sender: 'eve' }, 'not-granted', /"eve" may act here/],
    [{ deliveryId, buttonId: 'root' }, 'not-granted', /needs the scope operator.admin/],
    [{ deliveryId, from: 'bob' }, 'invalid', /did not go to "bob"/],
    [{ deliveryId, buttonId: 'other' }, 'invalid', /has no button "other"/],
    [{ deliveryId: page.deliveryId, from: 'webchat' }, 'invalid', /no channel of plugin one was sent a delivery/],
    [{ deliveryId: 'none-none-none-none-none' }, 'invalid', /no channel of plugin one was sent a delivery/],
    [{ deliveryId, from: '../x' }, 'invalid', /press\/from/],
    [{ deliveryId, more: 1 }, 'invalid', /press/],
    [{}, 'invalid', /press/],
  ];
  for (const [press, reason, words] of cases) {
    const refused = await line.press(press);
    assert.deepEqual([refused.ok, refused.reason], [false, reason], JSON.stringify(press));
    assert.match(refused.message, words);
  }
  assert.deepEqual(line.acted, []);
  assert.ok((await line.rows()).every(({ pressed }) => pressed === undefined));
  await line.host.call('sessions.delete', { key: SESSION });
  assert.equal((await line.press({ deliveryId })).reason, 'invalid', 'it went with its session');
  await using without = await openLine(GRANTS.filter((grant) => grant !== 'channels.serve'));
  assert.equal((await without.press({ deliveryId })).reason, 'not-granted');
});
