import { spell } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { describeFailure, exitCodes } from '../failure.ts';
import { isWell, problemLines } from './health.ts';

/** What `tenon` alone does. */
export const overview = defineCommand({
  path: 'overview',
  summary: 'State of the gateway, and the next useful command',
  examples: [''],
  hidden: true,
  async run({ out, config, call }) {
    const { home } = await config();
    const { visible } = await import('@tenon/protocol');
    try {
      const result = await call('status');
      const { sessions } = await call('sessions.list', { limit: 1 });
      const next = !isWell(result.health) ? 'tenon doctor' : sessions.length === 0 ? 'tenon session new' : 'tenon session ls';
      const state = { running: true, home, url: result.url, version: result.version, uptimeMs: result.uptimeMs };
      out.show({ ...state, warnings: result.warnings, next }, () => [
        `Tenon ${visible(result.version)} runs at ${visible(result.url)}, up ${spell(result.uptimeMs)}`,
        ...problemLines(result.health, out, visible),
        ...result.warnings.map((warning) => out.style('yellow', `warning: ${visible(warning)}`)),
        `Next: ${out.style('bold', next)}   (all commands: tenon -h)`,
      ]);
    } catch (error) {
      const { code, message, hint, exitCode } = describeFailure(error);
      if (exitCode !== exitCodes.unreachable && exitCode !== exitCodes.denied) throw error;
      const running = exitCode === exitCodes.denied;
      const next = running ? 'tenon status --token @file' : 'tenon start';
      out.show({ running, home, code, message, next }, () => [
        running
          ? visible(`A gateway runs, and refuses this token: ${message}${hint ? ` (${hint})` : ''}`)
          : `No gateway is running (home ${visible(home)})`,
        `Next: ${out.style('bold', next)}   (all commands: tenon -h)`,
      ]);
    }
  },
});
