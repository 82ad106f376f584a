// Files that go with a message: uploaded in pieces, each checked on arrival.
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Client } from '@tenon/client';
import { type Attachment, limits } from '@tenon/protocol';
import { bytes } from './amounts.ts';
import { quoted, usageError } from './failure.ts';

/** Says which file cannot be sent, before anything is. */
export async function checkFiles(files: readonly string[], what = '--attach'): Promise<void> {
  for (const file of files) {
    const found = await stat(file).catch(() => undefined);
    const wrong = (why: string) => usageError(`${what} cannot be ${quoted(file)}: ${why}`);
    if (!found) throw wrong('there is no such file');
    if (!found.isFile()) throw wrong('it is not a file');
    if (found.size === 0) throw wrong('it is empty');
    if (found.size > limits.attachmentBytes.value)
      throw wrong(`it has ${bytes(found.size)}; a file may have ${bytes(limits.attachmentBytes.value)}`);
  }
  if (files.length > limits.messageAttachments.value)
    throw usageError(`--attach can be given ${limits.messageAttachments.value} times at most`);
}

/** The handles, in order. */
export async function uploadFiles(client: Pick<Client, 'call'>, files: readonly string[], sessionKey?: string): Promise<string[]> {
  const handles: string[] = [];
  for (const file of files) handles.push((await uploadFile(client, file, sessionKey)).handle);
  return handles;
}

export async function uploadFile(client: Pick<Client, 'call'>, file: string, sessionKey?: string): Promise<Attachment> {
  const content = await readFile(file);
  const { uploadId, chunkBytes } = await client.call('attachments.begin', {
    name: basename(file),
    bytes: content.length,
    ...(sessionKey === undefined ? {} : { sessionKey }),
    idempotencyKey: crypto.randomUUID(),
  });
  for (let offset = 0; offset < content.length; ) {
    const data = content.subarray(offset, offset + chunkBytes).toString('base64');
    ({ offset } = await client.call('attachments.chunk', { uploadId, offset, data }));
  }
  const sha256 = createHash('sha256').update(content).digest('hex');
  const { attachment } = await client.call('attachments.commit', { uploadId, sha256, idempotencyKey: crypto.randomUUID() });
  return attachment;
}
