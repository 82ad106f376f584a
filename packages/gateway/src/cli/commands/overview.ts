import { spell } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { describeFailure, exitCodes } from '../failure.ts';
import { isWell, problemLines } from './health.ts';
import { unconfinedOf, unconfinedText } from '../unconfined.ts';
import { approvalsText, sandboxText } from './status.ts';

/** What `tenon` alone does. */
export const overview = defineCommand({
  path: 'overview',
  summary: 'State of the gateway, and the next useful command',
  examples: [''],
  hidden: true,
  async run({ out, home: homeFolder, call, ask }) {
    const home = await homeFolder();
    const { visible } = await import('@tenon/protocol');
    try {
      const result = await call('status');
      // Nice to know, and not for every token.
      const [catalog, pending] = [await ask('tools.catalog'), await ask('approvals.list', { state: 'pending' })];
      const unconfined = unconfinedOf((await ask('plugins.list'))?.plugins);
      const waiting = pending?.approvals.length ?? 0;
      const next = !isWell(result.health) ? 'tenon doctor' : waiting > 0 ? 'tenon approve ls' : 'tenon chat';
      const state = { running: true, home, url: result.url, version: result.version, uptimeMs: result.uptimeMs };
      const more = { ...(catalog ? { sandbox: catalog.sandbox } : {}), ...(pending ? { pendingApprovals: waiting } : {}) };
      out.show({ ...state, ...more, ...(unconfined ? { unconfined } : {}), warnings: result.warnings, next }, () => [
        `Tenon ${visible(result.version)} runs at ${visible(result.url)}, up ${spell(result.uptimeMs)}`,
        ...(catalog ? [`Sandbox ${sandboxText(catalog.sandbox, visible)}`] : []),
        ...(unconfined ? [out.style('yellow', `Extensions: ${unconfinedText(unconfined, visible)}`)] : []),
        ...(waiting > 0 ? [out.style('yellow', `Approvals: ${approvalsText(waiting)}`)] : []),
        'In a browser: tenon ui',
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
