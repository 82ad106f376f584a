// A slash command given to `tenon run`: it is carried out as in a chat, and its reply is the answer.
import type { Result } from '@tenon/protocol';
import type { CommandContext } from '../context.ts';
import { exitCodes, usageError } from '../failure.ts';
import { jsonLine } from '../output.ts';

/** Some of them ask the model, such as /compact. */
const SLOW_MS = 600_000;

export interface CommandLine {
  readonly text: string;
  readonly sessionKey: string | undefined;
  readonly agentId: string | undefined;
  readonly streamJson: boolean;
  /** Options that only a turn has, as they were typed. */
  readonly meaningless: readonly string[];
}

/** The exit code; nothing when the text is a message for the agent. */
export async function runSlashCommand(
  { call, out }: Pick<CommandContext, 'call' | 'out'>,
  { text, sessionKey, agentId, streamJson, meaningless }: CommandLine,
): Promise<number | undefined> {
  const { parseCommand } = await import('@tenon/protocol');
  if (text.startsWith(' ') || parseCommand(text) === undefined) return undefined;
  const { readInput } = await import('../chat/input.ts');
  const { commands } = await call('commands.list');
  const input = readInput(text, commands);
  if (input.kind === 'quit') throw usageError(`${text.trim()} has no meaning for run`);
  if (input.kind === 'wrong') throw usageError(input.reason);
  if (input.kind !== 'command') return undefined;
  if (meaningless.length > 0) throw usageError(`${meaningless.join(' and ')} has no meaning for a command such as ${quotedName(text)}`);
  const key = sessionKey ?? (await call('sessions.create', { agentId })).session.key;
  const answer = await carryOut(call, key, input.text);
  const reply = answer.reply ?? '';
  const result = { ...('runId' in answer ? { runId: answer.runId } : {}), sessionKey: answer.sessionKey, status: 'handled', text: reply };
  if (streamJson) out.line(jsonLine({ event: 'result', payload: result }));
  else {
    const { safeLines } = await import('../chat/text.ts');
    out.show(result, () => safeLines(reply));
  }
  return exitCodes.ok;
}

type Answer = Result<'chat.send'> | Result<'commands.invoke'>;

/** As a message, so that every surface sees it; a session that does not exist yet is made. */
async function carryOut(call: CommandContext['call'], sessionKey: string, text: string): Promise<Answer> {
  const send = () => call('chat.send', { sessionKey, message: text, idempotencyKey: crypto.randomUUID() }, undefined, SLOW_MS);
  try {
    return await send();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    // Who may only look can still give the commands that look.
    if (code === 'SCOPE') return call('commands.invoke', { sessionKey, text }, undefined, SLOW_MS);
    if (code !== 'NOT_FOUND' || !String(message).startsWith('Cannot find session ')) throw error;
    await call('sessions.create', { key: sessionKey });
    return send();
  }
}

function quotedName(text: string): string {
  return text.trim().split(/\s/, 1)[0] ?? '';
}
