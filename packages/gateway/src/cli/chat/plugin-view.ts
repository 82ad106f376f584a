// What plugins show in a session, as text: cards with their controls numbered, one line of what stands beside the composer, and
// who closes it. A control keeps its number for as long as the chat lasts, so that nobody presses another one than was read.
import { composerOf, type EventPayload, inOrder, isActive, type PluginExtension, type UiDescriptor } from '@tenon/protocol';
import { type ShownBlock, shownBlocks } from '@tenon/protocol/ui';
import { oneLine, safeLines } from './text.ts';

type Action = NonNullable<UiDescriptor['actions']>[number];

/** Something that can be pressed. */
export interface Control extends Omit<Action, 'label'> {
  readonly number: number;
  readonly pluginId: string;
  readonly label: string;
  /** A button of a delivery. */
  readonly button?: { readonly entryId: string; readonly buttonId: string };
}

export interface PluginCard {
  /** Whose it is and which. */
  readonly name: string;
  readonly lines: readonly string[];
  /** Shown by itself when it changes; the others are shown when somebody asks for them. */
  readonly isInChat: boolean;
}

export interface PluginsShown {
  readonly extensions: readonly PluginExtension[];
  readonly cards: readonly PluginCard[];
  readonly controls: readonly Control[];
  /** Chips and status lines, in a few words each. */
  readonly status: readonly string[];
  readonly closed: ReturnType<typeof composerOf>;
}

export const noPlugins: PluginsShown = { extensions: [], cards: [], controls: [], status: [], closed: undefined };

/** What a plugin handed over, as long as its buttons can be pressed. */
export interface OpenDelivery {
  readonly entryId: string;
  readonly pluginId: string;
  readonly title: string;
  readonly buttons: readonly { readonly id: string; readonly label: string }[];
}

export interface PluginSources {
  readonly descriptors: readonly UiDescriptor[];
  readonly extensions: readonly PluginExtension[];
  /** What plugins need a person for. */
  readonly needs: readonly EventPayload<'action.required'>[];
  /** What they handed over with buttons that nobody has pressed. */
  readonly deliveries?: readonly OpenDelivery[];
}

const MOST_NUMBERS = 10_000;
const WIDTH = 160;

export function createPluginReader(): (sources: PluginSources) => PluginsShown {
  const numbers = new Map<string, number>();

  function numbered(name: string, pluginId: string, control: Action): Control {
    // What an item is given belongs to what it is.
    const key = JSON.stringify([name, control.label, control.actionId, control.command, control.payload]);
    if (numbers.size >= MOST_NUMBERS) numbers.clear();
    const number = numbers.get(key) ?? numbers.size + 1;
    numbers.set(key, number);
    return { ...control, pluginId, number };
  }

  return ({ descriptors, extensions, needs, deliveries = [] }) => {
    const controls: Control[] = [];
    const cards: PluginCard[] = [];
    const status: string[] = [];
    /** What cards offer, by plugin and action. */
    const offered = new Set<string>();
    const offer = (name: string, pluginId: string, action: Action): string => {
      if (action.unavailable !== undefined) return `    (${oneLine(action.label, WIDTH)}: ${oneLine(action.unavailable, WIDTH)})`;
      const control = numbered(name, pluginId, action);
      controls.push(control);
      // What it sends in the person's name, whatever its label says.
      const sends = control.command === undefined ? '' : `  (sends ${oneLine(control.command, WIDTH)})`;
      return `    /press ${control.number}  ${oneLine(control.label, WIDTH)}${sends}`;
    };
    for (const descriptor of inOrder(descriptors)) {
      const { pluginId, id, label, surface, activeWhen } = descriptor;
      if (!isActive(pluginId, activeWhen, extensions) || surface === 'settings') continue;
      const name = `${pluginId}/${id}`;
      const blocks = shownBlocks(descriptor, extensions);
      const options = (descriptor.options ?? []).map(({ label: choice, action }) => ({ ...action, label: choice }));
      const actions = [...(descriptor.actions ?? []).filter(({ when }) => isActive(pluginId, when, extensions)), ...options];
      const buttons = actions.map((action) => offer(name, pluginId, action));
      if (surface === 'chat-input-toolbar-chip' || surface === 'status') {
        const words = currentOption(descriptor, extensions) ?? blocks.map(inWords).join(' · ');
        status.push(oneLine(`${pluginId}: ${words === '' ? label : words}`, WIDTH));
        if (buttons.length === 0) continue;
        cards.push({ name, lines: [`  ${oneLine(label, WIDTH)} (${pluginId})`, ...buttons], isInChat: false });
        continue;
      }
      for (const { actionId } of actions) offered.add(`${pluginId} ${actionId}`);
      const lines = blocks.flatMap((block) => blockLines(block, (action) => offer(name, pluginId, action)));
      cards.push({
        name,
        lines: [`  ${oneLine(label, WIDTH)} (${pluginId})`, ...lines.map((line) => `  ${line}`), ...buttons],
        isInChat: surface !== 'session',
      });
    }
    for (const need of needs) {
      const { pluginId, title, actions = [] } = need;
      // A card that offers the same stands there already.
      if (actions.length > 0 && actions.every(({ actionId }) => offered.has(`${pluginId} ${actionId}`))) continue;
      const name = `${pluginId} needs: ${title}`;
      const buttons = actions.map((action) => offer(name, pluginId, action));
      cards.push({ name, lines: [`  ${oneLine(`${pluginId} needs you: ${title}`, WIDTH)}`, ...buttons], isInChat: true });
    }
    for (const { entryId, pluginId, title, buttons } of deliveries) {
      const lines = buttons.map(({ id: buttonId, label }) => {
        const control = numbered(`delivery ${entryId} ${buttonId}`, pluginId, { label });
        controls.push({ ...control, button: { entryId, buttonId } });
        return `    /press ${control.number}  ${oneLine(label, WIDTH)}`;
      });
      cards.push({ name: `delivery ${entryId}`, lines: [`  ${oneLine(title, WIDTH)} (${pluginId})`, ...lines], isInChat: true });
    }
    return { extensions, cards, controls, status, closed: composerOf(descriptors, extensions) };
  };
}

