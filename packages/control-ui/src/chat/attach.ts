// Files that somebody picked, pasted or dropped, made into images that can be sent, or a sentence that says why not.
import { limits } from '@tenon/protocol';
import { bytes } from './format.ts';
import { blockSource } from './links.ts';
import type { ChatImage } from './types.ts';

export interface AttachLimits {
  readonly maxImages: number;
  /** In base64. */
  readonly maxImageBytes: number;
  readonly maxTotalBytes: number;
}

export const gatewayLimits: AttachLimits = {
  maxImages: limits.messageImages.value,
  maxImageBytes: limits.imageBytes.value,
  maxTotalBytes: limits.messageImages.value * limits.imageBytes.value,
};

export const ACCEPTED_TYPES = 'image/png,image/jpeg,image/gif,image/webp';

export interface Attached {
  readonly images: readonly ChatImage[];
  readonly refused: readonly string[];
}

export async function readImages(files: readonly File[], already: readonly ChatImage[], allowed: AttachLimits): Promise<Attached> {
  const images: ChatImage[] = [];
  const refused: string[] = [];
  let total = already.reduce((sum, image) => sum + image.data.length, 0);
  for (const file of files) {
    // 4 characters of base64 for 3 bytes: too large is said before the file is read.
    const size = Math.ceil(file.size / 3) * 4;
    if (!ACCEPTED_TYPES.split(',').includes(file.type)) refused.push(`${file.name} is no PNG, JPEG, GIF or WebP image`);
    else if (size > allowed.maxImageBytes)
      refused.push(`${file.name} is larger than ${bytes(Math.floor((allowed.maxImageBytes * 3) / 4))}`);
    else if (total + size > allowed.maxTotalBytes) refused.push(`${file.name} makes the message too large`);
    else if (already.length + images.length >= allowed.maxImages)
      refused.push(`${file.name}: a message has at most ${allowed.maxImages} images`);
    else {
      const image = await readImage(file);
      if (!image) refused.push(`${file.name} could not be read`);
      else {
        images.push(image);
        total += image.data.length;
      }
    }
  }
  return { images, refused };
}

async function readImage(file: File): Promise<ChatImage | undefined> {
  try {
    const read = new Uint8Array(await file.arrayBuffer());
    let binary = '';
    for (let at = 0; at < read.length; at += 32_768) binary += String.fromCharCode(...read.subarray(at, at + 32_768));
    const image = {
      key: crypto.randomUUID?.() ?? `${file.name}-${file.lastModified}-${file.size}`,
      mimeType: file.type,
      data: btoa(binary),
      name: file.name,
    };
    return blockSource(image) === undefined ? undefined : image;
  } catch {
    // A file that was moved or taken away since it was picked.
    return undefined;
  }
}
