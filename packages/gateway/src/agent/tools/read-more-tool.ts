// `read_more`: the rest of an output that was too long to tell at once.
import { Type } from 'typebox';
import { closed, defineTool, said } from './define.ts';
import type { Spool } from './spool.ts';
import type { Tool } from './tool.ts';

export function readMoreTool(spool: Spool): Tool {
  return defineTool({
    name: 'read_more',
    label: 'Read more output',
    description: 'Go on reading an output that was cut. The handle and the offset stand where it was cut.',
    parameters: Type.Object(
      {
        handle: Type.String({ minLength: 1, maxLength: 64, description: 'The handle of the output' }),
        offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Byte to begin at; default: 0' })),
      },
      closed,
    ),
    risk: 'read',
    tags: ['output'],
    idempotent: true,
    parallelSafe: true,
    prepare({ handle, offset = 0 }) {
      return {
        subject: `output at byte ${offset}`,
        question: 'Read more output?',
        risk: 'read',
        exact: { handle, offset },
        async run() {
          const { text, next, total, provenance } = spool.read(handle, offset);
          const end = `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}`;
          const note = next === undefined ? `[End of the output, ${total} bytes]` : `[Go on with offset ${next} of ${total}]`;
          return said(`${end}${note}`, { details: { next: next ?? null, total }, ...(provenance === undefined ? {} : { provenance }) });
        },
      };
    },
  });
}
