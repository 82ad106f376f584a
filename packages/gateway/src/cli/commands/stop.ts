import { setTimeout as sleep } from 'node:timers/promises';
import { defineCommand } from '../command.ts';
import { CliError, exitCodes } from '../failure.ts';
import { isAlive, readRunning } from '../running.ts';
import { text } from '../values.ts';

const POLL_MS = 20;
/** What a stop may take when nobody said otherwise: the gateway's own budget is shorter. */
const DEFAULT_WAIT_MS = 60_000;

export const stop = defineCommand({
  path: 'stop',
  summary: 'Drain and stop the gateway, and wait until it is gone',
  examples: ['stop', 'stop --reason "new version"'],
  options: { reason: text('<text>', 'Told to connected clients') },
  async run({ options, out, globals, home: homeFolder, target, hasGateway, check, call }) {
    await check('gateway.shutdown', options);
    const home = await homeFolder();
    const running = readRunning(home);
    if (!(await hasGateway())) {
      out.show({ stopped: false }, () => `No gateway is running in ${home}`);
      return;
    }
    const { url } = await target();
    await call('gateway.shutdown', options);
    // Over the wire only the promise can be seen; on this machine the process can.
    if (running?.url === url && !(await isGone(running.pid, globals.timeout ?? DEFAULT_WAIT_MS))) {
      throw new CliError(
        'TIMEOUT',
        exitCodes.failed,
        `The gateway (process ${running.pid}) is still stopping`,
        'wait longer with --timeout 2m',
      );
    }
    out.show({ stopped: true, url }, () => `Stopped ${url}`);
  },
});

async function isGone(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
