// `process`: the background jobs of this session.
import type { Risk } from '@tenon/protocol';
import { Type } from 'typebox';
import { closed, defineTool, said } from './define.ts';
import { describeEnd } from './exec-tool.ts';
import type { Job, Jobs } from './jobs.ts';
import type { Spool } from './spool.ts';
import { type Tool, ToolError } from './tool.ts';

export function processTool(jobs: Jobs, spool: Spool): Tool {
  return defineTool({
    name: 'process',
    label: 'Background jobs',
    description: 'Look after jobs that exec started in the background: list them, read their output page by page, or kill one.',
    parameters: Type.Object(
      {
        action: Type.Enum(['list', 'output', 'kill'], { type: 'string', description: 'What to do' }),
        id: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'The job; not for list' })),
        offset: Type.Optional(Type.Integer({ minimum: 0, description: 'For output: byte to begin at; default: the last lines' })),
      },
      closed,
    ),
    risk: 'read',
    tags: ['programs'],
    idempotent: true,
    parallelSafe: false,
    facts: ({ action }) => ({ risk: riskOf(action) }),
    prepare({ action, id, offset }, { sessionKey }) {
      const job = action === 'list' ? undefined : pick(jobs.list(sessionKey), id);
      return {
        subject: job === undefined ? action : `${action} ${job.id}`,
        question: job === undefined ? 'List background jobs?' : `${action} ${job.id}?`,
        risk: riskOf(action),
        exact: { action, id: id ?? null, offset: offset ?? null },
        async run() {
          if (job === undefined) return said(jobs.list(sessionKey).map(rowOf).join('\n') || 'No background jobs');
          if (action === 'kill') {
            job.stop();
            await job.ended;
            return said(rowOf(job));
          }
          return said(`${rowOf(job)}\n${pageOf(job, offset, spool)}`, { details: { job: job.id, running: job.end === undefined } });
        },
      };
    },
  });
}

/** Ending a program is more than looking after it. */
function riskOf(action: 'list' | 'output' | 'kill'): Risk {
  return action === 'kill' ? 'write' : 'read';
}

function pick(jobs: readonly Job[], id: string | undefined): Job {
  const job = jobs.find((each) => each.id === id);
  if (job) return job;
  const known = jobs.map((each) => each.id).join(', ') || 'none';
  throw new ToolError('NOT_FOUND', id === undefined ? `id is missing; jobs: ${known}` : `There is no job ${id}; jobs: ${known}`);
}

function rowOf(job: Job): string {
  const state = job.end === undefined ? '[running]' : describeEnd(job.end, { argv: [job.title] }, false);
  return `${job.id} ${state} ${job.output.bytes} bytes of output: ${job.title.slice(0, 200)}`;
}

function pageOf(job: Job, offset: number | undefined, spool: Spool): string {
  const { handle } = job.output;
  if (offset === undefined || handle === undefined) return job.output.tail() || '(no output)';
  const { text, next, total } = spool.read(handle, offset);
  const note = next === undefined ? `[End of what is there, ${total} bytes]` : `[Go on with offset ${next} of ${total}]`;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${note}`;
}
