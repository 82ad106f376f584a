// What was thrown, as one short line, and with which stack. It may be anything, of any size, so reading it may throw
// too; and it may have a secret in it, while the line is shown to whoever may look at plugins.
import { visible } from '@tenon/protocol';
import { hideSecrets } from '../kernel/redact.ts';

const MESSAGE_LENGTH = 512;
/** Looked through for secrets: enough that none of them is cut in two where the line ends. */
const SEARCHED = 16_384;
/** To cut a text is to make it one piece first: one of hundreds of megabytes is not worth that. */
const MAX_READ = 1_000_000;

export function shortText(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message || error.name : String(error);
    if (typeof text !== 'string') return 'something that cannot be shown';
    if (text.length > MAX_READ) return `a text of ${text.length} characters`;
    return visible(hideSecrets(text.slice(0, SEARCHED)).slice(0, MESSAGE_LENGTH));
  } catch {
    return 'something that cannot be shown';
  }
}

const STACK_LENGTH = 4_096;

export function stackOf(error: unknown): string {
  try {
    const { stack } = error as { stack?: unknown };
    return typeof stack === 'string' && stack.length < MAX_READ ? stack.slice(0, STACK_LENGTH) : '';
  } catch {
    return '';
  }
}
