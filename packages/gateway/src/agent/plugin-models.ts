// Models of plugins, as models of the agent: asking one is a call of the plugin with a deadline. They come and go with their
// plugins; one whose plugin is being started is not gone, it cannot be reached yet.
import {
  JsonObject,
  matches,
  type ModelFailureKind,
  modelFailures,
  type ModelInfo,
  pluginModelId,
  pluginProviderId,
} from '@tenon/protocol';
import type { ModelAnswer, ModelFailed, ModelPiece } from '@tenon/plugin-sdk';
import { Type } from 'typebox';
import { type Answer, placed } from '../host/call-plugin.ts';
import type { RegisteredItem } from '../host/contribution-registry.ts';
import { copyPlain } from '../host/plain-data.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Metrics } from '../kernel/metrics.ts';
import { isOverflow } from '../model/failure.ts';
import { messageBounds } from '../model/message.ts';
import { createPiecedModel, type Outcome, type PiecedModelDeps } from '../model/pieced-model.ts';
import type { Model, Models } from '../model/types.ts';
import type { PluginParts } from './plugin-tools.ts';

export interface PluginModelDeps {
  readonly plugins: () => PluginParts | undefined;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly idleTimeoutMs: number;
  /** Renews the sign-in of a provider where that is due; what went wrong, if it could not. */
  readonly ready: (provider: Provider, signal: AbortSignal) => Promise<string | undefined>;
}

type Provider = RegisteredItem<'modelProvider'>;
type Offered = Provider['item']['models'][number];

const GRANT = 'models.serve';
/** Where a provider says nothing of it: small enough that what is told fits most models. */
const CONTEXT_WINDOW = 32_768;
const DROPPED = 'tenon_model_pieces_dropped_total';

/** Those of the gateway first: no plugin stands in for one of them. */
export function withPluginModels(models: Models, deps: PluginModelDeps): Models {
  deps.metrics.describe(DROPPED, 'Pieces of answers that plugins gave after the answer was over, by plugin.');
  const made = new WeakMap<Offered, Model>();

  function offered(): readonly { readonly id: string; readonly model: Model }[] {
    const plugins = deps.plugins();
    if (!plugins) return [];
    return plugins.registry.all('modelProvider').flatMap((provider) => {
      if (!plugins.holds(provider.plugin, GRANT)) return [];
      return provider.item.models.map((each) => {
        const id = pluginModelId(provider.plugin, provider.key, each.id);
        const model = made.get(each) ?? modelOf(id, provider, each, plugins);
        made.set(each, model);
        return { id, model };
      });
    });
  }

  function infoOf(
    id: string,
    { plugin, key, item }: Provider,
    { name, contextWindow = CONTEXT_WINDOW, images = false, thinking = false }: Offered,
  ): ModelInfo {
    const reason = unreachable(plugin);
    return {
      id,
      provider: pluginProviderId(plugin, key),
      name: name ?? (item.label === undefined ? id : `${item.label} ${id.slice(id.indexOf('/') + 1)}`).slice(0, 512),
      contextWindow,
      images,
      thinking,
      usable: reason === undefined,
      ...(reason === undefined ? {} : { reason }),
      isDefault: id === models.defaultId,
    };
  }

  /** Of an extension whose process is not at work, or a plugin that is meant to be there and is not. */
  function unreachable(plugin: string): string | undefined {
    const { state, reason, process } = deps.plugins()?.get(plugin) ?? {};
    if (process && process.state !== 'ready')
      return `extension ${plugin} is not at work (${process.state})${process.reason === undefined ? '' : `: ${process.reason}`}`.slice(
        0,
        512,
      );
    if (state === 'loaded') return undefined;
    return `plugin ${plugin} is not loaded${reason === undefined ? '' : `: ${reason}`}`.slice(0, 512);
  }

  function modelOf(id: string, provider: Provider, each: Offered, plugins: PluginParts): Model {
    return createPiecedModel({
      ...deps,
      info: () => infoOf(id, provider, each),
      async complete(request, io) {
        const unready = await deps.ready(provider, io.signal);
        if (unready === undefined) return ask(provider, each.id, request, io, plugins);
        const name = pluginProviderId(provider.plugin, provider.key);
        return { failed: { kind: 'unauthorized', message: `its sign-in is over (${unready}); sign in with: tenon model login ${name}` } };
      },
      dropped: () => deps.metrics.count(DROPPED, { plugin: provider.plugin }),
    });
  }

  /** One of a plugin that the operator wants and that is not there now: another attempt may find it. */
  function absent(id: string): Model | undefined {
    const [plugin = ''] = id.split(/[./]/, 1);
    const known = deps.plugins()?.get(plugin);
    if (!id.includes('/') || known?.enabled !== true || known.state === 'loaded') return undefined;
    const reason = () => unreachable(plugin) ?? `plugin ${plugin} does not serve it`;
    return createPiecedModel({
      ...deps,
      info: () => ({
        ...{ id, provider: id.slice(0, id.indexOf('/')), name: id, contextWindow: CONTEXT_WINDOW, images: false, thinking: false },
        ...{ usable: false, reason: reason(), isDefault: id === models.defaultId },
      }),
      complete: async () => ({ failed: { kind: 'unreachable', message: reason() } }),
      dropped() {},
    });
  }

  return {
    list: () => [...models.list(), ...offered().map(({ model }) => model.info)],
    defaultId: models.defaultId,
    get: (id) => models.get(id) ?? offered().find((each) => each.id === id)?.model ?? absent(id),
  };
}

