// Everything that a plugin can register, beside its handlers: what it looks like, what makes it unique, and what the operator
// must have granted. The registry checks an item against its row; a plugin that is unloaded takes all of its items with it.
import { Type, type Static, type TSchema } from 'typebox';
import { Risk } from './approval.ts';
import { JsonValue } from './json.ts';
import { DisplayText, SlotName, SessionKey } from './names.ts';
import { ScopeList } from './scopes.ts';
import { JsonObject } from './transcript.ts';

/** A name inside a plugin: a tool, an action, a namespace, a descriptor. */
export const ItemName = Type.String({
  pattern: '^(?!(?:__proto__|constructor|prototype)$)[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
  description: 'up to 128 letters, digits, ., - and _, the first a letter or digit',
});

export const routeMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Below `/plugins/<id>`. Nothing in it needs decoding, and no part of it leads upwards. */
const RoutePath = Type.String({
  pattern: '^/(?:[A-Za-z0-9][A-Za-z0-9._~-]*(?:/[A-Za-z0-9][A-Za-z0-9._~-]*)*)?$',
  maxLength: 256,
  description: 'such as / or /hooks/incoming: letters, digits, ., _, ~ and -, each part beginning with a letter or digit',
});

/** What follows `plugin.<id>.`: the whole still fits a frame. */
const TailName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$',
  description: 'up to 48 letters, digits, ., - and _, the first a letter or digit',
});

/** Where people talk with the agent: a channel that a plugin serves. */
export const ChannelId = Type.String({
  pattern: '^[a-z][a-z0-9_-]{0,31}$',
  description: 'up to 32 lower-case letters, digits, - and _, the first a letter',
});
/** The page, the CLI and programs. */
export const DEFAULT_CHANNEL = 'webchat';

const ButtonNamespace = Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$', description: 'up to 64 letters, digits, ., _ and -' });

/** What follows the name of the provider in the id of a model. */
const ModelTail = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$',
  description: 'up to 128 letters, digits, ., :, /, @, _ and -, the first a letter or digit',
});

/** What every provider of models takes: one name that it refuses would end every turn of the agent. */
const ToolItemName = Type.String({
  pattern: '^(?!(?:constructor|prototype)$)[A-Za-z][A-Za-z0-9_-]{0,63}$',
  description: 'up to 64 letters, digits, - and _, the first a letter',
});

/** Tools by their ids, in lower case. To match all, there is none. */
export const ToolMatcher = Type.Array(
  Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$', description: 'the id of a tool, in lower case letters, such as exec' }),
  { minItems: 1, maxItems: 64 },
);

/** Names that models and other hosts use for tools that are called otherwise here: a matcher with one would match nothing. */
const otherNames: Readonly<Record<string, string>> = {
  bash: 'exec',
  shell: 'exec',
  exec_command: 'exec',
  'apply-patch': 'apply_patch',
  applypatch: 'apply_patch',
};

/** What a matcher cannot mean; undefined when it is well. */
export function matcherFault(matcher: readonly string[]): string | undefined {
  const name = matcher.find((each) => Object.hasOwn(otherNames, each));
  return name === undefined ? undefined : `has "${name}"; here the tool is called "${otherNames[name]}"`;
}

/** Names of tools differ in more than the size of their letters, so the id of one is its name in lower case. Without a matcher, all match. */
export function isToolMatched(matcher: readonly string[] | undefined, toolName: string): boolean {
  return matcher === undefined || matcher.includes(toolName.toLowerCase());
}

interface ContributionSpec {
  readonly summary: string;
  /** The part of it that is data; handlers stand beside it. */
  readonly schema: TSchema;
  /** The field that names it. */
  readonly key: string;
  /** `plugin`: two plugins may use the same name. `global`: the first one has it. */
  readonly unique: 'plugin' | 'global';
  readonly grant?: string;
}

const closed = { additionalProperties: false };
const Description = Type.String({ minLength: 1, maxLength: 2_048 });
const Scopes = Type.Optional(ScopeList);

/** A part of what the plugin shows of its state in a session: a namespace of its own, and a JSON pointer into the value. */
const statePlace = {
  namespace: ItemName,
  path: Type.Optional(Type.String({ maxLength: 512, pattern: '^(/[\\s\\S]*)?$', description: 'a JSON pointer, such as /items/0' })),
};
export const StatePlace = Type.Object(statePlace, closed);

/** A condition on it. Without `equals`: there is something there, and it is neither null nor false. */
export const ActiveWhen = Type.Object({ ...statePlace, equals: Type.Optional(JsonValue) }, closed);

