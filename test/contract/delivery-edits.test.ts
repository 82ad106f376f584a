// What becomes of a delivery after it was sent: a button is pressed, or the plugin changes it. Its channel is asked to show that,
// after the send, for the newest state, until it has or is given up; in a host without sockets, on its own clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { definePluginEntry, type OutgoingDelivery, type OutgoingEdit, type RegisterApi } from '@tenon/plugin-sdk';
import type { TestHost } from '@tenon/plugin-sdk/testing';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import { verifies } from '../support/verifies.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
type Any = any;

const GRANTS = ['channels.serve', 'attachments.send', 'ui.interact', 'conversation.read', 'hooks.intercept:message_sending'];
const MINUTE = 60_000;

interface Line extends AsyncDisposable {
  readonly host: TestHost;
  readonly sessionKey: string;
  readonly api: () => RegisterApi;
  /** What the channel was asked, in order. */
  readonly asked: { how: 'send' | 'edit'; given: OutgoingDelivery & Partial<OutgoingEdit> }[];
  send(what?: object): Promise<Any>;
  update(what: object): Promise<Any>;
  press(entryId: string, buttonId?: string): Promise<Any>;
  row(deliveryId: string): Promise<Any>;
}

interface Behaviour {
  readonly send?: (given: OutgoingDelivery) => unknown;
  /** null: the channel has none. */
  readonly edit?: ((given: OutgoingEdit) => unknown) | null;
  readonly limits?: object;
  readonly also?: (api: RegisterApi) => void;
}

const buttons = ['yes', 'no'].map((id) => ({ id, label: `Say ${id}`, action: { actionId: 'answer', payload: id } }));
const presentation = { title: 'Which?', buttons };

async function openLine({ send, edit, limits: most, also }: Behaviour = {}): Promise<Line> {
  const asked: Line['asked'] = [];
  const apis: RegisterApi[] = [];
  const register = (api: RegisterApi) => {
    apis.push(api);
    api.registerChannel({
      ...{ id: 'line', label: 'Line' },
      ...(most ? { limits: most } : {}),
      send: (given) => {
        asked.push({ how: 'send', given });
        return (send ? send(given) : { id: 'r1' }) as never;
      },
      ...(edit === null
        ? {}
        : {
            edit: (given: OutgoingEdit) => {
              asked.push({ how: 'edit', given });
              return (edit ? edit(given) : { id: given.receipt }) as never;
            },
          }),
    });
    api.registerSessionAction({ id: 'answer', handler: ({ payload }) => ({ reply: `${String(payload)} it is` }) });
    also?.(api);
  };
  const host = await createTestHost(definePluginEntry({ id: 'one', name: 'One', register }), { grants: GRANTS });
  const api = () => apis.at(-1)!;
  const { sessionKey } = (await api().channels.receive({ channel: 'line', from: 'ada', text: 'Hello' })) as Any;
  await host.settled();
  asked.length = 0;
  return {
    ...{ host, sessionKey, api, asked },
    send: (what = { presentation }) => api().session.workflow.sendSessionAttachment({ sessionKey, ...what }) as Promise<Any>,
    update: (what) => api().session.workflow.updateSessionAttachment({ sessionKey, ...what } as never) as Promise<Any>,
    press: async (entryId, buttonId = 'yes') => {
      const pressed = await host.call<Any>('deliveries.press', { sessionKey, entryId, buttonId });
      await host.settled();
      return pressed;
    },
    row: async (deliveryId) =>
      (await host.call<Any>('deliveries.list', { sessionKey })).deliveries.find(({ id }: Any) => id === deliveryId),
    [Symbol.asyncDispose]: () => host.close(),
  };
}

