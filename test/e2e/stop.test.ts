// `tenon stop` and `tenon restart`: the next command can rely on it that the gateway is gone.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { cleanEnv, startGatewayProcess, temporaryHome, tenonBin } from '../support/gateway.ts';
import { prepareLingering, runTenon, stopAndStart } from '../support/stop-rounds.ts';
import { verifies } from '../support/verifies.ts';

function newHome(t: TestContext): string {
  const home = temporaryHome();
  cleanUp(t, () => removeFolder(home));
  return home;
}

test('stop waits until the gateway is gone: the next start on the same home and port succeeds at once', async (t) => {
  verifies('R14:stop-waits');
  const home = newHome(t);
  await prepareLingering(home);
  await stopAndStart(home, 3);
  assert.equal(existsSync(join(home, 'gateway.json')), false);
});

test('stop waits for this very process, and says so when its time is up', async (t) => {
  verifies('R14:stop-waits');
  const home = newHome(t);
  const gateway = await startGatewayProcess({ home });
  cleanUp(t, () => gateway.remove());
  // It hears nothing and does nothing: as one that hangs.
  process.kill(gateway.pid, 'SIGSTOP');
  const late = await runTenon(home, 'stop', '--timeout', '300ms');
  assert.equal(late.code, 5, late.stderr);
  assert.match(late.stderr, /--timeout 60s, or end it by force with: tenon stop --kill/);
  const killed = await runTenon(home, 'stop', '--kill', '--timeout', '300ms', '--json');
  assert.equal(killed.code, 0, killed.stderr);
  assert.deepEqual(JSON.parse(killed.stdout), { stopped: true, url: gateway.socketUrl, killed: true });
  assert.equal((await gateway.exited).signal, 'SIGKILL');

  // The note of the dead one now names a process that runs: this test. Nobody waits for it, let alone ends it.
  const note = JSON.parse(readFileSync(join(home, 'gateway.json'), 'utf8')) as Record<string, unknown>;
  writeFileSync(join(home, 'gateway.json'), JSON.stringify({ ...note, pid: process.pid }));
  const none = await runTenon(home, 'stop', '--kill', '--timeout', '300ms', '--json');
  assert.deepEqual([none.code, JSON.parse(none.stdout)], [0, { stopped: false }], none.stderr);
});

test('a gateway of another home is asked to stop, and nothing more is claimed', async (t) => {
  verifies('R14:stop-waits');
  const [home, other] = [newHome(t), newHome(t)];
  const gateway = await startGatewayProcess({ home });
  cleanUp(t, () => gateway.remove());
  const own = await startGatewayProcess({ home: other });
  cleanUp(t, () => own.remove());
  const asked = await runTenon(other, 'stop', '--url', gateway.url, '--token', `@${join(home, 'token')}`, '--json');
  assert.deepEqual([asked.code, JSON.parse(asked.stdout)], [0, { stopped: false, asked: true, url: gateway.socketUrl }], asked.stderr);
  assert.equal((await gateway.exited).code, 0);
  assert.equal(own.child.exitCode, null, 'its own goes on');
  // By another name it is still its own.
  const named = await runTenon(other, 'stop', '--url', `http://localhost:${own.port}`, '--json');
  assert.deepEqual(JSON.parse(named.stdout), { stopped: true, url: `ws://localhost:${own.port}` });
});

/** `tenon restart`, until it is ready. */
async function restart(t: TestContext, home: string, words: readonly string[] = [], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [tenonBin, 'restart', '--json', ...words], {
    env: cleanEnv({ TENON_HOME: home, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  cleanUp(t, async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const first = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exited.then(() => undefined)]);
  if (first === undefined) return { stderr, code: child.exitCode };
  const { port, pid } = JSON.parse(first[0] as string) as { port: number; pid: number };
  return { child, exited, port, pid, stderr, code: undefined };
}

test('restart keeps the port and the flags of the running one, and takes others that are typed', async (t) => {
  verifies('R14:restart');
  const home = newHome(t);
  const gateway = await startGatewayProcess({ home, args: ['--log-level', 'debug', '--shutdown-budget-ms', '5000'] });
  cleanUp(t, () => gateway.remove());
  const next = await restart(t, home, ['--log-level', 'warn']);
  assert.equal(next.code, undefined, next.stderr);
  assert.equal((await gateway.exited).code, 0, 'the old one has stopped in order');
  assert.equal(next.port, gateway.port, 'the port that the system picked');
  assert.notEqual(next.pid, gateway.pid);
  const given = async (name: string) =>
    (JSON.parse((await runTenon(home, 'config', 'get', name, '--json')).stdout) as { value: unknown }).value;
  assert.deepEqual([await given('log.level'), await given('gateway.shutdownBudgetMs')], ['warn', 5000]);

  // What cannot be started again is not stopped.
  const refused = await restart(t, home, ['--bind', '0.0.0.0.0']);
  assert.equal(refused.code, 2, refused.stderr);
  assert.equal(next.child?.exitCode, null);
  assert.equal((await runTenon(home, 'stop')).code, 0);
  const [code] = (await next.exited) as [number];
  assert.equal(code, 0);
});

test('restart starts where nothing runs, and asks again for a token that was given', async (t) => {
  verifies('R14:restart');
  const home = newHome(t);
  const token = 'a-token-of-our-own-0123';
  const first = await restart(t, home, ['--port', '0'], { TENON_TOKEN: token });
  assert.equal(first.code, undefined, first.stderr);
  const without = await restart(t, home);
  assert.equal(without.code, 2);
  assert.match(without.stderr, /--token @file or TENON_TOKEN/);
  assert.equal(first.child?.exitCode, null, 'it goes on');
  const second = await restart(t, home, [], { TENON_TOKEN: token });
  assert.equal(second.port, first.port);
  assert.equal((await runTenon(home, '--token', token, 'health')).code, 0);
  const elsewhere = await restart(t, home, ['--url', 'http://127.0.0.1:1']);
  assert.equal(elsewhere.code, 2);
  assert.match(elsewhere.stderr, /--url has no meaning for restart/);
});
