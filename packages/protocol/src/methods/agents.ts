import { Type } from 'typebox';
import { Approval, ApprovalRule, Decision } from '../approval.ts';
import { CommandInfo } from '../commands.ts';
import { limits } from '../limits.ts';
import { AgentInfo, ModelId, ModelInfo } from '../model.ts';
import { Count, DisplayText, OwnerId, RandomId, SessionKey, Timestamp } from '../names.ts';
import { EffectiveTool, SandboxState, ToolInfo } from '../tool.ts';
import { RunId, Usage } from '../transcript.ts';
import { read, write } from './row.ts';

const closed = { additionalProperties: false };
const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageSize.value }));
const Cursor = Type.Optional(Type.String({ minLength: 1, maxLength: 512 }));

export const agentMethods = {
  'agents.list': read({
    summary: 'The configured agents.',
    scope: 'operator.read',
    params: {},
    result: Type.Object({ agents: Type.Array(AgentInfo) }, closed),
  }),
  'models.list': read({
    summary: 'The models that can be used, and why one cannot.',
    scope: 'operator.read',
    params: {},
    result: Type.Object({ models: Type.Array(ModelInfo), fallbacks: Type.Array(ModelId) }, closed),
  }),
  'models.probe': read({
    summary: 'Ask a model for one word, to see whether it answers.',
    scope: 'operator.write',
    params: { id: ModelId },
    result: Type.Object(
      {
        ok: Type.Boolean(),
        latencyMs: Type.Number({ minimum: 0 }),
        code: Type.Optional(Type.String()),
        reason: Type.Optional(DisplayText),
      },
      closed,
    ),
  }),
  'models.signIn': write({
    summary: 'Sign in at a provider of models that a plugin serves. What that gives is kept for the provider and told to nobody.',
    scope: 'operator.admin',
    params: { provider: ModelId, sessionKey: Type.Optional(SessionKey) },
    result: Type.Object({ provider: ModelId, renewable: Type.Boolean(), expiresAt: Type.Optional(Timestamp) }, closed),
  }),
  'models.signOut': write({
    summary: 'Forget what a sign-in at a provider of models gave.',
    scope: 'operator.admin',
    params: { provider: ModelId },
    result: Type.Object({ provider: ModelId, signedOut: Type.Boolean() }, closed),
  }),
  'tools.catalog': read({
    summary: 'All tools, in groups.',
    scope: 'operator.read',
    params: { agentId: Type.Optional(OwnerId) },
    result: Type.Object(
      {
        agentId: OwnerId,
        groups: Type.Array(
          Type.Object(
            {
              id: Type.String(),
              label: DisplayText,
              source: Type.Enum(['core', 'plugin']),
              pluginId: Type.Optional(OwnerId),
              tools: Type.Array(ToolInfo),
            },
            closed,
          ),
        ),
        sandbox: SandboxState,
      },
      closed,
    ),
  }),
  'tools.effective': read({
    summary: 'The tools that the agent of a session has now, and what happens when it calls them.',
    scope: 'operator.read',
    bound: { param: 'sessionKey' },
    params: { sessionKey: SessionKey },
    result: Type.Object({ tools: Type.Array(EffectiveTool), permissions: Type.String(), sandbox: SandboxState }, closed),
  }),
  'commands.list': read({
    summary: 'The slash commands.',
    scope: 'operator.read',
    bound: 'filtered',
    params: {},
    result: Type.Object({ commands: Type.Array(CommandInfo) }, closed),
  }),
  'commands.complete': read({
    summary: 'What may be typed next after a slash, as whole lines.',
    scope: 'operator.read',
    bound: { param: 'sessionKey' },
    params: { sessionKey: SessionKey, text: Type.String({ minLength: 1, maxLength: 4_096 }) },
    result: Type.Object(
      { completions: Type.Array(Type.Object({ text: Type.String(), description: Type.Optional(Type.String()) }, closed)) },
      closed,
    ),
  }),
  'commands.invoke': write({
    summary: 'Carry out a slash command in a session.',
    scope: 'operator.read',
    bound: { param: 'sessionKey' },
    params: { sessionKey: SessionKey, text: Type.String({ minLength: 1, maxLength: 16_384 }) },
    result: Type.Object({ reply: Type.String(), sessionKey: SessionKey }, closed),
  }),
  'usage.get': read({
    summary: 'Tokens and cost of a run, of a session, or of all; by model.',
    scope: 'operator.read',
    bound: { param: 'sessionKey' },
    params: { sessionKey: Type.Optional(SessionKey), runId: Type.Optional(RunId), since: Type.Optional(Timestamp) },
    result: Type.Object(
      {
        total: Type.Object({ ...Usage.properties, calls: Count }, closed),
        byModel: Type.Array(Type.Object({ model: Type.String(), ...Usage.properties, calls: Count }, closed)),
      },
      closed,
    ),
  }),
  'approvals.list': read({
    summary: 'What waits for an answer, oldest first; or what was answered, newest first.',
    scope: 'operator.approvals',
    bound: 'filtered',
    params: {
      state: Type.Optional(Type.Enum(['pending', 'decided'])),
      sessionKey: Type.Optional(SessionKey),
      limit: Limit,
      cursor: Cursor,
    },
    result: Type.Object({ approvals: Type.Array(Approval), nextCursor: Type.Optional(Type.String()) }, closed),
  }),
  'approvals.resolve': write({
    summary: 'Answer a question. The first answer counts.',
    scope: 'operator.approvals',
    params: { id: RandomId, decision: Decision },
    result: Type.Object({ approval: Approval }, closed),
  }),
  'approvals.rules': read({
    summary: 'What "always for exactly this" has allowed.',
    scope: 'operator.approvals',
    params: { limit: Limit, cursor: Cursor },
    result: Type.Object({ rules: Type.Array(ApprovalRule), nextCursor: Type.Optional(Type.String()) }, closed),
  }),
  'approvals.forget': write({
    summary: 'Take such a rule back: it asks again.',
    scope: 'operator.approvals',
    params: { id: RandomId },
    result: Type.Object({ id: RandomId, forgotten: Type.Literal(true) }, closed),
  }),
};
