// A chat without a terminal: each line that is read is one message, its end is waited for, the answer goes to stdout as it
// comes and everything else to stderr. Nothing is asked: a question names the command that answers it.
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { CommandInfo, RunEnd } from '@tenon/protocol';
import { exitCodes } from '../failure.ts';
import type { Conversation } from './conversation.ts';
import type { Show } from './follow.ts';
import { closedText, panelText, press, readPress } from './plugin-press.ts';
import { changeFiles } from './chat-files.ts';
import { createLineJoiner, type Input, readInput } from './input.ts';
import { exitOfEnd } from './outcome.ts';
import type { Screen } from './screen.ts';
import { safeLines } from './text.ts';

export interface PipedOptions {
  readonly conversation: Conversation;
  readonly show: EndsShow;
  readonly answers: Screen;
  readonly talk: (line: string) => void;
  readonly stdin: Readable;
  readonly known: readonly CommandInfo[];
  readonly interrupted: AbortSignal;
}

/** How long the last events of a run may come after the answer that it has ended. */
const LATE_MS = 2_000;

export async function chatThroughPipe(options: PipedOptions): Promise<number> {
  const { talk, stdin, known, interrupted } = options;
  const joiner = createLineJoiner();
  const lines = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY });
  let code: number = exitCodes.ok;
  const say = async (text: string): Promise<'go on' | 'leave'> => {
    const input = readInput(text, known);
    if (input.kind === 'quit') return 'leave';
    if (input.kind === 'wrong') {
      talk(input.reason);
      code = exitCodes.failed;
    } else if (input.kind !== 'nothing') {
      code = (await tell(input, options)) || code;
    }
    return interrupted.aborted ? 'leave' : 'go on';
  };
  const stopReading = () => lines.close();
  interrupted.addEventListener('abort', stopReading, { once: true });
  try {
    for await (const line of lines) {
      const text = joiner.add(line);
      if (text !== undefined && (await say(text)) === 'leave') return interrupted.aborted ? exitCodes.interrupted : code;
    }
    if (joiner.isOpen) await say(joiner.take());
    return interrupted.aborted ? exitCodes.interrupted : code;
  } finally {
    interrupted.removeEventListener('abort', stopReading);
    lines.close();
  }
}

type Told = Extract<Input, { readonly kind: 'command' | 'message' | 'press' | 'panel' | 'attach' | 'detach' }>;

async function tell(input: Told, options: PipedOptions): Promise<number> {
  const { conversation, show, answers, talk, interrupted } = options;
  const print = (text: string) => {
    for (const line of safeLines(text)) answers.line(line);
  };
  if (input.kind === 'attach' || input.kind === 'detach') {
    try {
      talk(await changeFiles(conversation, input.kind, input.rest));
      return exitCodes.ok;
    } catch (error) {
      talk((error as Error).message);
      return exitCodes.failed;
    }
  }
  if (input.kind === 'panel') {
    await conversation.refreshPlugins();
    print(panelText(conversation.plugins));
    return exitCodes.ok;
  }
  if (input.kind === 'press') {
    const read = readPress(input.rest, conversation.plugins);
    if (read.kind === 'send') {
      const { ok, text } = await press(conversation, read.control, read.payload);
      print(text);
      return ok ? exitCodes.ok : exitCodes.failed;
    }
    const { number } = read.kind === 'ask' ? read.control : { number: 0 };
    talk(read.kind === 'wrong' ? read.reason : `It needs to be told more: /press ${number} {"name": "value"}`);
    return exitCodes.failed;
  }
  if (input.kind === 'message' && conversation.plugins.closed) {
    talk(closedText(conversation.plugins.closed));
    return exitCodes.denied;
  }
  if (input.kind === 'command') {
    print(await conversation.command(input.text));
    return exitCodes.ok;
  }
  const sent = await conversation.send(input.text, true);
  if (sent.status === 'handled') {
    if (sent.reply !== undefined) print(sent.reply);
    return exitCodes.ok;
  }
  const stop = () => void conversation.abort().catch(() => {});
  if (interrupted.aborted) stop();
  interrupted.addEventListener('abort', stop, { once: true });
  try {
    const { run, end } = await conversation.ended(sent.runId);
    const how = end ?? run.end;
    await show.heard(sent.runId, LATE_MS);
    conversation.follower.ended(sent.runId, how);
    return exitOfEnd(how, interrupted.aborted);
  } finally {
    interrupted.removeEventListener('abort', stop);
  }
}

export interface EndsShow extends Show {
  /** Resolves when the end of the run was shown, or the time is over. */
  heard(runId: string, withinMs: number): Promise<void>;
}

/** The answer that a run has ended can overtake the events that say the same. */
export function hearingEnds(show: Show): EndsShow {
  const heard = new Set<string>();
  const waiting = new Map<string, () => void>();
  return {
    ...show,
    ended(runId: string, end: RunEnd | undefined, told?: boolean) {
      show.ended(runId, end, told);
      if (heard.size > 1_000) heard.clear();
      heard.add(runId);
      waiting.get(runId)?.();
    },
    async heard(runId, withinMs) {
      if (heard.has(runId)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, withinMs);
      waiting.set(runId, resolve);
      await promise;
      clearTimeout(timer);
      waiting.delete(runId);
    },
  };
}
