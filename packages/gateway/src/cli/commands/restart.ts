import { awaitEnd, endProcess } from '../await-end.ts';
import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { readRunning } from '../running.ts';
import { on } from '../values.ts';
import { readRestartConfig, readStartConfig, settingOptions } from './start-config.ts';

export const restart = defineCommand({
  path: 'restart',
  summary: 'Stop the gateway of this home and start it again, here and in the foreground, as it was started before',
  examples: ['restart', 'restart --log-level debug', 'restart --kill --timeout 10s'],
  options: async () => ({
    ...(await settingOptions()),
    kill: on('If it is still there when the time is up, end its process by force; what was acknowledged is kept'),
  }),
  async run({ globals, options, io, out, home: homeFolder }) {
    if (globals.url !== undefined)
      throw usageError('--url has no meaning for restart: it is for the gateway of a home folder', 'name one with --home');
    const { kill = false, ...settings } = options as Readonly<Record<string, string>> & { readonly kill?: true };
    const home = await homeFolder();
    const running = readRunning(home);
    // Before anything is stopped: what cannot be started again goes on.
    const { config, token } = running
      ? await readRestartConfig(running, globals, settings, io)
      : await readStartConfig(globals, settings, io);
    const { lockHolder } = await import('../../maintenance.ts');
    const pid = lockHolder(home)?.pid;
    const old = running ?? (pid === undefined ? undefined : { pid });
    if (running) await endProcess(home, running, 'SIGTERM');
    if (old) await awaitEnd({ home, process: old, timeoutMs: globals.timeout, kill, out });
    if (!globals.json) out.talk(old ? `Stopped process ${old.pid}` : `No gateway was running in ${home}`);
    const { runGateway } = await import('../../main.ts');
    return runGateway({ config, json: globals.json, ...(token === undefined ? {} : { token }) });
  },
});
