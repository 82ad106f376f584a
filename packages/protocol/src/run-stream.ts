// What a run says while it works. Nothing here is kept: what it adds up to is in the transcript.
import { Type, type Static } from 'typebox';
import { JsonValue } from './json.ts';
import { Count, DisplayText, OwnerId, SessionKey, Timestamp } from './names.ts';
import { JsonObject, RunId, ToolCallId } from './transcript.ts';

const closed = { additionalProperties: false };

const common = { runId: RunId, sessionKey: SessionKey, seq: Count, ts: Timestamp };

/** What happens beside text and tools, in words that a person can be shown. */
export const runPhases = {
  started: 'The turn began.',
  resumed: 'The turn goes on after the gateway came back.',
  model: 'A model was asked; `detail` names it.',
  retry: 'The model did not answer and will be asked again; `detail` says why.',
  fallback: 'Another model is asked instead; `detail` says which and why.',
  compacting: 'Older messages are being summed up.',
  waiting: 'The turn waits for an approval.',
  discarded: 'The text that was sent so far is taken back: the model is asked again.',
  ended: 'The turn is over.',
} as const;

export const RunStream = Type.Union([
  Type.Object(
    {
      ...common,
      stream: Type.Literal('lifecycle'),
      phase: Type.Enum(Object.keys(runPhases) as (keyof typeof runPhases)[]),
      detail: Type.Optional(DisplayText),
    },
    closed,
  ),
  Type.Object({ ...common, stream: Type.Literal('assistant'), delta: Type.String() }, closed),
  Type.Object({ ...common, stream: Type.Literal('thinking'), delta: Type.String() }, closed),
  Type.Object(
    {
      ...common,
      stream: Type.Literal('tool'),
      callId: ToolCallId,
      name: Type.String(),
      phase: Type.Enum(['writing', 'started', 'output', 'ended']),
      /** What it is about, in a few words. */
      subject: Type.Optional(Type.String()),
      args: Type.Optional(JsonObject),
      /** All output so far, its last lines only where it is long. */
      output: Type.Optional(Type.String()),
      isError: Type.Optional(Type.Boolean()),
      durationMs: Type.Optional(Type.Number({ minimum: 0 })),
    },
    closed,
  ),
  /** Said by a plugin; `name` is its own stream, `<plugin>` or `<plugin>.<more>`. `seq` is 0: it is not one of the run's own. */
  Type.Object(
    { ...common, stream: Type.Literal('plugin'), plugin: OwnerId, name: Type.String({ maxLength: 128 }), data: JsonValue },
    closed,
  ),
]);
export type RunStream = Static<typeof RunStream>;
