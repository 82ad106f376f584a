// What fits what was typed after `/`: commands, and what may follow one. The text keeps the focus; the list only follows its keys.
import { type CommandInfo, visible } from '@tenon/protocol';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Completion, ComposerProps } from './types.ts';

/** One row of the list. */
export interface Offer {
  /** What stands in the composer once it is chosen. */
  readonly text: string;
  readonly label: string;
  readonly detail: string;
  readonly isPlugin: boolean;
  /** Stands there whole already: Enter sends it like any text. */
  readonly isWhole: boolean;
}

/** The commands to offer for a text, or none where it is not the beginning of one. */
export function matchingCommands(value: string, commands: readonly CommandInfo[]): readonly Offer[] {
  const typed = /^\/([a-z0-9_:-]*)$/i.exec(value)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  const begins = commands.filter((command) => command.name.startsWith(typed));
  const fitting = [...begins, ...commands.filter((command) => !begins.includes(command) && command.name.includes(typed))];
  return fitting.map(({ name, usage, summary, source }) => ({
    text: usage.trim() === `/${name}` ? `/${name}` : `/${name} `,
    label: usage,
    detail: summary,
    isPlugin: source === 'plugin',
    isWhole: value === `/${name}`,
  }));
}

const HAS_ARGUMENTS = /^\/[a-z0-9][a-z0-9_:-]{0,127}[ \t][^\n]*$/i;
const SETTLED_MS = 120;
const MAX_TEXT = 4_096;

/** What may follow a command, as whoever has registered it says; asked for when the typing rests. What was overtaken is dropped. */
export function useArguments(value: string, onComplete: ComposerProps['onComplete']): readonly Offer[] {
  const [found, setFound] = useState<readonly Completion[]>([]);
  const isAsked = onComplete !== undefined && value.length <= MAX_TEXT && HAS_ARGUMENTS.test(value);
  useEffect(() => {
    if (!isAsked) {
      setFound((before) => (before.length === 0 ? before : []));
      return undefined;
    }
    let isOver = false;
    const timer = setTimeout(() => {
      onComplete(value).then(
        (completions) => !isOver && setFound(completions),
        // Nobody waits for it: the command can be typed.
        () => !isOver && setFound([]),
      );
    }, SETTLED_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [value, isAsked, onComplete]);
  // Those of the text before stay as far as they fit, so that the list does not come and go with each letter.
  const fitting = isAsked ? found.filter(({ text }) => text.startsWith(value) && text !== value) : [];
  return fitting.map(({ text, description = '' }) => ({ text, label: text, detail: description, isPlugin: false, isWhole: false }));
}

interface CommandListProps {
  readonly id: string;
  readonly label: string;
  readonly offers: readonly Offer[];
  /** None is chosen at -1. */
  readonly active: number;
  readonly onChoose: (offer: Offer) => void;
}

export function CommandList({ id, label, offers, active, onChoose }: CommandListProps): ReactNode {
  const activeRef = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ref points to another row when `active` changes
  useEffect(() => {
    // Not returned: newer browsers answer with a promise.
    activeRef.current?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div className="commands" id={id} role="listbox" aria-label={label}>
      {offers.map((offer, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text, as aria-activedescendant says
        <div
          key={offer.text}
          ref={index === active ? activeRef : undefined}
          id={`${id}-${index}`}
          className="command"
          role="option"
          aria-selected={index === active}
          // The text must not lose the focus to a click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(offer)}
        >
          <code>{visible(offer.label)}</code>
          <span>{visible(offer.detail)}</span>
          {offer.isPlugin && <span className="tag">plugin</span>}
        </div>
      ))}
    </div>
  );
}
