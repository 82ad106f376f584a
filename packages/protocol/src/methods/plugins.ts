import { Type, type Static } from 'typebox';
import { ChannelId, contributions, ItemName, UiAction, UiBlock, UiItemAction, UiOption } from '../contributions.ts';
import { Grant } from '../grants.ts';
import { JsonValue } from '../json.ts';
import { Count, DisplayText, OwnerId, SessionKey, Timestamp } from '../names.ts';
import { ExtensionLogLine, PluginDetails, PluginInfo, TreeHash } from '../plugin.ts';
import { JsonObject, RunId } from '../transcript.ts';
import { read, write } from './row.ts';

const closed = { additionalProperties: false };
const PluginResult = Type.Object({ plugin: PluginInfo }, closed);

/** What an action of a plugin came to. That a plugin says no is an answer; an error is for requests that did not reach it. */
export const ActionAnswer = Type.Union([
  Type.Object(
    {
      ok: Type.Literal(true),
      result: Type.Optional(JsonValue),
      /** Also in the transcript. */
      reply: Type.Optional(Type.String()),
      continueAgent: Type.Optional(Type.Boolean()),
      /** The turn that goes on. */
      runId: Type.Optional(RunId),
    },
    closed,
  ),
  Type.Object(
    { ok: Type.Literal(false), error: Type.String(), code: Type.Optional(Type.String()), details: Type.Optional(JsonValue) },
    closed,
  ),
]);
export type ActionAnswer = Static<typeof ActionAnswer>;

/** What is known of the action behind a control: what it is for and what it takes; or why it cannot be used. */
const known = {
  description: Type.Optional(Type.String()),
  /** JSON Schema of the payload. */
  schema: Type.Optional(JsonValue),
  unavailable: Type.Optional(Type.String()),
};
const { actions: _actions, options: _options, view: _view, ...descriptorFields } = contributions.uiDescriptor.schema.properties;

/** The fields of the item and nothing else of it, with whose it is. Controls that this credential may not use are left out. */
export const UiDescriptor = Type.Object(
  {
    pluginId: OwnerId,
    pluginName: DisplayText,
    ...descriptorFields,
    view: Type.Optional(
      Type.Array(
        Type.Object(
          {
            ...UiBlock.properties,
            itemAction: Type.Optional(Type.Object({ ...UiItemAction.properties, ...known }, closed)),
          },
          closed,
        ),
      ),
    ),
    actions: Type.Optional(Type.Array(Type.Object({ ...UiAction.properties, ...known }, closed))),
    options: Type.Optional(
      Type.Array(
        Type.Object(
          { ...UiOption.properties, action: Type.Object({ ...UiOption.properties.action.properties, ...known }, closed) },
          closed,
        ),
      ),
    ),
  },
  closed,
);
export type UiDescriptor = Static<typeof UiDescriptor>;

/** What the agent is told of a tool; a long text is cut, and says so. */
const ToolText = Type.Object({ description: Type.String(), parameters: Type.String(), risk: Type.String() }, closed);

