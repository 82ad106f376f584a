// Files that are said with a message: who may say them, and what the agent is told of them. Images go with the message, for
// models that can see; everything else, and images that are too large for that, are named, and a tool reads them.
import { type Attachment, type AttachmentRef, GatewayError, type ImageBlock, imageTypes, limits } from '@tenon/protocol';
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
  const refs: AttachmentRef[] = [];
  const images: ImageBlock[] = [];
  for (const handle of handles) {
    const { attachment } = await store.read('attachments.get', { handle });
    requireSeen(attachment, asker);
    if (attachment.sessionKey !== undefined && attachment.sessionKey !== key) throw noAttachment(handle);
    const { name, mime, bytes } = attachment;
    refs.push({ handle, name, mime, bytes });
    if (!isShown(attachment) || images.length >= limits.messageImages.value) continue;
    const content = await files.read(attachment);
    if (!content)
      throw new GatewayError('UNAVAILABLE', `The file of attachment "${handle}" is not in this home folder`, {
        details: { code: 'NO_FILE' },
      });
    images.push({ type: 'image', mimeType: mime as ImageBlock['mimeType'], data: content.toString('base64') });
  }
  return { refs, images };
}

/** As base64 it must fit what one image may have. */
function isShown({ mime, bytes }: AttachmentRef): boolean {
  return (imageTypes as readonly string[]).includes(mime) && Math.ceil(bytes / 3) * 4 <= limits.imageBytes.value;
}
