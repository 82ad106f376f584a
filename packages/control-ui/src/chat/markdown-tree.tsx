// A piece of Markdown, read and drawn: each kind of node that there is becomes an element of ours, so that nothing but text and
// structure comes through. HTML is the text that it is.
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { createElement, type ElementType, Fragment, type ReactNode } from 'react';
import { Icon } from '../icons.tsx';
import { CodeBlock } from './code-block.tsx';
import { Link, Picture } from './markdown-links.tsx';
import { ScrollBox } from './scroll-box.tsx';
import { VisibleText } from './visible-text.tsx';

type Root = ReturnType<typeof fromMarkdown>;
type Nodes = Root | Root['children'][number];
type Of<Kind extends Nodes['type']> = Extract<Nodes, { type: Kind }>;

const extensions = [gfm()];
const mdastExtensions = [gfmFromMarkdown()];

/** What the whole text says about its parts. */
interface Known {
  readonly definitions: ReadonlyMap<string, Of<'definition'>>;
  readonly footnotes: ReadonlyMap<string, Of<'footnoteDefinition'>>;
  /** Footnotes in the order in which they are mentioned. */
  readonly mentioned: string[];
}

/** Throws where the text cannot be read. */
export function drawMarkdown(text: string): ReactNode {
  const root = fromMarkdown(text, { extensions, mdastExtensions });
  const known = lookAround(root);
  const blocks = root.children.map((node) => (node.type === 'html' ? element('p', [node.value]) : draw(node, known)));
  return element(Fragment, [...blocks, notes(known)]);
}

function lookAround(root: Root): Known {
  const definitions = new Map<string, Of<'definition'>>();
  const footnotes = new Map<string, Of<'footnoteDefinition'>>();
  const look = (node: Nodes): void => {
    // The first of a name counts.
    if (node.type === 'definition' && !definitions.has(node.identifier)) definitions.set(node.identifier, node);
    if (node.type === 'footnoteDefinition' && !footnotes.has(node.identifier)) footnotes.set(node.identifier, node);
    if ('children' in node) for (const child of node.children) look(child);
  };
  look(root);
  return { definitions, footnotes, mentioned: [] };
}

const PLAIN = { paragraph: 'p', emphasis: 'em', strong: 'strong', delete: 'del', blockquote: 'blockquote' } as const;
/** The page has its own headings: those of an answer begin below them, and skip no level at the start. */
const HEADINGS = ['h3', 'h3', 'h3', 'h4', 'h5', 'h6'] as const;

function draw(node: Nodes, known: Known): ReactNode {
  switch (node.type) {
    case 'text':
    case 'html':
      return node.value;
    case 'paragraph':
    case 'emphasis':
    case 'strong':
    case 'delete':
    case 'blockquote':
      return element(PLAIN[node.type], drawAll(node.children, known));
    case 'heading':
      return element(HEADINGS[node.depth - 1]!, drawAll(node.children, known));
    case 'thematicBreak':
      return <hr />;
    case 'break':
      return <br />;
    case 'inlineCode':
      return (
        <code>
          <VisibleText text={node.value.replace(/\r?\n|\r/g, ' ')} keep={'\n\t'} />
        </code>
      );
    case 'code':
      // Inside a list or a quote; those of the text itself are cut out before.
      return <CodeBlock text={node.value} language={/^[A-Za-z0-9+#._-]{1,24}/.exec(node.lang ?? '')?.[0] ?? ''} />;
    case 'list':
      return drawList(node, known);
    case 'table':
      return drawTable(node, known);
    case 'link':
      return drawLink(node.url, node, known);
    case 'linkReference':
      return drawLink(known.definitions.get(node.identifier)?.url ?? '', node, known);
    case 'image':
      return <Picture raw={node.url} alt={node.alt ?? ''} />;
    case 'imageReference':
      return <Picture raw={known.definitions.get(node.identifier)?.url ?? ''} alt={node.alt ?? ''} />;
    case 'footnoteReference':
      return <sup>{numberOf(node.identifier, known)}</sup>;
    default:
      // Definitions, which are said where they are used; and kinds that this syntax does not have.
      return null;
  }
}

function drawAll(nodes: readonly Nodes[], known: Known): ReactNode[] {
  return nodes.map((node) => draw(node, known));
}

/** With its children as arguments: they never change places, and need no keys. */
function element(name: ElementType, children: readonly ReactNode[], props?: object): ReactNode {
  return createElement(name, props, ...children);
}

function drawLink(url: string, node: Nodes & { readonly children: readonly Nodes[] }, known: Known): ReactNode {
  return createElement(Link, { raw: url, words: wordsOf(node) }, ...drawAll(node.children, known));
}

function wordsOf(node: Nodes): string {
  if ('value' in node) return node.value;
  return 'children' in node ? node.children.map(wordsOf).join('') : '';
}

function drawList(list: Of<'list'>, known: Known): ReactNode {
  const isLoose = list.spread || list.children.some((item) => item.spread);
  const items = list.children.map((item) => drawItem(item, isLoose === true, known));
  const start = list.ordered && list.start !== 1 ? { start: list.start ?? 1 } : undefined;
  return element(list.ordered ? 'ol' : 'ul', items, start);
}

function drawItem({ checked, children }: Of<'listItem'>, isLoose: boolean, known: Known): ReactNode {
  const drawn: ReactNode[] = typeof checked === 'boolean' ? [createElement(Task, { checked }), ' '] : [];
  children.forEach((child, index) => {
    if (child.type !== 'paragraph') drawn.push(draw(child, known));
    else if (!isLoose) drawn.push(...drawAll(child.children, known));
    // The mark stands in the first paragraph.
    else drawn.push(element('p', [...(index === 0 ? drawn.splice(0) : []), ...drawAll(child.children, known)]));
  });
  return element('li', drawn);
}

function Task({ checked }: { readonly checked: boolean }): ReactNode {
  return (
    <span className="md-task" role="img" aria-label={checked ? 'done' : 'not done'}>
      {checked && <Icon name="check" size={14} />}
    </span>
  );
}

function drawTable({ align, children }: Of<'table'>, known: Known): ReactNode {
  const [head, ...body] = children.map(({ children: cells }, row) => {
    const columns = Array.from({ length: align?.length ?? cells.length }, (_, column) => {
      const cell = cells[column];
      return element(row === 0 ? 'th' : 'td', cell ? drawAll(cell.children, known) : [], alignedTo(align?.[column]));
    });
    return element('tr', columns);
  });
  return (
    <ScrollBox className="md-table" label="Table">
      {element('table', [element('thead', [head]), body.length > 0 && element('tbody', body)])}
    </ScrollBox>
  );
}

function alignedTo(align: 'left' | 'right' | 'center' | null | undefined): object | undefined {
  return align ? { style: { textAlign: align } } : undefined;
}

function numberOf(identifier: string, { mentioned }: Known): number {
  if (!mentioned.includes(identifier)) mentioned.push(identifier);
  return mentioned.indexOf(identifier) + 1;
}

/** Those that were mentioned, also by one another. */
function notes(known: Known): ReactNode {
  const items: ReactNode[] = [];
  for (let at = 0; at < known.mentioned.length; at++)
    items.push(element('li', drawAll(known.footnotes.get(known.mentioned[at]!)?.children ?? [], known)));
  return (
    items.length > 0 && (
      <section>
        <h3>Footnotes</h3>
        {element('ol', items)}
      </section>
    )
  );
}
