// The tools as a catalogue: what a model and a person read about each.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { explain } from '@tenon/protocol';
import { systemClock } from '../../kernel/clock.ts';
import { openTools } from './tools.ts';

function catalogue() {
  const home = mkdtempSync(join(tmpdir(), 'tenon-tools-'));
  const opened = openTools({
    clock: systemClock,
    settings: { 'exec.sandbox': 'off', 'exec.network': false, 'exec.env': [], 'exec.timeoutMs': 1_000, 'web.allowPrivate': [] },
    env: {},
    home,
    outputFolder: join(home, 'output'),
    gatewayPort: () => undefined,
  });
  return { ...opened, home, [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }) };
}

test('every tool is described in few words, and each of its parameters too', () => {
  using made = catalogue();
  const names = made.tools.map(({ name }) => name);
  assert.deepEqual(names, ['ls', 'read', 'write', 'edit', 'apply_patch', 'grep', 'find', 'exec', 'process', 'web_fetch', 'read_more']);
  for (const tool of made.tools) {
    assert.ok(tool.label.length > 3 && tool.label.length <= 40, tool.name);
    assert.ok(tool.description.length > 20 && tool.description.length <= 600, tool.name);
    for (const [name, schema] of Object.entries(tool.parameters.properties)) {
      const { description, type } = schema as { description?: string; type?: string };
      assert.ok(description && type, `${tool.name} ${name}`);
    }
  }
});

test('what changes or runs something says so', () => {
  using made = catalogue();
  const by = (risk: string) => made.tools.filter((tool) => tool.risk === risk).map(({ name }) => name);
  assert.deepEqual(by('write'), ['write', 'edit', 'apply_patch']);
  assert.deepEqual(by('exec'), ['exec']);
  assert.deepEqual(by('network'), ['web_fetch']);
  for (const tool of made.tools) if (tool.risk === 'write' || tool.risk === 'exec') assert.equal(tool.parallelSafe, false, tool.name);
  assert.deepEqual(
    made.tools.filter(({ idempotent }) => !idempotent).map(({ name }) => name),
    ['edit', 'apply_patch', 'exec'],
  );
});

test('a field that a model made up, left out or mistyped is named', () => {
  using made = catalogue();
  const check = (name: string, args: unknown) => explain(made.tools.find((tool) => tool.name === name)!.parameters, args, 'args');
  assert.match(check('read', { path: 'a', encoding: 'utf8' }) ?? '', /unknown field "encoding"/);
  assert.match(
    check('edit', { path: 'a', edits: [{ find: 'a', replace: 'b', all: true }] }) ?? '',
    /args\/edits\/0 has an unknown field "all"/,
  );
  assert.match(check('read', {}) ?? '', /path/);
  assert.match(check('read', { path: 7 }) ?? '', /args\/path/);
  assert.match(check('process', { action: 'restart' }) ?? '', /args\/action/);
  assert.equal(check('process', { action: 'list' }), undefined);
});

test('a workspace that no tool can work in is named', async () => {
  using made = catalogue();
  const ls = made.tools.find((tool) => tool.name === 'ls')!;
  const at = (workspace: string) => ls.prepare({}, { sessionKey: 'agent:main:a', agentId: 'main', runId: 'r', callId: 'c', workspace });
  for (const workspace of ['/', made.home, join(made.home, 'gone')])
    await assert.rejects(async () => at(workspace), { name: 'ToolError', code: 'WORKSPACE' });
  mkdirSync(join(made.home, 'workspaces', 'main'), { recursive: true });
  assert.equal((await at(join(made.home, 'workspaces', 'main'))).subject, '.');
  assert.deepEqual(await made.sandbox(), { kind: 'none', reason: 'exec.sandbox is off' });
});
