// The conversation as a list that only draws what is near the eye: ten thousand items cost as much as fifty. The reader
// stays at the end while the answer grows, stays where they are when they have scrolled up, and when older items arrive.
import { type Range, defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { lazy, memo, type ReactNode, Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Icon } from '../icons.tsx';
import { Announcer } from './announcer.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { dayName } from './format.ts';
import { AgentHead, AssistantMessage, CustomMessage, type MessageActions, UserMessage } from './message.tsx';
import { Notice } from './notice.tsx';
import { ToolCard } from './tool-card.tsx';
import type { TranscriptItem, TranscriptProps } from './types.ts';

const DeliveryCard = lazy(() => import('../files/delivery-card.tsx').then((module) => ({ default: module.DeliveryCard })));

/** The reader counts as at the end within this many pixels of it. */
const END_PX = 24;
/** Older items are asked for this far before the top is reached. */
const TOP_PX = 600;
const HOUR_MS = 3_600_000;

export function Transcript(props: TranscriptProps): ReactNode {
  const { items, now, hasOlder = false, loadingOlder = false, onLoadOlder, quiet = false } = props;
  const scrollerRef = useRef<HTMLDivElement>(null);
  const [focusedKey, setFocusedKey] = useState<string>();
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const actions = useStableActions(props);

  const pinned = useMemo(() => pinnedIndexes(items, focusedKey), [items, focusedKey]);
  const rangeExtractor = useCallback(
    (range: Range) => [...new Set([...defaultRangeExtractor(range), ...pinned])].sort((a, b) => a - b),
    [pinned],
  );
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scrollerRef.current,
    estimateSize: (index) => estimate(items[index]),
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 6,
    paddingStart: hasOlder ? 64 : 20,
    anchorTo: 'end',
    scrollEndThreshold: END_PX,
    rangeExtractor,
  });

  const { away, toEnd } = useStayAtEnd(scrollerRef);

  const filled = items.length > 0;
  const wantsOlder = hasOlder && !loadingOlder && filled && away && (virtualizer.scrollOffset ?? 0) < TOP_PX && virtualizer.range !== null;
  const firstKey = items[0]?.key;
  const askedFor = useRef<string | undefined>(undefined);
  useEffect(() => {
    // Once for each top: a page that brings nothing new is not asked for again and again.
    if (!wantsOlder || askedFor.current === firstKey) return;
    askedFor.current = firstKey;
    onLoadOlder?.();
  }, [wantsOlder, firstKey, onLoadOlder]);

  const choose = useCallback((key: string, open: boolean) => setChosen((before) => new Map(before).set(key, open)), []);
  const newest = useNewApproval(items);

  return (
    <div className="transcript-frame">
      <div
        ref={scrollerRef}
        className="transcript"
        role="log"
        aria-live="off"
        aria-label={props.label ?? 'Conversation'}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which the keyboard must be able to do
        tabIndex={0}
      >
        {/* biome-ignore lint/a11y/noStaticElementInteractions: only watches where the focus is */}
        <div
          className="transcript-rows"
          style={{ height: virtualizer.getTotalSize() }}
          onFocus={(event) => setFocusedKey(keyOf(event.target))}
          onBlur={(event) => {
            if (!event.currentTarget.contains(event.relatedTarget)) setFocusedKey(undefined);
          }}
        >
          {hasOlder && (
            <div className="older">
              <button
                type="button"
                className="chat-button chat-button-small"
                aria-disabled={loadingOlder}
                onClick={() => !loadingOlder && onLoadOlder?.()}
              >
                {loadingOlder ? 'Loading older messages' : 'Show older messages'}
              </button>
            </div>
          )}
          {virtualizer.getVirtualItems().map((row) => {
            const item = items[row.index];
            if (!item) return null;
            return (
              <div
                key={row.key}
                ref={virtualizer.measureElement}
                data-index={row.index}
                data-key={item.key}
                className={`row row-${item.kind}${row.index === items.length - 1 ? ' row-last' : ''}`}
                // Not a transform: what sticks inside a row would stick in the wrong place.
                style={{ top: row.start }}
              >
                <Row
                  item={item}
                  continued={continues(items[row.index - 1], item)}
                  now={isLive(item) ? now : now - (now % HOUR_MS)}
                  chosen={chosen.get(item.key)}
                  onChoose={choose}
                  actions={actions}
                  decideReason={props.decideReason}
                  shortcuts={props.shortcuts ?? true}
                  focus={item.key === newest && !away}
                />
              </div>
            );
          })}
        </div>
      </div>
      {away && filled && (
        <button type="button" className="jump" onClick={toEnd}>
          <Icon name="arrow-down" size={14} /> Jump to latest
        </button>
      )}
      <Announcer items={items} quiet={quiet} />
    </div>
  );
}

