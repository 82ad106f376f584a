// What plugins hand over, in a terminal: the words, where each file can be had, and the buttons that nobody has pressed yet.
import { Delivery, DeliveryEdited, DeliveryPressed, type Entry, matches } from '@tenon/protocol';
import { shownParts } from '@tenon/protocol/ui';
import { bytes } from '../amounts.ts';
import { blockLines, type OpenDelivery } from './plugin-view.ts';
import { oneLine } from './text.ts';

const WIDTH = 160;

export function deliveryIn(entry: Entry): Delivery | undefined {
  if (entry.type !== 'custom' || entry.customType !== 'delivery') return undefined;
  return matches(Delivery, entry.data) ? entry.data : undefined;
}

export function pressIn(entry: Entry): DeliveryPressed | undefined {
  if (entry.type !== 'custom' || entry.customType !== 'delivery_pressed') return undefined;
  return matches(DeliveryPressed, entry.data) ? entry.data : undefined;
}

export function editIn(entry: Entry): DeliveryEdited | undefined {
  if (entry.type !== 'custom' || entry.customType !== 'delivery_edited') return undefined;
  return matches(DeliveryEdited, entry.data) ? entry.data : undefined;
}

/** Everything but the buttons. */
export function deliveryText({
  text,
  presentation,
  attachments = [],
}: Pick<Delivery, 'text' | 'presentation'> & Partial<Delivery>): string {
  const { title, blocks = [] } = presentation ?? {};
  const shown = shownParts(blocks).flatMap((block) => blockLines(block, () => ''));
  const files = attachments.map(
    ({ handle, name, bytes: size }) => `[file] ${oneLine(name, WIDTH)} (${bytes(size)}): tenon attach get ${handle} -o <file>`,
  );
  return [...(title === undefined ? [] : [title]), ...(text === undefined ? [] : [text]), ...shown, ...files].join('\n');
}

/** Those whose buttons can be pressed, oldest first. */
export interface OpenDeliveries {
  /** Whether the entry changed them. */
  take(entry: Entry): boolean;
  settle(entryId: string): void;
  clear(): void;
  readonly all: readonly OpenDelivery[];
}

export function createOpenDeliveries(most = 50): OpenDeliveries {
  const open = new Map<string, OpenDelivery>();
  const pressed = new Set<string>();

  /** Whether what can be pressed is otherwise now. */
  function offer(entryId: string, pluginId: string, presentation: Delivery['presentation']): boolean {
    const { buttons = [], title = '' } = presentation ?? {};
    if (pressed.has(entryId)) return false;
    if (buttons.length === 0) return open.delete(entryId);
    open.set(entryId, { entryId, pluginId, title, buttons: buttons.map(({ id, label }) => ({ id, label })) });
    if (open.size > most) open.delete(open.keys().next().value as string);
    return true;
  }

  return {
    take(entry) {
      const press = pressIn(entry);
      if (press) {
        pressed.add(press.entryId);
        if (pressed.size > most * 10) pressed.delete(pressed.values().next().value as string);
        return open.delete(press.entryId);
      }
      const edit = editIn(entry);
      if (edit) return offer(edit.entryId, edit.by, edit.presentation);
      const delivery = deliveryIn(entry);
      if (!delivery || open.has(entry.id)) return false;
      return offer(entry.id, delivery.by, delivery.presentation);
    },
    settle(entryId) {
      pressed.add(entryId);
      open.delete(entryId);
    },
    clear() {
      open.clear();
    },
    get all() {
      return [...open.values()];
    },
  };
}
