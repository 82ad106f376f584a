// What a plugin that is not bundled hands over, on each engine: with the grant and only with it, to where the session came from,
// files from allowed folders, buttons that are pressed once, also around kill -9; and calls for a person that wait.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { mintToken } from '../security/harness.ts';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { createDatabase } from '../support/postgres.ts';
import { connectRaw, type Frame, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
type Any = any;

async function ask(client: RawClient, method: string, params: object = {}): Promise<Any> {
  const { ok, payload, error } = await client.request(method, params);
  assert.equal(ok, true, `${method}: ${JSON.stringify(error)}`);
  return payload;
}

async function refused(client: RawClient, method: string, params: object = {}): Promise<NonNullable<Frame['error']>> {
  const { ok, error } = await client.request(method, params);
  assert.equal(ok, false, `${method} was not refused`);
  return error!;
}

const late = (client: RawClient, call: string, what: object): Promise<Any> => ask(client, 'plugin.everything.late', { call, with: what });
const buttons = ['one', 'two', 'three', 'four'].map((id) => ({
  id,
  label: `Button ${id}`,
  action: { actionId: 'press', payload: { how: 'state', value: id } },
}));

async function entriesOf(client: RawClient, sessionKey: string, customType: string): Promise<Any[]> {
  const { entries } = await ask(client, 'chat.history', { sessionKey });
  return entries.filter((entry: Any) => entry.type === 'custom' && entry.customType === customType);
}

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`deliveries on ${engine}`, async (t) => {
    const database = engine === 'postgres' ? await createDatabase() : undefined;
    const roots = mkdtempSync(join(tmpdir(), 'tenon-roots-'));
    const store = database ? `[store]\nengine = "postgres"\nurl = "${database.url}"\n` : '';
    const config = `[attachments]\nroots = ["${roots}"]\n${store}`;
    let world: Conversation = await openConversation({ plugins: true, config });
    const { home } = world.gateway;
    const { server } = world;
    cleanUp(t, async () => {
      await world[Symbol.asyncDispose]();
      await server.close();
      await database?.drop();
      removeFolder(home);
      removeFolder(roots);
    });
    let count = 0;
    const newSession = async () => (await ask(world.admin, 'sessions.create', { key: `agent:main:give-${++count}` })).session.key as string;
    /** After kill -9, or instead of it. */
    async function restart(env: Record<string, string> = {}): Promise<void> {
      await world.gateway.kill();
      world = await openConversation({ home, config, server, env, plugins: true });
    }
    await ask(world.admin, 'plugins.enable', { id: 'everything' });

    await t.test('without the grant it is refused, with the grant that is missing and the command that gives it', async () => {
      verifies('seams:A20', 'compat:C1');
      const sessionKey = await newSession();
      await ask(world.admin, 'plugins.revoke', { id: 'everything', grants: ['attachments.send'] });
      const { ok, reason, message } = await late(world.admin, 'send', { sessionKey, text: 'x' });
      assert.deepEqual([ok, reason], [false, 'not-granted']);
      assert.match(message, /attachments\.send.*tenon plugin grant everything attachments\.send/);
      assert.deepEqual(await entriesOf(world.admin, sessionKey, 'delivery'), []);
      await ask(world.admin, 'plugins.grant', { id: 'everything', grants: ['attachments.send'] });
    });

    await t.test('files, text and four buttons arrive as an event and as an entry that stays, and are on record', async () => {
      verifies('compat:C1', 'compat:C2', 'seed1:attachments');
      const sessionKey = await newSession();
      writeFileSync(join(world.workspace(), 'report.txt'), 'all is well');
      writeFileSync(join(roots, 'extra.txt'), 'and more');
      const sent = await late(world.admin, 'send', {
        sessionKey,
        files: [{ path: 'report.txt' }, { path: join(roots, 'extra.txt'), name: 'More.txt' }],
        text: 'Here it is',
        presentation: { title: 'Done?', tone: 'ok', blocks: [{ kind: 'markdown', text: '**bold**' }], buttons },
      });
      assert.deepEqual([sent.ok, sent.channel, sent.deliveredTo, sent.count, sent.state], [true, 'webchat', 'webchat', 2, 'sent']);
      const { payload } = await world.admin.find(({ event, payload: each }) => event === 'chat' && each.entryId === sent.entryId);
      assert.equal(payload.entry.data.by, 'everything');
      const [entry] = await entriesOf(world.admin, sessionKey, 'delivery');
      assert.deepEqual(
        entry.data.attachments.map(({ name, mime, bytes }: Any) => [name, mime, bytes]),
        [
          ['report.txt', 'text/plain', 11],
          ['More.txt', 'text/plain', 8],
        ],
      );
      assert.equal(entry.data.presentation.buttons.length, 4);
      const url = `${world.gateway.url}/attachments/${entry.data.attachments[0].handle}`;
      assert.equal(await (await fetch(url, { headers: { authorization: `Bearer ${world.gateway.token}` } })).text(), 'all is well');
      const { records } = await ask(world.admin, 'audit.list', { limit: 20 });
      const record = records.find(({ action, target }: Any) => action === 'deliveries.send' && target === sent.deliveryId);
      assert.deepEqual([record.actor, record.details.files, record.details.buttons], ['plugin:everything', 2, 4]);
      // A presentation alone, and text alone.
      assert.equal((await late(world.admin, 'send', { sessionKey, presentation: { title: 'Alone' } })).ok, true);
      const once = { sessionKey, text: 'Once', idempotencyKey: 'once' };
      const first = await late(world.admin, 'send', once);
      assert.equal((await late(world.admin, 'send', once)).entryId, first.entryId, 'the same key is sent once');
      assert.equal((await late(world.admin, 'send', { sessionKey })).reason, 'invalid', 'nothing at all');
    });

    await t.test('malformed, oversized, linked and foreign files are refused with a value, and nothing is sent', async () => {
      verifies('compat:C1', 'S28:attachments');
      const sessionKey = await newSession();
      const work = world.workspace();
      writeFileSync(join(work, 'fine.txt'), 'fine');
      writeFileSync(join(work, 'empty.txt'), '');
      mkdirSync(join(work, 'folder'), { recursive: true });
      symlinkSync(join(home, 'token'), join(work, 'link.txt'));
      symlinkSync(home, join(work, 'way'));
      writeFileSync(join(work, 'large.bin'), '');
      truncateSync(join(work, 'large.bin'), 26_214_401);
      writeFileSync(join(work, 'half.bin'), '');
      truncateSync(join(work, 'half.bin'), 14_000_000);
      const send = (files: unknown, more: object = {}) => late(world.admin, 'send', { sessionKey, files, ...more });
      const bad: [unknown, RegExp][] = [
        [[{ path: 'link.txt' }], /link/],
        [[{ path: 'way/token' }], /link/],
        [[{ path: join(home, 'token') }], /outside/],
        [[{ path: '../../token' }], /outside/],
        [[{ path: '/etc/passwd' }], /outside/],
        [[{ path: 'folder' }], /regular file/],
        [[{ path: 'nothing.txt' }], /not there/],
        [[{ path: 'empty.txt' }], /empty/],
        [[{ path: 'large.bin' }], /26214400/],
        [[{ path: 'half.bin' }, { path: 'half.bin' }], /files\/1/],
        [[], /files/],
        [Array.from({ length: 11 }, () => ({ path: 'fine.txt' })), /files/],
        [[{ path: ' ' }], /path/],
      ];
      for (const [files, why] of bad) {
        const { ok, reason, message } = await send(files);
        assert.deepEqual([ok, reason], [false, 'invalid'], JSON.stringify(files));
        assert.match(message, why, JSON.stringify(files));
      }
      // No best-effort for batches: one that cannot be sent, and none is. "../" and folders in between change nothing.
      assert.match((await send([{ path: 'fine.txt' }, { path: 'nothing.txt' }])).message, /files\/1/);
      assert.match((await send([{ path: 'folder/../../../../token' }])).message, /outside/);
      // Sniff window only: what lies behind the first bytes is not looked at.
      writeFileSync(join(work, 'window.txt'), Buffer.concat([Buffer.alloc(4_096, 'a'), Buffer.alloc(64)]));
      const behind = await late(world.admin, 'send', {
        sessionKey: await newSession(),
        files: [{ path: 'window.txt' }],
        channelHints: { forceDocumentMime: 'text/plain' },
      });
      assert.equal(behind.ok, true, behind.message);
      const mismatch = await send([{ path: 'fine.txt' }], { channelHints: { forceDocumentMime: 'application/pdf' } });
      assert.match(mismatch.message, /text\/plain by its first bytes, not application\/pdf/);
      assert.equal((await send([{ path: 'fine.txt' }], { maxBytes: 3 })).reason, 'invalid');
      const foreign = { title: 'x', buttons: [{ id: 'a', label: 'a', action: { pluginId: 'second', actionId: 'press' } }] };
      assert.equal((await late(world.admin, 'send', { sessionKey, presentation: foreign })).reason, 'invalid');
      assert.equal((await late(world.admin, 'send', { sessionKey: 'agent:main:none', text: 'x' })).reason, 'no-session');
      assert.deepEqual(await entriesOf(world.admin, sessionKey, 'delivery'), []);
    });

    await t.test('a button works after a restart, once, and not for a stranger; an interactive handler is told', async () => {
      verifies('compat:C3');
      const sessionKey = await newSession();
      const { entryId } = await late(world.admin, 'send', { sessionKey, presentation: { title: 'Which?', buttons } });
      await restart();
      const press = (buttonId: string, more: object = {}) => ({ sessionKey, entryId, buttonId, ...more });
      const reader = await connectRaw(world.gateway.socketUrl, (await mintToken(world.admin, ['operator.read'])).token);
      assert.equal((await refused(reader, 'deliveries.press', press('one'))).code, 'SCOPE');
      await reader[Symbol.asyncDispose]();
      const { token } = await mintToken(world.admin, ['operator.write'], { sessionKey: await newSession() });
      const stranger = await connectRaw(world.gateway.socketUrl, token);
      assert.equal((await refused(stranger, 'deliveries.press', press('one'))).code, 'NOT_FOUND');
      await stranger[Symbol.asyncDispose]();
      const both = await Promise.all([
        world.admin.request('deliveries.press', press('two', { idempotencyKey: `press-${count}` })),
        world.admin.request('deliveries.press', press('three')),
      ]);
      const [done, not] = both[0].ok ? both : both.toReversed();
      assert.deepEqual([done?.ok, not?.error?.code, not?.error?.details?.code], [true, 'GONE', 'ALREADY_PRESSED']);
      if (both[0].ok) {
        const repeat = await ask(world.admin, 'deliveries.press', press('two', { idempotencyKey: `press-${count}` }));
        assert.deepEqual(repeat, both[0].payload, 'a repeat gets the first answer');
      }
      const pressed = await entriesOf(world.admin, sessionKey, 'delivery_pressed');
      assert.deepEqual([pressed.length, pressed[0].data.entryId], [1, entryId]);
      assert.equal((await refused(world.admin, 'deliveries.press', press('none'))).code, 'NOT_FOUND');
      const told = await late(world.admin, 'send', {
        sessionKey,
        presentation: { title: 'Say', buttons: [{ id: 'say', label: 'Say', action: { data: 'everything:say' } }] },
      });
      const answer = await ask(world.admin, 'deliveries.press', { sessionKey, entryId: told.entryId, buttonId: 'say' });
      assert.deepEqual([answer.pluginId, answer.text], ['everything', 'Ouch']);
      assert.equal((await refused(world.admin, 'deliveries.press', { sessionKey, entryId: told.entryId, buttonId: 'say' })).code, 'GONE');
      const no = await late(world.admin, 'send', {
        sessionKey,
        presentation: { title: 'No', buttons: [{ id: 'no', label: 'No', action: { actionId: 'press', payload: { how: 'refuse' } } }] },
      });
      for (let n = 0; n < 2; n++) {
        const { answer: said } = await ask(world.admin, 'deliveries.press', { sessionKey, entryId: no.entryId, buttonId: 'no' });
        assert.equal(said.code, 'BUSY', 'where the plugin says no, the buttons stay');
      }
    });

    await t.test(
      'what a plugin has sent is changed, with its files, for everybody and after a restart; the channel is told of it',
      async () => {
        verifies('compat:C1', 'compat:C3');
        const sessionKey = await newSession();
        writeFileSync(join(world.workspace(), 'report.txt'), 'all is well');
        const sent = await late(world.admin, 'send', {
          sessionKey,
          files: [{ path: 'report.txt' }],
          text: 'First',
          presentation: { title: 'Go?', buttons },
        });
        const { deliveryId, entryId } = sent;
        const change = { sessionKey, deliveryId, text: null, presentation: { title: 'Ready', buttons: [buttons[1]] } };
        const changed = await late(world.admin, 'update', change);
        assert.deepEqual([changed.ok, changed.changed, changed.revision, changed.edits], [true, true, 1, 'done'], JSON.stringify(changed));
        await world.admin.find(
          ({ event, payload }) => event === 'chat' && payload.entry?.data?.revision === 1 && payload.entry.data.entryId === entryId,
        );
        await restart();
        assert.equal((await late(world.admin, 'update', change)).changed, false, 'the same again is nothing');
        await ask(world.admin, 'deliveries.press', { sessionKey, entryId, buttonId: 'two' });
        let row: Any;
        do [row] = (await ask(world.admin, 'deliveries.list', { sessionKey })).deliveries;
        while (row.edits.state === 'waiting');
        assert.deepEqual([row.edits, row.pressed.buttonId], [{ state: 'done', revision: 2, attempts: 1 }, 'two']);
        const [edited, ...others] = await entriesOf(world.admin, sessionKey, 'delivery_edited');
        assert.deepEqual([edited.data.text, edited.data.presentation.title, others], [undefined, 'Ready', []]);
        const other = await newSession();
        assert.match((await late(world.admin, 'update', { ...change, sessionKey: other })).message, /There is no delivery/);
      },
    );

    await t.test('kill -9 around a press: it is applied once', async () => {
      verifies('compat:C3');
      // The code around a press is the same; the commit is each engine's own.
      for (const point of engine === 'sqlite' ? ['press.begun', 'press.answered', 'press.committed'] : ['press.answered']) {
        const sessionKey = await newSession();
        const { entryId } = await late(world.admin, 'send', { sessionKey, presentation: { title: point, buttons } });
        await restart({ TENON_FAULT: point });
        const press = { sessionKey, entryId, buttonId: 'one', idempotencyKey: `kill-${engine}-${point}` };
        await world.admin.request('deliveries.press', press).catch(() => undefined);
        await world.gateway.exited;
        await restart();
        const again = await world.admin.request('deliveries.press', press);
        assert.ok(again.ok, `${point}: ${JSON.stringify(again.error)}`);
        assert.equal((await entriesOf(world.admin, sessionKey, 'delivery_pressed')).length, 1, point);
        assert.equal((await refused(world.admin, 'deliveries.press', { ...press, idempotencyKey: 'other' })).code, 'GONE', point);
        const { session } = await ask(world.admin, 'sessions.get', { key: sessionKey });
        assert.deepEqual(session.pluginExtensions[0].value, { shown: 'action' }, point);
      }
    });

    await t.test('a channel brings files in with a message: they are kept, belong to the session and are named to the model', async () => {
      writeFileSync(join(roots, 'brought.txt'), 'from afar');
      server.next({ text: 'I see.' });
      const from = `eve-${engine}`;
      const files = [{ path: join(roots, 'brought.txt'), name: 'Letter.txt' }];
      const { ok, sessionKey, runId } = await late(world.admin, 'receive', { channel: 'echo', from, files });
      assert.equal(ok, true);
      await world.ended(runId);
      const { attachments } = await ask(world.admin, 'attachments.list', { sessionKey });
      assert.deepEqual(
        attachments.map(({ name, mime, owner }: Any) => [name, mime, owner]),
        [['Letter.txt', 'text/plain', 'channel:echo']],
      );
      const url = `${world.gateway.url}/attachments/${attachments[0].handle}`;
      assert.equal(await (await fetch(url, { headers: { authorization: `Bearer ${world.gateway.token}` } })).text(), 'from afar');
      assert.ok(JSON.stringify(server.requests).includes(attachments[0].handle), 'the agent can read it');
    });

    await t.test('a channel that does not take a delivery is asked again, and how it stands can be read', async () => {
      server.next({ text: 'this goes unheard' });
      const { sessionKey, runId } = await late(world.admin, 'receive', { channel: 'echo', from: `bob-${engine}`, text: 'Hello' });
      await world.ended(runId);
      for (;;) {
        const { deliveries } = await ask(world.admin, 'deliveries.list', { sessionKey });
        if (!deliveries[0]?.attempts) continue;
        assert.deepEqual([deliveries[0].state, deliveries[0].attempts], ['waiting', 1]);
        assert.match(deliveries[0].reason, /channel echo failed/);
        assert.ok(deliveries[0].nextAt > Date.now());
        break;
      }
    });

    await t.test('who connects later sees that a person is needed, until somebody acts or it is taken back', async () => {
      verifies('compat:C14');
      const sessionKey = await newSession();
      const call = { sessionKey, title: 'Please look', actions: [{ label: 'Press', actionId: 'press' }] };
      const { id } = await late(world.admin, 'notify', call);
      assert.equal((await late(world.admin, 'notify', call)).id, id, 'the same call');
      const { id: other } = await late(world.admin, 'notify', { sessionKey, title: 'Something else' });
      await restart();
      await using later = await connectRaw(world.gateway.socketUrl, (await mintToken(world.admin, ['operator.read'])).token);
      const pending = async () => (await ask(later, 'actions.pending', { sessionKey })).actions.map((each: Any) => each.id);
      assert.deepEqual(await pending(), [id, other]);
      await ask(world.admin, 'plugins.sessionAction', {
        pluginId: 'everything',
        actionId: 'press',
        sessionKey,
        payload: { how: 'refuse' },
      });
      assert.deepEqual(await pending(), [id, other], 'the plugin said no');
      await ask(world.admin, 'plugins.sessionAction', { pluginId: 'everything', actionId: 'press', sessionKey, payload: {} });
      assert.deepEqual(await pending(), [other]);
      await later.find(({ event, payload }) => event === 'action.resolved' && payload.id === id && payload.how === 'acted');
      assert.deepEqual(await late(world.admin, 'withdraw', { sessionKey }), { ok: true, withdrawn: 1 });
      await later.find(({ event, payload }) => event === 'action.resolved' && payload.id === other && payload.how === 'withdrawn');
      const { id: third } = await late(world.admin, 'notify', call);
      assert.deepEqual(await ask(world.admin, 'actions.dismiss', { id: third }), { id: third, dismissed: true });
      assert.deepEqual(await pending(), []);
    });
  });
}
