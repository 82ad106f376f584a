// Plugins in the words of the page: how one stands and why, what a grant lets it do, what it registered, and which of
// them needs somebody first.
import { grantRow, type PluginInfo } from '@tenon/protocol';
import { plural } from '../chat/format.ts';
import type { IconName } from '../icons.tsx';
import type { Tone } from '../parts/button.tsx';
import { needsALook } from '../state/plugin-trouble.ts';
import { processTrouble } from './extension-words.ts';

export interface StateWords {
  readonly icon: IconName;
  readonly tone: Tone;
  readonly words: string;
  /** Whole sentences, one for each thing that is not as it should be. */
  readonly reasons: readonly string[];
}

const bases: Readonly<Record<PluginInfo['state'], Omit<StateWords, 'reasons'>>> = {
  loaded: { icon: 'running', tone: 'ok', words: 'Running' },
  starting: { icon: 'running', tone: 'plain', words: 'Starting' },
  off: { icon: 'pause', tone: 'plain', words: 'Off' },
  failed: { icon: 'x-circle', tone: 'bad', words: 'Failed' },
  ungranted: { icon: 'blocked', tone: 'bad', words: 'Not running: needs a grant' },
  changed: { icon: 'page-plus', tone: 'warn', words: 'Changed since trust' },
  rejected: { icon: 'blocked', tone: 'bad', words: 'Rejected' },
};

export function stateWords(plugin: PluginInfo): StateWords {
  const trouble = processTrouble(plugin);
  const base = trouble ?? bases[plugin.state];
  const refused = refusedOf(plugin).length;
  const failed = plugin.services.filter(({ state }) => state === 'failed').length;
  const reasons = [
    ...(trouble && plugin.process?.reason !== undefined ? [sentence(plugin.process.reason)] : []),
    // What could not be loaded because of its process says the same once more.
    ...(plugin.reason === undefined || (trouble && plugin.state === 'failed') ? [] : [sentence(plugin.reason)]),
    ...(refused === 0 ? [] : [`${plural(refused, 'registration was', 'registrations were')} refused.`]),
    ...(plugin.switchedOff.length === 0 ? [] : [`${plural(plugin.switchedOff.length, 'handler is', 'handlers are')} switched off.`]),
    ...incidentReasons(plugin),
    ...(failed === 0 ? [] : [`${plural(failed, 'service has', 'services have')} failed.`]),
  ];
  if (trouble || plugin.state !== 'loaded' || !needsALook(plugin)) return { ...base, reasons };
  return { icon: 'warning', tone: 'warn', words: 'Running, not whole', reasons };
}

const incidentWords = {
  blocked: 'It held up the whole gateway',
  threw: 'It threw where nobody waited for it',
  rejected: 'A promise of it was rejected and nobody looked at it',
} as const satisfies Record<PluginInfo['incidents'][number]['kind'], string>;

function incidentReasons({ incidents }: PluginInfo): string[] {
  const kinds = Object.keys(incidentWords) as (keyof typeof incidentWords)[];
  return kinds.flatMap((kind) => {
    const times = incidents.reduce((sum, each) => (each.kind === kind ? sum + each.count : sum), 0);
    return times === 0 ? [] : [`${incidentWords[kind]}, ${plural(times, 'time')}.`];
  });
}

export function incidentWord(kind: PluginInfo['incidents'][number]['kind']): string {
  return incidentWords[kind];
}

export function refusedOf({ registrations }: PluginInfo): PluginInfo['registrations'] {
  return registrations.filter(({ accepted }) => !accepted);
}

const ranks: Readonly<Record<PluginInfo['state'], number>> = {
  failed: 0,
  ungranted: 1,
  changed: 1,
  rejected: 2,
  starting: 3,
  loaded: 4,
  off: 5,
};

/** What needs the person first, then by name. */
export function inOrder(plugins: readonly PluginInfo[]): PluginInfo[] {
  const rank = (plugin: PluginInfo) => {
    if (processTrouble(plugin)) return ranks.failed;
    return plugin.state === 'loaded' && needsALook(plugin) ? 3 : ranks[plugin.state];
  };
  return [...plugins].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name) || a.id.localeCompare(b.id));
}

export interface GrantWords {
  readonly grant: string;
  /** What it lets a plugin do. */
  readonly meaning: string;
  /** It reaches far beyond the plugin itself. */
  readonly wide: boolean;
}

export function grantWords(grant: string): GrantWords {
  const row = grantRow(grant);
  if (!row) return { grant, meaning: 'This gateway does not know this grant; giving it changes nothing.', wide: false };
  const [, of] = grant.split(':', 2);
  return { grant, meaning: row.of === undefined ? row.summary : `${row.summary.replace(/\.$/, '')}: ${of}.`, wide: row.wide === true };
}

/** 3 of 5 */
export function grantCount({ asked, granted }: Pick<PluginInfo, 'asked' | 'granted'>): string {
  return asked.length === 0 ? 'asks for none' : `${asked.filter((grant) => granted.includes(grant)).length} of ${asked.length}`;
}

export const originWords: Readonly<Record<PluginInfo['origin'], string>> = { bundled: 'part of Tenon', path: 'a folder' };

/** Shorter than the name of the kind. */
const kindWords: Readonly<Record<string, string>> = {
  sessionExtension: 'State',
  sessionAction: 'Action',
  sessionsPatchAction: 'Patch',
  toolMetadata: 'Tool look',
  toolPolicy: 'Policy',
  uiDescriptor: 'Control',
  eventSubscription: 'Follows',
  lifecycle: 'Clean-up',
  schedulerJob: 'Job',
  gatewayMethod: 'Method',
  httpRoute: 'Web route',
  modelProvider: 'Models',
  startupCheck: 'Check',
};

export function kindWord(kind: string): string {
  if (Object.hasOwn(kindWords, kind)) return kindWords[kind]!;
  const words = kind.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** As it would be typed or called. */
export function keyWord(kind: string, key: string): string {
  return kind === 'command' ? `/${key}` : key;
}

export interface KindGroup {
  readonly kind: string;
  readonly keys: readonly string[];
}

/** What was taken, by kind, in the order in which the plugin registered the first of each. */
export function acceptedByKind({ registrations }: PluginInfo): KindGroup[] {
  const groups = new Map<string, string[]>();
  for (const { kind, key, accepted } of registrations) {
    if (!accepted) continue;
    const keys = groups.get(kind) ?? [];
    groups.set(kind, keys);
    keys.push(keyWord(kind, key));
  }
  return [...groups].map(([kind, keys]) => ({ kind, keys }));
}

/** 0.4 ms, 86 ms, 1.91 s: handlers are measured in milliseconds. */
export function millis(ms: number): string {
  if (ms < 1) return `${ms === 0 ? 0 : Math.max(0.1, Math.round(ms * 10) / 10)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(ms < 9_995 ? 2 : 1)} s`;
}

export function sentence(text: string): string {
  const said = text.trim();
  // A name such as tool/name stays as it is written.
  const first = said.replace(/^[a-z]+(?=[\s,;:])/, (word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
