// What a tool gave back: its last lines while it runs, then its first and last, and all of it when asked.
import { memo, type ReactNode, useMemo, useState } from 'react';
import { count, plural } from './format.ts';
import { ScrollBox } from './scroll-box.tsx';
import { VisibleText } from './visible-text.tsx';

const LIVE_LINES = 6;
const FOLD_OVER = 24;
const HEAD_LINES = 8;
const TAIL_LINES = 8;
const LINE_CHARS = 2_000;

interface ToolOutputProps {
  readonly text: string;
  readonly running: boolean;
}

export const ToolOutput = memo(function ToolOutput({ text, running }: ToolOutputProps): ReactNode {
  const [whole, setWhole] = useState(false);
  const lines = useMemo(() => outputLines(text), [text]);
  if (whole) {
    return (
      <ScrollBox className="tool-output-whole" label="Whole output">
        <pre className="tool-output">
          <VisibleText text={lines.join('\n')} keep={'\n\t'} />
        </pre>
      </ScrollBox>
    );
  }
  if (running) return <Lines lines={lines.slice(-LIVE_LINES)} />;
  const long = lines.length > FOLD_OVER;
  const wide = lines.some((line) => line.length > LINE_CHARS);
  if (!long && !wide) return <Lines lines={lines} />;
  const left = lines.length - HEAD_LINES - TAIL_LINES;
  return (
    <>
      <Lines lines={long ? lines.slice(0, HEAD_LINES) : lines} />
      <button type="button" className="tool-more" onClick={() => setWhole(true)}>
        {long ? `Show ${plural(left, 'more line')}` : 'Show the whole lines'}
      </button>
      {long && <Lines lines={lines.slice(-TAIL_LINES)} />}
    </>
  );
});

function Lines({ lines }: { readonly lines: readonly string[] }): ReactNode {
  const cut = lines.map((line) =>
    line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)} … ${count(line.length - LINE_CHARS)} more` : line,
  );
  return (
    <pre className="tool-output">
      <VisibleText text={cut.join('\n')} keep={'\n\t'} />
    </pre>
  );
}

/** The lines without the empty one that a final newline makes. */
export function outputLines(text: string): readonly string[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}
