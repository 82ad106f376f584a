// What a plugin hands over, in the conversation: text, blocks, files and buttons, in a frame that names the plugin and that no
// plugin can change. A button is pressed once, wherever it was pressed; what came of it stands there afterwards.
import { visible } from '@tenon/protocol';
import { shownParts } from '@tenon/protocol/ui';
import { type ReactNode, useId, useRef, useState } from 'react';
import { clockTime, exactTime } from '../chat/format.ts';
import { Markdown } from '../chat/markdown.tsx';
import type { DeliveryItem } from '../chat/types.ts';
import { visibleKeeping } from '../chat/visible-text.tsx';
import { useApp, usePage } from '../hooks/page-context.ts';
import { Icon, type IconName } from '../icons.tsx';
import { Button } from '../parts/button.tsx';
import { Block } from '../plugin-ui/blocks.tsx';
import { Guarded, SaidLine } from '../plugin-ui/plugin-card.tsx';
import type { Said } from '../plugin-ui/use-press.ts';
import { troubleOf } from '../state/trouble.ts';
import { FileList } from './file-list.tsx';
import '../plugin-ui/plugin-ui.later.css';
import './files.later.css';

const signs: Readonly<Record<string, { readonly icon: IconName; readonly tone: string }>> = {
  ok: { icon: 'check-circle', tone: 'ok' },
  warn: { icon: 'warning', tone: 'warn' },
  bad: { icon: 'x-circle', tone: 'bad' },
  busy: { icon: 'clock', tone: 'accent' },
};

export function DeliveryCard({ item }: { readonly item: DeliveryItem }): ReactNode {
  return (
    <Guarded name={item.delivery.by}>
      <Card item={item} />
    </Guarded>
  );
}

function Card({ item }: { readonly item: DeliveryItem }): ReactNode {
  const { delivery, at } = item;
  const { presentation, text, attachments } = delivery;
  const id = useId();
  const sign = signs[presentation?.tone ?? ''];
  return (
    <section className="plugin-card delivery" aria-labelledby={id} data-tone={sign?.tone} data-entry={item.entryId}>
      <p className="plugin-notch">
        <Icon name="joint" size={14} /> <b>{visible(delivery.by)}</b> <span>plugin delivery</span>
      </p>
      <h3 id={id}>
        {sign && <Icon name={sign.icon} className={`tone-${sign.tone}`} />}
        <bdi>{visible(presentation?.title ?? `From ${delivery.byName}`)}</bdi>
        <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
          {clockTime(at)}
        </time>
      </h3>
      {text !== undefined && text !== '' && <Markdown text={visibleKeeping(text, '\n\t\r')} />}
      {shownParts(presentation?.blocks ?? []).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block is known by its place
        <Block key={index} block={block} pending={undefined} reason={undefined} onPress={() => undefined} />
      ))}
      {attachments.length > 0 && <FileList files={attachments} />}
      <Pressing item={item} />
    </section>
  );
}

/** The buttons, or which one was pressed. */
function Pressing({ item }: { readonly item: DeliveryItem }): ReactNode {
  const page = usePage();
  const isOnline = useApp((state) => state.connection.kind === 'online');
  const [pending, setPending] = useState<string>();
  const [said, setSaid] = useState<Said>();
  const isBusy = useRef(false);
  const buttons = item.delivery.presentation?.buttons ?? [];

  async function press(buttonId: string): Promise<void> {
    // Two quick presses are one.
    if (isBusy.current) return;
    isBusy.current = true;
    setPending(buttonId);
    setSaid(undefined);
    try {
      const { answer, text } = await page
        .link()
        .call('deliveries.press', { sessionKey: item.sessionKey, entryId: item.entryId, buttonId }, { timeoutMs: 60_000 });
      if (answer && !answer.ok)
        setSaid({ tone: 'bad', text: answer.code === undefined ? answer.error : `${answer.error} (${answer.code})` });
      else if (text !== undefined) setSaid({ tone: 'ok', text });
    } catch (error) {
      const { message, code } = troubleOf(error);
      setSaid({ tone: 'bad', text: code === undefined ? message : `${message} (${code})` });
    }
    isBusy.current = false;
    setPending(undefined);
  }

  if (item.pressed)
    return (
      <p className="delivery-pressed" role="status">
        <Icon name="check" size={14} />
        <span>
          Pressed: <b>{visible(item.pressed.label)}</b>
          {item.pressed.text !== undefined && <> · {visible(item.pressed.text)}</>}
        </span>
      </p>
    );
  const primary = buttons.findIndex(({ style }) => style === 'primary');
  return (
    <>
      {buttons.length > 0 && (
        <div className="plugin-actions">
          {buttons.map((button, index) => (
            <Button
              key={button.id}
              look={index === primary ? 'primary' : button.style === 'danger' ? 'danger' : 'default'}
              reason={!isOnline ? 'Not connected' : pending === undefined ? undefined : 'A press is under way'}
              onClick={() => void press(button.id)}
            >
              {pending === button.id && <Icon name="spinner" size={14} className="turning" />}
              <bdi>{visible(button.label)}</bdi>
            </Button>
          ))}
        </div>
      )}
      <SaidLine said={said} />
    </>
  );
}
