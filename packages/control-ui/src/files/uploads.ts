// Files on their way to the gateway, by the conversation that they are for: in pieces, with how far each has come, and with a way
// to stop, to go on after the connection was lost, and to leave one out. They are kept while the page is open, whichever
// conversation is shown.
import { type AttachmentRef, limits } from '@tenon/protocol';
import { bytes } from '../chat/format.ts';
import type { Call } from '../state/page-methods.ts';
import { troubleOf } from '../state/trouble.ts';

export interface Upload {
  readonly key: string;
  readonly name: string;
  readonly bytes: number;
  readonly mime: string;
  readonly state: 'waiting' | 'uploading' | 'done' | 'failed';
  /** Bytes that have arrived. */
  readonly sent: number;
  readonly error?: string | undefined;
  readonly ref?: AttachmentRef | undefined;
  /** Of a picture: an address that only this page knows. */
  readonly preview?: string | undefined;
}

export interface Uploads {
  of(place: string): readonly Upload[];
  subscribe(listener: () => void): () => void;
  /** What cannot be sent, in words; the rest begins. */
  add(place: string, files: readonly File[]): readonly string[];
  remove(place: string, key: string): void;
  retry(place: string, key: string): void;
  /** What has arrived, which is the message's from now on; nothing is left of the others. */
  take(place: string): readonly AttachmentRef[];
  /** The message was not taken: its files stand there again. */
  giveBack(place: string, refs: readonly AttachmentRef[]): void;
}

export interface UploadDeps {
  readonly call: Call;
  readonly newKey: () => string;
  /** Makes an address for a picture; forgets it. */
  readonly preview: { make(file: Blob): string; forget(address: string): void };
}

const AT_ONCE = 2;
const NONE: readonly Upload[] = [];
/** A piece may need its time on a slow line. */
const PATIENCE = { timeoutMs: 120_000 };
const PICTURES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

export const isPicture = (mime: string): boolean => PICTURES.includes(mime);

export function createUploads({ call, newKey, preview }: UploadDeps): Uploads {
  const places = new Map<string, readonly Upload[]>();
  const files = new Map<string, File>();
  /** The upload at the gateway, by key. */
  const begun = new Map<string, { readonly uploadId: string; readonly chunkBytes: number }>();
  const listeners = new Set<() => void>();
  let running = 0;

  const tell = () => {
    for (const listener of listeners) listener();
  };
  function put(place: string, uploads: readonly Upload[]): void {
    if (uploads.length === 0) places.delete(place);
    else places.set(place, uploads);
    tell();
  }
  const find = (place: string, key: string) => places.get(place)?.find((each) => each.key === key);
  const change = (place: string, key: string, fields: Partial<Upload>) =>
    put(
      place,
      (places.get(place) ?? NONE).map((each) => (each.key === key ? { ...each, ...fields } : each)),
    );

  function pump(): void {
    for (const [place, uploads] of places) {
      for (const { key, state } of uploads) {
        if (running >= AT_ONCE) return;
        if (state !== 'waiting') continue;
        running++;
        change(place, key, { state: 'uploading', error: undefined });
        void send(place, key).finally(() => {
          running--;
          pump();
        });
      }
    }
  }

  /** Contract: must not throw. */
  async function send(place: string, key: string): Promise<void> {
    const file = files.get(key);
    const upload = find(place, key);
    if (!file || !upload) return;
    try {
      let at = begun.get(key);
      let offset = 0;
      if (at) {
        // Where it stopped, the gateway knows.
        offset = (await call('attachments.chunk', { uploadId: at.uploadId, offset: 0, data: '' }, PATIENCE)).offset;
      } else {
        at = await call('attachments.begin', {
          name: upload.name,
          bytes: file.size,
          ...(file.type === '' ? {} : { mime: file.type }),
          ...(place.startsWith('agent:') ? { sessionKey: place } : {}),
        });
        begun.set(key, at);
      }
      while (offset < file.size) {
        if (!find(place, key)) return;
        const piece = await file.slice(offset, offset + at.chunkBytes).arrayBuffer();
        const answer = await call('attachments.chunk', { uploadId: at.uploadId, offset, data: base64(new Uint8Array(piece)) }, PATIENCE);
        offset = answer.offset;
        change(place, key, { sent: offset });
      }
      if (!find(place, key)) return;
      const { attachment } = await call('attachments.commit', { uploadId: at.uploadId }, PATIENCE);
      const { handle, name, mime, bytes: size } = attachment;
      change(place, key, { state: 'done', sent: size, name, mime, ref: { handle, name, mime, bytes: size } });
    } catch (error) {
      const { message, code } = troubleOf(error);
      // What the gateway does not know any more begins anew.
      if (code === 'NOT_FOUND' || code === 'GONE') begun.delete(key);
      change(place, key, { state: 'failed', error: code === undefined ? message : `${message} (${code})` });
    }
  }

  function forget({ key, preview: address, state }: Upload): void {
    const at = begun.get(key);
    begun.delete(key);
    files.delete(key);
    if (address !== undefined) preview.forget(address);
    // Otherwise it goes by itself, after a while.
    if (at && state !== 'done') void call('attachments.abort', { uploadId: at.uploadId }).catch(() => undefined);
  }

  return {
    of: (place) => places.get(place) ?? NONE,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    add(place, added) {
      const refused: string[] = [];
      const known = [...(places.get(place) ?? NONE)];
      const { messageAttachments: most, attachmentBytes: largest } = limits;
      for (const file of added) {
        if (file.size === 0) refused.push(`${file.name} is empty, or a folder`);
        else if (file.size > largest.value) refused.push(`${file.name} has ${bytes(file.size)}; a file may have ${bytes(largest.value)}`);
        else if (known.length >= most.value) refused.push(`${file.name}: a message has at most ${most.value} files`);
        else {
          const key = newKey();
          files.set(key, file);
          known.push({
            key,
            name: file.name || 'file',
            bytes: file.size,
            mime: file.type,
            state: 'waiting',
            sent: 0,
            ...(isPicture(file.type) ? { preview: preview.make(file) } : {}),
          });
        }
      }
      put(place, known);
      pump();
      return refused;
    },
    remove(place, key) {
      const upload = find(place, key);
      if (!upload) return;
      put(
        place,
        (places.get(place) ?? NONE).filter((each) => each.key !== key),
      );
      forget(upload);
      // Otherwise it goes by itself, after a while.
      if (upload.ref) void call('attachments.remove', { handle: upload.ref.handle }).catch(() => undefined);
    },
    retry(place, key) {
      if (find(place, key)?.state !== 'failed') return;
      change(place, key, { state: 'waiting', error: undefined });
      pump();
    },
    take(place) {
      const uploads = places.get(place) ?? NONE;
      put(place, []);
      for (const upload of uploads) forget(upload);
      return uploads.flatMap(({ ref }) => (ref ? [ref] : []));
    },
    giveBack(place, refs) {
      const back = refs.map(
        (ref): Upload => ({ key: newKey(), name: ref.name, bytes: ref.bytes, mime: ref.mime, state: 'done', sent: ref.bytes, ref }),
      );
      put(place, [...(places.get(place) ?? NONE), ...back]);
    },
  };
}

function base64(read: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < read.length; at += 32_768) binary += String.fromCharCode(...read.subarray(at, at + 32_768));
  return btoa(binary);
}
