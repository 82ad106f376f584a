// One writer, many readers: `sessions.changed` to the last of them. A bare broadcast commits nothing, so what the commit
// takes is taken off: the listeners may see one session only, and patches of that one and of another alternate. What the
// second takes over an echo is the commit.
import { FAN_OUT_SIZES } from '../budgets.ts';
import { measured } from '../rounds.ts';
import { type Group, helloFrame, OK, requestFrame, type World } from '../world.ts';
import { createSessions } from './patch.ts';

const SEEN = requestFrame('sessions.patch', { key: 'agent:main:s0', title: 'Title {n}' });
const UNSEEN = requestFrame('sessions.patch', { key: 'agent:main:s1', title: 'Title {n}' });

export const fanOut: Group = {
  name: 'fan-out',
  what: 'events to many clients',
  async run(world) {
    for (const clients of FAN_OUT_SIZES) await measureFanOut(world, clients);
  },
};

async function measureFanOut(world: World, clients: number): Promise<void> {
  const load = world.load();
  const gateway = await world.startGateway();
  const bare = await world.bareSocket();
  await world.connect('writer', gateway);
  await createSessions(world, 'writer', 2);
  await load.call('open', { name: 'bare writer', url: `${bare}/say` });
  await load.call('open', { name: 'bare echo', url: `${bare}/echo` });
  const hello = helloFrame(await sessionToken(world), ['sessions.changed']);
  for (let each = 0; each < clients; each++) {
    await load.call('open', { name: `listener ${each}`, url: gateway.socketUrl, hello });
    await load.call('open', { name: `bare listener ${each}`, url: `${bare}/listen` });
  }

  const count = world.plan.quick ? 100 : 300;
  const taken = { seen: [] as number[], unseen: [] as number[], echo: [] as number[] };
  const tenon = async () => {
    const { heard, unheard } = await load.call('fanOut', {
      heard: { name: 'writer', text: SEEN },
      unheard: { name: 'writer', text: UNSEEN },
      listeners: 'listener',
      count,
    });
    taken.seen.push(heard);
    taken.unseen.push(unheard);
    return heard;
  };
  const broadcast = async () => {
    const { heard, unheard } = await load.call('fanOut', {
      heard: { name: 'bare writer', text: EVENT },
      unheard: { name: 'bare echo', text: SEEN },
      listeners: 'bare listener',
      count,
    });
    taken.echo.push(unheard);
    return heard;
  };
  await load.call('drive', { name: 'writer', text: UNSEEN, inFlight: 64, count: 3_000, marker: OK });
  await tenon();
  await broadcast();
  for (const series of Object.values(taken)) series.length = 0;
  const { broadcast: limit } = await world.alternate({ tenon, broadcast });
  const fromCommit = taken.seen.map((seen, round) => seen - taken.unseen[round]! + taken.echo[round]!);
  world.record(`fan-out.${clients}`, measured(fromCommit, limit));
  world.record(`fan-out.${clients}.whole`, measured(taken.seen));
  await load.call('close', { prefix: '' });
  await gateway.remove();
}

/** About what the event of such a patch has. */
const EVENT = `{"type":"event","event":"sessions.changed","payload":"${'x'.repeat(240)}{n}"}`;

/** A token that sees the first session and nothing else. */
async function sessionToken(world: World): Promise<string> {
  const params = { name: 'listener', scopes: ['operator.read'], sessionKey: 'agent:main:s0' };
  const answer = await world.load().call('ask', { name: 'writer', text: requestFrame('tokens.create', params), marker: '"type":"res"' });
  return (JSON.parse(answer) as { payload: { token: string } }).payload.token;
}
