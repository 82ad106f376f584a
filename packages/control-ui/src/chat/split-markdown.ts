// Cuts a Markdown text into pieces that can be read one by one, so that a growing answer is only read again from its last
// piece on. A cut is made only where both sides mean the same alone; in doubt there is none.

export type Piece =
  | { readonly kind: 'markdown'; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string };

const FENCE = /^(`{3,}|~{3,})[ \t]*([^`]*?)[ \t]*$/;
const LIST_OR_CONTINUED = /^(?:[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t]|>)/;
// What a link definition or a footnote says holds in the whole text.
const REFERS = /^ {0,3}\[[^\]\n]+\]:/m;
// An HTML block of these kinds goes on over blank lines.
const SPANS_BLANKS = /^ {0,3}<(?:script|pre|style|textarea|!--|\?|![a-z]|!\[CDATA\[)/im;

export function splitMarkdown(text: string): readonly Piece[] {
  if (REFERS.test(text) || SPANS_BLANKS.test(text)) return [{ kind: 'markdown', text }];
  const pieces: Piece[] = [];
  const lines = text.split('\n');
  let pending: string[] = [];
  const flush = () => {
    if (pending.some((line) => line.trim() !== '')) pieces.push({ kind: 'markdown', text: pending.join('\n') });
    pending = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const fence = FENCE.exec(line);
    // A fence after a line of a list or a quote may belong to it; such a piece stays one.
    const opens = fence && (fence[1]![0] === '~' || !fence[2]!.includes('`'));
    if (opens && !inContainer(pending)) {
      flush();
      const body: string[] = [];
      const closing = new RegExp(`^ {0,3}${fence[1]![0]}{${fence[1]!.length},}[ \\t]*$`);
      for (at++; at < lines.length && !closing.test(lines[at]!); at++) body.push(lines[at]!);
      pieces.push({ kind: 'code', language: language(fence[2]!), text: body.join('\n') });
      continue;
    }
    const breaks = line.trim() !== '' && at > 0 && lines[at - 1]!.trim() === '' && !LIST_OR_CONTINUED.test(line);
    if (breaks && !openFence(pending)) flush();
    pending.push(line);
  }
  flush();
  return pieces;
}

/** Whether a line after these could belong to a list, a quote or an indented fence that they began. */
function inContainer(lines: readonly string[]): boolean {
  return openFence(lines) || lines.some((line) => LIST_OR_CONTINUED.test(line));
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
