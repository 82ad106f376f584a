import { awaitEnd } from '../await-end.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { CliError, describeFailure } from '../failure.ts';
import { readRunning, type RunningNote } from '../running.ts';
import { on, text } from '../values.ts';

/** Failures of a gateway that is there and says nothing. */
const SILENT: ReadonlySet<string> = new Set(['TIMEOUT', 'UNREACHABLE', 'LOST']);
const SILENCE_HINT = 'wait longer with --timeout 60s, or end it by force with: tenon stop --kill';

export const stop = defineCommand({
  path: 'stop',
  summary: 'Drain and stop the gateway, and wait until it is gone',
  examples: ['stop', 'stop --reason "new version"', 'stop --kill --timeout 10s'],
  options: {
    reason: text('<text>', 'Told to connected clients'),
    kill: on('If it is still there when the time is up, end its process by force; what was acknowledged is kept'),
  },
  async run(context) {
    const { options, out, globals, target, hasGateway, check, call } = context;
    const { reason, kill = false } = options;
    await check('gateway.shutdown', { reason });
    const home = await context.home();
    const running = readRunning(home);
    const ending = { home, timeoutMs: globals.timeout, kill, out };
    if (!(await hasGateway())) {
      const { lockHolder } = await import('../../maintenance.ts');
      // It may be on its way out already: it has taken its note away, and still holds the home.
      const pid = lockHolder(home)?.pid;
      if (pid === undefined) return void out.show({ stopped: false }, () => `No gateway is running in ${home}`);
      await awaitEnd({ ...ending, process: { pid } });
      return void out.show({ stopped: true }, () => `Stopped process ${pid}`);
    }
    const { url } = await target();
    const own = running && (await isThatOf(running, context)) ? running : undefined;
    try {
      await call('gateway.shutdown', { reason });
    } catch (error) {
      const { code, message, exitCode } = describeFailure(error);
      if (own === undefined || !SILENT.has(code)) throw error;
      // One that does not answer any more can still be ended.
      if (!kill) throw new CliError(code, exitCode, message, SILENCE_HINT);
      if (!out.json) out.talk(`${message}; ending process ${own.pid}`);
    }
    if (own === undefined) {
      out.show(
        { stopped: false, asked: true, url },
        () => `Asked ${url} to stop; it is not the gateway of ${home}, so its end cannot be seen from here`,
      );
      return;
    }
    const how = await awaitEnd({ ...ending, process: own });
    out.show(
      { stopped: true, url, ...(how === 'killed' ? { killed: true } : {}) },
      () => `${how === 'killed' ? 'Killed' : 'Stopped'} ${url}`,
    );
  },
});

/** Whether the gateway that is talked to is the one of the home. An address that somebody gave may lead anywhere, also to this one. */
async function isThatOf({ pid, startedAt }: RunningNote, { target, ask }: CommandContext): Promise<boolean> {
  if (!(await target()).explicit) return true;
  const status = await ask('status');
  return status !== undefined && status.pid === pid && status.startedAt === startedAt;
}
