// Skills and prompts that an extension brings: only those of one that is trusted feed the agent, and what is not used is named.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openHostWorld, put, SESSION } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';
import { toolCall, withExtensions, writeExtension } from '../support/written-extension.ts';

test('skills are a tool that reads them, prompts are commands, of trusted files only; themes are listed as unused', async () => {
  verifies('sep:manifest');
  await using world = await openHostWorld();
  const folder = writeExtension(world, 'notes', {
    fixture: 'notes.mjs',
    manifest: '[resources]\nskills = "skills"\nprompts = "prompts"\nthemes = "themes"',
    files: { 'registrations.json': '{}' },
  });
  for (const each of ['skills', 'skills/tidy', 'skills/empty', 'prompts']) {
    mkdirSync(join(folder, each), { mode: 0o755 });
    chmodSync(join(folder, each), 0o755);
  }
  put(join(folder, 'skills/tidy/SKILL.md'), '---\nname: tidy\ndescription: How to tidy up.\n---\nSweep first.');
  put(join(folder, 'prompts/review.md'), '# Reviews a change\nLook at everything.');
  const host = await world.open(withExtensions);
  assert.deepEqual(host.get('notes')?.asked, ['tools.register', 'commands.register', 'prompt.inject', 'turns.start']);
  assert.equal(host.registry.findAny('tool', 'notes__skill'), undefined, 'nothing before it is trusted');
  const on = await host.enable('notes', { by: 'test' });
  assert.equal(on.state, 'loaded', on.reason);
  const { item } = host.registry.findAny('tool', 'notes__skill')!;
  assert.match(item.description, /- tidy: How to tidy up\.$/);
  assert.match(String((await item.execute({ name: 'tidy' }, toolCall())).content), /Sweep first\.$/);
  assert.equal((await item.execute({ name: '../main.mjs' }, toolCall())).isError, true);
  const command = host.registry.findAny('command', 'review')!.item;
  const call = { sessionKey: SESSION, args: ' mine ', client: { scopes: [] }, signal: new AbortController().signal };
  const reply = await command.handler({ ...toolCall(), ...call });
  assert.equal(command.description, 'Reviews a change');
  assert.deepEqual(reply.inject, [{ text: '# Reviews a change\nLook at everything.\n\nmine' }]);
  assert.deepEqual(
    on.process?.leftOut?.map(({ kind, key }) => `${kind} ${key}`),
    ['resources.skills empty', 'resources.themes themes'],
  );
  put(join(folder, 'skills/tidy/SKILL.md'), 'Do something else.');
  await host.reload('notes', { by: 'test' });
  assert.deepEqual([host.get('notes')?.state, host.registry.findAny('tool', 'notes__skill')], ['changed', undefined]);
});
