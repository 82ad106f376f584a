// `attachment_read`: the text of a file that was said with a message in this session. What is no text is described, and images
// that models can see were shown with their message.
import { GatewayError } from '@tenon/protocol';
import { Type } from 'typebox';
import type { AttachmentFiles } from '../../store/attachment-files.ts';
import type { Store } from '../../store/store.ts';
import { closed, defineTool, said } from './define.ts';
import { type Tool, ToolError } from './tool.ts';

/** Of one answer. */
const MAX_BYTES = 65_536;
const TEXTS = /^(text\/|application\/(xml|json)|image\/svg\+xml)/;

export function attachmentTool({ store, files }: { readonly store: Store; readonly files: AttachmentFiles }): Tool {
  return defineTool({
    name: 'attachment_read',
    label: 'Read an attachment',
    description: 'Read the text of a file that was attached to a message in this conversation, by its handle.',
    parameters: Type.Object(
      {
        handle: Type.String({ pattern: '^[A-Za-z0-9_-]{16,64}$', description: 'The handle of the file' }),
        offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Byte to begin at; default: 0' })),
      },
      closed,
    ),
    risk: 'read',
    tags: ['attachments'],
    idempotent: true,
    parallelSafe: true,
    prepare({ handle, offset = 0 }, { sessionKey }) {
      return {
        subject: `attachment ${handle}`,
        question: 'Read an attachment?',
        risk: 'read',
        exact: { handle, offset },
        async run() {
          const attachment = await find(handle, sessionKey);
          const { name, mime, bytes } = attachment;
          if (!TEXTS.test(mime)) return said(`"${name}" is ${mime}, ${bytes} bytes: it has no text that can be read`);
          const file = await files.open(attachment);
          if (!file) throw new ToolError('NO_FILE', `The file of attachment "${handle}" is not there any more`);
          try {
            const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, offset);
            const next = offset + bytesRead;
            const note = next >= bytes ? `[End of ${JSON.stringify(name)}, ${bytes} bytes]` : `[Go on with offset ${next} of ${bytes}]`;
            const text = new TextDecoder().decode(buffer.subarray(0, bytesRead));
            return said(`${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${note}`, {
              provenance: `attachment ${name}`.slice(0, 512),
            });
          } finally {
            await file.close();
          }
        },
      };
    },
  });

  /** One of another session is not there. */
  async function find(handle: string, sessionKey: string) {
    try {
      const { attachment } = await store.read('attachments.get', { handle });
      if (attachment.sessionKey === sessionKey) return attachment;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'NOT_FOUND') throw error;
    }
    throw new ToolError('NO_ATTACHMENT', `There is no attachment "${handle}" in this conversation`);
  }
}
