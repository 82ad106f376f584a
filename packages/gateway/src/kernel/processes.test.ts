// A program ends with everything that it has started.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { systemClock } from './clock.ts';
import { type Program, startProgram } from './processes.ts';

function start(argv: string[], onOutput: (text: string) => void = () => {}): Program {
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' };
  return startProgram(argv, { spawn, clock: systemClock, cwd: '/', env, onOutput: (chunk) => onOutput(chunk.toString()) });
}

/** A process that has ended and waits to be collected counts as gone. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

test('startProgram hands over both outputs and the exit code', async () => {
  let text = '';
  const end = await start(['sh', '-c', 'echo out; echo err >&2; exit 3'], (more) => (text += more)).ended;
  assert.deepEqual(end, { code: 3, signal: null });
  assert.deepEqual(text.split('\n').filter(Boolean).sort(), ['err', 'out']);
});

test('what a program leaves behind ends with it, and does not keep the caller waiting', async () => {
  let text = '';
  const end = await start(['sh', '-c', 'sleep 300 & echo $!'], (more) => (text += more)).ended;
  assert.equal(end.code, 0);
  const left = Number(text.trim());
  while (isAlive(left)) await new Promise((resolve) => setImmediate(resolve));
});

test('stop ends a group that ignores the polite signal', async () => {
  const ready = Promise.withResolvers<void>();
  const program = start(['sh', '-c', 'trap "" TERM; echo ready; while :; do sleep 300; done'], () => ready.resolve());
  await ready.promise;
  program.stop();
  assert.equal((await program.ended).signal, 'SIGKILL');
});

test('a program that does not exist ends with the error', async () => {
  const end = await start(['/no/such/program']).ended;
  assert.equal(end.error?.code, 'ENOENT');
});
