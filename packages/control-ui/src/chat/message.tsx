// What a person, the agent or a plugin said: who and when on the first line, the text below, and what can be done with it.
import { visible } from '@tenon/protocol';
import { type FocusEvent, type KeyboardEvent, lazy, type ReactNode, Suspense, useId, useLayoutEffect, useRef } from 'react';
import { Icon, Mark } from '../icons.tsx';
import { CopyButton } from './copy-button.tsx';
import { clockTime, duration, exactTime } from './format.ts';
import { ImageStrip } from './image-strip.tsx';
import { Markdown } from './markdown.tsx';
import type { AssistantItem, CustomItem, TranscriptProps, UserItem } from './types.ts';

const FileList = lazy(() => import('../files/file-list.tsx').then((module) => ({ default: module.FileList })));

export type MessageActions = Pick<TranscriptProps, 'onCopy' | 'onFork' | 'onRewind' | 'onRetry' | 'onUnqueue'>;

export function UserMessage({ item, actions }: { readonly item: UserItem; readonly actions: MessageActions }): ReactNode {
  return (
    <article className="message" data-from="user" data-state={item.state} aria-label={`${visible(item.author)}, ${clockTime(item.at)}`}>
      <span className="avatar" aria-hidden="true">
        {visible(Array.from(item.author.trim())[0] ?? '?').toUpperCase()}
      </span>
      <MessageHead name={item.author} at={item.at}>
        <Actions text={item.text} entryId={item.entryId} actions={actions} />
      </MessageHead>
      <div className="message-body">
        <p className="plain-text">{item.text}</p>
        <ImageStrip images={item.images ?? []} />
        {item.files && item.files.length > 0 && (
          <Suspense fallback={null}>
            <FileList files={item.files} />
          </Suspense>
        )}
        {item.state === 'sending' && <p className="message-note">Sending</p>}
        {item.state === 'queued' && (
          <p className="message-note">
            <Icon name="queue" size={14} /> Queued, told to the agent when it is free
            {actions.onUnqueue && (
              <button type="button" className="chat-link" onClick={() => actions.onUnqueue?.(item)}>
                Take it back
              </button>
            )}
          </p>
        )}
        {item.state === 'failed' && (
          <p className="message-note tone-bad">
            <Icon name="x-circle" size={14} /> Not sent. {visible(item.error ?? 'The gateway did not answer.')}
            {actions.onRetry && (
              <button type="button" className="chat-link" onClick={() => actions.onRetry?.(item)}>
                Send again
              </button>
            )}
          </p>
        )}
      </div>
    </article>
  );
}

interface AssistantMessageProps {
  readonly item: AssistantItem;
  /** It goes on with what the agent said before: no name again. */
  readonly continued: boolean;
  readonly actions: MessageActions;
  readonly thinkingOpen: boolean;
  readonly onThinking: (open: boolean) => void;
}

export function AssistantMessage({ item, continued, actions, thinkingOpen, onThinking }: AssistantMessageProps): ReactNode {
  const buttons = item.text !== '' && !item.streaming ? <Actions text={item.text} entryId={item.entryId} actions={actions} /> : null;
  return (
    <article
      className={continued ? 'message message-continued' : 'message'}
      data-from="agent"
      aria-label={`${visible(item.agent)}, ${clockTime(item.at)}`}
    >
      {!continued && (
        <>
          <span className="avatar avatar-mark" aria-hidden="true">
            <Mark />
          </span>
          <MessageHead name={item.agent} at={item.at}>
            {buttons}
          </MessageHead>
        </>
      )}
      <div className="message-body">
        {item.thinking !== undefined && item.thinking !== '' && <Thinking item={item} open={thinkingOpen} onToggle={onThinking} />}
        {item.text === '' && item.streaming ? (
          <p className="message-note">
            <span className="caret" /> {item.thinking ? '' : 'Answering'}
          </p>
        ) : (
          item.text !== '' && <Markdown text={item.text} streaming={item.streaming} onCopy={actions.onCopy} />
        )}
        {item.error !== undefined && (
          <p className="message-note tone-bad">
            <Icon name="x-circle" size={14} /> {visible(item.error)}
          </p>
        )}
        {continued && buttons}
      </div>
    </article>
  );
}

