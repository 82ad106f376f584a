// A turn with one tool call and two model calls, against the two bare calls; what the first text waits; a long history; and
// what ten thousand turns leave in memory.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { connectRaw } from '../../test/support/raw-client.ts';
import { measured } from '../rounds.ts';
import { type Group, helloFrame, type World } from '../world.ts';
import { residentMegabytes } from './memory.ts';
import type { GatewayProcess } from '../../test/support/gateway.ts';

const IN_FLIGHT = 8;
const HISTORY = 10_000;
const HISTORY_KEY = 'agent:main:history';

export const turn: Group = {
  name: 'turn',
  what: 'turns of an agent',
  async run(world) {
    const url = await world.model().call('url', {});
    const gateway = await world.startGateway({ config: configOf(url) });
    await world.talk().call('open', { socketUrl: gateway.socketUrl, hello: helloFrame(gateway.token, ['agent', 'chat']) });
    await world.talk().call('turns', { inFlight: IN_FLIGHT, forMs: 1_000 });
    const bodies = await bodiesOf(gateway);
    const calls = (inFlight: number) => world.talk().call('calls', { url, bodies, inFlight, forMs: world.turnMs });
    const turns = (inFlight: number) => world.talk().call('turns', { inFlight, forMs: world.turnMs * 2 });

    const firsts: number[] = [];
    const bareFirsts: number[] = [];
    const one = await world.alternate({
      async tenon() {
        const { p50, firstP50 } = await turns(1);
        firsts.push(firstP50);
        return p50;
      },
      async bare() {
        const { p50, firstP50 } = await calls(1);
        bareFirsts.push(firstP50);
        return p50;
      },
    });
    world.record('turn.p50', measured(one.tenon, one.bare));
    world.record('turn.overhead', measured(one.tenon.map((each, round) => each - one.bare[round]!)));
    world.record('turn.first', measured(firsts.map((each, round) => each - bareFirsts[round]!)));
    const many = await world.alternate({
      tenon: async () => (await turns(IN_FLIGHT)).rate,
      bare: async () => (await calls(IN_FLIGHT)).rate,
    });
    world.record('turn.rate', measured(many.tenon, many.bare));

    await history(world, gateway);
    await memoryAfter(world, gateway);
    await world.talk().call('close', {});
    await gateway.remove();
  },
};

export function configOf(url: string): string {
  return `[[models]]\nid = "bench"\nprovider = "openai-compatible"\nbaseUrl = "${url}"\ncontextWindow = 1000000\n`;
}

/** What the gateway sends to the model in the two calls of a turn, as near as somebody who knows only the outside can say it. */
async function bodiesOf(gateway: GatewayProcess): Promise<string[]> {
  await using client = await connectRaw(gateway.socketUrl, gateway.token);
  const { payload } = await client.request('tools.catalog', {});
  const tools = payload.groups.flatMap(({ tools: own }: { tools: { id: string; description: string; parameters: object }[] }) =>
    own.map(({ id, description, parameters }) => ({ type: 'function', function: { name: id, description, parameters } })),
  );
  const asked = [
    { role: 'system', content: 'x'.repeat(700) },
    { role: 'user', content: 'List the files' },
  ];
  const called = [
    ...asked,
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'ls', arguments: '{"path":"."}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'The folder is empty' },
  ];
  return [asked, called].map((messages) =>
    JSON.stringify({ model: 'bench', messages, tools, stream: true, stream_options: { include_usage: true } }),
  );
}

async function history(world: World, gateway: GatewayProcess): Promise<void> {
  const response = await fetch(`${gateway.url}/api/sessions/import?key=${encodeURIComponent(HISTORY_KEY)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/x-ndjson' },
    body: transcript(HISTORY),
  });
  if (!response.ok) throw new Error(`the import was refused: ${await response.text()}`);
  const taken = await world.alternate({
    page: () => world.talk().call('history', { sessionKey: HISTORY_KEY, limit: 50, count: 20 }),
    whole: () => world.talk().call('wholeHistory', { sessionKey: HISTORY_KEY }),
  });
  world.record('history.page', measured(taken.page));
  world.record('history.whole', measured(taken.whole));
}

function transcript(entries: number): string {
  const lines: object[] = [{ type: 'session', version: 3, id: 'bench', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/' }];
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { total: 0 } };
  for (let n = 0; n < entries; n++) {
    const text = `Entry ${n}: ${'some words '.repeat(20)}`;
    const message =
      n % 2 === 0
        ? { role: 'user', content: text, timestamp: n }
        : { role: 'assistant', content: [{ type: 'text', text }], provider: 'p', model: 'm', usage, stopReason: 'stop', timestamp: n };
    lines.push({
      type: 'message',
      id: `entry${n}`,
      parentId: n === 0 ? null : `entry${n - 1}`,
      timestamp: '2026-01-01T00:00:00.000Z',
      message,
    });
  }
  return lines.map((line) => JSON.stringify(line)).join('\n');
}

/** Between a tenth and all of the turns: a leak grows with them, a warm heap does not. */
async function memoryAfter(world: World, gateway: GatewayProcess): Promise<void> {
  const turns = world.plan.quick ? 1_000 : 10_000;
  await world.talk().call('turns', { inFlight: IN_FLIGHT, count: turns / 10 });
  const early = residentMegabytes(gateway.pid);
  await world.talk().call('turns', { inFlight: IN_FLIGHT, count: turns - turns / 10 });
  world.record('turn.memory', measured([residentMegabytes(gateway.pid)], [early]));
}

export const page: Group = {
  name: 'page',
  what: 'weight of the page',
  async run(world) {
    const folder = join(import.meta.dirname, '..', '..', 'packages', 'gateway', 'dist', 'page');
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    const linked = [...html.matchAll(/(?:src|href)="(?:\.?\/)?(assets\/[^"]+)"/g)].map(([, file]) => file!);
    const bytes = [html, ...linked.map((file) => readFileSync(join(folder, file)))].reduce(
      (total, file) => total + gzipSync(file).length,
      0,
    );
    world.record('page.first', measured([bytes / 1000]));
  },
};
