// Middleware of plugins on the results of tools: after the call, before the result is kept, one after another in the order of
// the plugins. Each sees what the one before it left. One that fails is passed over, on record. A call that failed stays a
// failure: only what the tool itself gave can be made better or worse.
import { ImageBlock, isToolMatched, type JsonObject, matches, TextBlock } from '@tenon/protocol';
import { placed } from '../host/call-plugin.ts';
import { Type, type Static } from 'typebox';
import { type ReportConflict, Rewrites, textOf } from '../host/conflicts.ts';
import { copyPlain, freezeDeep } from '../host/plain-data.ts';
import { takeJson } from '../host/plugin-json.ts';
import { type PluginParts, readState } from './plugin-tools.ts';
import type { ToolPlace } from './tools/tool.ts';

const MAX_CONTENT = 1_048_576;

export interface Result {
  readonly content: (TextBlock | ImageBlock)[];
  readonly isError: boolean;
  readonly details?: JsonObject;
  /** Made by the gateway because the tool gave none. */
  readonly isSynthetic?: true;
}

export interface ResultPlace extends Pick<ToolPlace, 'sessionKey' | 'agentId' | 'runId' | 'callId'> {
  readonly toolName: string;
  readonly params: JsonObject;
}

/** The result as middleware leaves it. */
export async function throughMiddleware<Given extends Result>(
  result: Given,
  place: ResultPlace,
  plugins: PluginParts,
  reportConflict?: ReportConflict,
): Promise<Given> {
  const { toolName, sessionKey, runId } = place;
  const { trace } = plugins.caller;
  let disagreement: string | undefined;
  const rewrites = new Rewrites((conflict) => {
    disagreement = textOf(conflict);
    reportConflict?.({ place: 'tool_result', ...conflict, sessionKey, runId });
  });
  let current = result;
  for (const registered of plugins.registry.all('toolResultMiddleware')) {
    const { item, plugin } = registered;
    if (!registered.isLive || !isToolMatched(item.matcher, toolName) || !plugins.holds(plugin, 'tools.results')) continue;
    const where = placed(plugin, 'tool_result', registered);
    const state = await readState(plugins, plugin, sessionKey).catch(() => undefined);
    if (!state) {
      plugins.caller.fail(where, 'dropped', 'what it keeps in the session could not be read, so it was not asked');
      continue;
    }
    const answer = await plugins.caller.call(
      where,
      (event: ReturnType<typeof eventOf>, own) =>
        item.handler(event, {
          getSessionExtension: state,
          get signal() {
            return own.signal;
          },
        }),
      eventOf(current, place),
      acceptChange,
      undefined,
      place,
    );
    if (!answer.ok || answer.value === undefined) continue;
    disagreement = undefined;
    const before = current;
    current = { ...current, ...answer.value, ...(current.isSynthetic ? { isError: true } : {}) };
    for (const [field, wanted] of Object.entries(answer.value))
      rewrites.note(plugin, field, wanted, before[field as keyof Result], current[field as keyof Result]);
    if (trace.isOn) {
      const [was, is] = [before, current].map(({ content, isError, details }) => ({ content, isError, details }));
      trace.became(answer, { outcome: 'changed', before: was, after: is, ...(disagreement ? { reason: disagreement } : {}) });
    }
  }
  return current;
}

function eventOf({ content, isError, details }: Result, { sessionKey, agentId, runId, callId, toolName, params }: ResultPlace) {
  return freezeDeep(
    structuredClone({
      sessionKey,
      agentId,
      runId,
      toolName,
      toolCallId: callId,
      params,
      content: [...content],
      isError,
      ...(details === undefined ? {} : { details }),
    }),
  );
}

const Change = Type.Object(
  {
    content: Type.Optional(Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, ImageBlock]), { maxItems: 64 })])),
    isError: Type.Optional(Type.Boolean()),
    details: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: false },
);

type Changed = Partial<Pick<Result, 'content' | 'isError' | 'details'>>;

function acceptChange(raw: unknown): { readonly value: Changed | undefined } | { readonly wrong: string } {
  if (raw === undefined) return { value: undefined };
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  if (!matches(Change, copied.value)) return { wrong: 'it is not {content?, isError?, details?}' };
  const { content, isError, details } = copied.value as Static<typeof Change> & { details?: JsonObject };
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const size = blocks?.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : block.data.length), 0) ?? 0;
  if (size > MAX_CONTENT) return { wrong: `it has ${size} characters, and may have ${MAX_CONTENT}` };
  const taken = details === undefined ? undefined : takeJson(details);
  if (taken && 'wrong' in taken) return { wrong: `details: ${taken.wrong}` };
  return {
    value: {
      ...(blocks === undefined ? {} : { content: [...blocks] }),
      ...(isError === undefined ? {} : { isError }),
      ...(details === undefined ? {} : { details }),
    },
  };
}
