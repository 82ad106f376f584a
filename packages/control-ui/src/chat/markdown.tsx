// Somebody's Markdown, as text and structure only: no HTML, no ids, classes or styles of theirs, no address that does more
// than open a page, and nothing loaded from another host.
import { Component, memo, type ReactNode, useMemo } from 'react';
import { CodeBlock } from './code-block.tsx';
import { drawMarkdown } from './markdown-tree.tsx';
import { splitMarkdown } from './split-markdown.ts';

export interface MarkdownProps {
  readonly text: string;
  /** A caret stands behind the last word. */
  readonly streaming?: boolean | undefined;
  readonly onCopy?: ((text: string) => void) | undefined;
}

export const Markdown = memo(function Markdown({ text, streaming = false, onCopy }: MarkdownProps): ReactNode {
  const pieces = useMemo(() => splitMarkdown(text), [text]);
  return (
    <div className={streaming ? 'md md-streaming' : 'md'}>
      {pieces.map((piece, index) =>
        piece.kind === 'code' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces only grow at the end, so the position is what they are known by
          <CodeBlock key={index} text={piece.text} language={piece.language} onCopy={onCopy} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <Piece key={index} text={piece.text} plain={piece.kind === 'plain'} />
        ),
      )}
    </div>
  );
});

const Piece = memo(function Piece({ text, plain }: { readonly text: string; readonly plain: boolean }): ReactNode {
  if (plain) return <p className="plain-text">{text}</p>;
  return (
    <Readable text={text}>
      <Structure text={text} />
    </Readable>
  );
});

function Structure({ text }: { readonly text: string }): ReactNode {
  return drawMarkdown(text);
}

interface ReadableProps {
  readonly text: string;
  readonly children: ReactNode;
}

/** A text that cannot be read as Markdown is shown as it is: nobody's words take the page away. */
class Readable extends Component<ReadableProps, { readonly failed: string | undefined }> {
  override state = { failed: undefined };

  static getDerivedStateFromError(): { failed: string } {
    return { failed: '' };
  }

  override componentDidCatch(): void {
    this.setState({ failed: this.props.text });
  }

  override render(): ReactNode {
    const { failed } = this.state as { failed: string | undefined };
    if (failed !== undefined && (failed === '' || failed === this.props.text)) return <p className="plain-text">{this.props.text}</p>;
    return this.props.children;
  }
}
