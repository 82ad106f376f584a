// kill -9 at every named point between a file, what a plugin hands over, and a press of its button: nothing is lost, nothing is
// there twice. One gateway after another on the same home, each to be killed one point later than the one before it.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { faultPoints, isHandOverPoint } from '../support/fault-points.ts';
import { temporaryHome } from '../support/gateway.ts';
import { startModelServer } from '../support/model-server.ts';
import { until } from '../support/page.ts';
import { verifies } from '../support/verifies.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
type Any = any;

const CONTENT = 'kept once';
const key = 'agent:main:over';

test('killed at every point around files, deliveries and buttons, each is there once in the end', async () => {
  verifies('compat:C1', 'compat:C2', 'compat:C3', 'foundation:faultpoints');
  const home = temporaryHome();
  await using server = await startModelServer();
  const met: string[] = [];
  try {
    const open = (point?: string) =>
      openConversation({ home, server, plugins: true, ...(point === undefined ? {} : { env: { TENON_FAULT: point } }) });
    /** A gateway that is killed at this point, by what is done or on its own. */
    async function dyingAt(point: string, work: (world: Conversation) => Promise<unknown> = async () => {}): Promise<void> {
      met.push(point);
      let world: Conversation | undefined;
      try {
        world = await open(point);
      } catch (error) {
        const { exit } = error as { exit?: { signal?: string } };
        // Killed before it was ready, or while the test came in.
        assert.ok(exit === undefined || exit.signal === 'SIGKILL', String(error));
        return;
      }
      const done = work(world).then(
        () => undefined,
        (error: unknown) => error,
      );
      const { signal } = await Promise.race([
        world.gateway.exited,
        done.then((error) => (error ? Promise.reject(error) : world.gateway.exited)),
      ]).catch(() => world.gateway.exited);
      assert.equal(signal, 'SIGKILL', point);
    }
    const late = (world: Conversation, call: string, what: object): Promise<Any> =>
      world.ask('plugin.everything.late', { call, with: what });

    let uploadId = '';
    {
      await using world = await open();
      await world.ask('plugins.enable', { id: 'everything' });
      await world.ask('sessions.create', { key });
      ({ uploadId } = await world.ask('attachments.begin', { name: 'up.txt', bytes: CONTENT.length, sessionKey: key }));
      writeFileSync(join(world.workspace(), 'report.txt'), 'all is well');
    }
    const data = Buffer.from(CONTENT).toString('base64');
    const upload = async (world: Conversation) => {
      await world.ask('attachments.chunk', { uploadId, offset: 0, data });
      return world.ask('attachments.commit', { uploadId });
    };
    await dyingAt('attachment.placed', upload);
    // There is no row: the file was a stray and is gone, and the client is told to begin where it has to.
    await dyingAt('attachment.committed', async (world) => {
      assert.deepEqual((await world.ask('attachments.list')).attachments, []);
      const { details } = await world.refused('attachments.commit', { uploadId });
      assert.deepEqual([(details as Any).code, (details as Any).offset], ['INCOMPLETE', 0]);
      await upload(world);
    });
    const buttons = [{ id: 'say', label: 'Say', action: { data: 'everything:say' } }];
    const handed = { sessionKey: key, files: [{ path: 'report.txt' }], presentation: { title: 'Once', buttons }, idempotencyKey: 'once' };
    await dyingAt('delivery.created', async (world) => {
      const { attachment } = await world.ask('attachments.commit', { uploadId });
      const url = `${world.gateway.url}/attachments/${attachment.handle}`;
      const response = await fetch(url, { headers: { authorization: `Bearer ${world.gateway.token}` } });
      assert.equal(await response.text(), CONTENT);
      await late(world, 'send', handed);
    });
    // It waits, and each start takes it up.
    await dyingAt('delivery.asking');
    await dyingAt('delivery.taken');
    await dyingAt('delivery.settled');
    const press = (entryId: string) => ({ sessionKey: key, entryId, buttonId: 'say', idempotencyKey: 'press-it' });
    const deliveriesIn = async (world: Conversation) => (await world.ask('deliveries.list', { sessionKey: key })).deliveries as Any[];
    await dyingAt('press.told', async (world) => {
      const [row, ...others] = await deliveriesIn(world);
      assert.deepEqual([row.state, row.attempts, others], ['sent', 1, []]);
      assert.equal((await late(world, 'send', handed)).deliveryId, row.id, 'the same key is sent once');
      await world.ask('deliveries.press', press(row.entryId));
    });
    // The channel shows that it was pressed, and that is not on record.
    await dyingAt('delivery.edited', async (world) => {
      const [row] = await deliveriesIn(world);
      assert.equal(row.pressed, undefined, 'the handler was told and the press was not on record: it is told again');
      await world.ask('deliveries.press', press(row.entryId));
    });
    await using world = await open();
    const [row] = await deliveriesIn(world);
    assert.equal(row.pressed.buttonId, 'say', 'what the channel has heard of is kept');
    await until('the channel was asked again', async () => (await deliveriesIn(world))[0]?.edits.state === 'done');
    const [shown] = await deliveriesIn(world);
    assert.deepEqual(shown.edits, { state: 'done', revision: 1, attempts: 1 });
    const pressed = await world.ask('deliveries.press', press(row.entryId));
    assert.equal(pressed.text, 'Ouch', 'a repeat gets the first answer');
    assert.equal((await world.refused('deliveries.press', { ...press(row.entryId), idempotencyKey: 'other' })).code, 'GONE');
    const entries = (await world.history(key)) as Any[];
    assert.deepEqual(
      ['delivery', 'delivery_pressed'].map((type) => entries.filter(({ customType }) => customType === type).length),
      [1, 1],
    );
    const { attachments } = await world.ask('attachments.list', { sessionKey: key });
    assert.deepEqual(attachments.map(({ name }: Any) => name).sort(), ['report.txt', 'up.txt']);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
  // Those of a session action are in deliveries.test.ts, on both engines.
  const elsewhere = ['press.begun', 'press.answered', 'press.committed'];
  assert.deepEqual([...met, ...elsewhere].sort(), faultPoints().filter(isHandOverPoint));
});
