// Asks the plugins' own start-up checks, each within its time. One that fails to answer is a check that has failed.
import { placed, type Accept, type PluginCaller } from './call-plugin.ts';
import type { ContributionRegistry } from './contribution-registry.ts';

export interface CheckResult {
  readonly plugin: string;
  readonly id: string;
  readonly ok: boolean;
  readonly message: string;
}

const MESSAGE_LENGTH = 2_048;

export function runStartupChecks(registry: ContributionRegistry, caller: PluginCaller): Promise<readonly CheckResult[]> {
  const asked = registry.all('startupCheck').map(async ({ plugin, key, item }): Promise<CheckResult> => {
    const answer = await caller.call(placed(plugin, 'startupCheck'), (_: undefined, call) => item.check(call), undefined, readCheck);
    return { plugin, id: key, ...(answer.ok ? answer.value : { ok: false, message: `the check itself failed: ${answer.message}` }) };
  });
  return Promise.all(asked);
}

const readCheck: Accept<{ readonly ok: boolean; readonly message: string }> = (raw) => {
  const { ok, message } = (raw ?? {}) as { ok?: unknown; message?: unknown };
  if (typeof ok !== 'boolean' || typeof message !== 'string') return { wrong: 'a check answers {ok, message}' };
  return { value: { ok, message: message.slice(0, MESSAGE_LENGTH) } };
};
