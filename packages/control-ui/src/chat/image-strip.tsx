// Images that came with a message or a tool's output: only what can be nothing but a picture is drawn.
import { visible } from '@tenon/protocol';
import type { ReactNode } from 'react';
import { blockSource } from './links.ts';
import type { ChatImage } from './types.ts';

export function ImageStrip({ images }: { readonly images: readonly ChatImage[] }): ReactNode {
  if (images.length === 0) return null;
  return (
    <ul className="images">
      {images.map((image) => {
        const src = blockSource(image);
        return (
          <li key={image.key}>
            {src === undefined ? (
              <span className="md-refused">An image of the type {visible(image.mimeType)} is not shown</span>
            ) : (
              <img src={src} alt={visible(image.name ?? 'Image without a description')} />
            )}
          </li>
        );
      })}
    </ul>
  );
}
