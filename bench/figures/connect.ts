// A new connection: open, `connect`, `hello-ok`.
import { measured } from '../rounds.ts';
import { type Group, helloFrame } from '../world.ts';

export const connect: Group = {
  name: 'connect',
  what: 'connect',
  async run(world) {
    const gateway = await world.startGateway();
    const bare = `${await world.bareSocket()}/echo`;
    const load = world.load();
    const count = world.plan.quick ? 50 : 200;
    const hello = helloFrame(gateway.token);
    const side = async (url: string) => (await load.call('connect', { url, hello, count })).p50;
    await side(gateway.socketUrl);
    await side(bare);
    const taken = await world.alternate({ tenon: () => side(gateway.socketUrl), bare: () => side(bare) });
    world.record('connect.p50', measured(taken.tenon, taken.bare));
    await gateway.remove();
  },
};
