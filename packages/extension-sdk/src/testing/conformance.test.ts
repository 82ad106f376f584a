import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runConformance, startExtension } from './index.ts';
import { verifies } from '../../../../test/support/verifies.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenon-conform-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const sdk = pathToFileURL(join(import.meta.dirname, '..', 'index.ts')).href;

function extension(name: string, source: string) {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, source);
  return { command: process.execPath, args: [file], cwd: folder };
}

const outcomes = (report: Awaited<ReturnType<typeof runConformance>>, outcome: string) =>
  report.steps.filter((step) => step.outcome === outcome).map(({ name, reason }) => (reason === undefined ? name : `${name}: ${reason}`));

test('G40: an extension that uses everything shows every step: methods both ways, hooks, events, cancel, restart', async () => {
  verifies('sep:G40');
  const everything = extension(
    'everything',
    `import { defineExtension, defineTool, render } from '${sdk}';
     const extension = defineExtension((tenon) => {
       tenon.name = 'everything';
       tenon.registerTool(defineTool({
         name: 'all', description: 'Uses the host.', parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
         async execute({ n }, { onUpdate, ui, session, exec }) {
           onUpdate({ message: 'on it', progress: 0.5 });
           await tenon.kv.set('n', n);
           await tenon.kv.compareAndSet('n', n, n + 1);
           await ui.confirm('Sure?'); await ui.select('Which?', ['a']); await ui.input('Name?');
           await ui.setWidget(render.stack(render.table(['a'], [['b']]), render.diff('+x'), render.keyvalue({ a: 1 })));
           await session.appendEntry({ tag: 'x' }); await session.sendMessage('hi'); await session.setModel('m'); await session.state();
           await exec('true').catch(() => {});
           await tenon.events.publish('topic', {});
           tenon.log('info', 'done', { n });
           return 'done';
         },
       }));
       tenon.registerCommand('plan', { handler: () => 'planned', getArgumentCompletions: () => ['a'] });
       tenon.registerProvider('echo', { models: [{ id: 'm' }], complete: () => 'hello', oauthLogin: () => ({ refresh_token: 'r' }), oauthRefresh: () => ({}) });
       for (const hook of ['tool_call', 'context', 'message_end']) tenon.on(hook, (event) => ({ patch: { more: true } }));
       tenon.on('turn_start', () => {});
       tenon.registerState({ namespace: 'n', description: 'N' });
       tenon.registerAction({ id: 'add' }, async () => ({ ok: true, result: await tenon.call('state/get', { namespace: 'n' }) }));
       tenon.registerPolicy({ id: 'p', description: 'All may.' }, () => ({ decision: 'allow' }));
       tenon.registerInteraction({ namespace: 'i', channel: '*' }, () => ({ text: 'pressed' }));
     });
     extension.serve();
     setInterval(() => {}, 1000);`,
  );
  const report = await runConformance(everything);
  assert.deepEqual(outcomes(report, 'failed'), []);
  assert.deepEqual(outcomes(report, 'skipped'), []);
  assert.equal(report.ok, true);
});

test('what an extension does not have is skipped with the reason', async () => {
  const bare = extension('bare', `import { defineExtension } from '${sdk}'; defineExtension(() => {}).serve();`);
  const seen: string[] = [];
  const report = await runConformance({ ...bare, onStep: ({ name }) => seen.push(name) });
  assert.deepEqual(outcomes(report, 'failed'), []);
  assert.deepEqual(
    report.steps.map(({ name }) => name),
    seen,
  );
  assert.deepEqual(outcomes(report, 'skipped'), [
    'every tool answers arguments that fit: it has no tools',
    'every tool answers arguments that do not fit: it has no tools',
    'a tool call that is cancelled is answered once: it has no tools',
    'every command answers: it has no commands',
    'every hook has an outcome: it declares no hooks; all of them continue',
    'every event is taken: it follows no events; those that come unasked are taken',
    'every provider completes, whole and in pieces: it has no providers',
    'every provider with a sign-in gives credentials: it has no provider with a sign-in',
    "what it has for Tenon's seams answers: it has nothing for them",
    'what it has written fits the protocol: it has asked the host for nothing',
  ]);
  assert.equal(report.passed + report.skipped, report.steps.length);
});

