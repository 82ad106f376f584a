import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExtensionManifest, Registrations } from '@tenon/protocol/sep';
import { groupsOn, lackOf, lacksOf } from './lacks.ts';

const manifest = (capabilities: object) => ({ name: 'a', version: '1', run: { command: 'a' }, capabilities }) as ExtensionManifest;
const all = () => true;
const none = () => false;

test('a group is off until it is asked for and granted, and what is missing says which', () => {
  assert.equal(groupsOn(manifest({ tools: true }), all).tools, true);
  assert.equal(groupsOn(manifest({ tools: true }), none).tools, false);
  assert.equal(lackOf('tool/update', 'tools', manifest({ tools: true }), all), undefined);
  assert.deepEqual(lackOf('bus/publish', 'bus', manifest({}), all), { what: 'bus/publish', declare: 'bus = true', grants: [] });
  assert.deepEqual(lackOf('bus/publish', 'bus', manifest({ bus: true }), none), { what: 'bus/publish', grants: ['extension.use:bus'] });
});

test('registrations that would not be taken are found one by one', () => {
  const registered = {
    tools: [{ name: 'x', description: '', parameters: {} }],
    commands: [{ name: 'y', description: '' }],
    hooks: ['tool_call', 'input', 'no_such_hook'],
    subscriptions: ['session_start', 'bus/event'],
  } as unknown as Registrations;
  const holds = (grant: string) => grant === 'commands.register';
  assert.deepEqual(lacksOf(registered, manifest({ tools: true, commands: true, hooks: ['tool_call'] }), holds), [
    { what: 'tools x', grants: ['tools.register'] },
    { what: 'the hook tool_call', grants: ['hooks.intercept:before_tool_call'] },
    { what: 'the hook input', declare: 'hooks = ["tool_call", "input"]', grants: [] },
    { what: 'the hook no_such_hook', grants: [], isNotServed: true },
    { what: 'the event session_start', declare: 'events = ["session_start"]', grants: [] },
  ]);
  assert.deepEqual(lacksOf({}, manifest({}), none), []);
});
