// Files of a message or a delivery. They come from anywhere: a browser saves them, and shows only what can be nothing but a
// picture, from bytes that this page has fetched itself. The credential goes in a header, never in an address.
import { type AttachmentRef, unseenReasons, visible } from '@tenon/protocol';
import { type ReactNode, useEffect, useState } from 'react';
import { bytes } from '../chat/format.ts';
import { usePage } from '../hooks/page-context.ts';
import { Icon } from '../icons.tsx';
import type { Page } from '../state/page.ts';
import { troubleOf } from '../state/trouble.ts';
import { isPicture } from './uploads.ts';
import './files.later.css';

/** Larger pictures are saved and not shown. */
const LARGEST_SHOWN = 10_000_000;
/** Pictures that stay in memory when their row goes out of sight. */
const MOST_KEPT = 40;

const shown = new Map<string, Promise<string>>();

async function readFile(page: Page, handle: string): Promise<Blob> {
  const response = await page.get(`/attachments/${handle}`);
  if (response.ok) return response.blob();
  const said = (await response.json().catch(() => undefined)) as { readonly message?: unknown } | undefined;
  throw new Error(typeof said?.message === 'string' ? said.message : `The gateway answered with ${response.status}`);
}

/** The address of a picture that only this page knows. */
function pictureOf(page: Page, { handle, mime }: AttachmentRef): Promise<string> {
  const known = shown.get(handle);
  if (known) return known;
  const made = readFile(page, handle).then((blob) => URL.createObjectURL(new Blob([blob], { type: mime })));
  shown.set(handle, made);
  made.catch(() => shown.delete(handle));
  const [oldest, address] = [...shown][0]!;
  if (shown.size > MOST_KEPT) {
    shown.delete(oldest);
    address.then(URL.revokeObjectURL, () => undefined);
  }
  return made;
}

export function FileList({ files }: { readonly files: readonly AttachmentRef[] }): ReactNode {
  return (
    <ul className="file-list" aria-label="Files">
      {files.map((file) => (
        <FileItem key={file.handle} file={file} />
      ))}
    </ul>
  );
}

function FileItem({ file }: { readonly file: AttachmentRef }): ReactNode {
  const page = usePage();
  const [state, setState] = useState<'still' | 'under way' | { readonly error: string }>('still');
  const name = visible(file.name);

  async function save(): Promise<void> {
    if (state === 'under way') return;
    setState('under way');
    try {
      // Whatever it is: as bytes, which no browser opens in place.
      const blob = new Blob([await readFile(page, file.handle)], { type: 'application/octet-stream' });
      const address = URL.createObjectURL(blob);
      const link = document.createElement('a');
      link.href = address;
      link.download = file.name;
      link.click();
      // The browser has begun to read it by then.
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
      setState('still');
    } catch (error) {
      setState({ error: troubleOf(error).message });
    }
  }

  return (
    <li>
      {isPicture(file.mime) && file.bytes <= LARGEST_SHOWN && file.unseen !== 'pixels' && <Picture file={file} name={name} />}
      <button type="button" className="file-link" onClick={() => void save()}>
        <Icon name={state === 'under way' ? 'spinner' : 'download'} size={14} className={state === 'under way' ? 'turning' : ''} />
        <span className="visually-hidden">Download </span>
        <bdi>{name}</bdi> <span className="file-size">{bytes(file.bytes)}</span>
      </button>
      {file.unseen !== undefined && <p className="message-note">The model does not see it: {unseenReasons[file.unseen]}</p>}
      {typeof state === 'object' && (
        <p className="message-note tone-bad" role="alert">
          <Icon name="x-circle" size={14} /> {visible(state.error)}
        </p>
      )}
    </li>
  );
}

function Picture({ file, name }: { readonly file: AttachmentRef; readonly name: string }): ReactNode {
  const page = usePage();
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    let isGone = false;
    // Without it there is still the link.
    pictureOf(page, file).then(
      (found) => !isGone && setAddress(found),
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [page, file]);
  return address === undefined ? null : <img src={address} alt={name} />;
}
