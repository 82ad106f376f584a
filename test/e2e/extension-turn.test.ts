// Extensions in whole turns: a real gateway process, a real process of an extension, and the code of a provider with a server on
// the other side. The gateway is killed at the end, and nothing of the extensions is left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { call, openConversation, SESSION } from '../support/conversation.ts';
import { putExtension } from '../support/extension-home.ts';
import { temporaryHome } from '../support/gateway.ts';
import { startModelServer } from '../support/model-server.ts';
import { verifies } from '../support/verifies.ts';

const write = (home: string, name: string, capabilities: string, files: Readonly<Record<string, object>>) =>
  putExtension(home, name, { fixture: 'notes.mjs', capabilities, files });

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('in a turn, a gate blocks a tool and keeps it shut while it is down; a tool of an extension runs once a person has allowed it', async () => {
  verifies('sep:tool-execute', 'sep:commands', 'sep:G22', 'sep:G23', 'sep:G29', 'sep:G41');
  const home = temporaryHome();
  const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
  write(home, 'gate', 'hooks = ["tool_call"]', {
    'registrations.json': { hooks: ['tool_call'] },
    'answers.json': { hooks: { tool_call: { action: 'block', reason: 'not before noon' } } },
  });
  write(home, 'notes', 'tools = true\ncommands = true', {
    'registrations.json': {
      tools: [{ name: 'read_note', description: 'Reads a note.', parameters }],
      commands: [{ name: 'hear', description: 'Hears.' }],
    },
  });
  await using talk = await openConversation({
    home,
    script: [call('notes__read_note', { text: 'milk' }), { text: 'Read.' }, call('ls', { path: '.' }), { text: 'Blocked.' }],
  });
  const { plugin: notes } = await talk.ask('plugins.enable', { id: 'notes' });
  assert.deepEqual([notes.state, notes.process.state], ['loaded', 'ready']);

  // Called `read_…`, and asked about all the same.
  const runId = await talk.send('note it');
  await talk.answer(await talk.question(runId), 'allow-once');
  assert.equal((await talk.ended(runId)).text, 'Read.');
  const [result] = await talk.results();
  assert.match(result?.text ?? '', /^read_note \{"text":"milk"\} in /);
  assert.equal(result?.provenance, 'plugin notes');

  const { plugin: gate } = await talk.ask('plugins.enable', { id: 'gate' });
  assert.equal((await talk.say('look')).text, 'Blocked.');
  assert.match((await talk.results()).at(-1)?.text ?? '', /not before noon/);
  process.kill(gate.process.pid, 'SIGKILL');
  talk.server.next(call('ls', { path: '.' }), { text: 'Shut.' });
  assert.equal((await talk.say('look again')).text, 'Shut.');
  assert.equal((await talk.results()).at(-1)?.isError, true, 'it is refused, whether the gate is back yet or not');

  const { reply } = await talk.ask('commands.invoke', { sessionKey: SESSION, text: '/hear this and that' });
  assert.equal(reply, 'heard this and that');

  const { pid } = (await talk.ask('plugins.get', { id: 'notes' })).plugin.process;
  assert.equal(pid, notes.process.pid, 'it is the same process through all turns');
  talk.gateway.child.kill('SIGKILL');
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
});

test('a turn that goes on after kill -9 has the tools of extensions again, whose processes are being started', async (t) => {
  const home = temporaryHome();
  cleanUp(t, () => removeFolder(home));
  write(home, 'notes', 'tools = true', {
    'registrations.json': { tools: [{ name: 'read_note', description: 'Reads a note.', parameters: { type: 'object' } }] },
  });
  await using server = await startModelServer({ script: [{ fault: 'no-headers' }, { text: 'Gone on.' }] });
  await using before = await openConversation({ home, server });
  await before.ask('plugins.enable', { id: 'notes' });
  const runId = await before.send('go');
  await server.arrived(1);
  await before.gateway.kill();
  await using after = await openConversation({ home, server });
  assert.equal((await after.ended(runId)).text, 'Gone on.');
  const offered = server.requests.map(({ text }) => text.includes('notes__read_note'));
  assert.deepEqual(offered, [true, true]);
});