/** What is done: one of the plugin's own session actions, or a command as it would be typed. One of the two. */
const deed = {
  actionId: Type.Optional(ItemName),
  command: Type.Optional(Type.String({ minLength: 2, maxLength: 512, pattern: '^/[^\\s/]' })),
  /** What the action is given: this, or a part of the state as it is shown when the button is pressed. */
  payload: Type.Optional(JsonValue),
  payloadFrom: Type.Optional(StatePlace),
};

/** A button. Where the schema of its action wants fields that it is not given, people are asked for them in a form. */
export const UiAction = Type.Object(
  {
    label: DisplayText,
    style: Type.Optional(Type.Enum(['primary', 'normal', 'danger'])),
    ...deed,
    /** Always ask, with what it is given as a proposal. */
    ask: Type.Optional(Type.Boolean()),
    when: Type.Optional(ActiveWhen),
  },
  closed,
);

/** One of the positions of a switch. The first whose `when` holds is the current one; if none does, the first without a `when`. */
export const UiOption = Type.Object({ label: DisplayText, when: Type.Optional(ActiveWhen), action: Type.Object(deed, closed) }, closed);

/** What can be done with each item of a list: the action is given these fields of it. An item with `done` becomes a checkbox. */
export const UiItemAction = Type.Object(
  { label: DisplayText, actionId: ItemName, fields: Type.Array(ItemName, { minItems: 1, maxItems: 8, uniqueItems: true }) },
  closed,
);

/** A fixed vocabulary; what it shows comes from the item or, by JSON pointer, from the projected state. */
export const UiBlock = Type.Object(
  {
    kind: Type.Enum(['markdown', 'key-value', 'list', 'table', 'progress', 'status', 'diff']),
    label: Type.Optional(DisplayText),
    text: Type.Optional(Type.String({ maxLength: 16_384 })),
    /** In place of `text`. */
    from: Type.Optional(StatePlace),
    /** Only in a `list`. */
    itemAction: Type.Optional(UiItemAction),
    when: Type.Optional(ActiveWhen),
  },
  closed,
);

export const uiSurfaces = ['session', 'chat-message', 'chat-input-bar', 'chat-input-toolbar-chip', 'status', 'settings'] as const;

