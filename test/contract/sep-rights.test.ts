// What extensions may do and what they may not, with real processes: every method without its grant, the values of others, the tools
// of others, hooks that were not declared, and versions that differ.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errors, groups, methodNames, methodRow, texts } from '@tenon/protocol/sep/wire';
import { openHostWorld, SESSION } from '../support/plugins.ts';
import { BY, clock, frame, openPuppet, writePuppet } from '../support/puppet.ts';
import { verifies } from '../support/verifies.ts';
import { toolCall, until, withExtensions } from '../support/written-extension.ts';

const toHost = methodNames.filter((name) => methodRow(name).direction === 'to-host' && methodRow(name).kind !== 'notification');

test('every method of the table is there, and every one of a group is refused without its grant, by the name of the group', async () => {
  verifies('S41:extensions', 'seed3:host-methods');
  await using puppet = await openPuppet();
  const replies = await puppet.write(
    toHost.map((method) => frame({ id: method, method, params: {} })),
    toHost.length,
  );
  for (const { id, error } of replies as { id: string; error?: { code: number; message: string } }[]) {
    const { group } = methodRow(id as (typeof toHost)[number]);
    assert.notEqual(error?.code, errors.MethodNotFound.code, id);
    if (group === undefined || group === 'tools') continue;
    assert.deepEqual([error?.code, error?.message], [errors.CapabilityDisabled.code, texts.disabled(group)], id);
  }
});

test('what is declared and was not granted, or was taken back, is refused at once', async () => {
  verifies('S41:extensions');
  const named = Object.keys(groups) as (keyof typeof groups)[];
  await using world = await openHostWorld(clock);
  writePuppet(world, { manifest: `[capabilities]\n${named.map((group) => `${group} = true`).join('\n')}` });
  const host = await world.open(withExtensions);
  const on = await host.enable('puppet', BY);
  assert.equal(on.state, 'loaded', on.reason);
  const write = host.registry.findAny('tool', 'puppet__write')!.item;
  const ask = async (methods: readonly string[]) => {
    const lines = methods.map((method) => frame({ id: method, method, params: {} }));
    const { content } = await write.execute({ lines, replies: lines.length }, toolCall());
    return JSON.parse(String(content)) as { id: string; error?: { code: number } }[];
  };
  const isOff = ({ error }: { error?: { code: number } }) => error?.code === errors.CapabilityDisabled.code;
  const asked = toHost.filter((name) => methodRow(name).group !== undefined && methodRow(name).grants === undefined);
  assert.deepEqual((await ask(asked)).filter(isOff), [], 'all of them are on');
  const held = on.granted.filter((grant) => grant !== 'tools.register');
  await host.revoke('puppet', held, BY);
  const off = (await ask(asked.filter((name) => methodRow(name).group !== 'tools'))).filter((each) => !isOff(each));
  assert.deepEqual(off, []);
});

test('S37: values belong to the extension at the end of the pipe, whatever it calls itself and however its name begins', async () => {
  verifies('S37:extensions');
  await using world = await openHostWorld(clock);
  const manifest = '[capabilities]\ntools = true\nkv = true';
  const names = ['one', 'one-more', 'o'];
  for (const name of names) writePuppet(world, { manifest }, name);
  const host = await world.open(withExtensions);
  for (const name of names) await host.enable(name, BY);
  const ask = async (name: string, ...messages: object[]) => {
    const lines = messages.map((message) => frame(message));
    const tool = host.registry.findAny('tool', `${name}__write`)!.item;
    const { content } = await tool.execute({ lines, replies: lines.length }, toolCall());
    return (JSON.parse(String(content)) as { result?: unknown }[]).map(({ result }) => result);
  };
  await ask('one', { id: 1, method: 'kv/set', params: { key: 'secret', value: 1 } });
  const forged = { ext: 'one', extension: 'one', name: 'one', namespace: 'one' };
  for (const name of ['one-more', 'o']) {
    const [value, prefixed, list] = await ask(
      name,
      { id: 1, method: 'kv/get', params: { key: 'secret', ...forged } },
      { id: 2, method: 'kv/get', params: { key: 'one/secret', ...forged } },
      { id: 3, method: 'kv/list', params: { prefix: '', ...forged } },
    );
    assert.deepEqual([value, prefixed, list], [{ value: null }, { value: null }, { keys: [] }], name);
    await ask(name, { id: 4, method: 'kv/set', params: { key: 'secret', value: 2, ...forged } });
    await ask(name, { id: 5, method: 'kv/delete', params: { key: 'secret', ...forged } });
  }
  assert.deepEqual(await ask('one', { id: 9, method: 'kv/get', params: { key: 'secret' } }), [{ value: 1 }]);
});

test("G11: only extensions that declare a hook are asked; of a call they change the arguments of their own tools and of the agent's", async () => {
  verifies('sep:G11', 'sep:modify-guard');
  await using world = await openHostWorld(clock);
  const patch = { action: 'modify', patch: { arguments: { changed: true } } };
  const hooked = '[capabilities]\ntools = true\nhooks = ["tool_call"]';
  writePuppet(world, { manifest: hooked, registrations: { hooks: ['tool_call'] }, answers: { hooks: { tool_call: patch } } }, 'gate');
  writePuppet(world, { registrations: { hooks: ['tool_call'] } }, 'undeclared');
  writePuppet(world, {}, 'plain');
  const host = await world.open(withExtensions);
  for (const name of ['gate', 'undeclared', 'plain']) await host.enable(name, BY);
  const ask = async (toolName: string) => {
    const outcome = await world.hooks.run('before_tool_call', { sessionKey: SESSION, toolName, toolCallId: 'c', params: { was: 1 } });
    return JSON.stringify(outcome);
  };
  assert.match(await ask('gate__write'), /"changed":true/);
  assert.match(await ask('exec'), /"changed":true/, 'what fits no tool is refused where the call is judged again');
  assert.doesNotMatch(await ask('plain__write'), /"changed":true/);
  const asked = () => world.logged.filter(({ stderr }) => /^{"hook":"tool_call"/.test(String(stderr))).map(({ plugin }) => plugin);
  await until(() => asked().length === 3);
  assert.deepEqual(asked(), ['gate', 'gate', 'gate']);
});

test('the lower version holds, fields that nobody knows are passed over, and one whose introduction is bad fails alone', async () => {
  verifies('seed3:versioning');
  await using world = await openHostWorld(clock);
  const answer = (result: object) => ({ hello: result });
  const good = { extension: { name: 'x', version: '1', colour: 'red' }, registrations: {}, further: { a: [1] } };
  writePuppet(world, { answers: answer({ protocol_version: 99, ...good }) }, 'newer');
  writePuppet(world, { answers: answer({ protocol_version: 1, ...good }) }, 'same');
  writePuppet(world, { answers: answer({ protocolVersion: 1, ...good }) }, 'spelled');
  writePuppet(world, { answers: answer({ protocol_version: 0, ...good }) }, 'none');
  writePuppet(world, { answers: answer({ protocol_version: 1 }) }, 'nobody');
  const host = await world.open(withExtensions);
  const states: Record<string, string> = {};
  for (const name of ['newer', 'none', 'same', 'nobody', 'spelled']) states[name] = (await host.enable(name, BY)).state;
  assert.deepEqual(states, { newer: 'loaded', same: 'loaded', spelled: 'loaded', none: 'failed', nobody: 'failed' });
  for (const name of ['none', 'nobody']) assert.match(host.get(name)?.reason ?? '', /protocol_version|extension/, name);
});
