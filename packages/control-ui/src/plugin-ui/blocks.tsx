// The blocks of a view: a fixed vocabulary in the page's own type and colours. All of it is text of a plugin, so nothing in it
// can be more than text; Markdown goes through the same reader as everybody's.
import { visible } from '@tenon/protocol';
import type { ShownBlock, ShownItem, Tone } from '@tenon/protocol/ui';
import { type ReactNode, useId } from 'react';
import { Markdown } from '../chat/markdown.tsx';
import { ScrollBox } from '../chat/scroll-box.tsx';
import { VisibleText, visibleKeeping } from '../chat/visible-text.tsx';
import { Icon, type IconName } from '../icons.tsx';
import { Button, Pill } from '../parts/button.tsx';
import type { Control } from './use-press.ts';

const tones: Readonly<Record<Tone, { readonly icon: IconName; readonly tone: 'ok' | 'warn' | 'bad' | 'accent' | 'plain' }>> = {
  plain: { icon: 'info', tone: 'plain' },
  ok: { icon: 'check', tone: 'ok' },
  warn: { icon: 'warning', tone: 'warn' },
  bad: { icon: 'x-circle', tone: 'bad' },
  busy: { icon: 'spinner', tone: 'accent' },
};

interface BlockProps {
  readonly block: ShownBlock;
  readonly pending: string | undefined;
  /** Why nothing can be pressed. */
  readonly reason: string | undefined;
  readonly onPress: (control: Control) => void;
}

export function Block({ block, pending, reason, onPress }: BlockProps): ReactNode {
  const id = useId();
  const named = block.label === undefined ? {} : { 'aria-labelledby': id };
  return (
    <div className={`plugin-block plugin-block-${block.kind}`}>
      {block.label !== undefined && (
        <p id={id} className="plugin-block-label">
          <bdi>{visible(block.label)}</bdi>
        </p>
      )}
      <Content {...{ block, pending, reason, onPress, named }} />
      {block.more !== undefined && <p className="plugin-hint">and {block.more} more</p>}
    </div>
  );
}

function Content({ block, pending, reason, onPress, named }: BlockProps & { readonly named: object }): ReactNode {
  const label = visible(block.label ?? '');
  switch (block.kind) {
    case 'markdown':
      // What people decide on by it must not read otherwise than it is.
      return <Markdown text={visibleKeeping(block.text, '\n\t\r')} />;
    case 'text':
      return (
        <ScrollBox className="plugin-code" label={label || 'Text'}>
          <pre>
            <VisibleText text={block.text} keep={'\n\t'} />
          </pre>
        </ScrollBox>
      );
    case 'status':
      return (
        <Pill icon={tones[block.tone].icon} tone={tones[block.tone].tone} spin={block.tone === 'busy'}>
          <bdi>{visible(block.text)}</bdi>
        </Pill>
      );
    case 'progress':
      return (
        <div className="plugin-progress">
          <progress value={block.value} max={block.max} aria-label={label || 'Progress'} aria-valuetext={visible(block.text)} />
          <span>{visible(block.text)}</span>
        </div>
      );
    case 'key-value':
      return (
        <dl {...named}>
          {block.rows.map(([name, value], index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names of a plugin may be the same
            <div key={index}>
              <dt>{visible(name)}</dt>
              <dd>
                <VisibleText text={value} keep={'\n'} />
              </dd>
            </div>
          ))}
        </dl>
      );
    case 'list':
      return (
        <ul {...named}>
          {block.items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same text may stand there twice
            <li key={index}>
              <Item item={item} action={block.itemAction} {...{ pending, reason, onPress }} />
            </li>
          ))}
        </ul>
      );
    case 'table':
      return (
        <ScrollBox className="plugin-table" label={label || 'Table'}>
          <table>
            <thead>
              <tr>
                {block.columns.map((name, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a column is known by its place
                  <th key={index} scope="col">
                    {visible(name)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <tr key={index}>
                  {row.map((text, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: as above
                    <td key={at}>
                      <bdi>{visible(text)}</bdi>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      );
    case 'diff':
      return (
        <ScrollBox className="plugin-code plugin-diff" label={label || 'Changes'}>
          <pre>
            {block.lines.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place
              <span key={index} data-sign={signOf(line)}>
                <VisibleText text={line} keep={'\t'} />
                {'\n'}
              </span>
            ))}
          </pre>
        </ScrollBox>
      );
  }
}

function signOf(line: string): string | undefined {
  if (line.startsWith('+++') || line.startsWith('---') || line.startsWith('@@')) return 'at';
  return line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : undefined;
}

interface ItemProps extends Omit<BlockProps, 'block'> {
  readonly item: ShownItem;
  readonly action: ShownBlock['itemAction'];
}

function Item({ item, action, pending, reason, onPress }: ItemProps): ReactNode {
  const text = visible(item.text);
  const why = reason ?? action?.unavailable;
  const press = () => {
    if (action && why === undefined && pending === undefined) onPress({ ...action, label: action.label, payload: item.payload ?? {} });
  };
  const words = (
    <span className="plugin-item-text" data-done={item.done === true ? '' : undefined}>
      <bdi>{text}</bdi>
      {item.detail !== undefined && <span className="plugin-hint">{visible(item.detail)}</span>}
    </span>
  );
  if (item.done !== undefined && action)
    return (
      <label className="plugin-check" title={why}>
        <input type="checkbox" checked={item.done} aria-disabled={why !== undefined || pending !== undefined} onChange={press} />
        {words}
      </label>
    );
  const sign = item.tone === undefined ? undefined : tones[item.tone];
  return (
    <span className="plugin-item">
      {item.done !== undefined ? (
        <span className="plugin-done" role="img" aria-label={item.done ? 'done' : 'not done'}>
          {item.done && <Icon name="check" size={14} />}
        </span>
      ) : sign ? (
        <Icon name={sign.icon} size={14} className={`tone-${sign.tone}${item.tone === 'busy' ? ' turning' : ''}`} />
      ) : (
        <span className="plugin-bullet" aria-hidden="true" />
      )}
      {words}
      {action && (
        <Button small aria-label={`${visible(action.label)}: ${text}`} reason={why} onClick={press}>
          {visible(action.label)}
        </Button>
      )}
    </span>
  );
}
