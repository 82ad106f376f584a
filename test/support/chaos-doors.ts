// Two promises about what comes from this machine, at full count: files that the gateway was started with reach nobody, and nobody
// who may get in is kept out by processes that may not.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { addExtension, probe } from '../attack/extension.ts';
import { openTarget } from '../attack/target.ts';
import { exchange, openBare, requestText, tryConnect, upgradeHeaders } from '../security/harness.ts';
import { removeFolder } from './clean-up.ts';
import { type GatewayProcess, temporaryHome } from './gateway.ts';
import type { Random } from './random.ts';

const SECRET = 'chaos-secret-b1946ac9';

/** One gateway with open files of random numbers. Gives how many, or undefined where there is no sandbox. */
export async function inheritDescriptors(random: Random): Promise<number | undefined> {
  const folder = temporaryHome();
  try {
    writeFileSync(join(folder, 'secret'), SECRET);
    // With gaps between them: a runtime that closes one after the other stops at the first gap.
    const numbers = [...new Set(Array.from({ length: 1 + random.below(12) }, () => 10 + random.below(240)))];
    const redirections = numbers.map((number) => `${number}<'${random.chance(0.5) ? folder : join(folder, 'secret')}'`).join(' ');
    await using target = await openTarget({ through: ['bash', '-c', `exec "$@" ${redirections}`, 'bash'] });
    const { sandbox } = await target.ask('tools.catalog');
    if (sandbox.kind === 'none') return undefined;
    const look = `for fd in ${numbers.join(' ')}; do cat /proc/self/fd/$fd /proc/self/fd/$fd/secret 2>/dev/null; done; true`;
    assert.doesNotMatch(await target.shell(look), new RegExp(SECRET), `a program, with ${redirections}`);
    const { state } = await addExtension(target, 'probe', { capabilities: 'tools = true', program: probe });
    assert.equal(state, 'loaded');
    // By where they lead: some numbers are pipes of its own, and to read one would wait for ever.
    const leads = `for fd in ${numbers.join(' ')}; do readlink /proc/$PPID/fd/$fd; done; true`;
    const { text } = await target.use('probe__do', { deed: 'run', argv: ['sh', '-c', leads] });
    assert.ok(!text.startsWith('no: '), text);
    assert.ok(!text.includes(basename(folder)) && !text.includes('/secret'), `an extension has ${text}, with ${redirections}`);
    return numbers.length;
  } finally {
    removeFolder(folder);
  }
}

/** One nuisance after the other, drawn; after each the operator comes in by the socket and by HTTP. */
export async function lockOut(gateway: GatewayProcess, random: Random, rounds: number, each: (done: number) => void): Promise<void> {
  const open: AsyncDisposable[] = [];
  const nuisances: Record<string, () => Promise<unknown>> = {
    'wrong tokens': async () => {
      for (let at = 0; at < 4; at++) await tryConnect(gateway, { token: `wrong-${random.below(1e9)}` }).catch(() => undefined);
    },
    'silent sockets': async () => {
      for (let at = 0; at < 6; at++) {
        const bare = await openBare(gateway);
        bare.socket.write(requestText(gateway, '/', { headers: upgradeHeaders }));
        open.push(bare);
      }
    },
    'half requests': async () => {
      const bare = await openBare(gateway);
      bare.socket.write('GET / HT');
      open.push(bare);
    },
    'wrong tokens over HTTP': async () => {
      const headers = { Authorization: `Bearer wrong-${random.below(1e9)}` };
      for (let at = 0; at < 4; at++) await exchange(gateway, requestText(gateway, '/v1/models', { headers }));
    },
  };
  try {
    for (let round = 1; round <= rounds; round++) {
      const name = random.pick(Object.keys(nuisances));
      await nuisances[name]!();
      const { ok, error } = await tryConnect(gateway, { token: gateway.token });
      assert.equal(ok, true, `round ${round}, after ${name}: the socket refuses the right token: ${JSON.stringify(error)}`);
      const headers = { Authorization: `Bearer ${gateway.token}` };
      const { status } = await exchange(gateway, requestText(gateway, '/v1/models', { headers }));
      assert.equal(status, 200, `round ${round}, after ${name}: /v1 refuses the right token`);
      each(round);
    }
  } finally {
    for (const each of open) await each[Symbol.asyncDispose]();
  }
}
