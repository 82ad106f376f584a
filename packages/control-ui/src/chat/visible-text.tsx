// Text from outside where every character counts: code, arguments, output. What would move, hide or reorder other text is
// shown as its code point, marked so that it cannot be confused with text that spells the same.
import { visible } from '@tenon/protocol';
import { memo, type ReactNode } from 'react';

// Text that is nothing but hidden characters would make as many marks; then it is shown without them.
const MARK_LIMIT = 2_000;

interface VisibleTextProps {
  readonly text: string;
  /** Characters that stay what they are, such as the newline in a text of many lines. */
  readonly keep?: string;
}

export const VisibleText = memo(function VisibleText({ text, keep = '' }: VisibleTextProps): ReactNode {
  return <bdi>{marked(text, keep)}</bdi>;
});

/** The same as plain text, for names and labels. */
export function visibleKeeping(text: string, keep: string): string {
  if (visible(text) === text) return text;
  let shown = '';
  for (const character of text) shown += keep.includes(character) ? character : visible(character);
  return shown;
}

function marked(text: string, keep: string): ReactNode {
  if (visible(text) === text) return text;
  const parts: ReactNode[] = [];
  let plain = '';
  let hidden = '';
  const endPlain = () => {
    if (plain !== '') parts.push(plain);
    plain = '';
  };
  const endHidden = () => {
    if (hidden !== '') parts.push(<HiddenMark key={parts.length} code={hidden} />);
    hidden = '';
  };
  for (const character of text) {
    const shown = keep.includes(character) ? character : visible(character);
    if (shown === character) {
      endHidden();
      plain += character;
    } else {
      endPlain();
      hidden += shown;
    }
    if (parts.length > MARK_LIMIT) return visibleKeeping(text, keep);
  }
  endPlain();
  endHidden();
  return parts;
}

function HiddenMark({ code }: { readonly code: string }): ReactNode {
  return <mark className="hidden-char">{code}</mark>;
}
