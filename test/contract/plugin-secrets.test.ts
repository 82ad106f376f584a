// Secrets that plugins use by name: granted one by one, on record when they are used, and nowhere to be read.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RegisterApi } from '@tenon/plugin-sdk';
import { shown } from '../../packages/gateway/src/host/trace-diff.ts';
import { openLogBook } from '../../packages/gateway/src/kernel/log.ts';
import { openHostWorld, writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const by = 'token:admin';
const CANARY = 'canary "with\\ odd/signs" 7f3a';

test('a secret is given to whom it was granted by its name, from then on and no longer', async () => {
  verifies('S41', 'seams:W7');
  await using world = await openHostWorld();
  world.secrets.set('mail-key', CANARY).set('other', 'of somebody else');
  writePlugin(world.place, { id: 'one', grants: ['secrets.use:mail-key', 'secrets.use:gone'], register: 'note(api);' });
  const host = await world.open();
  const api = () => world.notes.at(-1) as RegisterApi;
  const reason = async (name: unknown) => {
    const outcome = await api().secrets.get(name as string);
    return outcome.ok ? outcome.value : outcome.reason;
  };
  await host.enable('one', { by, grants: ['secrets.use:gone'] });
  assert.equal(await reason('mail-key'), 'not-granted');
  await host.grant('one', ['secrets.use:mail-key'], { by });
  assert.equal(await reason('mail-key'), CANARY);
  assert.equal(await reason('other'), 'not-granted');
  assert.equal(await reason('gone'), 'unavailable');
  for (const wrong of [undefined, null, 7, {}, '', '../token', 'MAIL', 'mail_key', 'x'.repeat(65)])
    assert.equal(await reason(wrong), 'invalid');
  const stale = api();
  const revoking = host.revoke('one', ['secrets.use:mail-key'], { by });
  assert.equal(await reason('mail-key'), 'not-granted', 'at once');
  await revoking;
  await host.grant('one', ['secrets.use:mail-key'], { by });
  const late = await stale.secrets.get('mail-key');
  assert.equal(!late.ok && late.reason, 'not-loaded');
});

test('that a plugin used a secret is on record once for each load, and what it is nowhere', async () => {
  verifies('S81');
  await using world = await openHostWorld();
  world.secrets.set('mail-key', CANARY);
  writePlugin(world.place, { id: 'one', grants: ['secrets.use:mail-key'], register: 'note(api);' });
  const host = await world.open();
  await host.enable('one', { by });
  const use = async () => assert.ok((await (world.notes.at(-1) as RegisterApi).secrets.get('mail-key')).ok);
  for (let count = 0; count < 3; count++) await use();
  await host.reload('one', { by });
  await use();
  const records = await world.store.read('audit.list', { limit: 100 });
  const uses = records.filter(({ action }) => action === 'secret.use');
  assert.deepEqual(
    uses.map(({ actor, target }) => [actor, target]),
    [
      ['plugin:one', 'mail-key'],
      ['plugin:one', 'mail-key'],
    ],
  );
  const everything = JSON.stringify([records, host.list(), host.get('one'), world.logged]);
  for (const form of [CANARY, JSON.stringify(CANARY).slice(1, -1)]) assert.ok(!everything.includes(form));

  const book = openLogBook({ folder: join(world.home, 'logs'), level: 'info', maxBytes: 1e6, files: 1 });
  book.log.info({ fields: { said: CANARY }, list: [[CANARY]] }, `the plugin said ${CANARY}`);
  book.close();
  const text = readFileSync(book.file, 'utf8') + JSON.stringify(book.after(0, 10));
  assert.match(text, /the plugin said \*\*\*/);
  assert.doesNotMatch(text, /7f3a/);
  assert.doesNotMatch(JSON.stringify(shown({ deep: [{ said: `x ${CANARY} y` }] })), /7f3a/, 'nor in a trace');
});

test('what a plugin throws is shown to whoever may look at plugins, without the secret in it', async () => {
  await using world = await openHostWorld();
  world.secrets.set('mail-key', CANARY);
  writePlugin(world.place, { id: 'one', grants: ['secrets.use:mail-key'], register: 'note(api);' });
  const host = await world.open();
  const { generation = 0 } = await host.enable('one', { by });
  assert.ok((await (world.notes.at(-1) as RegisterApi).secrets.get('mail-key')).ok);
  const long = 'x'.repeat(500);
  for (const text of [`no luck with ${CANARY}`, `${long} ${CANARY}`])
    assert.ok(host.faults.take(new Error(text), 'threw', { plugin: 'one', generation }));
  const incidents = host.get('one')?.incidents.map(({ message }) => message);
  assert.equal(incidents?.[0], 'no luck with ***');
  assert.doesNotMatch(JSON.stringify([host.list(), host.get('one')]), /canary|7f3a/);
});

test('a secret that cannot be read, or whose use cannot be recorded, is not given', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants: ['secrets.use:mail-key'], register: 'note(api);' });
  let isBroken = true;
  const host = await world.open({
    readSecret: () => {
      if (isBroken) throw new Error('the secret "mail-key" can be read by others; chmod 600 its file');
      return CANARY;
    },
  });
  await host.enable('one', { by });
  const { secrets } = world.notes.at(-1) as RegisterApi;
  const outcome = await secrets.get('mail-key');
  assert.equal(!outcome.ok && outcome.reason, 'unavailable');
  assert.doesNotMatch(JSON.stringify(outcome), /others/, 'why is for the operator');
  assert.ok(world.logged.some(({ plugin, reason }) => plugin === 'one' && /chmod 600/.test(String(reason))));
  isBroken = false;
  await world.store.close();
  const unrecorded = await secrets.get('mail-key');
  assert.equal(!unrecorded.ok && unrecorded.reason, 'unavailable');
});
