// Extensions that no sandbox holds, wherever the terminal tells of the state of things.
import type { PluginInfo } from '@tenon/protocol';

/** Whether nothing limits what its code can reach, or would if it ran. */
export function isUnconfined({ process }: PluginInfo): boolean {
  return process?.sandbox !== undefined && !process.sandboxed;
}

/** Those that are at work, and why. */
export interface Unconfined {
  readonly extensions: readonly string[];
  readonly reason: string;
}

/** Undefined where there are none. */
export function unconfinedOf(plugins: readonly PluginInfo[] | undefined): Unconfined | undefined {
  const open = (plugins ?? []).filter((each) => isUnconfined(each) && each.state === 'loaded');
  return open[0] && { extensions: open.map(({ id }) => id), reason: open[0].process?.sandbox ?? '' };
}

export function unconfinedText({ extensions, reason }: Unconfined, visible: (text: string) => string): string {
  const runs = extensions.length === 1 ? 'runs' : 'run';
  return `${extensions.map(visible).join(', ')} ${runs} unconfined, with your rights (${visible(reason)})`;
}
