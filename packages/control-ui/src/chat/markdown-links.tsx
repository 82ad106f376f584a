// Links and pictures in somebody's text. An address that may not be opened is shown as what it is, and nothing is loaded from
// another host.
import { type ReactNode, useState } from 'react';
import { Icon } from '../icons.tsx';
import { bytes } from './format.ts';
import { hostToName, imageSource, safeHref } from './links.ts';
import { visibleKeeping } from './visible-text.tsx';

interface LinkProps {
  readonly raw: string;
  /** What it says, without its structure. */
  readonly words: string;
  readonly children?: ReactNode;
}

export function Link({ raw, words, children }: LinkProps): ReactNode {
  const href = safeHref(raw);
  // A place inside the text: there is nothing to jump to.
  if (href === undefined && raw.startsWith('#')) return children;
  if (href === undefined) {
    return (
      <span className="md-refused">
        {children} <code>{visibleKeeping(raw, '')}</code>
      </span>
    );
  }
  const host = hostToName(href, words);
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
      {host !== undefined && <span className="md-host"> (goes to {host})</span>}
    </>
  );
}

export function Picture({ raw, alt }: { readonly raw: string; readonly alt: string }): ReactNode {
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
