// kill -9 while a plugin deals with a turn that it has scheduled: it is asked again, and what it hands over is there once.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { openConversation } from '../support/conversation.ts';
import { temporaryHome } from '../support/gateway.ts';
import { startModelServer } from '../support/model-server.ts';
import { until } from '../support/page.ts';
import { verifies } from '../support/verifies.ts';

const key = 'agent:main:taken';

test('killed with the card on record and the turn not ended, there is one card and one time that is done', async () => {
  verifies('R04', 'seed1:scheduled-turns', 'compat:C2');
  const home = temporaryHome();
  await using server = await startModelServer();
  const open = (point?: string) =>
    openConversation({ home, server, plugins: true, ...(point === undefined ? {} : { env: { TENON_FAULT: point } }) });
  try {
    {
      await using world = await open('delivery.created');
      await world.ask('plugins.enable', { id: 'reminders' });
      await world.ask('sessions.create', { key });
      await world.ask('commands.invoke', { sessionKey: key, text: '/remind in 1s take the tea out' });
      assert.equal((await world.gateway.exited).signal, 'SIGKILL');
    }
    await using world = await open();
    await until('the time is done', async () => {
      const { occurrences } = await world.ask('cron.history', {});
      return occurrences.length === 1 && occurrences[0].state === 'done';
    });
    const { entries } = await world.ask('chat.history', { sessionKey: key });
    const cards = entries.filter(({ customType }: { customType?: string }) => customType === 'delivery');
    assert.deepEqual(
      cards.map(({ data }: { data: { presentation: { title: string } } }) => data.presentation.title),
      ['Reminder: take the tea out'],
    );
    const { deliveries } = await world.ask('deliveries.list', { sessionKey: key });
    // Nobody has switched its channel on by hand.
    assert.deepEqual(
      deliveries.map(({ channel, state }: Record<string, string>) => [channel, state]),
      [['webchat', 'sent']],
    );
    assert.match((await world.ask('commands.invoke', { sessionKey: key, text: '/remind' })).reply, /^1\. take the tea out \(due since /);
    assert.deepEqual(server.requests, [], 'no model was asked');
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
});
