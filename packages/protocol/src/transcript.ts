// What was said in a session. A session is a tree of entries: each has an id and a parent, and one of them is the leaf.
// The path from the leaf to the root is what the model is told. The shapes are those of pi's session files, version 3.
import { Type, type Static } from 'typebox';
import { JsonValue } from './json.ts';
import { Count, DisplayText, RandomId, Timestamp } from './names.ts';

const closed = { additionalProperties: false };

/** Unique in its session. Imported entries keep theirs, which are as short as 8 digits. */
export const EntryId = Type.String({ pattern: '^[A-Za-z0-9_-]{4,64}$', description: 'an id of 4 to 64 letters, digits, - and _' });

export const RunId = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'up to 128 visible ASCII characters',
});

export const ToolName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
  description: 'up to 128 letters, digits, ., - and _, the first a letter or digit',
});

export const ToolCallId = Type.String({ minLength: 1, maxLength: 256 });

export const thinkingLevels = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export const ThinkingLevel = Type.Enum([...thinkingLevels]);
export type ThinkingLevel = (typeof thinkingLevels)[number];

export const JsonObject = Type.Record(Type.String(), JsonValue);
export type JsonObject = Record<string, JsonValue>;

export const TextBlock = Type.Object({ type: Type.Literal('text'), text: Type.String() }, closed);
export type TextBlock = Static<typeof TextBlock>;

export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export const ImageBlock = Type.Object(
  {
    type: Type.Literal('image'),
    mimeType: Type.Enum([...imageTypes]),
    /** base64 */
    data: Type.String({ minLength: 1 }),
  },
  closed,
);
export type ImageBlock = Static<typeof ImageBlock>;

export const ThinkingBlock = Type.Object(
  {
    type: Type.Literal('thinking'),
    thinking: Type.String(),
    /** What the provider wants back with it, as it gave it. */
    thinkingSignature: Type.Optional(Type.String()),
  },
  closed,
);

export const ToolCallBlock = Type.Object(
  {
    type: Type.Literal('toolCall'),
    id: ToolCallId,
    name: Type.String({ minLength: 1, maxLength: 256 }),
    arguments: JsonObject,
    /** What the model sent instead of a JSON object; such a call is answered with an error and never runs. */
    malformed: Type.Optional(Type.String()),
    /** What the provider wants back with it, as it gave it. */
    thoughtSignature: Type.Optional(Type.String()),
  },
  closed,
);
export type ToolCallBlock = Static<typeof ToolCallBlock>;

/** Tokens and what they cost. */
export const Usage = Type.Object(
  { input: Count, output: Count, cacheRead: Count, cacheWrite: Count, costUsd: Type.Number({ minimum: 0 }) },
  closed,
);
export type Usage = Static<typeof Usage>;

const Content = Type.Array(Type.Union([TextBlock, ImageBlock]));

export const AttachmentHandle = RandomId;

/** A file that is kept under its handle: `GET /attachments/<handle>`. */
export const unseenReasons = {
  pixels: 'it has too many pixels to be shown to anybody',
  bytes: 'it is too large for a model',
  count: 'there are too many images in the message',
} as const;

export const AttachmentRef = Type.Object(
  {
    handle: AttachmentHandle,
    name: Type.String(),
    /** What its first bytes say. */
    mime: Type.String(),
    bytes: Count,
    /** Why the model is not shown it, though it is an image. */
    unseen: Type.Optional(Type.Enum(Object.keys(unseenReasons) as (keyof typeof unseenReasons)[])),
  },
  closed,
);
export type AttachmentRef = Static<typeof AttachmentRef>;

/** What began a turn that no person asked for by a message. */
export const messageVias = ['plugin', 'schedule', 'heartbeat'] as const;

/** Of a message that no person wrote. */
export const messageOrigin = {
  /** The name of the plugin, the job or the heartbeat that began the turn: no person wrote it. */
  from: Type.Optional(DisplayText),
  /** Which of them; without it, a plugin. */
  via: Type.Optional(Type.Enum([...messageVias])),
};
export interface MessageOrigin {
  readonly from: string;
  readonly via: (typeof messageVias)[number];
}

export const UserMessage = Type.Object(
  {
    role: Type.Literal('user'),
    content: Content,
    /** Files that were said with it; the model is told their names. */
    attachments: Type.Optional(Type.Array(AttachmentRef)),
    ...messageOrigin,
    timestamp: Timestamp,
  },
  closed,
);
export type UserMessage = Static<typeof UserMessage>;

export const AssistantMessage = Type.Object(
  {
    role: Type.Literal('assistant'),
    content: Type.Array(Type.Union([TextBlock, ThinkingBlock, ToolCallBlock])),
    provider: Type.String(),
    model: Type.String(),
    usage: Usage,
    stopReason: Type.Enum(['stop', 'length', 'toolUse', 'error', 'aborted']),
    errorMessage: Type.Optional(Type.String()),
    timestamp: Timestamp,
  },
  closed,
);
export type AssistantMessage = Static<typeof AssistantMessage>;

export const ToolResultMessage = Type.Object(
  {
    role: Type.Literal('toolResult'),
    toolCallId: ToolCallId,
    toolName: Type.String(),
    content: Content,
    isError: Type.Boolean(),
    /** For people and plugins; the model does not see it. */
    details: Type.Optional(JsonObject),
    /** Where foreign text came from, such as `web_fetch example.com`: it is told to the model as data, not as instructions. */
    provenance: Type.Optional(DisplayText),
    durationMs: Type.Optional(Type.Number({ minimum: 0 })),
    timestamp: Timestamp,
  },
  closed,
);
export type ToolResultMessage = Static<typeof ToolResultMessage>;

