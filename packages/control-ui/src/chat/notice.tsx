// What happened to the conversation: a command's answer, a summary, a change of model, how a turn ended and what to do.
import { type RunEnd, visible } from '@tenon/protocol';
import { type ReactNode, useId } from 'react';
import { Icon, type IconName } from '../icons.tsx';
import { clockTime, plural } from './format.ts';
import { Markdown } from './markdown.tsx';
import type { NoticeItem, TranscriptProps } from './types.ts';

interface NoticeProps {
  readonly item: NoticeItem;
  readonly open: boolean;
  readonly onToggle: (open: boolean) => void;
  readonly onRetry?: TranscriptProps['onRetry'];
  readonly onCopy?: TranscriptProps['onCopy'];
}

export function Notice({ item, open, onToggle, onRetry, onCopy }: NoticeProps): ReactNode {
  const { notice } = item;
  switch (notice.type) {
    case 'command':
      return (
        <section className="notice notice-command" aria-label="Command">
          <p className="notice-line">
            <Icon name="terminal" size={14} />
            <code>{visible(notice.command)}</code>
            <time>{clockTime(item.at)}</time>
          </p>
          {notice.reply !== '' && <Markdown text={notice.reply} onCopy={onCopy} />}
        </section>
      );
    case 'compaction':
      return (
        <Folded
          icon="archive"
          words={`Older messages are summed up, ${plural(notice.tokensBefore, 'token')} before`}
          {...{ open, onToggle, onCopy, text: notice.summary }}
        />
      );
    case 'branch':
      return (
        <Folded icon="branch" words="What was said on the branch that was left" {...{ open, onToggle, onCopy, text: notice.summary }} />
      );
    case 'model':
      return <Line icon="model" words={`From here on ${visible(notice.model)} answers`} />;
    case 'thinking':
      return (
        <Line
          icon="model"
          words={notice.level === 'off' ? 'From here on the model does not think aloud' : `Thinking is set to ${notice.level}`}
        />
      );
    case 'label':
      return <Line icon="pin" words={notice.label === null ? 'A label was taken off' : `Labelled “${visible(notice.label)}”`} />;
    case 'title':
      return <Line icon="edit" words={`The session is called “${visible(notice.title)}”`} />;
    case 'edit':
      return (
        <Line
          icon="edit"
          words={notice.left === 'out' ? 'A message is no longer told to the model' : 'A message is told to the model in other words'}
        />
      );
    case 'phase':
      return <Line icon={notice.busy ? 'spinner' : 'info'} words={visible(notice.text)} />;
    case 'end':
      return <RunEnded item={item} end={notice.end} advice={notice.advice} onRetry={notice.retryable ? onRetry : undefined} />;
  }
}

function Line({ icon, words }: { readonly icon: IconName; readonly words: string }): ReactNode {
  return (
    <p className="notice notice-line">
      <Icon name={icon} size={14} className={icon === 'spinner' ? 'spin' : ''} />
      <span>{words}</span>
    </p>
  );
}

interface FoldedProps {
  readonly icon: IconName;
  readonly words: string;
  readonly text: string;
  readonly open: boolean;
  readonly onToggle: (open: boolean) => void;
  readonly onCopy: TranscriptProps['onCopy'];
}

function Folded({ icon, words, text, open, onToggle, onCopy }: FoldedProps): ReactNode {
  const bodyId = useId();
  return (
    <section className="notice" aria-label={words}>
      <button
        type="button"
        className="notice-line notice-fold"
        aria-expanded={open}
        aria-controls={open ? bodyId : undefined}
        onClick={() => onToggle(!open)}
      >
        <Icon name={open ? 'chevron-down' : 'chevron-right'} size={14} />
        <Icon name={icon} size={14} />
        <span>{words}</span>
      </button>
      {open && (
        <div className="notice-body" id={bodyId}>
          <Markdown text={text} onCopy={onCopy} />
        </div>
      )}
    </section>
  );
}

/** How a turn ended, in words: what happened, and what is safe to know about it. */
export const endWords: Record<
  RunEnd['kind'],
  { readonly title: string; readonly icon: IconName; readonly tone: 'plain' | 'warn' | 'bad' }
> = {
  completed: { title: 'The agent has answered', icon: 'check', tone: 'plain' },
  handled: { title: 'Answered without asking the agent', icon: 'check', tone: 'plain' },
  aborted: { title: 'Stopped', icon: 'stop', tone: 'plain' },
  refused: { title: 'Refused', icon: 'blocked', tone: 'bad' },
  failed: { title: 'The model could not answer', icon: 'x-circle', tone: 'bad' },
  step_limit: { title: 'Stopped at the limit of steps for one turn', icon: 'warning', tone: 'warn' },
  cost_limit: { title: 'Stopped at the limit of cost for one turn', icon: 'warning', tone: 'warn' },
  internal_error: { title: 'A fault in the gateway ended this turn', icon: 'x-circle', tone: 'bad' },
};

interface RunEndedProps {
  readonly item: NoticeItem;
  readonly end: RunEnd;
  readonly advice: string | undefined;
  readonly onRetry: TranscriptProps['onRetry'];
}

function RunEnded({ item, end, advice, onRetry }: RunEndedProps): ReactNode {
  const words = endWords[end.kind];
  return (
    <section className="notice notice-end" data-tone={words.tone} aria-label={words.title}>
      <Icon name={words.icon} className={`tone-${words.tone}`} />
      <div>
        <p>
          <b>{words.title}</b> <time>{clockTime(item.at)}</time>
        </p>
        {end.reason !== undefined && <p>{visible(end.reason)}</p>}
        {advice !== undefined && <p>{visible(advice)}</p>}
        {end.code !== undefined && <code>{visible(end.code)}</code>}
      </div>
      {onRetry && (
        <button type="button" className="chat-button chat-button-small" onClick={() => onRetry(item)}>
          <Icon name="retry" size={14} /> Try again
        </button>
      )}
    </section>
  );
}
