// Programs that extensions run: through the policy, the approvals and the limits of the agent's own tool. A real gateway, real
// processes of extensions, and real programs.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Approval } from '@tenon/protocol';
import { removeFolder } from '../support/clean-up.ts';
import { call, type Conversation, MODEL_KEY, openConversation } from '../support/conversation.ts';
import { notedBy, putExtension, until } from '../support/extension-home.ts';
import { temporaryHome } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

// The same everywhere: without a sandbox the policy alone decides.
const EXEC =
  'exec.sandbox = "off"\nexec.unsandboxed = "policy"\nexec.policy = "allow-list"\nexec.allow = ["echo *", "env", "seq *", "sleep *"]\n';
const CAPABILITIES = 'tools = true\ncommands = true\nexec = true';
let talk: Conversation;
let sessions = 0;

interface Reply {
  readonly result?: { readonly stdout: string; readonly stderr: string; readonly exit_code: number };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

before(async () => {
  const home = temporaryHome();
  const row = { key: '{{what}}', value: '{{ many.now }} of {{many.all}}' };
  const more = {
    shortcuts: [{ key: 'ctrl+p', command: 'ask' }],
    message_renderers: [{ tag: 'found', template: { kind: 'keyvalue', title: 'Found', rows: [row] } }],
  };
  putExtension(home, 'asker', {
    fixture: 'asker.mjs',
    capabilities: `${CAPABILITIES}\nsession = true`,
    files: { 'asks.json': { more } },
  });
  putExtension(home, 'judge', {
    fixture: 'asker.mjs',
    capabilities: `${CAPABILITIES}\nhooks = ["tool_call"]`,
    files: { 'asks.json': { inHook: { method: 'exec/run', params: { command: 'echo', args: ['judged'] } } } },
  });
  putExtension(home, 'gate', {
    fixture: 'notes.mjs',
    capabilities: 'hooks = ["tool_call"]',
    files: {
      'registrations.json': { hooks: ['tool_call'] },
      'answers.json': { hooks: { tool_call: { action: 'block', reason: 'not before noon' } } },
    },
  });
  talk = await openConversation({ home, config: EXEC });
  await enable('asker');
});
after(async () => {
  await talk[Symbol.asyncDispose]();
  removeFolder(talk.gateway.home);
});

async function enable(id: string): Promise<void> {
  const { plugin } = await talk.ask('plugins.enable', { id });
  assert.equal(plugin.state, 'loaded', plugin.reason);
}

async function freshSession(): Promise<string> {
  return (await talk.ask('sessions.create', { key: `agent:main:exec-${++sessions}` })).session.key as string;
}

const run = (command: string, ...args: string[]) => ({ method: 'exec/run', params: { command, args } });

/** By the command, outside of every turn. */
async function byCommand(what: object, sessionKey: string): Promise<Reply> {
  const { reply } = await talk.ask('commands.invoke', { sessionKey, text: `/ask ${JSON.stringify(what)}` });
  return JSON.parse(reply) as Reply;
}

async function cancelLast(): Promise<void> {
  await talk.ask('commands.invoke', { sessionKey: await freshSession(), text: '/ask {"cancel":true}' });
}

/** By the tool, in a turn; the use of the tool itself is allowed. */
async function inTurn(what: object, sessionKey: string): Promise<string> {
  talk.server.next(call('asker__ask', what), { text: 'Done.' });
  const runId = await talk.send('go', { sessionKey });
  const question = await talk.question(runId);
  assert.equal(question.toolName, 'asker__ask');
  await talk.answer(question, 'allow-once');
  return runId;
}

async function replyIn(sessionKey: string): Promise<Reply> {
  return JSON.parse((await talk.results(sessionKey)).at(-1)!.text) as Reply;
}

async function questionAbout(program: string): Promise<Approval> {
  const isIt = ({ argv = [], state }: Approval) => argv.includes(program) && state === 'pending';
  const { payload } = await talk.admin.find(({ event, payload: each }) => event === 'approval.requested' && isIt(each.approval));
  return payload.approval as Approval;
}

function isRunning(...words: string[]): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `${words.join('\0')}\0`;
    } catch {
      return false;
    }
  });
}

