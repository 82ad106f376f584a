// Copies a text and says so for a moment.
import { type ReactNode, useEffect, useState } from 'react';
import { Icon } from '../icons.tsx';

const SAID_MS = 1_600;

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, such as `Copy the output`. */
  readonly label: string;
  readonly onCopy?: ((text: string) => void) | undefined;
}

export function CopyButton({ text, label, onCopy }: CopyButtonProps): ReactNode {
  const [said, setSaid] = useState<'copied' | 'failed'>();
  useEffect(() => {
    if (said === undefined) return undefined;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);

  async function copy(): Promise<void> {
    try {
      if (onCopy) onCopy(text);
      else await navigator.clipboard.writeText(text);
      setSaid('copied');
    } catch {
      // The browser refuses where the page is not in focus or not on a safe origin.
      setSaid('failed');
    }
  }
  const words = said === 'copied' ? 'Copied' : said === 'failed' ? 'The browser does not allow copying here' : label;
  return (
    <button type="button" className="chat-icon-button" aria-label={words} title={words} onClick={() => void copy()}>
      <Icon name={said === 'copied' ? 'check' : said === 'failed' ? 'warning' : 'copy'} size={14} />
    </button>
  );
}
