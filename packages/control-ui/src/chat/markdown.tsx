// Somebody's Markdown, as text and structure only: no HTML, no ids, classes or styles of theirs, no address that does more
// than open a page, and nothing loaded from another host.
import { Component, memo, type ReactNode, useMemo, useState } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { Icon } from '../icons.tsx';
import { CopyButton } from './copy-button.tsx';
import { bytes } from './format.ts';
import { hostToName, imageSource, safeHref } from './links.ts';
import { ScrollBox } from './scroll-box.tsx';
import { splitMarkdown } from './split-markdown.ts';
import { VisibleText, visibleKeeping } from './visible-text.tsx';

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
      <ReactMarkdown remarkPlugins={[remarkGfm]} rehypePlugins={[keepOnlyStructure]} urlTransform={unchanged} components={components}>
        {text}
      </ReactMarkdown>
    </Readable>
  );
});

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

interface CodeBlockProps {
  readonly text: string;
  readonly language: string;
  readonly onCopy?: ((text: string) => void) | undefined;
}

export const CodeBlock = memo(function CodeBlock({ text, language, onCopy }: CodeBlockProps): ReactNode {
  return (
    <div className="md-code">
      <div className="md-code-bar">
        <span>{language === '' ? 'Code' : language}</span>
        <CopyButton text={text} label="Copy the code" onCopy={onCopy} />
      </div>
      <ScrollBox className="md-code-text" label={language === '' ? 'Code' : `Code, ${language}`}>
        <pre>
          <code>
            <VisibleText text={text} keep={'\n\t'} />
          </code>
        </pre>
      </ScrollBox>
    </div>
  );
});

// Addresses are judged where they are drawn, so that a refused one can still be read.
function unchanged(url: string): string {
  return url;
}

interface Node {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

const KEPT: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  img: ['src', 'alt'],
  ol: ['start'],
  th: ['align'],
  td: ['align'],
  input: ['type', 'checked', 'disabled'],
  code: ['className'],
};

/** Everything but structure goes, and HTML becomes the text that it is. */
function keepOnlyStructure() {
  return (tree: Node): void => strip(tree, true);
}

function strip(node: Node, root: boolean): void {
  if (node.properties) {
    const kept = KEPT[node.tagName ?? ''] ?? [];
    node.properties = Object.fromEntries(Object.entries(node.properties).filter(([name]) => kept.includes(name)));
  }
  if (!node.children) return;
  node.children = node.children.map((child) => {
    if (child.type !== 'raw') return child;
    const text: Node = { type: 'text', value: child.value ?? '' };
    return root ? { type: 'element', tagName: 'p', properties: {}, children: [text] } : text;
  });
  for (const child of node.children) strip(child, false);
}

const components: Components = {
  a: ({ href, children }) => <Link raw={href ?? ''}>{children}</Link>,
  img: ({ src, alt }) => <Picture raw={typeof src === 'string' ? src : ''} alt={alt ?? ''} />,
  // A fence inside a list or a quote; those of the text itself are cut out before.
  pre: ({ node }) => {
    const code = (node as Node | undefined)?.children?.[0];
    const name = (code?.properties?.className as readonly unknown[] | undefined)?.[0];
    const language = typeof name === 'string' ? (/^language-([A-Za-z0-9+#._-]{1,24})/.exec(name)?.[1] ?? '') : '';
    return <CodeBlock text={plainText(code).replace(/\n$/, '')} language={language} />;
  },
  code: ({ node }) => (
    <code>
      <VisibleText text={plainText(node as Node | undefined)} keep={'\n\t'} />
    </code>
  ),
  table: ({ children }) => (
    <ScrollBox className="md-table" label="Table">
      <table>{children}</table>
    </ScrollBox>
  ),
  input: ({ checked }) => (
    <span className="md-task" role="img" aria-label={checked ? 'done' : 'not done'}>
      {checked && <Icon name="check" size={14} />}
    </span>
  ),
  // The page has its own headings: those of an answer begin below them, and skip no level at the start.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h3>{children}</h3>,
  h4: ({ children }) => <h4>{children}</h4>,
};

function plainText(node: Node | undefined): string {
  if (!node) return '';
  return node.value ?? (node.children ?? []).map(plainText).join('');
}

function Link({ raw, children }: { readonly raw: string; readonly children: ReactNode }): ReactNode {
  const href = safeHref(raw);
  // A place inside the text, as footnotes make: there is nothing to jump to.
  if (href === undefined && raw.startsWith('#')) return children;
  if (href === undefined) {
    return (
      <span className="md-refused">
        {children} <code>{visibleKeeping(raw, '')}</code>
      </span>
    );
  }
  const host = hostToName(href, wordsOf(children));
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
      {host !== undefined && <span className="md-host"> (goes to {host})</span>}
    </>
  );
}

function wordsOf(children: ReactNode): string {
  if (typeof children === 'string') return children;
  return Array.isArray(children) ? children.map(wordsOf).join('') : '';
}

function Picture({ raw, alt }: { readonly raw: string; readonly alt: string }): ReactNode {
  const [shown, setShown] = useState(false);
  const source = imageSource(raw);
  const name = alt === '' ? 'without a description' : alt;
  if (source.kind === 'remote') {
    return (
      <a className="md-image" href={source.href} target="_blank" rel="noopener noreferrer">
        <Icon name="image" size={14} /> Image {name}, on {source.host}
      </a>
    );
  }
  if (source.kind === 'refused') {
    return (
      <span className="md-refused">
        Image {name} <code>{visibleKeeping(raw.slice(0, 200), '')}</code>
      </span>
    );
  }
  if (shown) return <img className="md-picture" src={source.src} alt={alt} />;
  return (
    <button type="button" className="chat-button chat-button-small" onClick={() => setShown(true)}>
      <Icon name="image" size={14} /> Show image {name}, {bytes(source.bytes)}
    </button>
  );
}
