// Hooks around a tool call and around a command that a person types.
import { Type, type Static } from 'typebox';
import { Decision, Risk } from '../approval.ts';
import { OwnerId, SessionKey } from '../names.ts';
import { EntryId, ImageBlock, JsonObject, RunId, TextBlock, ToolCallId } from '../transcript.ts';
import { blocked, lastWins, lastWinsOrBlock, replace, type Merge } from './merge.ts';
import { closed, hookEvent, modify, observe, step } from './row.ts';

const Text = Type.String();
const OptionalText = Type.Optional(Text);
const Content = Type.Array(Type.Union([TextBlock, ImageBlock]));

const call = { toolName: Text, toolCallId: ToolCallId, params: JsonObject };

/** A plugin wants a person to be asked. Without an answer in time it is a no. */
export const ApprovalRequest = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 80 }),
    description: Type.String({ maxLength: 512 }),
    /** Shown only where it is decided. */
    detail: Type.Optional(Type.String({ maxLength: 16_384 })),
    /** `warning` unless it says otherwise. */
    severity: Type.Optional(Type.Enum(['info', 'warning', 'critical'])),
    allowedDecisions: Type.Optional(Type.Array(Decision, { minItems: 1, uniqueItems: true })),
    /** 120,000 unless it says otherwise. */
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 600_000 })),
  },
  closed,
);
export type ApprovalRequest = Static<typeof ApprovalRequest>;

const ToolCallEvent = hookEvent({
  ...call,
  risk: Type.Optional(Risk),
  /** Places of the machine that the call is about, where the tool knows: absolute, each as it is spelled and where it leads. */
  derivedPaths: Type.Optional(Type.Array(Text)),
  /** The words of the command, where a program would run; those inside of words too. */
  commandWords: Type.Optional(Type.Array(Text)),
  /** Hosts that the call names, where the tool knows. */
  hosts: Type.Optional(Type.Array(Text)),
  /** What the first handler that wants a person to be asked has said. From then on `params` stays as it is. */
  approval: Type.Optional(Type.Object({ ...ApprovalRequest.properties, plugin: OwnerId }, closed)),
});
const ToolCallResult = Type.Object(
  {
    params: Type.Optional(JsonObject),
    block: Type.Optional(Type.Boolean()),
    blockReason: Type.Optional(Type.String({ maxLength: 4096 })),
    requireApproval: Type.Optional(ApprovalRequest),
  },
  closed,
);

export const strictest: Merge<Static<typeof ToolCallEvent>, Static<typeof ToolCallResult>> = {
  name: 'strictest',
  summary:
    'The first `block: true` refuses, and nobody after it is asked; `block: false` is no opinion. The last `params` win until an ' +
    'approval is asked for, and stay from then on; what was known of the params before is left out. The first `requireApproval` ' +
    'stands, with the id of its plugin.',
  apply(event, { params, block, blockReason, requireApproval }, plugin) {
    if (block) return blocked(plugin, blockReason);
    if (event.approval !== undefined) return event;
    // What was known of other params must not be taken for what is known of these.
    const { derivedPaths: _paths, commandWords: _words, hosts: _hosts, ...unknown } = event;
    return replace(params === undefined ? event : unknown, {
      ...(params === undefined ? {} : { params }),
      ...(requireApproval === undefined ? {} : { approval: { ...requireApproval, plugin } }),
    });
  },
};

const ExecEnvEvent = hookEvent({
  toolName: Type.Literal('exec'),
  /** Where the program would run. */
  host: Type.Enum(['sandbox', 'gateway']),
  env: Type.Record(Text, Text),
  /** Names that plugins gave and may not. */
  droppedEnv: Type.Optional(Type.Array(Text)),
});
const ExecEnvResult = Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }), Type.String({ maxLength: 32_768 }), closed);

export const addEnv: Merge<Static<typeof ExecEnvEvent>, Static<typeof ExecEnvResult>> = {
  name: 'addEnv',
  within: 'env',
  summary: 'A later value of a name replaces an earlier one. Names that decide what is run or whom it trusts are dropped and listed.',
  apply(event, result) {
    const dropped = Object.keys(result).filter(isProtectedEnvName);
    const kept = Object.entries(result).filter(([name]) => !isProtectedEnvName(name));
    return replace(event, {
      ...(kept.length === 0 ? {} : { env: { ...event.env, ...Object.fromEntries(kept) } }),
      ...(dropped.length === 0 ? {} : { droppedEnv: [...new Set([...(event.droppedEnv ?? []), ...dropped])] }),
    });
  },
};