test('G40: a silent extension fails within the time of the step, and one that cannot start says why', async () => {
  verifies('sep:G40');
  const silent = await runConformance({
    ...extension('silent', 'process.stdin.resume(); process.stdin.on("end", () => process.exit());'),
    timeoutMs: 50,
  });
  assert.match(outcomes(silent, 'failed').join(), /^initialize is answered: .* 50 ms$/);
  assert.equal(silent.skipped, silent.steps.length - 1);
  const dead = await runConformance(extension('dead', 'throw new Error("no such disk");'));
  assert.match(dead.steps[0]!.reason!, /the extension has ended with 1, and said: [\s\S]*no such disk/);
  const missing = await runConformance({ command: join(folder, 'no-such-program') });
  assert.match(missing.steps[0]!.reason!, /not started: .*ENOENT/);
});

test('an extension that breaks rules fails the steps that show them, and is started again after it died', async () => {
  const odd = extension(
    'odd',
    `import { createInterface } from 'node:readline';
     const say = (frame) => console.log(JSON.stringify({ jsonrpc: '2.0', ...frame }));
     createInterface({ input: process.stdin }).on('line', (line) => {
       if (line === '') return;
       const { id, method, params } = JSON.parse(line);
       if (method === 'initialize') say({ id, result: { protocol_version: 1, extension: { name: 'odd', version: '1' }, registrations: { tools: [{ name: 'a', description: '', parameters: {} }] } } });
       else if (method === 'ping') say({ id, result: {} });
       else if (method === 'hook') say({ id, result: { action: 'modify', patch: {}, extra: 1 } });
       else if (method === 'tool/execute' && params.tool === 'a') { console.log('working on it'); say({ id, result: { content: 'x' } }); }
       else if (method === 'tool/execute') say({ id, error: { code: -32602, message: 'unknown tool' } });
       else if (method === 'shutdown') { say({ id, result: {} }); process.exit(3); }
       else if (id !== undefined) say({ id, error: { code: -32601, message: 'method not found: ' + method } });
     });`,
  );
  const report = await runConformance({ ...odd, timeoutMs: 3_000 });
  const failed = outcomes(report, 'failed');
  assert.deepEqual(
    failed.map((line) => line.split(':')[0]),
    [
      'lines that are no frames change nothing',
      'a tool that is not there is a result',
      'a command that is not there is a result',
      'every hook has an outcome',
      'what it has written fits the protocol',
      'shutdown is answered, and it exits',
    ],
  );
  assert.match(failed[0]!, /the extension has ended with 1/);
  assert.match(failed[3]!, /hook: result/);
  assert.match(failed[4]!, /a line that is not JSON: working on it/);
  assert.match(failed.at(-1)!, /It ended with 3/);
});

test('with a signal, what an extension has started is ended with it, and the run is given up', async () => {
  const parent = extension(
    'parent',
    `import { spawn } from 'node:child_process';
     import { defineExtension } from '${sdk}';
     const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
     const extension = defineExtension((tenon) => {
       tenon.name = 'parent';
       tenon.registerCommand('child', { handler: () => String(child.pid) });
     });
     extension.serve();`,
  );
  const isAlive = (pid: number) => spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.match(/^[^Z]/) !== null;
  const leaving = new AbortController();
  const traffic: string[] = [];
  const running = startExtension(parent, {
    signal: leaving.signal,
    onTraffic: (direction, line) => traffic.push(`${direction} ${(JSON.parse(line) as { method?: string }).method ?? 'answer'}`),
  });
  const pid = Number((await running.host.runCommand('child')).content);
  assert.ok(isAlive(pid));
  assert.deepEqual(traffic, ['to-extension initialize', 'to-host answer', 'to-extension command/execute', 'to-host answer']);
  leaving.abort();
  assert.equal(await running.exited, 'SIGKILL');
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
  await running.stop();

  const enough = new AbortController();
  const run = runConformance({ ...parent, signal: enough.signal, onStep: () => enough.abort(new Error('enough')) });
  await assert.rejects(run, /enough/);
});
