// Tools as clients see them.
import { Type, type Static } from 'typebox';
import { Risk } from './approval.ts';
import { DisplayText, OwnerId } from './names.ts';
import { JsonObject } from './transcript.ts';

const closed = { additionalProperties: false };

export const ToolInfo = Type.Object(
  {
    id: Type.String(),
    label: DisplayText,
    description: Type.String(),
    source: Type.Enum(['core', 'plugin']),
    pluginId: Type.Optional(OwnerId),
    risk: Risk,
    /** What a plugin says of its own tool, for people; what is asked follows `risk`. */
    riskLevel: Type.Optional(Type.Enum(['low', 'medium', 'high'])),
    tags: Type.Array(Type.String()),
    idempotent: Type.Boolean(),
    parallelSafe: Type.Boolean(),
    /** Only agents that list it have it. */
    optional: Type.Optional(Type.Literal(true)),
    /** It is made for each session: what it is there, `tools.effective` says. */
    perSession: Type.Optional(Type.Literal(true)),
    parameters: JsonObject,
  },
  closed,
);
export type ToolInfo = Static<typeof ToolInfo>;

/** A tool as one session has it now. */
export const EffectiveTool = Type.Object(
  {
    ...ToolInfo.properties,
    /** What happens when the agent calls it. */
    verdict: Type.Enum(['allow', 'ask', 'deny']),
    reason: DisplayText,
  },
  closed,
);
export type EffectiveTool = Static<typeof EffectiveTool>;

/** Where programs run. */
export const SandboxState = Type.Object({ kind: Type.Enum(['bubblewrap', 'unshare', 'none']), reason: DisplayText }, closed);
export type SandboxState = Static<typeof SandboxState>;