// Where programs and libraries are found, what is loaded into every process, through whom it speaks, whom it trusts.
const PROTECTED_NAMES = new Set(
  (
    'PATH HOME SHELL IFS ENV BASH_ENV CDPATH PS4 PROMPT_COMMAND SHELLOPTS BASHOPTS ' +
    'NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED PYTHONPATH PYTHONHOME PYTHONSTARTUP ' +
    'PERL5LIB PERL5OPT RUBYLIB RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH ' +
    'SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE PIP_CERT GIT_SSL_NO_VERIFY GIT_SSL_CAINFO ' +
    'HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY'
  ).split(' '),
);
const PROTECTED_PREFIXES = ['LD_', 'DYLD_', 'BASH_FUNC_', 'GIT_CONFIG', 'GIT_EXEC', 'GIT_SSH', 'TENON_'];

export function isProtectedEnvName(name: string): boolean {
  const upper = name.toUpperCase();
  return PROTECTED_NAMES.has(upper) || PROTECTED_PREFIXES.some((prefix) => upper.startsWith(prefix));
}

const ResultEvent = hookEvent({
  ...call,
  content: Content,
  isError: Type.Boolean(),
  details: Type.Optional(JsonObject),
  /** Made by the gateway because the tool gave none. */
  isSynthetic: Type.Optional(Type.Boolean()),
});

const BashEvent = hookEvent({ command: Text, cwd: OptionalText, excludeFromContext: Type.Optional(Type.Boolean()) });

const persisted = {
  sessionKey: SessionKey,
  agentId: OwnerId,
  runId: Type.Optional(RunId),
  toolName: Text,
  toolCallId: ToolCallId,
  /** As the tool was called. */
  toolInput: Type.Unknown(),
  /** The entry of the message that made the call. */
  messageId: EntryId,
};

export const toolHooks = {
  before_tool_call: modify({
    summary: 'A tool is about to be called. Its params may be changed, a person asked, or the call blocked.',
    event: ToolCallEvent,
    result: ToolCallResult,
    merge: strictest,
    ends: ['refused'],
    onFailure: 'closed',
    timeoutMs: 15_000,
    sep: 'tool_call',
  }),
  resolve_exec_env: modify({
    summary: 'A program is about to be run by `exec`. Variables may be added to its environment.',
    event: ExecEnvEvent,
    result: ExecEnvResult,
    merge: addEnv,
    onFailure: 'open',
    timeoutMs: 15_000,
  }),
  tool_execution_start: observe({
    summary: 'A tool begins to run: it was judged and allowed.',
    event: hookEvent({ ...call, step }),
    timeoutMs: 15_000,
    sepEvents: ['tool_execution_start'],
  }),
  after_tool_call: observe({
    summary: 'A tool has run, or has failed.',
    event: hookEvent({
      ...call,
      step,
      result: Type.Optional(Type.Object({ content: Content, isError: Type.Boolean(), details: Type.Optional(JsonObject) }, closed)),
      error: OptionalText,
      durationMs: Type.Optional(Type.Number({ minimum: 0 })),
    }),
    timeoutMs: 15_000,
    sepEvents: ['tool_execution_end'],
  }),
  tool_result_persist: modify({
    summary: 'The result of a tool call is about to be written and told to the model. It may be changed.',
    event: ResultEvent,
    result: Type.Object(
      { content: Type.Optional(Content), isError: Type.Optional(Type.Boolean()), details: Type.Optional(JsonObject) },
      closed,
    ),
    merge: lastWins<Static<typeof ResultEvent>>(),
    onFailure: 'open',
    timeoutMs: 5_000,
    sep: 'tool_result',
  }),
  before_tool_call_persist: observe({
    summary: 'A tool call and its result are about to be written to the transcript.',
    event: Type.Object(persisted, closed),
    awaited: true,
    timeoutMs: 5_000,
  }),
  after_tool_call_persist: observe({
    summary: 'A tool call and its result have been written to the transcript.',
    event: Type.Object({ ...persisted, toolResult: Type.Unknown() }, closed),
    awaited: true,
    timeoutMs: 5_000,
  }),
  user_bash: modify({
    summary: 'A person has typed `!command`. It may be changed or blocked before it runs.',
    event: BashEvent,
    result: Type.Object(
      { command: Type.Optional(Type.String({ minLength: 1 })), block: Type.Optional(Type.Boolean()), blockReason: OptionalText },
      closed,
    ),
    merge: lastWinsOrBlock<Static<typeof BashEvent>>(),
    ends: ['refused'],
    onFailure: 'closed',
    timeoutMs: 60_000,
    sep: 'user_bash',
  }),
};
