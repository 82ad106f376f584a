// Extensions in the words of the page: plugins whose code runs in a process of its own. How the process stands, and what has
// changed since somebody trusted it.
import { type PluginInfo, type Result, UNCONFINED, UNCONFINED_GRANT } from '@tenon/protocol';
import { plural } from '../chat/format.ts';
import type { IconName } from '../icons.tsx';
import type { Tone } from '../parts/button.tsx';

export type Changes = Result<'plugins.changes'>;
export type FileChange = Changes['files'][number];
export type ToolChange = Changes['tools'][number];
type Process = NonNullable<PluginInfo['process']>;

export function isExtension({ process }: PluginInfo): boolean {
  return process !== undefined;
}

interface ProcessLook {
  readonly icon: IconName;
  readonly tone: Tone;
  readonly words: string;
}

/** Of a process that is not at work although it should be. */
const troubles: Readonly<Partial<Record<Process['state'], ProcessLook>>> = {
  restarting: { icon: 'retry', tone: 'warn', words: 'Restarting' },
  quarantined: { icon: 'blocked', tone: 'bad', words: 'Quarantined' },
  failed: { icon: 'x-circle', tone: 'bad', words: 'Failed' },
};

/** Undefined where the process has no trouble of its own. */
export function processTrouble({ process, state }: PluginInfo): ProcessLook | undefined {
  if (!process || state === 'changed' || state === 'ungranted' || state === 'off' || state === 'rejected') return undefined;
  return troubles[process.state];
}

/** It stays down until somebody tries again, or is started again later: either way, somebody may try now. */
export function canRetry(plugin: PluginInfo): boolean {
  return plugin.enabled && processTrouble(plugin) !== undefined;
}

/** Where its code runs. */
export function runsWords({ process }: PluginInfo): string {
  if (!process) return 'in the gateway';
  return process.pid === undefined ? 'no process' : `process ${process.pid}`;
}

export interface SandboxWords {
  readonly icon: IconName;
  readonly words: string;
  /** By what, or why not. */
  readonly more: string | undefined;
  readonly isOpen: boolean;
}

/** Undefined while nothing is known of it. */
export function sandboxWords(plugin: PluginInfo): SandboxWords | undefined {
  const { process } = plugin;
  if (process?.sandbox === undefined) return undefined;
  if (process.sandboxed) return { icon: 'shield-check', words: 'confined', more: process.sandbox, isOpen: false };
  const words = plugin.state === 'loaded' ? UNCONFINED : 'would run unconfined, with your rights';
  return { icon: 'shield-off', words, more: process.sandbox, isOpen: true };
}

/** Said among its grants, where it is none of them: the operator has switched the sandbox off for all. */
export function unconfinedNote(plugin: PluginInfo): string | undefined {
  const words = sandboxWords(plugin);
  if (!words?.isOpen || plugin.asked.includes(UNCONFINED_GRANT)) return undefined;
  return `Its code can read, change and send whatever you can: ${words.more}.`;
}

/** What its manifest asks to reach, in its sandbox. */
export function reachWords({ net, read, write }: Process['reach']): string[] {
  return [
    ...(net ? ['use the network'] : []),
    ...(read.length > 0 ? [`read: ${read.join(', ')}`] : []),
    ...(write.length > 0 ? [`write: ${write.join(', ')}`] : []),
  ];
}

/** Next try in 4 s. */
export function nextTry({ process }: PluginInfo, now: number): string | undefined {
  if (process?.restartAt === undefined) return undefined;
  const seconds = Math.ceil((process.restartAt - now) / 1_000);
  return seconds > 0 ? `Next try in ${seconds} s.` : 'It is being tried now.';
}

export const fileLooks: Readonly<Record<FileChange['change'], { icon: IconName; words: string; tone: Tone }>> = {
  added: { icon: 'plus', words: 'new file', tone: 'ok' },
  changed: { icon: 'edit', words: 'changed', tone: 'warn' },
  removed: { icon: 'minus', words: 'removed', tone: 'bad' },
  mode: { icon: 'key', words: 'other mode', tone: 'warn' },
};

/** Whether anything is another thing than what was trusted; what was never trusted has not changed. */
export function hasChanged({ trustedHash, files, filesUnknown, grants, tools }: Changes): boolean {
  if (trustedHash === undefined) return false;
  return files.length > 0 || filesUnknown === true || grants.added.length > 0 || tools.some(({ change }) => change === 'changed');
}

/** 2 files changed, 1 new grant, 1 tool text changed */
export function changeSummary({ files, moreFiles = 0, filesUnknown, grants, tools }: Changes): string {
  const texts = tools.filter(({ change }) => change === 'changed').length;
  const parts = [
    ...(filesUnknown ? ['its files are others'] : []),
    ...(files.length > 0 ? [`${plural(files.length + moreFiles, 'file')} changed`] : []),
    ...(grants.added.length > 0 ? [plural(grants.added.length, 'new grant')] : []),
    ...(grants.removed.length > 0 ? [`${plural(grants.removed.length, 'grant')} no longer asked for`] : []),
    ...(texts > 0 ? [`${plural(texts, 'tool text')} changed`] : []),
  ];
  return parts.join(', ');
}

/** e1b8 70c4 95aa: enough of it to compare by eye. */
export function shortHash(hash: string): string {
  return hash === 'bundled' ? 'part of Tenon' : (hash.slice(0, 12).match(/.{4}/g) ?? [hash]).join(' ');
}

const registrationWords: Readonly<Record<string, string>> = {
  tools: 'Tool',
  commands: 'Command',
  hooks: 'Hook',
  subscriptions: 'Event',
  providers: 'Models',
  flags: 'Flag',
  shortcuts: 'Shortcut',
  message_renderers: 'Renderer',
};

/** What it calls a kind of registrations, as a word. */
export function registrationWord(kind: string): string {
  if (Object.hasOwn(registrationWords, kind)) return registrationWords[kind]!;
  const words = kind.replaceAll('_', ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