export const Message = Type.Union([UserMessage, AssistantMessage, ToolResultMessage]);
export type Message = Static<typeof Message>;

const common = {
  id: EntryId,
  parentId: Type.Union([EntryId, Type.Null()]),
  at: Timestamp,
  /** The run that wrote it. */
  runId: Type.Optional(RunId),
};

export const Entry = Type.Union([
  Type.Object({ ...common, type: Type.Literal('message'), message: Message }, closed),
  Type.Object(
    {
      ...common,
      type: Type.Literal('compaction'),
      summary: Type.String(),
      /** What came before this entry on the path is replaced by the summary. */
      firstKeptEntryId: EntryId,
      tokensBefore: Count,
      details: Type.Optional(JsonObject),
    },
    closed,
  ),
  Type.Object({ ...common, type: Type.Literal('branch_summary'), fromId: EntryId, summary: Type.String() }, closed),
  Type.Object({ ...common, type: Type.Literal('model_change'), provider: Type.String(), modelId: Type.String() }, closed),
  Type.Object({ ...common, type: Type.Literal('thinking_level_change'), thinkingLevel: ThinkingLevel }, closed),
  /** Never told to the model. `customType` `command` is a slash command and its answer, `delivery` is what a plugin hands over. */
  Type.Object(
    { ...common, type: Type.Literal('custom'), customType: Type.String({ maxLength: 256 }), data: Type.Optional(JsonValue) },
    closed,
  ),
  /** Told to the model as a message of the user. */
  Type.Object(
    {
      ...common,
      type: Type.Literal('custom_message'),
      customType: Type.String({ maxLength: 256 }),
      content: Content,
      display: Type.Boolean(),
      details: Type.Optional(JsonObject),
    },
    closed,
  ),
  Type.Object({ ...common, type: Type.Literal('label'), targetId: EntryId, label: Type.Union([DisplayText, Type.Null()]) }, closed),
  Type.Object({ ...common, type: Type.Literal('session_info'), name: DisplayText }, closed),
  /** From here on the model is told `replacement` in place of the content of the target; null leaves it out. */
  Type.Object(
    { ...common, type: Type.Literal('context_edit'), targetId: EntryId, replacement: Type.Union([Content, Type.Null()]) },
    closed,
  ),
]);
export type Entry = Static<typeof Entry>;
export type EntryOf<Kind extends Entry['type']> = Extract<Entry, { type: Kind }>;

/** An entry before the store has given it its place. */
export type EntryDraft = Entry extends infer Each ? (Each extends Entry ? Omit<Each, 'id' | 'parentId' | 'at' | 'runId'> : never) : never;

/** A node of the tree without its content. */
export const TreeNode = Type.Object(
  {
    id: EntryId,
    parentId: Type.Union([EntryId, Type.Null()]),
    type: Type.String(),
    role: Type.Optional(Type.String()),
    at: Timestamp,
    /** The first words. */
    preview: Type.String(),
    label: Type.Optional(DisplayText),
    /** Whether it is on the path to the leaf. */
    current: Type.Boolean(),
  },
  closed,
);
export type TreeNode = Static<typeof TreeNode>;

/** How one turn of an agent ended. */
export const runEnds = {
  completed: 'The agent has answered.',
  handled: 'A command or a plugin answered, and the agent was not asked.',
  aborted: 'Somebody stopped it.',
  refused: 'It was not allowed, by a plugin or by the operator; `reason` says by whom and why.',
  failed: 'The model could not answer; `code` says in which way.',
  step_limit: 'The agent took as many steps as one turn may.',
  cost_limit: 'The turn cost as much as one turn may.',
  internal_error: 'A fault in the gateway.',
} as const;

export const RunEnd = Type.Object(
  {
    kind: Type.Enum(Object.keys(runEnds) as (keyof typeof runEnds)[]),
    code: Type.Optional(Type.String({ maxLength: 64 })),
    reason: Type.Optional(Type.String({ maxLength: 4096 })),
  },
  closed,
);
export type RunEnd = Static<typeof RunEnd>;

/** What happens to a message that arrives while the agent is busy. */
export const queueModes = {
  collect: 'All messages that wait are told together in the next turn.',
  steer: 'Told to the running turn after its current tool calls.',
  followup: 'Each gets a turn of its own, in order.',
  interrupt: 'The running turn is stopped, and this one begins.',
} as const;
export type QueueMode = keyof typeof queueModes;
export const QueueMode = Type.Enum(Object.keys(queueModes) as QueueMode[]);

export const runTriggers = ['user', 'api', 'heartbeat', 'schedule', 'plugin'] as const;

export const Run = Type.Object(
  {
    runId: RunId,
    sessionKey: Type.String(),
    sessionId: RandomId,
    state: Type.Enum(['queued', 'running', 'ended']),
    mode: QueueMode,
    trigger: Type.Enum([...runTriggers]),
    /** The run whose turn told this message, where that was another one. */
    joined: Type.Optional(RunId),
    createdAt: Timestamp,
    startedAt: Type.Optional(Timestamp),
    endedAt: Type.Optional(Timestamp),
    end: Type.Optional(RunEnd),
    usage: Usage,
  },
  closed,
);
export type Run = Static<typeof Run>;
