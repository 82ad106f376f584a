// Files that are said with a message: who may say them, and what the agent is told of them. Images go with the message, for
// models that can see; everything else, and images that are too large for that, are named, and a tool reads them.
import { type Attachment, type AttachmentRef, GatewayError, type ImageBlock, imageTypes, limits } from '@tenon/protocol';
import { tooManyPixels } from '../host/image-pixels.ts';
import type { AttachmentFiles } from '../store/attachment-files.ts';
import type { Store } from '../store/store.ts';

/** Who asks: one who is bound to a session sees what is in it, and what is its own and nowhere yet. */
export interface Asker {
  readonly id: string;
  readonly sessionKey?: string | undefined;
}

export interface SaidFiles {
  readonly refs: readonly AttachmentRef[];
  readonly images: readonly ImageBlock[];
}

/** Throws the same whether it is not there or not theirs to see. */
export function requireSeen(attachment: Attachment, { id, sessionKey }: Asker): Attachment {
  if (sessionKey === undefined || attachment.sessionKey === sessionKey) return attachment;
  if (attachment.sessionKey === undefined && attachment.owner === id) return attachment;
  throw noAttachment(attachment.handle);
}

export function noAttachment(handle: string): GatewayError {
  return new GatewayError('NOT_FOUND', `Cannot find attachment "${handle}"`, { details: { code: 'NO_ATTACHMENT' } });
}

/** What a message in this session says with these files. Throws GatewayError where one cannot be said there. */
export async function readSaidFiles(
  handles: readonly string[],
  key: string,
  asker: Asker,
  { store, files }: { readonly store: Store; readonly files: AttachmentFiles },
): Promise<SaidFiles> {
  const found: FileToSay[] = [];
  for (const handle of handles) {
    const { attachment } = await store.read('attachments.get', { handle });
    requireSeen(attachment, asker);
    if (attachment.sessionKey !== undefined && attachment.sessionKey !== key) throw noAttachment(handle);
    const { name, mime, bytes } = attachment;
    const read = async () => {
      const content = await files.read(attachment);
      if (content) return content;
      throw new GatewayError('UNAVAILABLE', `The file of attachment "${handle}" is not in this home folder`, {
        details: { code: 'NO_FILE' },
      });
    };
    found.push({ ref: { handle, name, mime, bytes }, read });
  }
  return sayFiles(found);
}

export interface FileToSay {
  readonly ref: AttachmentRef;
  readonly read: () => Buffer | Promise<Buffer>;
}

/** What the agent sees of files, wherever they came from. Throws what `read` throws. */
export async function sayFiles(found: readonly FileToSay[]): Promise<SaidFiles> {
  const refs: AttachmentRef[] = [];
  const images: ImageBlock[] = [];
  for (const { ref, read } of found) {
    if (!(imageTypes as readonly string[]).includes(ref.mime)) {
      refs.push(ref);
      continue;
    }
    const unseen = whyUnseen(ref, images.length);
    if (unseen !== undefined) {
      refs.push({ ...ref, unseen });
      continue;
    }
    const content = await read();
    const tooMany = tooManyPixels(content);
    refs.push(tooMany === undefined ? ref : { ...ref, unseen: 'pixels' });
    if (tooMany !== undefined) continue;
    images.push({ type: 'image', mimeType: ref.mime as ImageBlock['mimeType'], data: content.toString('base64') });
  }
  return { refs, images };
}

/** Known before a byte is read: as base64 it must fit what one image may have. */
function whyUnseen({ bytes }: AttachmentRef, shown: number): 'bytes' | 'count' | undefined {
  if (Math.ceil(bytes / 3) * 4 > limits.imageBytes.value) return 'bytes';
  return shown < limits.messageImages.value ? undefined : 'count';
}