/** The channel is asked on its own after a press: what is looked at comes to be true. */
async function comes(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const until = Date.now() + 30_000;
  while (!(await condition())) {
    assert.ok(Date.now() < until, `in 30 s it did not come: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const editsOf = ({ asked }: Line) => asked.filter(({ how }) => how === 'edit').map(({ given }) => given as OutgoingEdit);

test('a press reaches the channel: once, after the send, as the whole state without buttons, also when the gateway was restarted', async () => {
  verifies('compat:C2', 'compat:C3');
  await using line = await openLine({ edit: ({ receipt }) => ({ id: `${receipt}, edited` }) });
  const { deliveryId, entryId } = await line.send({ text: 'Think', presentation });
  assert.equal((await line.row(deliveryId)).edits, undefined, 'it is as it was sent');
  await line.press(entryId);
  await comes('the edit is on record', async () => (await line.row(deliveryId)).edits?.state === 'done');
  const [given, ...others] = editsOf(line);
  const { id, revision, attempt, to, receipt, text, pressed, presentation: shown } = given!;
  assert.deepEqual(
    { id, revision, attempt, to, receipt, text, pressed, shown },
    {
      ...{ id: deliveryId, revision: 1, attempt: 1, to: 'ada', receipt: 'r1', text: 'Think' },
      pressed: { buttonId: 'yes', label: 'Say yes', text: 'yes it is' },
      shown: { title: 'Which?', buttons: [] },
    },
  );
  await line.host.restart();
  await line.host.advance(120 * MINUTE);
  assert.deepEqual([others, editsOf(line).length], [[], 1], 'what is settled is not asked again');
  const row = await line.row(deliveryId);
  assert.deepEqual([row.receipt, row.edits], ['r1, edited', { state: 'done', revision: 1, attempts: 1 }]);
});

test('a channel without edit is not asked, and that can be seen; what the page shows changes all the same', async () => {
  await using line = await openLine({ edit: null });
  const { deliveryId, entryId } = await line.send();
  const changed = await line.update({ deliveryId, text: 'New' });
  assert.deepEqual([changed.ok, changed.changed, changed.edits, changed.revision], [true, true, 'none', 1]);
  await line.press(entryId);
  await comes('it is settled', async () => (await line.row(deliveryId)).edits.state === 'none');
  assert.deepEqual((await line.row(deliveryId)).edits, { state: 'none', revision: 2, attempts: 0 });
  assert.equal(line.asked.length, 1);
  const { entries } = await line.host.call<Any>('chat.history', { sessionKey: line.sessionKey });
  assert.equal(entries.findLast(({ customType }: Any) => customType === 'delivery_edited').data.text, 'New');
});

test('a channel that fails is asked again like for a send, for the newest state only, and is given up for all to see', async () => {
  let isBroken = true;
  await using line = await openLine({
    edit: () => {
      if (isBroken) throw new Error('the line is dead');
      return { id: 'r2' };
    },
  });
  const { deliveryId } = await line.send({ text: 'First' });
  assert.equal((await line.update({ deliveryId, text: 'Second' })).edits, 'waiting');
  const [before] = [await line.row(deliveryId)];
  assert.deepEqual([before.edits.attempts, before.edits.nextAt - line.host.now()], [1, 5_000]);
  assert.match(before.edits.reason, /the channel line failed: the line is dead/);
  await line.host.restart();
  await line.update({ deliveryId, text: 'Third' });
  const pauses = [5_000, 30_000, 2 * MINUTE, 10 * MINUTE, 60 * MINUTE];
  for (const [index, pause] of pauses.entries()) {
    const { edits } = await line.row(deliveryId);
    assert.deepEqual([edits.state, edits.attempts, edits.nextAt - line.host.now()], ['waiting', index + 1, pause]);
    const count = editsOf(line).length;
    await line.host.advance(pause - 1);
    assert.equal(editsOf(line).length, count, 'not a moment before');
    for (let ms = 0; ms < MINUTE && editsOf(line).length === count; ms += MINUTE / 2) await line.host.advance(MINUTE / 2);
  }
  assert.deepEqual(
    editsOf(line).map(({ text, revision, attempt }) => [text, revision, attempt]),
    [['Second', 1, 1], ...[1, 2, 3, 4, 5, 6].map((attempt) => ['Third', 2, attempt])],
  );
  const row = await line.row(deliveryId);
  assert.deepEqual([row.state, row.edits.state, row.edits.attempts, row.edits.nextAt], ['sent', 'failed', 6, undefined]);
  const { findings } = await line.host.call<Any>('doctor.run', {});
  const found = findings.find(({ check }: Any) => check === 'deliveries');
  assert.match(found.message, /1 were sent, and could not be changed over line: the channel line failed/);
  const { records } = await line.host.call<Any>('audit.list', { limit: 10 });
  assert.ok(records.some(({ action, target }: Any) => action === 'deliveries.edit-failed' && target === deliveryId));
  isBroken = false;
  assert.equal((await line.update({ deliveryId, text: 'Fourth' })).edits, 'done', 'the next change is a new one');
  assert.deepEqual((await line.row(deliveryId)).edits, { state: 'done', revision: 3, attempts: 1 });
});

test('in order: what changes before the send was taken goes with it, and what changes while an edit is under way comes after it', async () => {
  let isUp = false;
  const slow = Promise.withResolvers<void>();
  await using line = await openLine({
    send: () => {
      if (!isUp) throw new Error('not yet');
      return { id: 'r1' };
    },
    edit: async ({ text, receipt }) => {
      if (text === 'Third') await slow.promise;
      return { id: receipt };
    },
  });
  const { deliveryId, entryId, state } = await line.send({ text: 'First', presentation });
  assert.equal(state, 'waiting');
  assert.equal((await line.update({ deliveryId, text: 'Second' })).edits, 'waiting');
  await line.press(entryId);
  assert.deepEqual(editsOf(line), []);
  isUp = true;
  await line.host.advance(5_000);
  const { given } = line.asked.at(-1)!;
  assert.deepEqual([given.text, given.revision, given.pressed?.buttonId, given.presentation?.buttons], ['Second', 2, 'yes', []]);
  assert.deepEqual((await line.row(deliveryId)).edits, { state: 'done', revision: 2, attempts: 0 }, 'it went with the send');
  const third = line.update({ deliveryId, text: 'Third' });
  await comes('the channel is asked', () => editsOf(line).length === 1);
  const others = ['Fourth', 'Fifth'].map((text) => line.update({ deliveryId, text }));
  await comes('both are kept', async () => (await line.row(deliveryId)).edits.revision === 5);
  slow.resolve();
  await Promise.all([third, ...others]);
  assert.deepEqual(
    editsOf(line).map(({ text, revision }) => [text, revision]),
    [
      ['Third', 3],
      ['Fifth', 5],
    ],
    'one in between is nobody asked for',
  );
  assert.deepEqual((await line.row(deliveryId)).edits, { state: 'done', revision: 5, attempts: 1 });
});

test('a plugin changes what it sent: what was pressed stays pressed, the same again is nothing, and who comes later sees it', async () => {
  verifies('compat:C1', 'compat:C3');
  await using line = await openLine();
  const { deliveryId, entryId } = await line.send({ text: 'First', presentation });
  const shorter = { title: 'Now?', buttons: [buttons[1]!] };
  const first = await line.update({ deliveryId, presentation: shorter });
  assert.deepEqual(
    [first.ok, first.deliveryId, first.entryId, first.revision, first.changed, first.edits],
    [true, deliveryId, entryId, 1, true, 'done'],
  );
  const again = await line.update({ deliveryId, presentation: shorter });
  assert.deepEqual([again.ok, again.revision, again.changed, again.edits], [true, 1, false, 'done']);
  assert.equal(editsOf(line).length, 1);
  await assert.rejects(line.press(entryId, 'yes'), { code: 'NOT_FOUND' }, 'this button is gone');
  await line.press(entryId, 'no');
  await line.update({ deliveryId, text: null, presentation });
  await assert.rejects(line.press(entryId, 'yes'), { code: 'GONE' }, 'one was pressed');
  const { entries } = await line.host.call<Any>('chat.history', { sessionKey: line.sessionKey });
  const edited = entries.filter(({ customType }: Any) => customType === 'delivery_edited').map(({ data }: Any) => data);
  assert.deepEqual(
    edited.map(({ revision, text, presentation: shown, by, entryId: of }: Any) => [revision, text, shown.title, by, of]),
    [
      [1, 'First', 'Now?', 'one', entryId],
      [3, undefined, 'Which?', 'one', entryId],
    ],
  );
  const last = editsOf(line).at(-1)!;
  assert.deepEqual([last.text, last.presentation?.buttons, last.pressed?.buttonId], [undefined, [], 'no']);
  const { records } = await line.host.call<Any>('audit.list', { limit: 20 });
  assert.equal(records.filter(({ action, target }: Any) => action === 'deliveries.update' && target === deliveryId).length, 2);
});

test('what cannot be changed is refused with a value that says why, and nothing is changed', async () => {
  verifies('seams:A19', 'seams:A20');
  await using line = await openLine({
    limits: { textChars: 50, buttons: 2 },
    also: (api) =>
      api.on('message_sending', ({ content }) =>
        /secret/.test(content) ? { cancel: true, cancelReason: 'not for others' } : { content: content.replaceAll('42', '**') },
      ),
  });
  const { deliveryId } = await line.send({ text: 'First' });
  const own = await line.row(deliveryId);
  const agents = (await line.host.call<Any>('deliveries.list', { sessionKey: line.sessionKey })).deliveries.find(
    ({ by }: Any) => by === 'agent',
  );
  const foreign = { title: 'x', buttons: [{ id: 'a', label: 'a', action: { actionId: 'none' } }] };
  const three = { title: 'x', buttons: ['a', 'b', 'c'].map((id) => ({ ...buttons[0]!, id })) };
  const bad: [what: object, reason: string, words: RegExp][] = [
    [{ deliveryId }, 'invalid', /at least one of text and presentation/],
    [{ deliveryId, text: 7 }, 'invalid', /text must be string/],
    [{ deliveryId, presentation: { title: '' } }, 'invalid', /presentation\/title/],
    [{ deliveryId, text: 'x', files: [] }, 'invalid', /files/],
    [{ deliveryId: 'none-none-none-none-none', text: 'x' }, 'invalid', /There is no delivery "none-none-none-none-none" in this session/],
    [{ deliveryId: agents.id, text: 'x' }, 'invalid', /one has not sent the delivery/],
    [{ deliveryId, sessionKey: line.host.sessionKey, text: 'x' }, 'invalid', /There is no delivery/],
    [{ deliveryId, sessionKey: 'agent:main:none', text: 'x' }, 'no-session', /none/],
    [{ deliveryId, text: ' ' }, 'invalid', /Nothing would be left/],
    [{ deliveryId, text: null }, 'invalid', /Nothing would be left/],
    [{ deliveryId, text: 'x'.repeat(51) }, 'limit', /takes 50 characters/],
    [{ deliveryId, presentation: three }, 'limit', /takes 2 buttons/],
    [{ deliveryId, presentation: foreign }, 'invalid', /no session action "none"/],
    [{ deliveryId, presentation: { title: 'x', blocks: [{ kind: 'markdown', value: 'x'.repeat(65_536) }] } }, 'limit', /65536 can be sent/],
    [{ deliveryId, text: 'a secret' }, 'unavailable', /plugin one does not let it be sent: not for others/],
  ];
  for (const [what, reason, words] of bad) {
    const answer = await line.update(what);
    assert.deepEqual([answer.ok, answer.reason], [false, reason], `${words}: ${answer.message}`);
    assert.match(answer.message, words);
  }
  assert.deepEqual(await line.row(deliveryId), own);
  await line.update({ deliveryId, text: 'It is 42' });
  assert.equal(editsOf(line).at(-1)?.text, 'It is **', 'what may be sent is what it is changed to');
  for (let n = 2; n <= limits.deliveryEdits.value; n++) assert.equal((await line.update({ deliveryId, text: `n ${n}` })).revision, n);
  const full = await line.update({ deliveryId, text: 'once more' });
  assert.deepEqual([full.ok, full.reason], [false, 'limit']);
  await line.host.revoke('attachments.send');
  const refused = await line.update({ deliveryId, text: 'x' });
  assert.deepEqual([refused.ok, refused.reason], [false, 'not-granted']);
  assert.match(refused.message, /attachments\.send.*tenon plugin grant one attachments\.send/);
});