export const contributions = {
  sessionExtension: {
    summary: 'State of its own in every session.',
    schema: Type.Object({ namespace: ItemName, description: Description, sessionEntrySlotKey: Type.Optional(SlotName) }, closed),
    key: 'namespace',
    unique: 'plugin',
  },
  sessionAction: {
    summary: 'Something that a button or a program can ask it to do in a session.',
    schema: Type.Object(
      { id: ItemName, description: Type.Optional(Description), schema: Type.Optional(JsonValue), requiredScopes: Scopes },
      closed,
    ),
    key: 'id',
    unique: 'plugin',
  },
  sessionsPatchAction: {
    summary: 'Something that `sessions.patch` can ask it to do together with the change of a session.',
    schema: Type.Object({ action: ItemName, requiredScopes: Scopes }, closed),
    key: 'action',
    unique: 'plugin',
  },
  tool: {
    summary: 'A tool for the agent.',
    schema: Type.Object(
      {
        name: ToolItemName,
        label: Type.Optional(DisplayText),
        description: Description,
        parameters: JsonObject,
        risk: Risk,
        tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 16 })),
        idempotent: Type.Optional(Type.Boolean()),
        parallelSafe: Type.Optional(Type.Boolean()),
        optional: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
    key: 'name',
    unique: 'global',
    grant: 'tools.register',
  },
  toolFactory: {
    summary: 'A tool that is made for each session, or is not there in it.',
    schema: Type.Object(
      {
        name: ToolItemName,
        /** For the list of tools; what the agent is told says the tool itself. */
        description: Type.Optional(Description),
        risk: Type.Optional(Risk),
        optional: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
    key: 'name',
    unique: 'global',
    grant: 'tools.register',
  },
  toolMetadata: {
    summary: 'How one of its own tools is shown.',
    schema: Type.Object(
      {
        toolName: ItemName,
        displayName: Type.Optional(DisplayText),
        description: Type.Optional(Description),
        risk: Type.Optional(Type.Enum(['low', 'medium', 'high'])),
        tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 16 })),
      },
      closed,
    ),
    key: 'toolName',
    unique: 'plugin',
  },
  toolPolicy: {
    summary: 'Judges tool calls before all hooks; it can only tighten, and a failure denies.',
    schema: Type.Object({ id: ItemName, description: Description, matcher: Type.Optional(ToolMatcher) }, closed),
    key: 'id',
    unique: 'plugin',
    grant: 'policy.tools',
  },
  toolResultMiddleware: {
    summary: 'Changes what tools have answered before it is kept and told to the agent. What was refused stays refused.',
    schema: Type.Object({ id: ItemName, description: Type.Optional(Description), matcher: Type.Optional(ToolMatcher) }, closed),
    key: 'id',
    unique: 'plugin',
    grant: 'tools.results',
  },
  command: {
    summary: 'A slash command.',
    schema: Type.Object(
      {
        name: Type.String({
          pattern: '^[a-z][a-z0-9_-]{0,63}$',
          description: 'up to 64 lower-case letters, digits, - and _, the first a letter',
        }),
        description: Description,
        usage: Type.Optional(Type.String({ maxLength: 256 })),
        aliases: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$' }), { maxItems: 8 })),
        requiredScopes: Scopes,
        /** How long the answer may take, where that is not as long as others may; it may wait for a person. */
        timeoutMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 600_000 })),
        /** Where somebody else has its name: it is known as `<plugin>:<name>` alone. */
        orQualified: Type.Optional(Type.Boolean()),
        /** Told to the agent in its system prompt, while the plugin holds `prompt.inject`. */
        agentPromptGuidance: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1_024 }), { minItems: 1, maxItems: 8 })),
      },
      closed,
    ),
    key: 'name',
    unique: 'global',
    grant: 'commands.register',
  },
  uiDescriptor: {
    summary: 'A control in the page.',
    schema: Type.Object(
      {
        id: ItemName,
        label: DisplayText,
        surface: Type.Enum([...uiSurfaces]),
        description: Type.Optional(Description),
        priority: Type.Optional(Type.Integer({ minimum: -1000, maximum: 1000 })),
        activeWhen: Type.Optional(ActiveWhen),
        view: Type.Optional(Type.Array(UiBlock, { maxItems: 32 })),
        actions: Type.Optional(Type.Array(UiAction, { maxItems: 16 })),
        /** A switch, in place of buttons; only of a chip. */
        options: Type.Optional(Type.Array(UiOption, { minItems: 2, maxItems: 8 })),
        /** While it is active: whether people can write a message. */
        composer: Type.Optional(Type.Object({ mode: Type.Enum(['normal', 'confirm', 'disabled']), reason: DisplayText }, closed)),
        requiredScopes: Scopes,
      },
      closed,
    ),
    key: 'id',
    unique: 'plugin',
    grant: 'ui.descriptors',
  },
  eventSubscription: {
    summary: 'Follows what runs say while they work.',
    schema: Type.Object(
      { id: ItemName, streams: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 32 })) },
      closed,
    ),
    key: 'id',
    unique: 'plugin',
    grant: 'events.follow',
  },
  lifecycle: {
    summary: 'Is told when a session is reset or deleted, and when the plugin goes.',
    schema: Type.Object({ id: ItemName, description: Type.Optional(Description) }, closed),
    key: 'id',
    unique: 'plugin',
  },
  schedulerJob: {
    summary: 'Something that it has running for a session elsewhere: a record of it, cleaned up with the session and with the plugin.',
    schema: Type.Object({ id: ItemName, sessionKey: SessionKey, kind: ItemName, description: Type.Optional(Description) }, closed),
    key: 'id',
    unique: 'plugin',
    grant: 'schedule.turns',
  },
  scheduledTurn: {
    summary: 'Is given the turns that it has scheduled itself, when they are due; it may deal with one without the agent.',
    schema: Type.Object({ id: ItemName, description: Type.Optional(Description) }, closed),
    key: 'id',
    unique: 'plugin',
    grant: 'schedule.turns',
  },
  gatewayMethod: {
    summary: 'A method of its own, called `plugin.<id>.<name>`.',
    schema: Type.Object({ name: TailName, scope: Type.Optional(Type.String({ maxLength: 64 })) }, closed),
    key: 'name',
    unique: 'plugin',
    grant: 'gateway.methods',
  },
  gatewayEvent: {
    summary: 'An event of its own, called `plugin.<id>.<name>`, for clients that hold its scope.',
    schema: Type.Object(
      { name: TailName, description: Type.Optional(Description), scope: Type.Optional(Type.String({ maxLength: 64 })) },
      closed,
    ),
    key: 'name',
    unique: 'plugin',
    grant: 'events.emit',
  },
  interactiveHandler: {
    summary: 'Is told of buttons that people press in a conversation, whose data is `<namespace>:<payload>`.',
    schema: Type.Object({ channel: Type.Union([Type.Literal('*'), ChannelId]), namespace: ButtonNamespace }, closed),
    key: 'namespace',
    unique: 'global',
    grant: 'ui.interact',
  },
  channel: {
    summary: 'Carries what is sent to where a session came from.',
    schema: Type.Object(
      {
        id: ChannelId,
        label: DisplayText,
        description: Type.Optional(Description),
        /** What it can carry; what is more is refused before it is asked. Without a word, what this gateway takes. */
        limits: Type.Optional(
          Type.Object(
            {
              textChars: Type.Optional(Type.Integer({ minimum: 1, maximum: 262_144 })),
              files: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
              fileBytes: Type.Optional(Type.Integer({ minimum: 1, maximum: 26_214_400 })),
              buttons: Type.Optional(Type.Integer({ minimum: 0, maximum: 8 })),
            },
            closed,
          ),
        ),
      },
      closed,
    ),
    key: 'id',
    unique: 'global',
    grant: 'channels.serve',
  },
  httpRoute: {
    summary: 'Answers web requests under `/plugins/<id>/`.',
    schema: Type.Object(
      {
        path: RoutePath,
        /** Without it, GET; GET includes HEAD. */
        methods: Type.Optional(Type.Array(Type.Enum([...routeMethods]), { minItems: 1, maxItems: routeMethods.length, uniqueItems: true })),
        /** `gateway`: a credential of the gateway is needed. `plugin`: whoever comes; the plugin looks who it is. */
        auth: Type.Enum(['gateway', 'plugin']),
        /** `prefix`: also everything below the path. */
        match: Type.Optional(Type.Enum(['exact', 'prefix'])),
        /** What the credential must hold; without it, `operator.write`. */
        scope: Type.Optional(Type.String({ maxLength: 64 })),
      },
      closed,
    ),
    key: 'path',
    unique: 'plugin',
    grant: 'http.routes',
  },
  modelProvider: {
    summary: 'Serves models that agents can use, called `<plugin>/<model>`, or `<plugin>.<name>/<model>` where its name is another one.',
    schema: Type.Object(
      {
        name: ItemName,
        label: Type.Optional(DisplayText),
        models: Type.Array(
          Type.Object(
            {
              id: ModelTail,
              name: Type.Optional(DisplayText),
              /** Tokens; without it, 32768. */
              contextWindow: Type.Optional(Type.Integer({ minimum: 1024, maximum: 100_000_000 })),
              /** Whether it can see images; what it cannot see it is told in words. */
              images: Type.Optional(Type.Boolean()),
              thinking: Type.Optional(Type.Boolean()),
            },
            closed,
          ),
          { minItems: 1, maxItems: 256 },
        ),
      },
      closed,
    ),
    key: 'name',
    unique: 'plugin',
    grant: 'models.serve',
  },
  service: {
    summary: 'Runs in the background while the plugin is loaded.',
    schema: Type.Object({ id: ItemName }, closed),
    key: 'id',
    unique: 'plugin',
    grant: 'services.run',
  },
  startupCheck: {
    summary: 'Looks whether all is well, when the gateway starts and when `doctor` asks.',
    schema: Type.Object({ id: ItemName, description: Type.Optional(Description) }, closed),
    key: 'id',
    unique: 'plugin',
  },
} as const satisfies Record<string, ContributionSpec>;

export type ContributionKind = keyof typeof contributions;
export type Contribution<Kind extends ContributionKind> = Static<(typeof contributions)[Kind]['schema']>;
export const contributionKinds = Object.keys(contributions) as ContributionKind[];

export function contributionRow(kind: ContributionKind): ContributionSpec {
  return contributions[kind];
}

/** Why a registration was not taken. */
export const rejections = {
  INVALID: 'It does not fit its schema; `message` names the place.',
  DUPLICATE: 'The plugin has registered this before.',
  TAKEN: 'Another plugin, or the gateway itself, has this name.',
  RESERVED: 'This name is kept for the gateway.',
  NOT_GRANTED: 'The operator has not granted this; `message` names the grant.',
  NOT_DECLARED: 'The manifest of the plugin does not ask for this.',
  UNKNOWN_HOOK: 'There is no such hook here; `message` says why.',
  NOT_OWN: 'It is about something that belongs to another plugin.',
  TOO_MANY: 'The plugin has registered as many as it may.',
  BAD_SCHEMA: 'Its JSON Schema cannot be used; `message` says why.',
  CLOSED: 'Registering is over: it is done inside `register`, once.',
} as const;
export type RejectionCode = keyof typeof rejections;
