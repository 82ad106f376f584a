// A question to the operator before something is done. It shows exactly what would be done, and the answer holds for
// exactly that: `digest` is taken over the bytes that are shown.
import { Type, type Static } from 'typebox';
import { DisplayText, OwnerId, RandomId, SessionKey, Timestamp } from './names.ts';
import { JsonObject, RunId, ToolCallId } from './transcript.ts';

const closed = { additionalProperties: false };

/** What somebody can do with a tool, from the least to the most. */
export const risks = {
  read: 'Reads inside the workspace.',
  write: 'Changes files inside the workspace.',
  network: 'Sends or fetches something over the network.',
  exec: 'Runs a program.',
} as const;
export type Risk = keyof typeof risks;
export const Risk = Type.Enum(Object.keys(risks) as Risk[]);

export const permissionModes = {
  ask: 'Reading goes ahead; everything else asks.',
  'accept-edits': 'Reading and changes of files in the workspace go ahead; everything else asks.',
  deny: 'Reading goes ahead; everything else is refused.',
  bypass: 'Nothing asks. Each call is recorded in the audit log.',
} as const;
export type PermissionMode = keyof typeof permissionModes;
export const PermissionMode = Type.Enum(Object.keys(permissionModes) as PermissionMode[]);

export const decisions = ['allow-once', 'allow-always', 'deny'] as const;
export const Decision = Type.Enum([...decisions]);
export type Decision = (typeof decisions)[number];

export const Approval = Type.Object(
  {
    id: RandomId,
    sessionKey: SessionKey,
    /** Of a call of a tool; a question that a plugin asks by itself has none. */
    runId: Type.Optional(RunId),
    callId: Type.Optional(ToolCallId),
    agentId: OwnerId,
    toolName: Type.Optional(Type.String()),
    /** Who wants it asked, where that is a plugin. */
    pluginId: Type.Optional(OwnerId),
    /** The question. */
    title: DisplayText,
    /** Who stopped it and why. */
    reason: DisplayText,
    risk: Type.Optional(Risk),
    /** For a program: its words, one by one. */
    argv: Type.Optional(Type.Array(Type.String())),
    /** Where it would run. */
    cwd: Type.Optional(Type.String()),
    /** Variables that it gets beside the usual ones. */
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** Files of the workspace that run as they were when this was asked: they were copied, and the copies run. */
    bound: Type.Optional(Type.Array(Type.String())),
    /** What it may run beside that, in words: it can be changed until it runs, so this cannot be allowed for always. */
    notBound: Type.Optional(Type.Array(Type.String())),
    /** All arguments, whole. */
    args: JsonObject,
    /** sha256 of everything that is shown here and would be done. */
    digest: Type.String(),
    /** Whose request the turn serves, such as `token:…`. */
    principal: Type.String(),
    allowed: Type.Array(Decision),
    state: Type.Enum(['pending', 'allowed', 'denied', 'expired', 'voided']),
    decision: Type.Optional(Decision),
    decidedBy: Type.Optional(Type.String()),
    decidedAt: Type.Optional(Timestamp),
    createdAt: Timestamp,
    expiresAt: Timestamp,
  },
  closed,
);
export type Approval = Static<typeof Approval>;

/** What "always for exactly this" has added. */
export const ApprovalRule = Type.Object(
  {
    id: RandomId,
    agentId: OwnerId,
    /** Or `plugin:<id>`, for a question of that plugin. */
    toolName: Type.String(),
    digest: Type.String(),
    /** What is allowed, as it was shown. */
    title: DisplayText,
    args: JsonObject,
    createdAt: Timestamp,
    createdBy: Type.String(),
  },
  closed,
);
export type ApprovalRule = Static<typeof ApprovalRule>;
