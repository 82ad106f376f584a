// A turn that a plugin has scheduled is offered to the plugin first, when it is due: it may deal with it alone, and no model is
// asked. It sees nothing but what it has scheduled itself. One that fails is passed over, and the agent is told in the end: what was
// promised for this time is never lost. A gateway that dies meanwhile offers the turn again, under the same run.
import { matches } from '@tenon/protocol';
import { Type } from 'typebox';
import { placed } from '../host/call-plugin.ts';
import { copyPlain } from '../host/plain-data.ts';
import type { OpenRun } from '../store/run-row.ts';
import { readState } from './plugin-tools.ts';
import { textOf } from './prompt.ts';
import type { RunOptions } from './service.ts';
import { Parked, Stopped, type Turn } from './turn-context.ts';

export interface TakenTurn {
  readonly plugin: string;
  /** Without it, nothing of the turn stands in the transcript. */
  readonly reply?: string;
}

const OWNER = /^plugin:(.+)$/;

/** Undefined when the agent is to be asked. */
export async function offerTurn(turn: Turn, { run, content, options, principal }: OpenRun): Promise<TakenTurn | undefined> {
  const { plugins } = turn.deps;
  const { scheduled } = options as RunOptions;
  const plugin = OWNER.exec(principal)?.[1];
  if (!plugins || !scheduled || plugin === undefined || !plugins.holds(plugin, 'schedule.turns')) return undefined;
  const own = plugins.registry.all('scheduledTurn').filter((each) => each.plugin === plugin);
  if (own.length === 0) return undefined;
  const { jobId, name, tag, dueAt } = scheduled;
  const { key: sessionKey } = turn.session;
  const due = { sessionKey, agentId: turn.agent.id, runId: run.runId, jobId, name, message: textOf(content), dueAt };
  const place = { sessionKey, runId: run.runId };
  for (const registered of own) {
    if (!registered.isLive) continue;
    const where = placed(plugin, 'scheduled_turn', registered);
    const state = await readState(plugins, plugin, sessionKey).catch(() => undefined);
    if (!state) {
      plugins.caller.fail(where, 'dropped', 'what it keeps in the session could not be read, so it was not asked');
      continue;
    }
    const answer = await plugins.caller.call(
      where,
      (given: typeof due, call) =>
        registered.item.handler({
          ...given,
          ...(tag === undefined ? {} : { tag }),
          getSessionExtension: state,
          get signal() {
            return call.signal;
          },
        }),
      due,
      acceptAnswer,
      turn.control.waits,
      place,
    );
    if (turn.control.isParked()) throw new Parked();
    if (turn.control.isStopped()) throw new Stopped();
    if (!answer.ok || !answer.value?.handled) continue;
    plugins.caller.trace.became(answer, { outcome: 'claimed' });
    const { reply } = answer.value;
    return { plugin, ...(reply === undefined ? {} : { reply }) };
  }
  return undefined;
}

const HandlerAnswer = Type.Object(
  { handled: Type.Boolean(), reply: Type.Optional(Type.String({ maxLength: 32_768 })) },
  { additionalProperties: false },
);

function acceptAnswer(raw: unknown): { readonly value: { handled: boolean; reply?: string } | undefined } | { readonly wrong: string } {
  if (raw === undefined) return { value: undefined };
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  return matches(HandlerAnswer, copied.value) ? { value: copied.value } : { wrong: 'it is not {handled, reply?}' };
}
