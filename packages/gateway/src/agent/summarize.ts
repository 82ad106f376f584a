// A summary by the model of the session, asked again while it is overloaded. Nobody watches it being written.
import type { Message, Usage } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Model } from '../model/types.ts';
import { askModel, type Said } from './ask-model.ts';
import { SUMMARY_SYSTEM } from './compaction.ts';
import { textOf } from './prompt.ts';

export type Summary =
  | { readonly kind: 'text'; readonly text: string; readonly usage: { readonly model: string; readonly usage: Usage } }
  | { readonly kind: 'none'; readonly reason: string };

const ATTEMPTS = 3;

export async function summarize(model: Model, messages: Message[], clock: Clock, signal: AbortSignal): Promise<Summary> {
  const request = { system: SUMMARY_SYSTEM, messages, tools: [], thinking: 'off' as const };
  const answer = await askModel(
    [{ model }],
    { clock, random: Math.random, attempts: ATTEMPTS, request: () => request, said: silent },
    signal,
  );
  if (answer.kind === 'overflow') return { kind: 'none', reason: 'What is to be summed up is larger than the window of the model' };
  if (answer.kind === 'stopped') return { kind: 'none', reason: 'It was stopped' };
  if (answer.kind === 'failed') return { kind: 'none', reason: answer.failure.message };
  const text = textOf(answer.message.content);
  if (text === '') return { kind: 'none', reason: 'The model gave an empty summary' };
  return { kind: 'text', text, usage: { model: model.info.id, usage: answer.message.usage } };
}

const silent: Said = {
  asking() {},
  text() {},
  thinking() {},
  toolBegun() {},
  retrying() {},
  fallingBack() {},
  ended() {},
};