export const pluginMethods = {
  'plugins.list': read({
    summary: 'The plugins: what each was granted, what it registered, and what was not taken.',
    scope: 'operator.read',
    params: {},
    result: Type.Object({ plugins: Type.Array(PluginInfo), generation: Count, safe: Type.Boolean() }, closed),
  }),
  'plugins.get': read({
    summary: 'One plugin, with its configuration; with `files`, also the digest of its files as they are now.',
    scope: 'operator.admin',
    params: { id: OwnerId, files: Type.Optional(Type.Boolean()) },
    result: Type.Object({ plugin: PluginDetails }, closed),
  }),
  'plugins.changes': read({
    summary:
      'What has changed about a plugin since its files were trusted: files, the grants that it asks for, and what its tools say. Of one that was never trusted, all of it is new.',
    scope: 'operator.admin',
    params: { id: OwnerId },
    result: Type.Object(
      {
        /** Of its files as they are now; absent where they are not fit. */
        treeHash: Type.Optional(TreeHash),
        /** Of those that were trusted. */
        trustedHash: Type.Optional(TreeHash),
        acceptedAt: Type.Optional(Timestamp),
        acceptedBy: Type.Optional(Type.String()),
        /** Sorted by path; that of a folder ends with a slash. */
        files: Type.Array(Type.Object({ path: Type.String(), change: Type.Enum(['added', 'changed', 'removed', 'mode']) }, closed)),
        /** So many more than are listed. */
        moreFiles: Type.Optional(Count),
        /** They are others, and what they were was not kept. */
        filesUnknown: Type.Optional(Type.Literal(true)),
        /** What its manifest asks for. */
        asked: Type.Array(Grant),
        /** What it was granted with the files that were trusted. */
        held: Type.Array(Grant),
        /** What its manifest asks for, beside what it asked for then. */
        grants: Type.Object({ added: Type.Array(Grant), removed: Type.Array(Grant) }, closed),
        /** All that are known. While one is `changed`, the plugin stands still until somebody enables it again. */
        tools: Type.Array(
          Type.Object(
            {
              name: Type.String(),
              change: Type.Enum(['added', 'changed', 'removed', 'same']),
              before: Type.Optional(ToolText),
              after: Type.Optional(ToolText),
            },
            closed,
          ),
        ),
      },
      closed,
    ),
  }),
  'plugins.logs': read({
    summary:
      'The last lines of the log of an extension: its standard error, what it logged, and what became of its process. With `after`, only those that came since that `cursor`. A plugin inside the gateway has none: its lines are in the log of the gateway.',
    scope: 'operator.admin',
    params: { id: OwnerId, after: Type.Optional(Count), limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })) },
    result: Type.Object(
      {
        lines: Type.Array(ExtensionLogLine),
        cursor: Count,
        /** Lines since `after` that are no longer kept, or did not fit. */
        dropped: Count,
      },
      closed,
    ),
  }),
  'plugins.enable': write({
    summary:
      'Trust the files of a plugin as they are now and what its tools say, grant what its manifest asks for, or only `grants`, and load it. With `treeHash`, only if the files are still those that `plugins.get` gave it for.',
    scope: 'operator.admin',
    params: {
      id: OwnerId,
      grants: Type.Optional(Type.Array(Grant, { maxItems: 64, uniqueItems: true })),
      treeHash: Type.Optional(TreeHash),
    },
    result: PluginResult,
  }),
  'plugins.disable': write({
    summary:
      'Unload a plugin and keep it switched off; what it keeps in sessions is removed. With `forget`, also what it keeps for itself, its grants and its configuration.',
    scope: 'operator.admin',
    params: { id: OwnerId, forget: Type.Optional(Type.Boolean()) },
    result: PluginResult,
  }),
  'plugins.reload': write({
    summary: 'Load a plugin anew from its folder, or all of them.',
    scope: 'operator.admin',
    params: { id: Type.Optional(OwnerId) },
    result: Type.Object({ plugins: Type.Array(PluginInfo), generation: Count }, closed),
  }),
  'plugins.grant': write({
    summary: 'Let a plugin do something that its manifest asks for.',
    scope: 'operator.admin',
    params: { id: OwnerId, grants: Type.Array(Grant, { minItems: 1, maxItems: 64, uniqueItems: true }) },
    result: PluginResult,
  }),
  'plugins.revoke': write({
    summary: 'Take such a right back. It holds at once.',
    scope: 'operator.admin',
    params: { id: OwnerId, grants: Type.Array(Grant, { minItems: 1, maxItems: 64, uniqueItems: true }) },
    result: PluginResult,
  }),
  'plugins.config': write({
    summary: 'Set the configuration of a plugin, checked against the schema of its manifest, and load it anew; null takes it back.',
    scope: 'operator.admin',
    params: { id: OwnerId, config: Type.Union([JsonObject, Type.Null()]) },
    result: Type.Object({ plugin: PluginDetails }, closed),
  }),
  'plugins.uiDescriptors': read({
    summary: 'The controls that plugins show, as far as this credential may use them.',
    scope: 'operator.read',
    params: {},
    result: Type.Object({ descriptors: Type.Array(UiDescriptor), generation: Count }, closed),
  }),
  'plugins.sessionAction': write({
    summary:
      'Ask a plugin to do something in a session: a button was pressed. Needs the scopes of the action, `operator.write` without any.',
    scope: 'any',
    bound: { param: 'sessionKey' },
    params: { pluginId: OwnerId, actionId: ItemName, sessionKey: SessionKey, payload: Type.Optional(JsonValue) },
    result: ActionAnswer,
  }),
  'plugins.interact': write({
    summary: 'Tell the plugin that a button belongs to that it was pressed. The same `callbackId` within five minutes is told once.',
    scope: 'operator.write',
    bound: { param: 'sessionKey' },
    params: {
      sessionKey: SessionKey,
      channel: Type.Optional(ChannelId),
      /** `<namespace>:<payload>`, as the button has it. */
      data: Type.String({ minLength: 2, maxLength: 1_024, pattern: '^[A-Za-z0-9._-]{1,64}:' }),
      callbackId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    },
    result: Type.Object(
      {
        pluginId: OwnerId,
        /** It was told of this press before, and is not told again. */
        duplicate: Type.Optional(Type.Literal(true)),
        /** What the plugin says to whoever pressed it. */
        text: Type.Optional(Type.String()),
      },
      closed,
    ),
  }),
  'sessions.pluginPatch': write({
    summary: 'Set or remove what a plugin keeps in a session. The answer has it as it is kept.',
    scope: 'operator.admin',
    params: {
      key: SessionKey,
      pluginId: OwnerId,
      namespace: ItemName,
      value: Type.Optional(JsonValue),
      unset: Type.Optional(Type.Literal(true)),
    },
    result: Type.Object({ key: SessionKey, value: Type.Optional(JsonValue), revision: Count }, closed),
  }),
  'hooks.status': read({
    summary: 'Who takes part in which hook, in the order in which they are asked, with the time that each may take and how its calls went.',
    scope: 'operator.read',
    params: {},
    result: Type.Object(
      {
        hooks: Type.Array(
          Type.Object(
            {
              hook: Type.String(),
              handlers: Type.Array(
                Type.Object(
                  {
                    plugin: OwnerId,
                    priority: Type.Integer(),
                    timeoutMs: Count,
                    calls: Count,
                    errors: Count,
                    timeouts: Count,
                    /** Not asked, because the hooks of a turn had used up their time. */
                    skipped: Count,
                    lastAt: Type.Optional(Timestamp),
                    p50Ms: Type.Optional(Type.Number({ minimum: 0 })),
                    p95Ms: Type.Optional(Type.Number({ minimum: 0 })),
                    /** It is not asked any more, until its plugin is loaded anew. */
                    switchedOff: Type.Optional(Type.Object({ at: Timestamp, reason: Type.String() }, closed)),
                  },
                  closed,
                ),
              ),
            },
            closed,
          ),
        ),
      },
      closed,
    ),
  }),
};