/** Keeps the reader at the end whatever grows, until they scroll up; then they are left alone until they come back. */
function useStayAtEnd(ref: { readonly current: HTMLElement | null }): { readonly away: boolean; readonly toEnd: () => void } {
  const [away, setAway] = useState(false);
  const stays = useRef(true);
  const toEnd = useCallback(() => {
    stays.current = true;
    setAway(false);
    if (ref.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [ref]);

  // After every drawing: a row that was measured has made the whole longer or shorter.
  useLayoutEffect(() => {
    const scroller = ref.current;
    if (scroller && stays.current && fromEnd(scroller) > 0) scroller.scrollTop = scroller.scrollHeight;
  });

  useEffect(() => {
    const scroller = ref.current;
    if (!scroller) return undefined;
    let last = scroller.scrollTop;
    const onScroll = () => {
      // Only a way up leaves the end: what grows moves the end away from the reader, and not the reader.
      if (fromEnd(scroller) <= END_PX) stays.current = true;
      else if (scroller.scrollTop < last - 1) stays.current = false;
      last = scroller.scrollTop;
      setAway(!stays.current);
    };
    // The composer grows, the keyboard opens.
    const observer = new ResizeObserver(() => {
      if (stays.current) scroller.scrollTop = scroller.scrollHeight;
    });
    // Before the list hears of it and draws again.
    scroller.addEventListener('scroll', onScroll, { passive: true, capture: true });
    observer.observe(scroller);
    return () => {
      scroller.removeEventListener('scroll', onScroll, { capture: true });
      observer.disconnect();
    };
  }, [ref]);
  return { away, toEnd };
}

function fromEnd(scroller: HTMLElement): number {
  return scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop;
}

type Actions = MessageActions & Pick<TranscriptProps, 'onDecide'>;

interface RowProps {
  readonly item: TranscriptItem;
  readonly continued: boolean;
  /** To the hour where no clock runs on the row, so that it is not drawn again each second. */
  readonly now: number;
  readonly chosen: boolean | undefined;
  readonly onChoose: (key: string, open: boolean) => void;
  readonly actions: Actions;
  readonly decideReason: string | undefined;
  readonly shortcuts: boolean;
  readonly focus: boolean;
}

const Row = memo(function Row({ item, continued, now, chosen, onChoose, actions, decideReason, shortcuts, focus }: RowProps): ReactNode {
  const onToggle = (open: boolean) => onChoose(item.key, open);
  switch (item.kind) {
    case 'day':
      return (
        // biome-ignore lint/a11y/useSemanticElements: it carries words, which an hr cannot
        <div className="day" role="separator" aria-label={dayName(item.at, now)}>
          <span>{dayName(item.at, now)}</span>
        </div>
      );
    case 'user':
      return <UserMessage item={item} actions={actions} />;
    case 'assistant':
      return <AssistantMessage item={item} continued={continued} actions={actions} thinkingOpen={chosen ?? false} onThinking={onToggle} />;
    case 'tool':
      return (
        <>
          {!continued && item.agent !== undefined && item.at !== undefined && <AgentHead name={item.agent} at={item.at} />}
          <ToolCard tool={item} now={now} open={chosen} onToggle={onToggle} onCopy={actions.onCopy} />
        </>
      );
    case 'approval':
      return (
        <ApprovalCard
          approval={item.approval}
          now={now}
          onDecide={actions.onDecide}
          deciding={item.deciding}
          error={item.error}
          decideReason={decideReason}
          shortcuts={shortcuts}
          focusOnMount={focus}
          open={chosen}
          onToggle={onToggle}
        />
      );
    case 'notice':
      return <Notice item={item} open={chosen ?? false} onToggle={onToggle} onRetry={actions.onRetry} onCopy={actions.onCopy} />;
    case 'custom':
      return <CustomMessage item={item} actions={actions} />;
    case 'plugin':
      return item.draw();
    case 'delivery':
      return (
        <Suspense fallback={null}>
          <DeliveryCard item={item} />
        </Suspense>
      );
  }
});

/** Callbacks that keep their identity, so that a new one of the shell draws no row again. */
function useStableActions(props: TranscriptProps): Actions {
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  const has = [props.onFork, props.onRewind, props.onRetry, props.onUnqueue, props.onCopy, props.onDecide].map(
    (each) => each !== undefined,
  );
  const [fork, rewind, retry, unqueue, copy, decide] = has;
  return useMemo<Actions>(
    () => ({
      onFork: fork ? (entryId) => latest.current.onFork?.(entryId) : undefined,
      onRewind: rewind ? (entryId) => latest.current.onRewind?.(entryId) : undefined,
      onRetry: retry ? (item) => latest.current.onRetry?.(item) : undefined,
      onUnqueue: unqueue ? (item) => latest.current.onUnqueue?.(item) : undefined,
      onCopy: copy ? (text) => latest.current.onCopy?.(text) : undefined,
      onDecide: decide ? (approval, decision) => latest.current.onDecide?.(approval, decision) : undefined,
    }),
    [fork, rewind, retry, unqueue, copy, decide],
  );
}

/** The key of a question that came after the transcript was opened: its card takes the focus, unless somebody writes. */
function useNewApproval(items: readonly TranscriptItem[]): string | undefined {
  const seen = useRef<Set<string> | undefined>(undefined);
  const pending = items.slice(-50).filter((item) => item.kind === 'approval' && item.approval.state === 'pending');
  const fresh = seen.current === undefined ? undefined : pending.find((item) => !seen.current?.has(item.key));
  const keys = pending.map((item) => item.key).join(' ');
  const [newest, setNewest] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the keys say what changed
  useLayoutEffect(() => {
    if (fresh) setNewest(fresh.key);
    seen.current = new Set(pending.map((item) => item.key));
  }, [keys]);
  return fresh?.key ?? newest;
}

/** Rows that stay drawn wherever the reader looks: the one with the focus, and questions that wait. */
function pinnedIndexes(items: readonly TranscriptItem[], focusedKey: string | undefined): readonly number[] {
  const pinned: number[] = [];
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index]!;
    const waits = item.kind === 'approval' && item.approval.state === 'pending' && items.length - index < 50;
    // A form of a plugin may be half filled.
    if (item.key === focusedKey || waits || item.kind === 'plugin') pinned.push(index);
  }
  return pinned;
}