test('what the policy allows runs, in a turn and outside of one, in the workspace, with a scrubbed environment and bounded output', async () => {
  verifies('sep:exec', 'sep:tiers');
  const sessionKey = await freshSession();
  const ran = await byCommand(run('echo', 'hello there', '$HOME'), sessionKey);
  assert.deepEqual(ran, { result: { stdout: 'hello there $HOME\n', stderr: '', exit_code: 0 } }, 'no shell reads it');
  const runId = await inTurn(run('echo', 'in a turn'), sessionKey);
  assert.equal((await talk.ended(runId)).text, 'Done.');
  assert.deepEqual(await replyIn(sessionKey), { result: { stdout: 'in a turn\n', stderr: '', exit_code: 0 } });

  const { stdout } = (await byCommand(run('env'), sessionKey)).result!;
  assert.ok(!stdout.includes(MODEL_KEY) && !/^TENON_/m.test(stdout) && /^PATH=/m.test(stdout), stdout);
  const long = (await byCommand(run('seq', '1', '100000'), sessionKey)).result!;
  assert.match(long.stdout, /^\[The last \d+ of 588895 bytes\]\n/);
  assert.ok(long.stdout.endsWith('99999\n100000\n') && long.stdout.length < 51_000);

  const { records: all } = await talk.ask('audit.list', { limit: 100 });
  const records = all.filter(({ action }: { action: string }) => action === 'extension.exec');
  const outcomes = records.map(({ actor, details }: { actor: string; details: Record<string, unknown> }) => [actor, details.outcome]);
  assert.ok(outcomes.every(([actor]: [string]) => actor === 'plugin:asker'));
  assert.deepEqual(new Set(outcomes.map(([, outcome]: [string, string]) => outcome)), new Set(['started', 'ran']));
});

test('what the policy asks about waits for a person, who sees exactly what would run and who wants it', async () => {
  verifies('sep:exec');
  const sessionKey = await freshSession();
  const script = 'echo out; echo err >&2; exit 3';
  const outside = byCommand(run('sh', '-c', script), sessionKey);
  const asked = await questionAbout(script);
  assert.deepEqual([asked.pluginId, asked.toolName, asked.argv, asked.risk], ['asker', 'exec', ['sh', '-c', script], 'exec']);
  assert.match(asked.reason, /^asker wants it/);
  await talk.answer(asked, 'allow-once');
  assert.deepEqual(await outside, { result: { stdout: 'out\n', stderr: 'err\n', exit_code: 3 } });

  const again = byCommand(run('sh', '-c', `${script} `), sessionKey);
  await talk.answer(await questionAbout(`${script} `), 'deny');
  const { error } = await again;
  assert.deepEqual([error?.code, error?.data], [-32000, { by: 'person' }]);
  assert.match(error!.message, /The operator denied/);

  const runId = await inTurn(run('sh', '-c', 'exit 4'), sessionKey);
  const inside = await talk.question(runId, 1);
  assert.deepEqual([inside.pluginId, inside.argv], ['asker', ['sh', '-c', 'exit 4']]);
  await talk.answer(inside, 'allow-once');
  await talk.ended(runId);
  assert.equal((await replyIn(sessionKey)).result?.exit_code, 4);
});

test('what was approved for an extension is what runs: a script that is swapped meanwhile does not', async () => {
  verifies('sep:exec', 'S52');
  const sessionKey = await freshSession();
  const script = join(talk.workspace(), 'run.sh');
  for (const words of [
    ['sh', 'run.sh'],
    ['sh', '-c', 'cd . && sh r?n.sh'],
  ]) {
    writeFileSync(script, 'echo good\n');
    const reply = byCommand(run(...(words as [string])), sessionKey);
    const asked = await questionAbout(words.at(-1)!);
    assert.ok(!asked.allowed.includes('allow-always'));
    assert.match(asked.notBound?.join() ?? '', words.length === 2 ? /run\.sh: without a sandbox/ : /files that match “r\?n\.sh”/);
    writeFileSync(script, 'echo evil\n');
    await talk.answer(asked, 'allow-once');
    const { result, error } = await reply;
    assert.equal(result, undefined);
    assert.match(error!.message, /changed after .* nothing was run/);
  }
});

test('what the policy or a plugin denies is refused, and the error says by what; so is what cannot be run', async () => {
  verifies('sep:exec', 'sep:errors');
  const sessionKey = await freshSession();
  await talk.ask('sessions.patch', { key: sessionKey, permissions: 'deny' });
  const denied = (await byCommand(run('echo', 'x'), sessionKey)).error!;
  assert.deepEqual([denied.code, denied.data], [-32000, { by: 'policy' }]);
  assert.match(denied.message, /permission mode is deny/);

  const other = await freshSession();
  await enable('gate');
  const blocked = (await byCommand(run('echo', 'x'), other)).error!;
  assert.deepEqual([blocked.code, blocked.data], [-32000, { by: 'plugin', extension: 'gate' }]);
  assert.match(blocked.message, /Blocked by gate: not before noon/);
  await talk.ask('plugins.disable', { id: 'gate' });

  const elsewhere = (await byCommand({ method: 'exec/run', params: { command: 'echo', cwd: '/etc' } }, other)).error!;
  assert.equal(elsewhere.code, -32602, JSON.stringify(elsewhere));
  const unread = (await byCommand({ method: 'exec/run', params: { command: 5 } }, other)).error!;
  assert.equal(unread.code, -32602);
  const missing = (await byCommand(run('sleep', 'forever'), other)).result!;
  assert.ok(missing.exit_code !== 0 && missing.stderr !== '');
});

