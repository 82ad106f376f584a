// Watches the system calls of a gateway: no byte of a reply may leave before the sync that covers it has returned.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLink } from './chaos-link.ts';
import type { GatewayProcess } from './gateway.ts';

/** How many replies were seen, each after a sync of its own; undefined where nobody may be watched. */
export async function watchSyncs(gateway: GatewayProcess, requests: number): Promise<number | undefined> {
  if (spawnSync('strace', ['-V']).status !== 0) return undefined;
  const file = join(gateway.home, 'strace');
  const calls = 'trace=fsync,fdatasync,write,writev,sendto,sendmsg';
  const strace = spawn('strace', ['-f', '-s', '64', '-e', calls, '-o', file, '-p', String(gateway.pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(strace, 'exit');
  let said = '';
  const attached = new Promise<boolean>((resolve) => {
    strace.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (/attached/.test(said)) resolve(true);
    });
    void ended.then(() => resolve(false));
  });
  if (!(await attached)) return undefined;
  const link = await openLink(gateway, { connect: { events: [] } });
  await link.request('sessions.create', { key: 'agent:main:watched', idempotencyKey: 'watched' });
  // One at a time: whatever was synced between two replies was synced for the second.
  for (let n = 0; n < requests; n++) {
    const outcome = await link.request('sessions.patch', { key: 'agent:main:watched', idempotencyKey: `watched${n}`, title: `${n}` });
    assert.equal(outcome.kind, 'answered');
  }
  await link.cut();
  strace.kill('SIGINT');
  await ended;
  return countReplies(readFileSync(file, 'utf8'));
}

/** Counts the replies; throws when one left without a sync since the one before. */
export function countReplies(trace: string): number {
  let replies = 0;
  let syncs = 0;
  for (const line of trace.split('\n')) {
    if (/\bf(data)?sync\(\d+\) += 0|<\.\.\. f(data)?sync resumed>\) += 0/.test(line)) syncs++;
    // r1 is connect, which writes nothing.
    const id = /\b(?:write|writev|sendto|sendmsg)\(.*\{\\"type\\":\\"res\\",\\"id\\":\\"r(\d+)\\"/.exec(line)?.[1];
    if (id === undefined) continue;
    if (id !== '1') {
      assert.ok(syncs > 0, `The reply r${id} left before anything was synced: ${line}`);
      replies++;
    }
    syncs = 0;
  }
  return replies;
}
