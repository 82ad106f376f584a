// `/press` and `/panel`: pressing what plugins show, from a terminal or through a pipe.
import type { JsonValue } from '@tenon/protocol';
import { type Form, pressOf } from '@tenon/protocol/ui';
import type { Conversation } from './conversation.ts';
import type { Control, PluginsShown } from './plugin-view.ts';

export type Pressed =
  | { readonly kind: 'wrong'; readonly reason: string }
  /** People have to be asked first. */
  | { readonly kind: 'ask'; readonly control: Control; readonly form: Form }
  | { readonly kind: 'send'; readonly control: Control; readonly payload?: JsonValue };

/** `rest`: the number, and the payload as JSON where somebody gives it with it. */
export function readPress(rest: string, { controls, extensions }: PluginsShown): Pressed {
  const [, number = '', given = ''] = /^(\S*)\s*([\s\S]*)$/.exec(rest.trim()) ?? [];
  const control = controls.find((each) => String(each.number) === number);
  if (!control) {
    const numbers = controls.map((each) => each.number).join(', ');
    const there = numbers === '' ? 'plugins show nothing to press here' : `there are: ${numbers}; /panel shows them`;
    return {
      kind: 'wrong',
      reason: number === '' ? `Say which, such as /press 1; ${there}` : `There is no /press ${number.slice(0, 20)}; ${there}`,
    };
  }
  if (control.button) {
    if (given !== '') return { kind: 'wrong', reason: 'This button takes nothing but its number' };
    return { kind: 'send', control };
  }
  if (given !== '') {
    try {
      return { kind: 'send', control, payload: JSON.parse(given) as JsonValue };
    } catch {
      return { kind: 'wrong', reason: `What follows the number is given to the plugin as JSON, and this is none: ${given.slice(0, 80)}` };
    }
  }
  if (control.command !== undefined) return { kind: 'send', control };
  const press = pressOf(control.pluginId, control, extensions);
  if (press.kind === 'ask') return { kind: 'ask', control, form: press.form };
  return { kind: 'send', control, ...(press.payload === undefined ? {} : { payload: press.payload }) };
}

/** What is said of it; throws when it could not be asked. */
export async function press(conversation: Conversation, control: Control, payload?: JsonValue): Promise<{ ok: boolean; text: string }> {
  if (control.command !== undefined) return { ok: true, text: await conversation.command(control.command) };
  const answer = await conversation.press(control, payload);
  if (!answer.ok) return { ok: false, text: `${control.label}: ${answer.error}${answer.code === undefined ? '' : ` (${answer.code})`}` };
  const { result, reply } = answer;
  if (typeof reply === 'string' && control.button) return { ok: true, text: reply };
  const words = typeof result === 'string' ? result : (result as { readonly text?: unknown } | null | undefined)?.text;
  return { ok: true, text: typeof words === 'string' && words !== '' ? words : `${control.label}: done` };
}

/** Everything that plugins show here. */
export function panelText({ cards, status, closed }: PluginsShown): string {
  const lines = [...cards.flatMap((card) => card.lines), ...(status.length > 0 ? [`  ${status.join(' · ')}`] : [])];
  if (closed) lines.push(`  ${closedText(closed)}`);
  return lines.length === 0 ? 'Plugins show nothing in this session.' : lines.join('\n');
}

export function closedText({ pluginId, mode, reason }: NonNullable<PluginsShown['closed']>): string {
  return mode === 'disabled'
    ? `No message is taken: ${reason} (${pluginId}). /panel shows it, /press decides; commands work`
    : `${reason} (${pluginId}): you are asked before a message is sent`;
}