test('a program ends with the dispatch for which it was asked, with the turn, and when the extension waits no more', async () => {
  verifies('sep:exec', 'sep:cancel', 'sep:G28');
  const left = await freshSession();
  const runLeft = await inTurn({ ...run('sleep', '40017'), leave: true }, left);
  await talk.ended(runLeft);
  await until(() => !isRunning('sleep', '40017'));

  const stopped = await freshSession();
  const runId = await inTurn(run('sleep', '40027'), stopped);
  await until(() => isRunning('sleep', '40027'));
  await talk.ask('chat.abort', { sessionKey: stopped });
  assert.equal((await talk.ended(runId)).end.kind, 'aborted');
  await until(() => !isRunning('sleep', '40027'));

  const given = byCommand(run('sleep', '40037'), await freshSession());
  await until(() => isRunning('sleep', '40037'));
  await cancelLast();
  assert.equal((await given).error?.code, -32800);
  await until(() => !isRunning('sleep', '40037'));

  const withdrawn = byCommand(run('sh', '-c', 'exit 9'), await freshSession());
  const { id } = await questionAbout('exit 9');
  await cancelLast();
  assert.equal((await withdrawn).error?.code, -32800);
  await talk.admin.find(({ event, payload }) => event === 'approval.resolved' && payload.id === id && payload.state === 'voided');

  const stale = await byCommand({ ...run('echo', 'late'), stale: true }, await freshSession());
  assert.equal(stale.error?.code, -32003, JSON.stringify(stale));
});

test('who is asked about a program runs none meanwhile, so that nobody is asked without end', async () => {
  verifies('sep:exec', 'sep:G12');
  await enable('judge');
  const ran = await byCommand(run('echo', 'once'), await freshSession());
  assert.equal(ran.result?.stdout, 'once\n');
  await until(() => notedBy(talk.gateway.home).some(({ refused }) => /being judged/.test(String(refused))));
  await talk.ask('plugins.disable', { id: 'judge' });
});

test('an entry with the tag of a template is shown filled, and one without as it is kept; keys that no front end has are listed', async () => {
  verifies('sep:renderers', 'sep:registrations', 'sep:blocks');
  const sessionKey = await freshSession();
  const append = (entry: object) => ({ method: 'session/append_entry', params: { entry } });
  const data = { what: '{{many.all}}', many: { now: 2, all: 3 } };
  assert.deepEqual(await byCommand(append({ tag: 'found', data }), sessionKey), { result: {} });
  await byCommand(append({ tag: 'other', data }), sessionKey);
  const kept = (await talk.history(sessionKey)).flatMap((entry) =>
    entry.type === 'custom' && entry.customType === 'extension' ? [entry.data] : [],
  );
  const block = { kind: 'keyvalue', title: 'Found', rows: [{ key: '{{many.all}}', value: '2 of 3' }] };
  assert.deepEqual(kept, [
    { plugin: 'asker', entry: { tag: 'found', data }, block, text: 'Found\n{{many.all}}  2 of 3' },
    { plugin: 'asker', entry: { tag: 'other', data } },
  ]);
  const { process } = (await talk.ask('plugins.get', { id: 'asker' })).plugin;
  assert.deepEqual(process.leftOut, [
    { kind: 'shortcuts', key: 'ctrl+p', message: 'no front end of this gateway has keys for extensions; type /asker:ask' },
  ]);
});

test('without the right there is no exec/run', async () => {
  verifies('sep:exec', 'sep:G26');
  await talk.ask('plugins.revoke', { id: 'asker', grants: ['extension.use:exec'] });
  const { error } = await byCommand(run('echo', 'x'), await freshSession());
  assert.deepEqual([error?.code, error?.message], [-32004, "capability 'exec' is disabled"]);
});

test('where nobody is there to answer, silence is a no; that time is not the time of the extension', async () => {
  verifies('sep:exec');
  const home = temporaryHome();
  putExtension(home, 'asker', { fixture: 'asker.mjs', capabilities: CAPABILITIES });
  // Shorter than a question waits, and much longer than all else takes.
  const timeout = '[[plugins.timeouts]]\nplugin = "asker"\nplace = "command"\ntimeoutMs = 900\n';
  await using alone = await openConversation({ home, config: `${EXEC}approvals.expireMs = 1000\n${timeout}` });
  await alone.ask('plugins.enable', { id: 'asker' });
  await alone.ask('sessions.create', { key: 'agent:main:alone' });
  const { reply } = await alone.ask('commands.invoke', {
    sessionKey: 'agent:main:alone',
    text: `/ask ${JSON.stringify(run('sh', '-c', 'exit 1'))}`,
  });
  const { error } = JSON.parse(reply) as Reply;
  assert.deepEqual([error?.code, error?.data], [-32000, { by: 'nobody' }]);
  await alone.gateway.remove();
  removeFolder(home);
});
