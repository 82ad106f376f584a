// What was thrown, as one short line. It may be anything, of any size, so reading it may throw too.
import { visible } from '@tenon/protocol';

const MESSAGE_LENGTH = 512;
/** To cut a text is to make it one piece first: one of hundreds of megabytes is not worth that. */
const MAX_READ = 1_000_000;

export function shortText(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message || error.name : String(error);
    if (typeof text !== 'string') return 'something that cannot be shown';
    return text.length > MAX_READ ? `a text of ${text.length} characters` : visible(text.slice(0, MESSAGE_LENGTH));
  } catch {
    return 'something that cannot be shown';
  }
}
