import type { PluginDetails } from '@tenon/protocol';
import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import type { Output } from '../output.ts';
import { isUnconfined } from '../unconfined.ts';
import { required } from '../values.ts';

export const pluginInspect = defineCommand({
  path: 'plugin inspect',
  alias: 'show',
  summary: 'Show what a plugin asked for, was granted, registered, what was not taken, and how its calls go',
  examples: ['plugin inspect todo', 'plugin inspect todo --json'],
  args: { id: required('Its id') },
  async run({ args, out, io, call }) {
    const { plugin } = await call('plugins.get', { id: args.id }, { id: 'the id' });
    // Of one that cannot be used, nothing was accepted.
    const changes = plugin.state === 'rejected' ? undefined : await call('plugins.changes', { id: args.id }, { id: 'the id' });
    const [{ grantRow, visible }, { changeLines }] = await Promise.all([import('@tenon/protocol'), import('../change-lines.ts')]);
    const aboutGrant = (grant: string) => grantRow(grant)?.summary ?? 'not known here';
    out.show({ plugin, ...(changes ? { changes } : {}) }, () => [
      ...linesOf(plugin, out, visible, aboutGrant, io.now()),
      ...section('Changed since it was accepted', changes ? changeLines(changes, visible) : []),
    ]);
  },
});

type Visible = (text: string) => string;

function linesOf(plugin: PluginDetails, out: Output, visible: Visible, aboutGrant: Visible, now: number): string[] {
  const refused = plugin.registrations.filter(({ accepted }) => !accepted);
  const state = `${plugin.state}${plugin.reason === undefined ? '' : `: ${plugin.reason}`}`;
  return [
    out.style('bold', visible(`${plugin.name} (${plugin.id}) ${plugin.version}`)),
    ...(plugin.description === undefined ? [] : [visible(plugin.description)]),
    visible(plugin.loadedAt === undefined ? state : `${state} ${relative(plugin.loadedAt, now)}`),
    visible(`${plugin.origin} ${plugin.folder}`),
    ...(plugin.workspace === undefined ? [] : [visible(`of the workspace ${plugin.workspace}`)]),
    ...section('Grants', [...grantLines(plugin, out, aboutGrant).map(visible), ...unconfinedLine(plugin, out)]),
    ...section('Registered', registeredLines(plugin).map(visible)),
    ...section(
      'Not taken',
      refused.map(({ kind, key, code, message }) => out.style('yellow', visible(`${kind} ${key}: ${code ?? ''} ${message ?? ''}`))),
    ),
    ...section(
      'Switched off',
      plugin.switchedOff.map(({ place, reason, at }) => out.style('yellow', visible(`${place}, ${relative(at, now)}: ${reason}`))),
    ),
    ...section(
      'Incidents',
      plugin.incidents.map(({ kind, place, message, at, count }) =>
        out.style('yellow', visible(`${place}: ${kind} ${count === 1 ? 'once' : `${count} times`}, last ${relative(at, now)}: ${message}`)),
      ),
    ),
    ...section(
      'Services',
      plugin.services.map(({ id, state: own, reason }) => visible(`${id} is ${own}${reason === undefined ? '' : `: ${reason}`}`)),
    ),
    ...section('Process', processLines(plugin, now).map(visible)),
    ...section('Calls', callLines(plugin, out, visible, now)),
  ];
}

function grantLines({ asked, granted }: PluginDetails, out: Output, aboutGrant: Visible): string[] {
  const width = Math.max(0, ...asked.map((grant) => grant.length));
  return asked.map((grant) => {
    const isGranted = granted.includes(grant);
    const mark = isGranted ? 'granted    ' : 'not granted';
    return `${isGranted ? mark : out.style('yellow', mark)}  ${grant.padEnd(width)}  ${aboutGrant(grant)}`;
  });
}

/** It reaches further than every grant, so it stands among them. */
function unconfinedLine(plugin: PluginDetails, out: Output): string[] {
  if (!isUnconfined(plugin)) return [];
  const runs = plugin.state === 'loaded' ? 'runs' : 'would run';
  return [out.style('yellow', `unconfined   ${runs} unconfined, with your rights: its code can do whatever you can. Wide.`)];
}

/** Of an extension. */
function processLines({ id, process }: PluginDetails, now: number): string[] {
  if (!process) return [];
  const { state, reason, pid, restartAt, crashes, sandboxed, sandbox, follows = [], leftOut = [] } = process;
  return [
    `${state}${reason === undefined ? '' : `: ${reason}`}${pid === undefined ? '' : `, process ${pid}`}`,
    ...(restartAt === undefined ? [] : [`started again in ${Math.max(0, Math.ceil((restartAt - now) / 1_000))} s`]),
    ...(state === 'quarantined' ? [`start it again with: tenon ext reload ${id}`] : []),
    ...(crashes === 0 ? [] : [`crashed ${crashes === 1 ? 'once' : `${crashes} times`} lately`]),
    ...(sandbox === undefined ? [] : [sandboxed ? `confined by ${sandbox}` : `unconfined: ${sandbox}`]),
    ...reachLines(process.reach),
    ...(follows.length === 0 ? [] : [`follows ${follows.join(', ')}`]),
    ...leftOut.map(({ kind, key, message }) => `left out: ${kind}${key === '' ? '' : ` ${key}`}: ${message}`),
  ];
}

/** What of the machine it asks for. */
export function reachLines({ net, read, write }: NonNullable<PluginDetails['process']>['reach']): string[] {
  return [
    ...(net ? ['asks for the network'] : []),
    ...read.map((place) => `asks to read ${place}`),
    ...write.map((place) => `asks to write ${place}`),
  ];
}

/** One line a kind: a plugin may have hundreds of one. */
function registeredLines({ registrations }: PluginDetails): string[] {
  const kinds = new Map<string, string[]>();
  for (const { kind, key, accepted } of registrations) {
    if (accepted) kinds.set(kind, [...(kinds.get(kind) ?? []), key]);
  }
  return [...kinds].map(([kind, keys]) => `${kind}: ${keys.join(', ')}`);
}

function callLines({ counts }: PluginDetails, out: Output, visible: Visible, now: number): string[] {
  const ms = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(value < 10 ? 2 : 0));
  return out.table(
    [
      { title: 'PLACE', cell: (row) => visible(row.place) },
      { title: 'CALLS', cell: (row) => String(row.calls) },
      { title: 'ERRORS', cell: (row) => String(row.errors) },
      { title: 'TIMEOUTS', cell: (row) => String(row.timeouts) },
      { title: 'P50 MS', cell: (row) => ms(row.p50Ms) },
      { title: 'P95 MS', cell: (row) => ms(row.p95Ms) },
      { title: 'LAST', cell: (row) => relative(row.lastAt ?? null, now) },
    ],
    counts,
  );
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}
