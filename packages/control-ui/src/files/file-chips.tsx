// Files that will go with the message: each with how far it has come, and what can be done about it. Pictures are shown.
import { visible } from '@tenon/protocol';
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from 'react';
import { bytes } from '../chat/format.ts';
import { usePage } from '../hooks/page-context.ts';
import { Icon } from '../icons.tsx';
import { randomId } from '../state/ids.ts';
import type { Page } from '../state/page.ts';
import { createUploads, isPicture, type Upload, type Uploads } from './uploads.ts';
import './files.later.css';

const made = new WeakMap<Page, Uploads>();

/** Those of this page; there is one of it. */
export function uploadsOf(page: Page): Uploads {
  const known = made.get(page);
  if (known) return known;
  const uploads = createUploads({
    call: (method, params, options) => page.link().call(method, params, options),
    newKey: randomId,
    preview: { make: (file) => URL.createObjectURL(file), forget: (address) => URL.revokeObjectURL(address) },
  });
  made.set(page, uploads);
  return uploads;
}

interface FileChipsProps {
  readonly place: string;
  /** The model sees no pictures: its name. */
  readonly blind: string | undefined;
  /** How many there are, and whether all have arrived. */
  readonly onCount: (count: number, areReady: boolean) => void;
}

export function FileChips({ place, blind, onCount }: FileChipsProps): ReactNode {
  const page = usePage();
  const uploads = uploadsOf(page);
  const list = useSyncExternalStore(uploads.subscribe, () => uploads.of(place));
  const areReady = list.every(({ state }) => state === 'done');
  const tell = useRef(onCount);
  tell.current = onCount;
  useEffect(() => tell.current(list.length, areReady), [list.length, areReady]);
  if (list.length === 0) return null;
  const hidden = blind !== undefined && list.some(({ mime }) => isPicture(mime));
  return (
    <div className="file-chips">
      <ul aria-label="Attached files">
        {list.map((upload) => (
          <Chip
            key={upload.key}
            upload={upload}
            onRemove={() => {
              uploads.remove(place, upload.key);
              document.querySelector<HTMLElement>('.composer textarea')?.focus();
            }}
            onRetry={() => uploads.retry(place, upload.key)}
          />
        ))}
      </ul>
      {hidden && (
        <p className="file-hint">
          <Icon name="info" size={14} /> {visible(blind)} does not see pictures; it is told their names.
        </p>
      )}
    </div>
  );
}

interface ChipProps {
  readonly upload: Upload;
  readonly onRemove: () => void;
  readonly onRetry: () => void;
}

function Chip({ upload, onRemove, onRetry }: ChipProps): ReactNode {
  const { state, sent, preview } = upload;
  const name = visible(upload.name);
  const per = Math.floor((sent / upload.bytes) * 100);
  return (
    <li className="file-chip" data-state={state}>
      {preview === undefined ? <Icon name="page" /> : <img src={preview} alt="" />}
      <span className="file-chip-text">
        <bdi className="file-chip-name" title={name}>
          {name}
        </bdi>
        {state === 'failed' ? (
          <span className="file-chip-state tone-bad" role="alert">
            <Icon name="x-circle" size={14} /> {visible(upload.error ?? 'It did not arrive')}
          </span>
        ) : state === 'done' ? (
          <span className="file-chip-state">{bytes(upload.bytes)}</span>
        ) : (
          <span className="file-chip-state">
            <progress value={sent} max={upload.bytes} aria-label={`Uploading ${name}`} /> {per} %
          </span>
        )}
      </span>
      {state === 'failed' && (
        <button type="button" className="chat-icon-button" aria-label={`Try again: ${name}`} title="Try again" onClick={onRetry}>
          <Icon name="retry" size={14} />
        </button>
      )}
      <button
        type="button"
        className="chat-icon-button"
        aria-label={`${state === 'uploading' || state === 'waiting' ? 'Cancel' : 'Remove'} ${name}`}
        onClick={onRemove}
      >
        <Icon name="x" size={14} />
      </button>
    </li>
  );
}
