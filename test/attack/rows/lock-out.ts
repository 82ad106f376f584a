// Keeping the operator out: whoever has a valid token gets in, whatever other processes of this machine do.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { exchange, openBare, requestText, tryConnect, upgradeHeaders } from '../../security/harness.ts';
import { connectRaw } from '../../support/raw-client.ts';
import { type Attack, broke, held, noneOf, untried, type World } from '../attack.ts';
import type { Target } from '../target.ts';

/** The operator's own ways in: the socket, /v1, and the command line's health. */
async function keptOut({ gateway }: Target): Promise<string[]> {
  const found: string[] = [];
  const socket = await tryConnect(gateway, { token: gateway.token }).catch((error: unknown) => ({
    ok: false,
    error: { code: String(error) },
  }));
  if (!socket.ok) found.push(`the socket refuses the right token: ${socket.error?.code}`);
  const http = await exchange(gateway, requestText(gateway, '/v1/models', { headers: { Authorization: `Bearer ${gateway.token}` } }));
  if (http.status !== 200) found.push(`/v1 refuses the right token: ${http.status}`);
  return found;
}

async function guess({ gateway }: Target, times: number): Promise<Map<string, number>> {
  const answers = new Map<string, number>();
  for (let at = 0; at < times; at++) {
    const answer = await tryConnect(gateway, { token: `tenon_${'x'.repeat(40)}${String(at).padStart(3, '0')}` }).catch(
      (error: unknown) => ({ error: { code: String(error) } }),
    );
    const code = answer.error?.code ?? 'OK';
    answers.set(code, (answers.get(code) ?? 0) + 1);
  }
  return answers;
}

async function silentSockets(world: World, { gateway }: Target, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const bare = await openBare(gateway);
    bare.socket.write(requestText(gateway, '/', { headers: upgradeHeaders }));
    world.after(() => bare.socket.destroy());
  }
  // Each of them has had its answer.
  await exchange(gateway, requestText(gateway, '/healthz'));
}

export const lockOutAttacks: readonly Attack[] = [
  {
    id: 'S09',
    tried: 'lock the operator out with twelve wrong tokens from this machine',
    async run(world) {
      const target = await world.own();
      await guess(target, 12);
      return noneOf(await keptOut(target), 'the right token gets in');
    },
  },
  {
    id: 'S09',
    tried: 'guess tokens: a hundred in a row',
    async run(world) {
      const target = await world.own();
      const answers = await guess(target, 100);
      const looked = answers.get('UNAUTHORIZED') ?? 0;
      const told = [...answers].map(([code, times]) => `${times} ${code}`).join(', ');
      if (answers.has('OK')) return broke(told);
      return looked > 30 ? broke(`${looked} of 100 were compared: ${told}`) : held(told);
    },
  },
  {
    id: 'S09',
    tried: 'lock the operator out with wrong tokens at /v1 and /metrics',
    async run(world) {
      const target = await world.own();
      for (let at = 0; at < 15; at++) {
        const headers = { Authorization: `Bearer wrong-${at}` };
        await exchange(target.gateway, requestText(target.gateway, at < 12 ? '/v1/models' : '/metrics', { headers }));
      }
      return noneOf(await keptOut(target), 'the right token gets in');
    },
  },
  {
    id: 'S14',
    tried: 'lock the operator out with eight sockets that say nothing',
    async run(world) {
      const target = await world.own();
      await silentSockets(world, target, 8);
      return noneOf(await keptOut(target), 'the right token gets in');
    },
  },
  {
    id: 'S14',
    tried: 'lock the operator out with a hundred sockets that say nothing',
    async run(world) {
      const target = await world.own();
      await silentSockets(world, target, 100);
      return noneOf(await keptOut(target), 'the right token gets in');
    },
  },
  {
    id: 'S14',
    tried: 'lock the operator out from another account of this machine: wrong tokens and silent sockets',
    async run(world) {
      if (!world.isRoot) return untried('only root can be two users at once');
      const target = await world.own();
      const script = `
        const { connect } = require('node:net');
        const text = ${JSON.stringify(requestText(target.gateway, '/', { headers: upgradeHeaders }))};
        const wrong = ${JSON.stringify(requestText(target.gateway, '/v1/models', { headers: { Authorization: 'Bearer wrong' } }))};
        for (let at = 0; at < 70; at++) connect(${target.gateway.port}, '127.0.0.1', function () { this.write(text); }).on('error', () => {}).resume();
        for (let at = 0; at < 20; at++) connect(${target.gateway.port}, '127.0.0.1', function () { this.write(wrong); }).on('error', () => {}).resume();
        setTimeout(() => console.log('there'), 1000);
        setInterval(() => {}, 1000);`;
      const other = spawn(process.execPath, ['-e', script], {
        uid: 65_533,
        gid: 65_533,
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { PATH: process.env.PATH ?? '' },
      });
      world.after(() => other.kill('SIGKILL'));
      await Promise.race([once(other.stdout, 'data'), once(other, 'exit')]);
      if (other.exitCode !== null) throw new Error('the other account could not run');
      return noneOf(await keptOut(target), 'the right token gets in');
    },
  },
  {
    id: 'S14',
    tried: "a client's own burst of twelve sockets at once, five times",
    async run(world) {
      const { gateway } = await world.own();
      for (let round = 1; round <= 5; round++) {
        const results = await Promise.allSettled(Array.from({ length: 12 }, () => connectRaw(gateway.socketUrl, gateway.token)));
        for (const result of results) if (result.status === 'fulfilled') await result.value.close();
        const refused = results.filter((result) => result.status === 'rejected');
        if (refused.length > 0) return broke(`round ${round}: ${refused.length} of 12 refused: ${String(refused[0]!.reason)}`);
      }
      return held('all connected, five times');
    },
  },
  {
    id: 'S11',
    tried: 'lock the operator out with requests without a token and bad methods',
    async run(world) {
      const target = await world.own();
      for (let at = 0; at < 40; at++)
        await exchange(target.gateway, requestText(target.gateway, '/v1/models', { method: at % 2 === 0 ? 'GET' : 'BREW' }));
      return noneOf(await keptOut(target), 'the right token gets in');
    },
  },
];
