// Resident memory of a gateway that has nothing to do.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { connectRaw } from '../../test/support/raw-client.ts';
import { startGatewayProcess } from '../../test/support/gateway.ts';
import { measured } from '../rounds.ts';
import type { Group } from '../world.ts';

const SETTLE_MS = 3_000;

export const memory: Group = {
  name: 'memory',
  what: 'resident memory',
  async run(world) {
    const taken = await world.alternate({ tenon: idleGateway, bare: idleNode }, world.plan.quick ? 1 : 5);
    world.record('memory.idle', measured(taken.tenon, taken.bare));
  },
};

async function idleGateway(): Promise<number> {
  await using gateway = await startGatewayProcess();
  const client = await connectRaw(gateway.socketUrl, gateway.token);
  await client.request('health');
  await client.close();
  await pause(SETTLE_MS);
  return residentMegabytes(gateway.pid);
}

async function idleNode(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { stdio: 'ignore' });
  await pause(SETTLE_MS);
  const resident = residentMegabytes(child.pid!);
  child.kill('SIGKILL');
  return resident;
}

export function residentMegabytes(pid: number): number {
  const kilobytes =
    process.platform === 'linux'
      ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return (Number(kilobytes) * 1024) / 1e6;
}
