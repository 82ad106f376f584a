// Cuts a Markdown text into pieces that can be read one by one, so that a growing answer is only read again from its last
// piece on. A cut is made only where both sides mean the same alone; in doubt there is none.

export type Piece =
  | { readonly kind: 'markdown' | 'plain'; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string };

const FENCE = /^(`{3,}|~{3,})(.*)$/;
const LIST_OR_CONTINUED = /^(?:[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t]|>)/;
// What a link definition or a footnote says holds in the whole text.
const REFERS = /^ {0,3}\[[^\]\n]+\]:/m;
// An HTML block of these kinds goes on over blank lines.
const SPANS_BLANKS = /^ {0,3}<(?:script|pre|style|textarea|!--|\?|![a-z]|!\[CDATA\[)/im;

// Reading Markdown can take time that grows with the square of its length: of its signs, its levels, its cells.
const WHOLE_CHARS = 500_000;
const PIECE_CHARS = 60_000;
const SIGNS = 4_000;
const DEEP = /^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*){24}|^[ \t]{96,}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])/m;

export function splitMarkdown(text: string): readonly Piece[] {
  if (text.length > WHOLE_CHARS) return [{ kind: 'plain', text }];
  if (REFERS.test(text) || SPANS_BLANKS.test(text)) return [markdown(text)];
  const pieces: Piece[] = [];
  const lines = text.split('\n');
  let pending: string[] = [];
  const flush = () => {
    if (pending.some((line) => line.trim() !== '')) pieces.push(markdown(pending.join('\n')));
    pending = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const fence = FENCE.exec(line);
    // One at the very left ends lists and quotes; only inside another fence it is text.
    const opens = fence && (fence[1]![0] === '~' || !fence[2]!.includes('`'));
    if (opens && !openFence(pending)) {
      flush();
      const body: string[] = [];
      const closing = new RegExp(`^ {0,3}${fence[1]![0]}{${fence[1]!.length},}[ \\t]*$`);
      for (at++; at < lines.length && !closing.test(lines[at]!); at++) body.push(lines[at]!);
      pieces.push({ kind: 'code', language: language(fence[2]!.trim()), text: body.join('\n') });
      continue;
    }
    const breaks = line.trim() !== '' && at > 0 && lines[at - 1]!.trim() === '' && !LIST_OR_CONTINUED.test(line);
    if (breaks && !openFence(pending)) flush();
    pending.push(line);
  }
  flush();
  return pieces;
}

/** A piece that would take long to read, or more levels than anybody writes, is shown as the text that it is. */
function markdown(text: string): Piece {
  const signs = text.length > SIGNS ? (text.match(/[*_~[\]|`!<>]/g)?.length ?? 0) : 0;
  const tangled = signs > SIGNS || text.length > PIECE_CHARS || DEEP.test(text);
  return { kind: tangled ? 'plain' : 'markdown', text };
}

/** Whether an indented or quoted fence among these lines is still open. */
function openFence(lines: readonly string[]): boolean {
  let open = '';
  for (const line of lines) {
    const mark = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark === undefined) continue;
    if (open === '') open = mark;
    else if (mark[0] === open[0] && mark.length >= open.length) open = '';
  }
  return open !== '';
}

function language(info: string): string {
  return /^[A-Za-z0-9+#._-]{1,24}/.exec(info)?.[0] ?? '';
}
