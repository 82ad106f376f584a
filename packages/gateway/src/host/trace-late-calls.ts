// Calls that a plugin makes of the host, in the trace of the session that they are about: what it set, queued or started,
// and what was refused and why. The table of the protocol says which calls there are, so a new one is in the trace too.
import { lateCallNames, type LateCall } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { CallTrace } from './call-plugin.ts';
import { copyPlain } from './plain-data.ts';

/** They ask, and change nothing. */
const READS: ReadonlySet<LateCall> = new Set(['session.state.get', 'session.state.read', 'session.state.list']);
/** Tells itself what it made of the state; here only what is refused before it comes to that. */
const UPDATE: LateCall = 'session.state.update';

const traced = lateCallNames.filter((name) => /^(session|agent|gateway)\./.test(name) && !READS.has(name));

type Part = Record<string, unknown>;
type Call = (...given: unknown[]) => unknown;

/** The same api, whose calls are also told to the trace. While nothing is recorded, that is one look at a flag. */
export function traceLateCalls<Api extends object>(api: Api, plugin: string, trace: CallTrace, clock: Clock): Api {
  const copy = { ...api } as Part;
  const opened = new Map<string, Part>([['', copy]]);
  for (const name of traced) {
    const path = name.split('.');
    const own = path.pop()!;
    const part = path.reduce<Part>((outer, step, index) => {
      const at = path.slice(0, index + 1).join('.');
      const inner = opened.get(at) ?? { ...(outer[step] as Part) };
      opened.set(at, inner);
      outer[step] = inner;
      return inner;
    }, copy);
    const call = part[own];
    if (typeof call === 'function') part[own] = traceCall(name, call as Call, plugin, trace, clock);
  }
  return copy as Api;
}

function traceCall(name: LateCall, call: Call, plugin: string, trace: CallTrace, clock: Clock): Call {
  const where = { plugin, place: `api.${name}` };
  return (...given) => {
    if (!trace.isOn) return call(...given);
    const about = aboutOf(given);
    const began = clock.monotonic();
    const result = call(...given);
    const tell = (value: unknown) => {
      const refusal = refusalIn(value);
      if (name === UPDATE && refusal === undefined) return;
      const record = trace.began(where, about);
      if (!record) return;
      const answer = { ok: true as const, value: undefined };
      record.ended(answer, clock.monotonic() - began);
      trace.became(
        answer,
        refusal === undefined ? { outcome: 'changed', before: {}, after: contentOf(given) } : { outcome: 'refused', reason: refusal },
      );
    };
    if (result instanceof Promise) void result.then(tell, () => {});
    else tell(result);
    return result;
  };
}

/** What a plugin gives may throw when it is read. */
function aboutOf([first]: readonly unknown[]): { readonly sessionKey?: unknown; readonly runId?: unknown } {
  try {
    if (typeof first === 'string') return { sessionKey: first };
    const { sessionKey, runId } = (first ?? {}) as Part;
    return { sessionKey: typeof sessionKey === 'string' ? sessionKey.trim() : undefined, runId };
  } catch {
    return {};
  }
}

/** Late calls say in one of three ways that nothing was done. */
function refusalIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { ok, enqueued, emitted, reason, message } = value as Part;
  if (ok !== false && enqueued !== false && emitted !== false) return undefined;
  return [reason, message].filter((each) => typeof each === 'string').join(': ') || 'it was refused';
}

function contentOf([first, second, third]: readonly unknown[]): unknown {
  try {
    const copied = copyPlain(typeof first === 'string' ? { [String(second)]: third } : first);
    if ('wrong' in copied) return undefined;
    const { sessionKey: _, runId: __, ...content } = copied.value as Part;
    return content;
  } catch {
    return undefined;
  }
}
