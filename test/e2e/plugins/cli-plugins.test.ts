// Plugins on the command line: the real bundle, a real gateway, no terminal.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import type { PluginDetails, TraceRecord } from '@tenon/protocol';
import { call, type Conversation, openConversation } from '../../support/conversation.ts';
import { cleanEnv, temporaryHome, tenonBin } from '../../support/gateway.ts';
import { writePlugin } from '../../support/plugins.ts';
import { verifies } from '../../support/verifies.ts';

const SESSION = 'agent:main:cli-plugins';
const home = temporaryHome();
let world: Conversation;

before(async () => {
  writePlugin(join(home, 'plugins'), {
    id: 'narrow',
    grants: ['hooks.intercept:before_tool_call', 'prompt.inject', 'tools.register'],
    manifest: {
      description: 'Keeps to its own folder',
      configSchema: {
        type: 'object',
        properties: { folder: { type: 'string' }, words: { type: 'array', items: { type: 'string' } }, more: { type: 'object' } },
        additionalProperties: false,
      },
    },
    register: `
      api.on('before_tool_call', ({ params }) => ({ params: { ...params, path: (api.pluginConfig.folder ?? 'own') + '/' + params.path } }), { priority: 7 });
      api.on('agent_end', () => {});
      api.on('no_such_hook', () => {});
      api.registerTool({ name: 'read', description: 'Mine', parameters: { type: 'object' }, risk: 'read', execute: () => ({ content: '' }) });`,
  });
  world = await openConversation({ home, plugins: true });
  await world.admin.request('sessions.create', { key: SESSION });
});
after(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

function tenon(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { env: cleanEnv({ TENON_HOME: home }), encoding: 'utf8', timeout: 60_000 } as const;
    execFile(process.execPath, [tenonBin, ...words], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
    }).stdin?.end();
  });
}

async function data<Result>(...words: string[]): Promise<Result> {
  const { code, stdout, stderr } = await tenon('--json', ...words);
  assert.equal(code, 0, `tenon ${words.join(' ')}: ${stderr}`);
  return JSON.parse(stdout) as Result;
}

/** A `tenon` that goes on until told. `said` waits for a line of talk. */
function follow(...words: string[]) {
  const child = spawn(process.execPath, [tenonBin, ...words], { env: cleanEnv({ TENON_HOME: home }), stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const talk = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const wake of waiting) wake();
  });
  const exit = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  return {
    child,
    lines,
    exit,
    said: async () => (await talk.next()).value as string,
    async line(fits: RegExp): Promise<string> {
      for (;;) {
        const found = lines.find((each) => fits.test(each));
        if (found !== undefined) return found;
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        await Promise.race([promise, exit.then(() => assert.fail(`tenon ${words.join(' ')} ended: ${lines.join('\n')}`))]);
        waiting.delete(resolve);
      }
    },
  };
}

async function turn(path: string): Promise<string> {
  world.server.next(call('read', { path }), { text: 'Done.' });
  const { run } = await world.say('Go', { sessionKey: SESSION });
  return run.runId;
}

test('enable shows what is asked for, asks for consent, and says what was not taken', async () => {
  const asked = await tenon('plugin', 'enable', 'narrow');
  assert.equal(asked.code, 6, asked.stderr);
  assert.match(asked.stderr, /prompt\.inject: .*Wide: it reaches far beyond the plugin itself/);
  assert.match(asked.stderr, /--yes/);
  const { code, stdout, stderr } = await tenon('plugin', 'enable', 'narrow', '--yes');
  assert.equal(code, 0, stderr);
  assert.equal(stdout, 'loaded narrow\n');
  assert.match(stderr, /3 of its registrations were not taken: tenon plugin inspect narrow/);
});

test('a registration that was not taken is shown by the list, inspect, the doctor and the log', async () => {
  verifies('seams:W3', 'seams:W19');
  assert.match((await tenon('plugin', 'ls')).stdout, /^narrow +1\.0\.0 +loaded +3 of 3 +3 /m);
  const { stdout } = await tenon('plugin', 'inspect', 'narrow');
  for (const part of [
    /Keeps to its own folder/,
    /granted +hooks\.intercept:before_tool_call +Change or stop something/,
    /hook: before_tool_call/,
    /hook agent_end: NOT_DECLARED .*hooks\.observe:agent_end/,
    /hook no_such_hook: UNKNOWN_HOOK .+/,
    /tool read: RESERVED .+/,
    /PLACE +CALLS +ERRORS +TIMEOUTS +P50 MS +P95 MS/,
  ])
    assert.match(stdout, part);
  const { plugin } = await data<{ plugin: PluginDetails }>('plugin', 'inspect', 'narrow');
  assert.deepEqual(plugin.registrations.filter(({ accepted }) => !accepted).length, 3);
  const doctor = (await tenon('doctor')).stdout;
  for (const part of [/narrow: hook agent_end was not taken \(NOT_DECLARED\)/, /narrow: tool read was not taken \(RESERVED\)/])
    assert.match(doctor, part);
  assert.match((await tenon('logs', '--lines', '500')).stdout, /a registration of a plugin was not taken/);
});

