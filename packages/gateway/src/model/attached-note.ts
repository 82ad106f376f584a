// How a model is told which files were said with a message: a text of its own behind the message, one line for each. It is written
// for every model and read by the demo model, so both stand here.
import { type AttachmentRef, unseenReasons, visible } from '@tenon/protocol';

const HEAD = '[Attached files, each with its handle; the tool attachment_read reads one:';
const LINE = /^- (?<name>"(?:[^"\\]|\\.)*") \((?<mime>[^,()]*), (?<bytes>\d+) bytes\): (?<handle>[\w-]+)/;

export type AttachedFile = Pick<AttachmentRef, 'handle' | 'name' | 'mime' | 'bytes'>;

export function attachedNote(attachments: readonly AttachmentRef[]): string {
  const lines = attachments.map(
    ({ handle, name, mime, bytes, unseen }) =>
      `- ${JSON.stringify(visible(name))} (${mime}, ${bytes} bytes): ${handle}${unseen === undefined ? '' : `, not shown: ${unseenReasons[unseen]}`}`,
  );
  return `${HEAD}\n${lines.join('\n')}]`;
}

/** The files of such a text; undefined for any other. */
export function readAttachedNote(text: string): AttachedFile[] | undefined {
  if (!text.startsWith(HEAD)) return undefined;
  return text.split('\n').flatMap((line) => {
    const { name, mime, bytes, handle } = LINE.exec(line)?.groups ?? {};
    if (name === undefined || mime === undefined || handle === undefined) return [];
    return [{ name: JSON.parse(name) as string, mime, bytes: Number(bytes), handle }];
  });
}
