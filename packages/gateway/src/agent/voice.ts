// What a run says while it works, numbered within the run.
import type { JsonObject, RunStream } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';

type Lifecycle = Extract<RunStream, { stream: 'lifecycle' }>;
type ToolSaid = Extract<RunStream, { stream: 'tool' }>;

/** Contract: must not throw. Those who listen are no reason for a turn to fail. */
export interface Voice {
  phase(phase: Lifecycle['phase'], detail?: string): void;
  text(delta: string): void;
  thinking(delta: string): void;
  tool(callId: string, name: string, phase: ToolSaid['phase'], more?: ToolDetails): void;
}

export interface ToolDetails {
  readonly subject?: string;
  readonly args?: JsonObject;
  readonly output?: string;
  readonly isError?: boolean;
  readonly durationMs?: number;
}

const MAX_DETAIL = 512;
/** Of output that is shown while a tool runs: its end. */
const MAX_OUTPUT = 4_096;
/** Arguments that are larger are read from the transcript. */
const MAX_ARGS = 16_384;

export interface VoiceDeps {
  readonly publish: (said: RunStream) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export function createVoice(run: { runId: string; sessionKey: string }, deps: VoiceDeps): Voice {
  const { clock, log } = deps;
  let seq = 0;
  const publish = (said: RunStream) => {
    try {
      deps.publish(said);
    } catch (error) {
      log.error({ error, runId: run.runId }, 'what a run says could not be passed on');
    }
  };
  const common = () => ({ runId: run.runId, sessionKey: run.sessionKey, seq: seq++, ts: clock.now() });
  return {
    phase: (phase, detail) =>
      publish({ ...common(), stream: 'lifecycle', phase, ...(detail === undefined ? {} : { detail: detail.slice(0, MAX_DETAIL) }) }),
    text: (delta) => publish({ ...common(), stream: 'assistant', delta }),
    thinking: (delta) => publish({ ...common(), stream: 'thinking', delta }),
    tool(callId, name, phase, { args, output, ...more } = {}) {
      publish({
        ...common(),
        stream: 'tool',
        callId,
        name,
        phase,
        ...more,
        ...(args !== undefined && JSON.stringify(args).length <= MAX_ARGS ? { args } : {}),
        ...(output === undefined ? {} : { output: output.slice(-MAX_OUTPUT) }),
      });
    },
  };
}
