// What is inside entries, as rows need it.
import type { ChatImage } from '../chat/types.ts';

export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mimeType: string; readonly data: string };

export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

export function imagesOf(id: string, content: readonly ContentBlock[]): ChatImage[] | undefined {
  const images = content.flatMap((block, index) =>
    block.type === 'image' ? [{ key: `${id}:${index}`, mimeType: block.mimeType, data: block.data }] : [],
  );
  return images.length > 0 ? images : undefined;
}

/** Replies of commands are lines; in Markdown a single line break is a space. Code keeps its own. */
export function withBreaks(text: string): string {
  return text
    .split(/(^```[\s\S]*?^```)/m)
    .map((part) => (part.startsWith('```') ? part : part.replace(/([^\s])\n(?=[^\n])/g, '$1  \n')))
    .join('');
}

export function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

/** The text of a block of an extension as Markdown: only one of the kind is Markdown itself, of all others the columns count. */
export function blockWords(block: unknown, text: string): string {
  const kind = typeof block === 'object' && block !== null && 'kind' in block ? block.kind : undefined;
  if (kind === 'markdown') return text;
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