/** Contract: neither throws nor rejects. */
async function ask(
  provider: Provider,
  model: string,
  { system, messages, tools, thinking, maxOutputTokens, about }: Parameters<PiecedModelDeps['complete']>[0],
  { piece, signal }: Parameters<PiecedModelDeps['complete']>[1],
  plugins: PluginParts,
): Promise<Outcome> {
  const { plugin, item } = provider;
  if (!provider.isLive || !plugins.holds(plugin, GRANT))
    return { failed: { kind: 'unreachable', message: `plugin ${plugin} is no longer loaded, or may no longer serve models` } };
  const request = { model, system, messages, tools, thinking, ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) };
  const answer = await plugins.caller.call(
    placed(plugin, 'model', provider),
    (given: typeof request, call) =>
      item.complete(given, {
        ...about,
        get signal() {
          return call.signal;
        },
        piece: (each: unknown) => {
          const read = readPiece(each);
          if (read) piece(read);
        },
      }),
    request,
    acceptAnswer,
    signal,
    about ?? {},
  );
  return outcomeOf(answer, plugin);
}

function outcomeOf(answer: Answer<ModelAnswer | ModelFailed>, plugin: string): Outcome {
  if (answer.ok) return 'failed' in answer.value ? { failed: withOverflow(answer.value.failed) } : { result: answer.value };
  const failed = (kind: ModelFailureKind, message: string): Outcome => ({ failed: { kind, message } });
  switch (answer.kind) {
    case 'aborted':
      return failed('aborted', 'stopped');
    case 'timed-out':
      return failed('timeout', `plugin ${plugin} gave ${answer.message}`);
    case 'wrong-shape':
      return failed('bad_output', `plugin ${plugin} gave an answer that cannot be used: ${answer.message}`);
    default:
      return failed('bad_output', `plugin ${plugin} failed: ${answer.message}`);
  }
}

/** Who does not say what failed says it in words: that the window is full is worth to be known. */
function withOverflow(failed: ModelFailed['failed']): ModelFailed['failed'] {
  const isVague = failed.kind === 'bad_output' || failed.kind === 'invalid_request';
  return isVague && isOverflow(failed.message) ? { ...failed, kind: 'context_overflow' } : failed;
}

const closed = { additionalProperties: false };
const Index = Type.Integer({ minimum: 0, maximum: 1_000_000 });
const Text = Type.String({ maxLength: messageBounds.textBytes });
const GivenPiece = Type.Union([
  Type.Object({ type: Type.Enum(['text', 'thinking']), text: Text }, closed),
  Type.Object({ type: Type.Literal('call'), index: Index, id: Type.String(), name: Type.String() }, closed),
  Type.Object({ type: Type.Literal('arguments'), index: Index, text: Text }, closed),
]);

/** What is no piece is passed over, as hosts of extensions do; the bridge counts those of an extension. */
function readPiece(given: unknown): ModelPiece | undefined {
  const copied = copyPlain(given);
  return !('wrong' in copied) && matches(GivenPiece, copied.value) ? (copied.value as ModelPiece) : undefined;
}

const Tokens = Type.Optional(Type.Number({ minimum: 0 }));
const GivenAnswer = Type.Object(
  {
    text: Type.Optional(Type.String()),
    thinking: Type.Optional(Type.String()),
    calls: Type.Optional(
      Type.Array(Type.Object({ id: Type.String(), name: Type.String(), arguments: Type.Union([Type.String(), JsonObject]) }, closed)),
    ),
    end: Type.Optional(Type.Enum(['stop', 'length', 'content-filter', 'error'])),
    usage: Type.Optional(Type.Object({ input: Tokens, output: Tokens, cacheRead: Tokens }, closed)),
  },
  closed,
);
const GivenFailure = Type.Object(
  {
    failed: Type.Object(
      {
        kind: Type.Enum(Object.keys(modelFailures)),
        message: Type.String({ maxLength: 4_096 }),
        retryAfterMs: Type.Optional(Type.Number({ minimum: 0 })),
      },
      closed,
    ),
  },
  closed,
);

function acceptAnswer(raw: unknown): { readonly value: ModelAnswer | ModelFailed } | { readonly wrong: string } {
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  if (matches(GivenAnswer, copied.value)) return { value: copied.value as ModelAnswer };
  if (matches(GivenFailure, copied.value)) return { value: copied.value as unknown as ModelFailed };
  return { wrong: 'it is neither {text?, thinking?, calls?, end?, usage?} nor {failed: {kind, message, retryAfterMs?}}' };
}
