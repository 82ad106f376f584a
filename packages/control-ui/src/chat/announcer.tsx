// Tells screen readers what happens, in whole sentences and not letter by letter: what is finished of an answer, that a tool
// began and ended, that something waits. The transcript itself says nothing by itself, because its rows come and go.
import { visible } from '@tenon/protocol';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { outcome } from './approval-card.tsx';
import { endWords } from './notice.tsx';
import { finishedUpTo, spoken } from './sentences.ts';
import { toolStates } from './tool-card.tsx';
import type { TranscriptItem } from './types.ts';

/** Only the end of a transcript can be news. */
const WATCHED = 30;
/** Sentences that stay in the region; older ones have been read. */
const KEPT = 6;

/** What of an item has been said: how far in an answer, or the state of anything else. */
type Said = { readonly text: string; readonly upTo: number } | string;

interface AnnouncerProps {
  readonly items: readonly TranscriptItem[];
  readonly quiet: boolean;
}

export function Announcer({ items, quiet }: AnnouncerProps): ReactNode {
  const said = useRef<Map<string, Said> | undefined>(undefined);
  const nextId = useRef(0);
  const [lines, setLines] = useState<readonly { readonly id: number; readonly text: string }[]>([]);
  useEffect(() => {
    const { news, now } = whatIsNew(items.slice(-WATCHED), said.current);
    // An empty transcript that fills is being loaded: what is in it is not new.
    said.current = items.length === 0 ? undefined : now;
    if (quiet || news.length === 0) return;
    const added = news.map((text) => ({ id: nextId.current++, text }));
    setLines((before) => [...before, ...added].slice(-KEPT));
  }, [items, quiet]);
  return (
    <div className="visually-hidden" aria-live="polite" aria-atomic="false" data-announcer="">
      {lines.map((line) => (
        <p key={line.id}>{line.text}</p>
      ))}
    </div>
  );
}

/** What to say now, and what has been said after that. */
export function whatIsNew(
  items: readonly TranscriptItem[],
  last: ReadonlyMap<string, Said> | undefined,
): { readonly news: readonly string[]; readonly now: Map<string, Said> } {
  // Nothing left of what was there: it is another conversation, and all of it was said before.
  const before = last && items.some((item) => last.has(identity(item))) ? last : undefined;
  const news: string[] = [];
  const now = new Map<string, Said>();
  const keys = new Set(items.map(identity));
  const gone = [...(before ?? [])].filter(([key]) => !keys.has(key)).map(([, said]) => said);
  for (const item of items) {
    const key = identity(item);
    const said = before?.get(key);
    if (item.kind === 'assistant') {
      // An answer that was streamed comes back as an entry of the transcript, under another key: it is the same words.
      const same = said ?? gone.find((each) => typeof each === 'object' && each.text !== '' && item.text.startsWith(each.text));
      const from = !before ? item.text.length : typeof same === 'object' ? Math.min(same.upTo, item.text.length) : 0;
      const upTo = item.streaming ? finishedUpTo(item.text, from) : item.text.length;
      now.set(key, { text: item.text, upTo });
      const text = spoken(item.text.slice(from, upTo));
      if (text !== '') news.push(visible(text));
      continue;
    }
    const state = sentence(item);
    now.set(key, state);
    if (before && state !== said && state !== '') news.push(state);
  }
  return { news, now };
}

function identity(item: TranscriptItem): string {
  return item.kind === 'tool' ? `call ${item.callId}` : item.kind === 'approval' ? `approval ${item.approval.id}` : item.key;
}

function sentence(item: Exclude<TranscriptItem, { kind: 'assistant' }>): string {
  switch (item.kind) {
    case 'tool': {
      // Its beginning and its end, and not each step between.
      const under = item.state === 'writing' || item.state === 'running' ? 'started' : toolStates[item.state].word.toLowerCase();
      return visible(`${item.name} ${under}${item.subject === undefined || item.subject === '' ? '' : `: ${item.subject}`}`);
    }
    case 'approval':
      return visible(`${outcome(item.approval).words}: ${item.approval.title}`);
    case 'notice':
      if (item.notice.type === 'end') {
        const words = endWords[item.notice.end.kind];
        return words.tone === 'plain' && item.notice.end.kind !== 'aborted'
          ? ''
          : visible(`${words.title}. ${item.notice.end.reason ?? ''}`);
      }
      return item.notice.type === 'command' ? visible(spoken(item.notice.reply)) : '';
    case 'user':
      return item.state === 'failed' ? visible(`Not sent. ${item.error ?? ''}`) : '';
    case 'plugin':
      return visible(`${item.from} shows: ${item.label}`);
    case 'delivery': {
      const { by, presentation, text = '' } = item.delivery;
      return visible(`${by} sent: ${presentation?.title ?? spoken(text)}${item.pressed ? `. Pressed: ${item.pressed.label}` : ''}`);
    }
    case 'custom':
      return visible(`${item.from}: ${spoken(item.text)}`);
    case 'day':
      return '';
  }
}