test('plugin hooks shows who takes part where, and how often', async () => {
  await turn('a');
  const { stdout } = await tenon('plugin', 'hooks');
  assert.match(stdout, /^before_tool_call +1 +narrow +7 +\d+ ms +1 +0 +0 /m);
  const wrong = await tenon('plugin', 'hooks', 'before_tool_cal');
  assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
  assert.match(wrong.stderr, /did you mean "before_tool_call"/);
});

test('plugin config shows, sets, removes and takes back, and the gateway checks it', async () => {
  assert.match((await tenon('plugin', 'config', 'narrow')).stdout, /^folder is not set \(string\)/m);
  const set = await tenon('plugin', 'config', 'narrow', '--set', 'folder=12', '--set', 'words=["a","b,c"]', '--set', 'more.deep=true');
  assert.equal(set.code, 0, set.stderr);
  const config = () => data<{ config: object }>('plugin', 'config', 'narrow').then((each) => each.config);
  assert.deepEqual(await config(), { folder: '12', words: ['a', 'b,c'], more: { deep: true } });
  assert.equal((await tenon('plugin', 'config', 'narrow', '--remove', 'words,more.deep')).code, 0);
  assert.deepEqual(await config(), { folder: '12', more: {} });
  const refused = await tenon('plugin', 'config', 'narrow', '--set', 'other=1');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /Cannot configure plugin "narrow"/);
  writeFileSync(join(home, 'narrow.json'), '{"folder":"safe"}');
  assert.equal((await tenon('plugin', 'config', 'narrow', '--file', join(home, 'narrow.json'))).code, 0);
  assert.deepEqual(await config(), { folder: 'safe' });
  assert.equal((await tenon('plugin', 'config', 'narrow', '--unset')).code, 0);
  assert.deepEqual(await config(), {});
});

test('plugin trace waits for the turns it was asked for and prints them as a timeline', async () => {
  const trace = follow('plugin', 'trace', SESSION, '--turns', '1');
  assert.match(await trace.said(), /^Waiting for the next turn of agent:main:cli-plugins/);
  const runId = await turn('b');
  assert.deepEqual(await trace.exit, [0, null]);
  const text = trace.lines.join('\n');
  assert.match(text, new RegExp(`^turn ${runId}$`, 'm'));
  assert.match(text, /^ {2}\d\d:\d\d:\d\d\.\d{3} {2}before_tool_call$/m);
  assert.match(text, /^ {4}~ {2}1 {2}narrow +\d+(\.\d+)? ms {2}changed +priority 7$/m);
  assert.match(text, /^ +\/params\/path: "b" -> "own\/b"$/m);

  const again = await data<{ recording: boolean; records: TraceRecord[] }>('plugin', 'trace', SESSION, '--run', runId);
  assert.equal(again.recording, false);
  assert.deepEqual(
    again.records.map(({ place, plugin }) => `${place} ${plugin}`),
    ['before_tool_call narrow'],
  );
  assert.match((await tenon('plugin', 'trace', SESSION)).stdout, /own\/b/);
});

test('plugin trace --follow prints what comes until it is interrupted, and then records no more', async () => {
  const trace = follow('plugin', 'trace', SESSION, '--follow', '--json');
  assert.match(await trace.said(), /^Recording agent:main:cli-plugins until Ctrl-C/);
  await turn('c');
  const record = JSON.parse(await trace.line(/own\/c/)) as TraceRecord;
  assert.equal(record.plugin, 'narrow');
  trace.child.kill('SIGINT');
  assert.deepEqual(await trace.exit, [0, null]);
  const { recording } = await data<{ recording: boolean }>('plugin', 'trace', SESSION);
  assert.equal(recording, false);
});

test('plugin trace says what is wrong', async () => {
  assert.match((await tenon('plugin', 'trace', 'nowhere')).stderr, /Cannot find session/);
  assert.equal((await tenon('plugin', 'trace', 'nowhere', '--off', '--follow')).code, 2);
  assert.equal((await tenon('plugin', 'trace', 'nowhere', '--turns', '0')).code, 2);
  assert.deepEqual(await tenon('plugin', 'trace', SESSION, '--off'), { code: 0, stdout: `${SESSION} is not recorded\n`, stderr: '' });
});

test('a method of a plugin is called like every other, and one that is not there is refused by the gateway', async () => {
  assert.equal((await tenon('plugin', 'enable', 'everything', '--yes')).code, 0);
  assert.deepEqual((await data<{ patches: unknown[] }>('call', 'plugin.everything.seen')).patches, []);
  const missing = await tenon('call', 'plugin.everything.missing');
  assert.deepEqual([missing.code, missing.stderr], [1, 'tenon: There is no method "plugin.everything.missing"\n']);
  const keyed = await tenon('call', 'plugin.everything.seen', '--key', 'a');
  assert.match(keyed.stderr, /--key has no meaning/);
});
