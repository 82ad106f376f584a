// The cheapest request: what the gateway adds to a bare socket.
import { measured } from '../rounds.ts';
import { type Group, OK, requestFrame, type World } from '../world.ts';
import { createSessions, patchFrame } from './patch.ts';

const HEALTH = requestFrame('health');

export const health: Group = {
  name: 'health',
  what: 'health',
  async run(world) {
    const gateway = await world.startGateway();
    const load = world.load();
    await world.connect('tenon', gateway);
    await world.connect('writer', gateway);
    await load.call('open', { name: 'bare', url: `${await world.bareSocket()}/echo` });
    await warmUp(world);

    const one = await world.alternate({
      tenon: async () => (await load.call('drive', { name: 'tenon', text: HEALTH, inFlight: 1, forMs: world.turnMs, marker: OK })).p50,
      bare: async () => (await load.call('drive', { name: 'bare', text: HEALTH, inFlight: 1, forMs: world.turnMs, marker: 'req' })).p50,
    });
    world.record('health.p50', measured(one.tenon, one.bare));

    const many = await world.alternate({
      tenon: async () => (await load.call('drive', { name: 'tenon', text: HEALTH, inFlight: 64, forMs: world.turnMs, marker: OK })).rate,
      bare: async () => (await load.call('drive', { name: 'bare', text: HEALTH, inFlight: 64, forMs: world.turnMs, marker: 'req' })).rate,
    });
    world.record('health.rate', measured(many.tenon, many.bare));

    await createSessions(world, 'writer');
    const busy = await world.alternate({
      tenon: async () => {
        const writes = load.call('drive', {
          name: 'writer',
          text: patchFrame('plain'),
          spread: 64,
          inFlight: 64,
          forMs: world.turnMs,
          marker: OK,
        });
        const { p50 } = await load.call('drive', { name: 'tenon', text: HEALTH, inFlight: 1, forMs: world.turnMs, marker: OK });
        await writes;
        return p50;
      },
      bare: async () => (await load.call('drive', { name: 'bare', text: HEALTH, inFlight: 1, forMs: world.turnMs, marker: 'req' })).p50,
    });
    world.record('health.busy', measured(busy.tenon, busy.bare));
    await load.call('close', { prefix: '' });
    await gateway.remove();
  },
};

async function warmUp(world: World): Promise<void> {
  for (const [name, marker] of [
    ['tenon', OK],
    ['bare', 'req'],
  ] as const) {
    await world.load().call('drive', { name, text: HEALTH, inFlight: 64, count: 5_000, marker });
  }
}