function currentOption({ pluginId, options = [] }: UiDescriptor, extensions: readonly PluginExtension[]): string | undefined {
  const met = options.find(({ when }) => when !== undefined && isActive(pluginId, when, extensions));
  return (met ?? options.find(({ when }) => when === undefined))?.label;
}

export function blockLines(block: ShownBlock, offer: (action: Action) => string): string[] {
  const head = block.label === undefined ? [] : [`${oneLine(block.label, WIDTH)}:`];
  const more = block.more === undefined ? [] : [`… and ${block.more} more`];
  return [...head, ...contentLines(block, offer), ...more];
}

const signs = { plain: '·', ok: '✓', warn: '!', bad: '✗', busy: '◌' } as const;

function contentLines(block: ShownBlock, offer: (action: Action) => string): string[] {
  switch (block.kind) {
    case 'markdown':
    case 'text':
      return safeLines(block.text);
    case 'status':
      return [`${signs[block.tone]} ${oneLine(block.text, WIDTH)}`];
    case 'progress':
      return [`${bar(block.value / block.max)} ${oneLine(block.text, WIDTH)}`];
    case 'key-value':
      return block.rows.map(([name, value]) => oneLine(`${name}: ${value}`, WIDTH));
    case 'diff':
      return block.lines.flatMap(safeLines);
    case 'table':
      return [block.columns, ...block.rows].map((row) => row.map((text) => oneLine(text, 40)).join('  |  '));
    case 'list':
      return block.items.flatMap((item) => {
        const sign = item.done === undefined ? signs[item.tone ?? 'plain'] : item.done ? '[x]' : '[ ]';
        const line = `${sign} ${oneLine(item.text, WIDTH)}${item.detail === undefined ? '' : ` (${oneLine(item.detail, WIDTH)})`}`;
        const { itemAction } = block;
        if (!itemAction) return [line];
        const { fields: _, label, ...action } = itemAction;
        return [line, offer({ ...action, label: `${label}: ${item.text}`, payload: item.payload ?? {} })];
      });
  }
}

function inWords(block: ShownBlock): string {
  return block.kind === 'status' ? oneLine(block.text, WIDTH) : (contentLines(block, () => '')[0] ?? '');
}

function bar(part: number): string {
  const filled = Math.round(part * 20);
  return `[${'#'.repeat(filled)}${'.'.repeat(20 - filled)}]`;
}
