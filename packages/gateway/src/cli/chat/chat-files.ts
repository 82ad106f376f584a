// `/attach` and `/detach`: files that go with the next message, from a terminal or through a pipe.
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Conversation } from './conversation.ts';

/** What is said of it; throws where the file cannot be sent. */
export async function changeFiles(
  conversation: Pick<Conversation, 'attach' | 'detach' | 'attached'>,
  kind: 'attach' | 'detach',
  rest: string,
): Promise<string> {
  if (kind === 'detach') return `${conversation.detach()} files were put away`;
  const file = pathIn(rest);
  if (file !== '') return conversation.attach(file);
  const { attached } = conversation;
  return attached.length === 0
    ? 'No file goes with the next message. Say which, such as /attach report.pdf'
    : `With the next message: ${attached.join(', ')}. /detach leaves them`;
}

/** As a shell would read it, as far as one path goes. */
export function pathIn(rest: string): string {
  const text = rest.trim();
  const [, , quoted] = /^(["'])(.*)\1$/.exec(text) ?? [];
  if (quoted !== undefined) return quoted;
  const plain = text.replaceAll(/\\(.)/g, '$1');
  return plain === '~' || plain.startsWith('~/') ? join(homedir(), plain.slice(1)) : plain;
}
