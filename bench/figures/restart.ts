// After kill -9 under load: until the next gateway on the same home answers `health`.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startGatewayProcess } from '../../test/support/gateway.ts';
import { connectRaw } from '../../test/support/raw-client.ts';
import { fillHome } from '../fill.ts';
import { measured } from '../rounds.ts';
import { type Group, helloFrame, OK, type World } from '../world.ts';
import { bareNode } from './start.ts';
import { createSessions, patchFrame } from './patch.ts';

/** Makes a store of about 100 MB. */
const LARGE_SESSIONS = 400_000;

export const restart: Group = {
  name: 'restart',
  what: 'restart after kill -9',
  async run(world) {
    await fillHome(join(world.folder, 'loaded'), 1_000);
    await fillHome(join(world.folder, 'large'), world.plan.quick ? 40_000 : LARGE_SESSIONS);
    const taken = await world.alternate(
      {
        loaded: () => killAndRestart(world, join(world.folder, 'loaded')),
        bare: bareNode,
        large: () => killAndRestart(world, join(world.folder, 'large')),
      },
      world.plan.quick ? 2 : 5,
    );
    world.record('restart.loaded', measured(taken.loaded, taken.bare));
    world.record('restart.large', measured(taken.large, taken.bare));
  },
};

async function killAndRestart(world: World, home: string): Promise<number> {
  const load = world.load();
  const victim = await startGatewayProcess({ home });
  await load.call('open', { name: 'doomed', url: victim.socketUrl, hello: helloFrame(victim.token) });
  await createSessions(world, 'doomed').catch(() => {});
  const ended = load.call('driveUntilClosed', { name: 'doomed', text: patchFrame('keyed'), spread: 64, inFlight: 64, marker: OK });
  await pause(world.plan.quick ? 500 : 1_500);
  const startedAt = performance.now();
  await victim.kill();
  const next = await startGatewayProcess({ home });
  try {
    const client = await connectRaw(next.socketUrl, next.token);
    const answer = await client.request('health');
    const took = performance.now() - startedAt;
    if (!answer.ok) throw new Error(`health was refused: ${JSON.stringify(answer)}`);
    client.socket.terminate();
    const { count } = await ended;
    if (count === 0) throw new Error('the gateway was not under load when it was killed');
    await load.call('close', { prefix: 'doomed' });
    return took;
  } finally {
    await next.stop();
  }
}