export function CustomMessage({ item, actions }: { readonly item: CustomItem; readonly actions: MessageActions }): ReactNode {
  const what = item.via === 'schedule' || item.via === 'heartbeat' ? item.via : 'note';
  return (
    <article className="message" data-from="custom" aria-label={`${what} from ${visible(item.from)}, ${clockTime(item.at)}`}>
      <span className="avatar" aria-hidden="true">
        <Icon name="joint" />
      </span>
      <MessageHead name={item.from} at={item.at} what={what}>
        <Actions text={item.text} entryId={item.entryId} actions={actions} />
      </MessageHead>
      <div className="message-body">
        <Markdown text={item.text} onCopy={actions.onCopy} />
        <ImageStrip images={item.images ?? []} />
      </div>
    </article>
  );
}

/** The name of an agent above a call that came before any words. */
export function AgentHead({ name, at }: { readonly name: string; readonly at: number }): ReactNode {
  return (
    <div className="message message-head-only">
      <span className="avatar avatar-mark" aria-hidden="true">
        <Mark />
      </span>
      <MessageHead name={name} at={at} />
    </div>
  );
}

interface MessageHeadProps {
  readonly name: string;
  readonly at: number;
  readonly what?: string;
  readonly children?: ReactNode;
}

function MessageHead({ name, at, what, children }: MessageHeadProps): ReactNode {
  return (
    <div className="message-head">
      <b>
        <bdi>{visible(name)}</bdi>
      </b>
      {what !== undefined && <span className="tag">{what}</span>}
      <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
        {clockTime(at)}
      </time>
      {children}
    </div>
  );
}

interface ActionsProps {
  readonly text: string;
  readonly entryId: string | undefined;
  readonly actions: MessageActions;
}

/** One stop for the Tab key per message; the arrow keys go from action to action. */
function Actions({ text, entryId, actions }: ActionsProps): ReactNode {
  const ref = useRef<HTMLSpanElement>(null);
  const current = useRef(0);
  const buttons = () => [...(ref.current?.querySelectorAll('button') ?? [])];
  const mark = () => {
    for (const [index, button] of buttons().entries()) button.tabIndex = index === current.current ? 0 : -1;
  };
  useLayoutEffect(mark);
  function onFocus(event: FocusEvent): void {
    const at = buttons().indexOf(event.target as HTMLButtonElement);
    if (at < 0) return;
    current.current = at;
    mark();
  }
  function onKeyDown(event: KeyboardEvent): void {
    const all = buttons();
    const to = { ArrowRight: current.current + 1, ArrowLeft: current.current - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[(to + all.length) % all.length]?.focus();
  }
  return (
    <span className="message-actions" role="toolbar" aria-label="Actions" onKeyDown={onKeyDown} onFocus={onFocus} ref={ref}>
      {entryId !== undefined && actions.onRewind && (
        <button
          type="button"
          className="chat-icon-button"
          aria-label="Go back to before this"
          title="Go back to before this"
          onClick={() => actions.onRewind?.(entryId)}
        >
          <Icon name="history" size={14} />
        </button>
      )}
      {entryId !== undefined && actions.onFork && (
        <button
          type="button"
          className="chat-icon-button"
          aria-label="Go on from here in a new session"
          title="Go on from here in a new session"
          onClick={() => actions.onFork?.(entryId)}
        >
          <Icon name="branch" size={14} />
        </button>
      )}
      <CopyButton text={text} label="Copy the message" onCopy={actions.onCopy} />
    </span>
  );
}

interface ThinkingProps {
  readonly item: AssistantItem;
  readonly open: boolean;
  readonly onToggle: (open: boolean) => void;
}

function Thinking({ item, open, onToggle }: ThinkingProps): ReactNode {
  const bodyId = useId();
  const going = item.streaming && item.text === '';
  const words = item.thinkingMs === undefined ? (going ? 'Thinking' : 'Thought') : `Thought for ${duration(item.thinkingMs)}`;
  return (
    <div className="thinking">
      <button type="button" aria-expanded={open} aria-controls={open ? bodyId : undefined} onClick={() => onToggle(!open)}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} size={14} />
        {words}
      </button>
      {open && (
        <p className="thinking-text plain-text" id={bodyId}>
          {item.thinking}
        </p>
      )}
    </div>
  );
}
