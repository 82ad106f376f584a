import type { PluginDetails } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { required } from '../values.ts';

export const pluginInspect = defineCommand({
  path: 'plugin inspect',
  alias: 'show',
  summary: 'Show what a plugin asked for, was granted, registered, and what was not taken',
  examples: ['plugin inspect todo', 'plugin inspect todo --json'],
  args: { id: required('Its id') },
  async run({ args, out, call }) {
    const result = await call('plugins.get', { id: args.id }, { id: 'the id' });
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => linesOf(result.plugin).map(visible).join('\n'));
  },
});

function linesOf(plugin: PluginDetails): string[] {
  const grants = plugin.asked.map((grant) => `  ${plugin.granted.includes(grant) ? 'granted    ' : 'not granted'} ${grant}`);
  const registrations = plugin.registrations.map(({ kind, key, accepted, code, message }) =>
    accepted ? `  ${kind} ${key}` : `  ${kind} ${key} was not taken: ${code ?? ''} ${message ?? ''}`,
  );
  const counts = plugin.counts.map(({ place, calls, errors, timeouts, p95Ms }) => {
    const slow = p95Ms === undefined ? '' : `, 95% within ${p95Ms.toFixed(1)} ms`;
    return `  ${place}: ${calls} calls, ${errors} errors, ${timeouts} timeouts${slow}`;
  });
  const off = plugin.switchedOff.map(({ place, reason }) => `  ${place}: ${reason}`);
  const incidents = plugin.incidents.map(
    ({ kind, place, at, count, message }) =>
      `  ${new Date(at).toISOString()} ${kind} ${place}${count === 1 ? '' : `, ${count} times`}: ${message}`,
  );
  return [
    `${plugin.name} (${plugin.id}) ${plugin.version}`,
    `${plugin.state}${plugin.reason === undefined ? '' : `: ${plugin.reason}`}`,
    `${plugin.origin} ${plugin.folder}`,
    ...section('Grants', grants),
    ...section('Registrations', registrations),
    ...section('Switched off', off),
    ...section('Incidents', incidents),
    ...section('Calls', counts),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines];
}
