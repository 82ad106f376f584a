// What extensions cost: to start one, to ask it something, and to start a gateway that has fifty of which ten hang. Beside them the
// least that two processes need to talk, and the SDK of the Model Context Protocol.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGatewayProcess, temporaryHome } from '../../test/support/gateway.ts';
import { connectRaw, type RawClient } from '../../test/support/raw-client.ts';
import type { Driven } from '../processes/extensions.ts';
import { measured } from '../rounds.ts';
import type { Group, World } from '../world.ts';
import { startOnce } from './start.ts';

const EXTENSIONS = 50;
const HANGING = 10;
const IN_FLIGHT = 64;

export const extensions: Group = {
  name: 'extensions',
  what: 'extensions',
  async run(world) {
    await ready(world);
    await calls(world);
    await many(world);
  },
};

async function ready(world: World): Promise<void> {
  const one = (side: 'sdk' | 'reference' | 'mcp' | 'echo') => () => world.extensions().call('ready', { side });
  await one('sdk')();
  const taken = await world.alternate(
    { sdk: one('sdk'), reference: one('reference'), mcp: one('mcp'), echo: one('echo') },
    world.plan.quick ? 5 : 21,
  );
  world.record('extension.ready.sdk', measured(taken.sdk, taken.echo));
  world.record('extension.ready.reference', measured(taken.reference, taken.echo));
  world.record('extension.ready.mcp', measured(taken.mcp, taken.echo));
}

async function calls(world: World): Promise<void> {
  const drive = (side: 'sdk' | 'mcp' | 'echo', inFlight: number, what: 'tool' | 'hook' = 'tool') =>
    world.extensions().call('drive', { side, what, inFlight, forMs: world.turnMs });
  for (const side of ['sdk', 'mcp', 'echo'] as const) await drive(side, IN_FLIGHT);
  for (const inFlight of [1, IN_FLIGHT] as const) {
    const seen: Record<'sdk' | 'mcp' | 'echo', Driven[]> = { sdk: [], mcp: [], echo: [] };
    const one = (side: 'sdk' | 'mcp' | 'echo') => async () => {
      const driven = await drive(side, inFlight);
      seen[side].push(driven);
      return driven.cpu;
    };
    await world.alternate({ sdk: one('sdk'), echo: one('echo'), mcp: one('mcp') });
    const of = (side: 'sdk' | 'mcp' | 'echo', field: keyof Driven) => seen[side].map((each) => each[field]);
    const wall = inFlight === 1 ? 'p50' : 'rate';
    for (const side of ['sdk', 'mcp'] as const) {
      world.record(`extension.call.${inFlight}.${side}`, measured(of(side, wall), of('echo', wall)));
      world.record(`extension.cpu.${inFlight}.${side}`, measured(of(side, 'cpu'), of('echo', 'cpu')));
    }
  }
  const hooks = await world.alternate({
    hook: async () => (await drive('sdk', 1, 'hook')).p50,
    echo: async () => (await drive('echo', 1, 'hook')).p50,
  });
  world.record('extension.hook', measured(hooks.hook, hooks.echo));
}

/** Hangs before it says anything where the file is there. */
const sourceOf = (flag: string) => `import { existsSync } from 'node:fs';
if (existsSync(${JSON.stringify(flag)})) setInterval(() => {}, 1_000);
else process.stdin.on('data', (chunk) => {
  for (const line of chunk.toString().split('\\n')) {
    if (line === '') continue;
    const { id, method } = JSON.parse(line);
    const result = method === 'initialize' ? { protocol_version: 1, extension: { name: 'x', version: '1.0.0' }, registrations: {} } : {};
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
    if (method === 'shutdown') process.exit();
  }
});
`;

async function many(world: World): Promise<void> {
  const home = temporaryHome();
  const bare = join(world.folder, 'without-extensions');
  const flag = join(world.folder, 'hang');
  const names = Array.from({ length: EXTENSIONS }, (_, at) => `e${at}`);
  for (const [at, name] of names.entries()) {
    const folder = join(home, 'extensions', name);
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    writeFileSync(join(folder, 'extension.toml'), `name = "${name}"\nversion = "1.0.0"\n[run]\ncommand = "node"\nargs = ["main.mjs"]\n`);
    writeFileSync(join(folder, 'main.mjs'), sourceOf(at < HANGING ? flag : `${flag}-never`));
  }
  const first = await startGatewayProcess({ home });
  await using client = await connectRaw(first.socketUrl, first.token);
  for (const id of names) {
    const { ok, error } = await client.request('plugins.enable', { id });
    if (!ok) throw new Error(`${id} is not enabled: ${error?.message}`);
  }
  await first.stop();
  writeFileSync(flag, '');
  await startOnce(bare);
  const waits: number[] = [];
  const taken = await world.alternate(
    {
      with: async () => {
        const { healthy, ready } = await startWith(home);
        waits.push(ready);
        return healthy;
      },
      without: () => startOnce(bare),
    },
    world.plan.quick ? 2 : 5,
  );
  world.record('extension.many.start', measured(taken.with, taken.without));
  world.record('extension.many.ready', measured(waits));
}

async function startWith(home: string): Promise<{ healthy: number; ready: number }> {
  const startedAt = performance.now();
  const gateway = await startGatewayProcess({ home });
  try {
    await using client = await connectRaw(gateway.socketUrl, gateway.token);
    await client.request('health');
    const healthy = performance.now() - startedAt;
    while ((await loaded(client)) < EXTENSIONS - HANGING) await new Promise((resolve) => setTimeout(resolve, 20));
    return { healthy, ready: performance.now() - startedAt };
  } finally {
    await gateway.kill();
  }
}

async function loaded(client: RawClient): Promise<number> {
  const { payload } = await client.request('plugins.list', {});
  return (payload.plugins as { id: string; state: string }[]).filter(({ id, state }) => /^e\d/.test(id) && state === 'loaded').length;
}
