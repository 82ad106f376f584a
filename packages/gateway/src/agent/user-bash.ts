// `!command` in the chat: the person runs a program through the same policy as the agent. The output goes into the
// transcript, where the agent reads it with the next message; with `!!` it is kept from the agent.
import type { RunEnd } from '@tenon/protocol';
import { faultpoint } from '../kernel/fault.ts';
import { permit } from './permit.ts';
import { defuse, textOf } from './prompt.ts';
import { runPrepared } from './tool-call.ts';
import { append, hookContextOf, Parked, type Turn } from './turn-context.ts';

export interface UserCommand {
  readonly entryId: string;
  readonly command: string;
  readonly isPrivate: boolean;
}

/** The command, if the message of this turn is one. */
export function commandOf(turn: Turn): UserCommand | undefined {
  if (turn.run.trigger !== 'user') return undefined;
  const entry = turn.path.findLast((each) => each.type === 'message' && each.message.role === 'user' && each.runId === turn.run.runId);
  if (entry?.type !== 'message' || entry.message.role !== 'user') return undefined;
  const [, marks, command] = /^\s*(!{1,2})\s*(\S[\s\S]*)$/.exec(textOf(entry.message.content)) ?? [];
  return command === undefined ? undefined : { entryId: entry.id, command: command.trim(), isPrivate: marks === '!!' };
}

/** One command has one call: its id says so, also after a restart. */
const CALL_ID = 'user-bash';

export async function runUserBash(turn: Turn, { entryId, command, isPrivate }: UserCommand): Promise<RunEnd> {
  const { deps, control, voice } = turn;
  /** What runs, which plugins may have changed. */
  let ran = command;
  if (isDone(turn)) return { kind: 'completed' };
  const said = await deps.hooks.run(
    'user_bash',
    { ...hookContextOf(turn), command, cwd: turn.workspace, excludeFromContext: isPrivate },
    { signal: control.waits },
  );
  if (control.isParked()) throw new Parked();
  if (said.kind === 'refused') return finish('', { kind: 'refused', code: said.plugin, reason: said.reason });
  const tool = deps.tools.find((each) => each.name === 'exec');
  if (!tool || !(turn.agent.tools?.includes('exec') ?? true))
    return finish('', { kind: 'refused', reason: `The agent "${turn.agent.id}" has no tool that runs programs` });
  const started = turn.path.some(
    (entry) => entry.type === 'custom' && entry.customType === 'bash_started' && entry.runId === turn.run.runId,
  );
  if (started) return finish('The gateway stopped while this command ran; what it did is not known.', { kind: 'completed' });

  const args = { command: said.event.command };
  ran = args.command;
  const permitted = await permit(turn, { tool, callId: CALL_ID, args });
  if ('refused' in permitted) {
    if (control.isStopped()) return finish('', { kind: 'aborted', reason: control.reason });
    return finish(permitted.refused, { kind: 'refused', reason: permitted.refused });
  }
  await append(turn, { drafts: [{ type: 'custom', customType: 'bash_started', data: { command: args.command } }] });
  faultpoint('bash.started');
  voice.tool(CALL_ID, tool.name, 'started', { subject: permitted.subject, args });
  const startedAt = deps.clock.monotonic();
  const result = await runPrepared(permitted, {
    signal: control.work,
    onUpdate: (output) => voice.tool(CALL_ID, tool.name, 'output', { output }),
  });
  faultpoint('bash.ran');
  if (control.isParked() && control.work.aborted) throw new Parked();
  voice.tool(CALL_ID, tool.name, 'ended', { isError: result.isError, durationMs: deps.clock.monotonic() - startedAt });
  return finish(textOf(result.content), control.isStopped() ? { kind: 'aborted', reason: control.reason } : { kind: 'completed' });

  async function finish(output: string, end: RunEnd): Promise<RunEnd> {
    const details = { command: ran, ...(ran === command ? {} : { typed: command }), output };
    if (isPrivate) {
      await append(turn, {
        drafts: [
          { type: 'context_edit', targetId: entryId, replacement: null },
          { type: 'custom', customType: 'bash', data: details },
        ],
      });
    } else {
      const text = `The user ran a command:\n$ ${ran}\n${output === '' ? `(${end.reason ?? 'no output'})` : defuse(output)}`;
      await append(turn, {
        drafts: [{ type: 'custom_message', customType: 'bash', display: true, content: [{ type: 'text', text }], details }],
      });
    }
    faultpoint('bash.written');
    return end;
  }
}

/** Its output was written in a former life, which ended before the turn did. */
function isDone({ path, run }: Turn): boolean {
  return path.some(
    (entry) => entry.runId === run.runId && (entry.type === 'custom_message' || entry.type === 'custom') && entry.customType === 'bash',
  );
}