function keyOf(target: EventTarget): string | undefined {
  return target instanceof Element ? target.closest<HTMLElement>('[data-key]')?.dataset.key : undefined;
}

/** Whether the item goes on with what the agent was doing: then its name is not said again. */
function continues(before: TranscriptItem | undefined, item: TranscriptItem): boolean {
  if (!before || before.kind === 'day' || before.kind === 'user' || before.kind === 'custom' || before.kind === 'delivery') return false;
  if (before.kind === 'notice') return before.notice.type === 'phase';
  return item.kind === 'assistant' || item.kind === 'tool';
}

function isLive(item: TranscriptItem): boolean {
  if (item.kind === 'tool') return item.state === 'running' || item.state === 'waiting' || item.state === 'writing';
  return item.kind === 'approval' && item.approval.state === 'pending';
}

/** A first guess, so that the scroll bar does not jump much when rows are measured. */
function estimate(item: TranscriptItem | undefined): number {
  switch (item?.kind) {
    case 'user':
    case 'assistant':
    case 'custom':
      return 60 + Math.ceil(item.text.length / 90) * 23;
    case 'approval':
      return item.approval.state === 'pending' ? 360 : 48;
    case 'tool':
      return 44;
    case 'plugin':
    case 'delivery':
      return 240;
    default:
      return 36;
  }
}
