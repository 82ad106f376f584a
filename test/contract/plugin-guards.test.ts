// A plugin that guards something and is not loaded: its files were changed, it throws, or it is gone. What it guards is refused
// until somebody has looked, and whoever looks is told; nobody opens a gate by breaking its guard.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { temporaryHome } from '../support/gateway.ts';
import { writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const gate = `api.registerTrustedToolPolicy({ id: 'gate', description: 'No ls', matcher: ['ls'], evaluate: () => ({ allow: false, reason: 'not here' }) });`;
const door = `api.on('before_agent_run', () => undefined);`;
const guard = (register: string) => ({ id: 'guard', grants: ['policy.tools'], register });

// biome-ignore lint/suspicious/noExplicitAny: the answers of every method
async function ask({ admin }: Conversation, method: string, params: object): Promise<any> {
  const { ok, payload, error } = await admin.request(method, params);
  assert.ok(ok, `${method}: ${JSON.stringify(error)}`);
  return payload;
}

let sessions = 0;

/** What comes of a call of `ls`. */
async function ls(world: Conversation): Promise<string> {
  const sessionKey = `agent:main:guarded-${++sessions}`;
  world.server.next({ calls: [{ id: 'call-1', name: 'ls', arguments: { path: '.' } }] }, { text: 'Done.' });
  await world.say('Look', { sessionKey });
  return (await world.results(sessionKey)).at(-1)!.text;
}

test('a guard whose files were changed, that throws, or that is gone keeps its gate shut, and everybody is told', async () => {
  verifies('R18', 'S49', 'seams:W3');
  const home = temporaryHome();
  const place = join(home, 'plugins');
  try {
    writePlugin(place, guard(gate));
    {
      await using world = await openConversation({ home, plugins: true });
      await ask(world, 'plugins.enable', { id: 'guard' });
      assert.match(await ls(world), /Blocked by guard: not here/);

      writePlugin(place, guard(`${gate} // changed`));
      assert.equal((await ask(world, 'plugins.reload', { id: 'guard' })).plugins[0].state, 'changed');
      assert.match(
        await ls(world),
        /Blocked by guard: it guards this and is not loaded: its files are not those.*tenon plugin disable guard/,
      );
      const { findings } = await ask(world, 'doctor.run', {});
      assert.ok(
        findings.some(
          ({ severity, message }: Record<string, string>) =>
            severity === 'error' && /What plugin guard guards is refused/.test(message ?? ''),
        ),
        JSON.stringify(findings),
      );

      writePlugin(place, guard(`throw new Error('broken')`));
      assert.equal((await ask(world, 'plugins.enable', { id: 'guard' })).plugin.state, 'failed');
      assert.match(await ls(world), /not loaded: its register threw: broken/);
    }
    rmSync(join(place, 'guard'), { recursive: true });
    await using world = await openConversation({ home, plugins: true });
    const { plugin } = await ask(world, 'plugins.get', { id: 'guard' });
    assert.deepEqual([plugin.state, plugin.enabled], ['rejected', true]);
    assert.match(await ls(world), /not loaded: it is switched on, and its folder is not there/);
    assert.equal((await ask(world, 'plugins.disable', { id: 'guard' })).plugin.enabled, false);
    assert.doesNotMatch(await ls(world), /guard/);
    assert.ok(!(await ask(world, 'plugins.list', {})).plugins.some(({ id }: { id: string }) => id === 'guard'));
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
});

test('a guard of turns that is not loaded refuses turns; one that only watches refuses nothing; --safe is without guards', async () => {
  verifies('R18');
  const home = temporaryHome();
  const place = join(home, 'plugins');
  const grants = ['hooks.intercept:before_agent_run', 'conversation.read'];
  const watcher = { id: 'watcher', grants: ['hooks.observe:agent_end', 'conversation.read'] };
  try {
    writePlugin(place, { id: 'door', grants, register: door });
    writePlugin(place, { ...watcher, register: `api.on('agent_end', () => undefined);` });
    {
      await using world = await openConversation({ home, plugins: true });
      for (const id of ['door', 'watcher']) assert.equal((await ask(world, 'plugins.enable', { id })).plugin.state, 'loaded');
      writePlugin(place, { ...watcher, register: `throw new Error('broken')` });
      await ask(world, 'plugins.enable', { id: 'watcher' });
      world.server.next({ text: 'Hello.' });
      assert.equal((await world.say('Hello', { sessionKey: 'agent:main:a' })).end.kind, 'completed');
      writePlugin(place, { id: 'door', grants, register: `${door} // changed` });
      await ask(world, 'plugins.reload', { id: 'door' });
      const { end } = await world.say('Hello', { sessionKey: 'agent:main:b' });
      assert.notEqual(end.kind, 'completed');
      assert.match(JSON.stringify(end), /door/);
    }
    await using world = await openConversation({ home, plugins: true, env: { TENON_SAFE: 'true' } });
    world.server.next({ text: 'Hello.' });
    assert.equal((await world.say('Hello', { sessionKey: 'agent:main:c' })).end.kind, 'completed');
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
});
