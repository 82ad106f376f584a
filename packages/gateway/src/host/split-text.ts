// Text for a channel that takes only so much at once: cut at paragraphs, lines or words where there are some, never inside a
// character.

/** In order; nothing is lost but the white space at the cuts. One part where it fits. */
export function splitText(text: string, most: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const cut = placeToCut(rest, most);
    const part = rest.slice(0, cut).trimEnd();
    if (part !== '') parts.push(part);
    rest = rest.slice(cut).trimStart();
  }
  if (rest !== '' || parts.length === 0) parts.push(rest);
  return parts;
}

function placeToCut(text: string, most: number): number {
  for (const sign of ['\n\n', '\n', ' ']) {
    const at = text.lastIndexOf(sign, most);
    // A part of a few characters helps nobody.
    if (at >= most / 2) return at;
  }
  const isInPair = most > 1 && /[\ud800-\udbff]/.test(text[most - 1] ?? '') && /[\udc00-\udfff]/.test(text[most] ?? '');
  return isInPair ? most - 1 : most;
}
