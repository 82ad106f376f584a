// An entry as it fits an answer. What was said may be larger than a frame: a page of history with one such entry would be
// none at all, and the session could never be read again. What is left out says so; the transcript keeps all of it.
import type { AssistantMessage, Entry, ImageBlock, JsonObject, TextBlock } from '@tenon/protocol';

type Block = ImageBlock | AssistantMessage['content'][number];

/** The entry itself where it has at most so many characters as JSON. */
export function shownEntry(entry: Entry, maxChars: number): Entry {
  if (charsOf(entry) <= maxChars) return entry;
  switch (entry.type) {
    case 'message': {
      const { message } = entry;
      if (message.role === 'toolResult') {
        const { details: _, ...rest } = message;
        return { ...entry, message: { ...rest, content: cutBlocks(message.content, maxChars) } };
      }
      if (message.role === 'user') return { ...entry, message: { ...message, content: cutBlocks(message.content, maxChars) } };
      return { ...entry, message: { ...message, content: cutBlocks(message.content, maxChars) } };
    }
    case 'custom_message': {
      const { details: _, ...rest } = entry;
      return { ...rest, content: cutBlocks(entry.content, maxChars) };
    }
    case 'context_edit':
      return { ...entry, replacement: entry.replacement && cutBlocks(entry.replacement, maxChars) };
    case 'compaction': {
      const { details: _, ...rest } = entry;
      return { ...rest, summary: cutText(entry.summary, maxChars) };
    }
    case 'branch_summary':
      return { ...entry, summary: cutText(entry.summary, maxChars) };
    case 'custom':
      return { ...entry, data: { leftOut: leftOut(charsOf(entry.data)) } };
    default:
      return entry;
  }
}

/** The text with at most so many characters as JSON; what is missing is said at its end. */
export function cutText(text: string, maxChars: number): string {
  if (charsOf(text) <= maxChars) return text;
  let kept = text.slice(0, maxChars);
  // Control characters are six times as long in JSON.
  while (charsOf(kept) > maxChars) kept = kept.slice(0, Math.floor(kept.length / 2));
  return `${kept.toWellFormed()}… ${leftOut(text.length - kept.length)}`;
}

function cutBlocks<Each extends Block>(blocks: readonly Each[], maxChars: number): (Each | TextBlock)[] {
  const shown: (Each | TextBlock)[] = [];
  let left = maxChars;
  for (const [index, block] of blocks.entries()) {
    if (left <= 0) {
      shown.push({ type: 'text', text: `[${blocks.length - index} more parts are not shown here]` });
      break;
    }
    const cut = cutBlock(block, left);
    left -= charsOf(cut);
    shown.push(cut);
  }
  return shown;
}

function cutBlock<Each extends Block>(block: Each, maxChars: number): Each | TextBlock {
  if (charsOf(block) <= maxChars) return block;
  switch (block.type) {
    case 'text':
      return { type: 'text', text: cutText(block.text, maxChars) };
    case 'image':
      return { type: 'text', text: `[an image of type ${block.mimeType}: ${leftOut(block.data.length)}]` };
    case 'thinking':
      return { type: 'thinking', thinking: cutText(block.thinking, maxChars) } as Each;
    case 'toolCall': {
      const args: JsonObject = { leftOut: leftOut(charsOf(block.arguments)) };
      return { type: 'toolCall', id: block.id, name: block.name, arguments: args } as Each;
    }
    default:
      return block;
  }
}

function leftOut(characters: number): string {
  return `(${characters} characters are not shown here)`;
}

function charsOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
