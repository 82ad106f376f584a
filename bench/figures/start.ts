// Cold start: from the spawn of the process to the answer of the first `health`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startGatewayProcess } from '../../test/support/gateway.ts';
import { connectRaw } from '../../test/support/raw-client.ts';
import { measured } from '../rounds.ts';
import type { Group } from '../world.ts';

export const start: Group = {
  name: 'start',
  what: 'cold start',
  async run(world) {
    const prepared = join(world.folder, 'prepared-home');
    const empty = join(world.folder, 'empty-home');
    // Also fills the compile cache, which is written when a process ends.
    await startOnce(prepared);
    const taken = await world.alternate(
      {
        cold: () => startOnce(prepared),
        bare: bareNode,
        first: async () => {
          rmSync(empty, { recursive: true, force: true });
          return startOnce(empty);
        },
      },
      world.plan.quick ? 5 : 21,
    );
    world.record('start.cold', measured(taken.cold, taken.bare));
    world.record('start.first', measured(taken.first, taken.bare));
  },
};

/** Milliseconds until `health` is answered; the gateway is stopped afterwards. */
export async function startOnce(home: string): Promise<number> {
  const startedAt = performance.now();
  const gateway = await startGatewayProcess({ home });
  try {
    const client = await connectRaw(gateway.socketUrl, gateway.token);
    const answer = await client.request('health');
    const took = performance.now() - startedAt;
    if (!answer.ok) throw new Error(`health was refused: ${JSON.stringify(answer)}`);
    client.socket.terminate();
    return took;
  } finally {
    await gateway.stop();
  }
}

export async function bareNode(): Promise<number> {
  const startedAt = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - startedAt;
}
