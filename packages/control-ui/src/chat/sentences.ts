// What of a growing answer is finished enough to be read out: whole sentences while it grows, the rest when it is done.

const END = /[.!?…](?=["'”’)\]*_]*\s)["'”’)\]*_]*|\n\s*\n|\n(?=[-*+] |\d+\. )/g;

/** The position up to which `text` is made of finished sentences, looking from `from` on. */
export function finishedUpTo(text: string, from: number): number {
  let end = from;
  END.lastIndex = from;
  for (let match = END.exec(text); match; match = END.exec(text)) end = match.index + match[0].length;
  return end;
}

/** Markdown as it is spoken: without its signs, code blocks only named. */
export function spoken(markdown: string): string {
  return (
    markdown
      .replace(/(^|\n)(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:\n\2|$)/g, '$1Code block. ')
      // Bounded, so that a text of nothing but brackets is read once and not once for each.
      .replace(/!?\[([^\]\n]{0,200})\]\([^)\n]{0,2000}\)/g, '$1')
      .replace(/^[ \t]*(?:[-*+]|#{1,6}|>)[ \t]+/gm, '')
      .replace(/[*_`|~]+/g, '')
      .replace(/\s+/g, ' ')
      .trim()
  );
}
