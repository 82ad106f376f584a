// What a plugin hands over in a session: files, text, buttons. Only to where the session came from, only with the grant, only
// files from folders that it may send from; what is sent is kept, stands in the transcript and is in the audit log, in one
// commit. The answer is always a value that says why not.
import { GatewayError, lateParams, limits, type Presentation } from '@tenon/protocol';
import type { AttachmentOutcome, Refused } from '@tenon/plugin-sdk';
import type { Static } from 'typebox';
import type { Clock } from '../kernel/clock.ts';
import { faultpoint } from '../kernel/fault.ts';
import { cleanFileName } from '../kernel/file-name.ts';
import { randomId } from '../kernel/ids.ts';
import type { AttachmentFiles } from '../store/attachment-files.ts';
import type { Store } from '../store/store.ts';
import type { ContributionRegistry, RegisteredItem } from './contribution-registry.ts';
import type { Deliverer } from './deliverer.ts';
import { readFromRoots } from './file-roots.ts';
import { tooManyPixels } from './image-pixels.ts';
import { gateSending, type SendingHooks } from './message-hooks.ts';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import type { PluginLoad } from './plugin-load.ts';

export interface SendDeps extends FileDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly files: AttachmentFiles;
  readonly registry: ContributionRegistry;
  readonly deliverer: Deliverer;
  readonly hooks?: SendingHooks;
}

const Given = lateParams['session.workflow.sendSessionAttachment'];
type Given = Static<typeof Given>;
type Buttons = NonNullable<Presentation['buttons']>;

export function createSendAttachment(load: PluginLoad, deps: SendDeps): (given: unknown) => Promise<AttachmentOutcome> {
  const { plugin, pluginName } = load.facts;
  const { store, clock, files, registry, deliverer } = deps;
  const call = 'session.workflow.sendSessionAttachment';

  return async (raw) => {
    const blocked = barrier(load, call);
    if (blocked) return blocked;
    const taken = take(Given, raw, 'attachment');
    if ('refused' in taken) return taken.refused;
    try {
      return await send(taken.value);
    } catch (error) {
      return refusalOf(error);
    }
  };

  async function send(given: Given): Promise<AttachmentOutcome> {
    const { sessionKey, presentation } = given;
    if (!given.files?.length && (given.text ?? '').trim() === '' && !presentation)
      return refuse('invalid', 'attachment needs at least one of files, text and presentation');
    const said = Buffer.byteLength(JSON.stringify({ text: given.text, presentation }));
    if (said > limits.deliveryBytes.value)
      return refuse('limit', `the text and the presentation have ${said} bytes; ${limits.deliveryBytes.value} can be sent`);
    const buttons = ownButtons(presentation?.buttons ?? [], plugin, registry);
    if ('ok' in buttons) return buttons;
    await store.read('sessions.get', { key: sessionKey });
    const route = await store.read('routes.get', { key: sessionKey });
    const channel = registry.findAny('channel', route.channel);
    if (!channel) return refuse('unavailable', `no plugin serves the channel ${route.channel}, where session "${sessionKey}" came from`);
    const beyond = beyondChannel(channel, given, buttons.length);
    if (beyond !== undefined) return refuse('limit', beyond);
    const read = await readFiles(given, channel);
    if ('ok' in read) return read;
    // What was waited for may have taken long: the plugin may have been unloaded, or lost its right.
    const late = barrier(load, call);
    if (late) return late;
    const gated = await gateSending(deps.hooks, {
      sessionKey,
      channel: route.channel,
      to: route.to,
      by: plugin,
      content: given.text?.trim() === '' ? '' : (given.text ?? ''),
      files: read.map(({ name }) => name),
      buttons: buttons.map(({ label }) => label),
    });
    if ('cancelled' in gated) return refuse('unavailable', gated.cancelled);
    const text = gated.content === '' ? undefined : gated.content;
    if (text === undefined && read.length === 0 && !presentation) return refuse('unavailable', 'another plugin left nothing to send');
    const tooLong = beyondChannel(channel, { ...given, text: text ?? '' }, buttons.length);
    if (tooLong !== undefined) return refuse('limit', tooLong);
    const { record, known } = await files.keepAll(
      read.map(({ content }) => content),
      (kept) => {
        const wanted = given.channelHints?.forceDocumentMime;
        const other = wanted === undefined ? -1 : kept.findIndex(({ mime }) => mime !== wanted);
        if (other >= 0)
          throw new GatewayError('INVALID_REQUEST', `attachment/files/${other} is ${kept[other]?.mime} by its first bytes, not ${wanted}`);
        return store.write('deliveries.create', {
          key: sessionKey,
          id: randomId(),
          pluginId: plugin,
          pluginName,
          route,
          ...(given.idempotencyKey === undefined ? {} : { requestKey: given.idempotencyKey }),
          ...(text === undefined ? {} : { text }),
          ...(presentation ? { presentation: { ...presentation, buttons } } : {}),
          files: kept.map((file, index) => {
            const { name = 'file', content } = read[index] ?? {};
            const tooMany = content && file.mime.startsWith('image/') ? tooManyPixels(content) : undefined;
            return {
              ...{ ...file, handle: randomId(), name, owner: `plugin:${plugin}` },
              ...(tooMany === undefined ? {} : { unseen: 'pixels' as const }),
            };
          }),
          quotas: files.quotas,
          at: clock.now(),
        });
      },
    );
    faultpoint('delivery.created');
    const settled = known || record.state !== 'waiting' ? record : await deliverer.attempt(record);
    return Object.freeze({
      ok: true,
      channel: settled.channel,
      deliveredTo: settled.to,
      count: read.length,
      deliveryId: settled.id,
      entryId: settled.entryId,
      state: settled.state,
    });
  }

  function readFiles(
    { sessionKey, files: asked = [], maxBytes }: Given,
    { item }: RegisteredItem<'channel'>,
  ): Promise<readonly TakenFile[] | Refused> {
    return takeFiles(asked, 'attachment', load, sessionKey, deps, { all: maxBytes, each: item.limits?.fileBytes });
  }
}

export interface TakenFile {
  readonly name: string;
  readonly content: Buffer;
}

export interface FileDeps {
  readonly home: string;
  /** The setting `attachments.roots`. */
  readonly sendRoots: readonly string[];
  /** The workspace of the agent of this session; undefined when there is no such agent. */
  readonly workspaceOf: (sessionKey: string) => string | undefined;
}

/** Files that a plugin names, from where it may take some for this session. Contract: does not throw. */
export async function takeFiles(
  asked: NonNullable<Given['files']>,
  place: string,
  load: PluginLoad,
  sessionKey: string,
  deps: FileDeps,
  most: { readonly all?: number | undefined; readonly each?: number | undefined } = {},
): Promise<readonly TakenFile[] | Refused> {
  if (asked.length === 0) return [];
  const workspace = deps.workspaceOf(sessionKey);
  if (workspace === undefined) return refuse('unavailable', `there is no agent for session "${sessionKey}"`);
  const roots = { workspace, others: [load.facts.rootDir, ...deps.sendRoots], home: deps.home };
  const taken: TakenFile[] = [];
  let left = most.all ?? limits.attachmentBytes.value;
  for (const [index, { path, name }] of asked.entries()) {
    const found = await readFromRoots(path, roots, Math.min(left, most.each ?? left));
    if ('wrong' in found) return refuse('invalid', `${place}/files/${index} (${JSON.stringify(path.slice(0, 256))}) ${found.wrong}`);
    left -= found.content.length;
    taken.push({ name: cleanFileName(name ?? found.name), content: found.content });
  }
  return taken;
}

/** A plugin offers what is its own; what another one does is not its to offer. */
export function ownButtons(
  given: NonNullable<NonNullable<Given['presentation']>['buttons']>,
  plugin: string,
  registry: ContributionRegistry,
): Buttons | Refused {
  const ids = new Set<string>();
  const buttons: Buttons = [];
  for (const { action, ...button } of given) {
    const place = `attachment/presentation/buttons (${button.id})`;
    if (ids.has(button.id)) return refuse('invalid', `${place}: two buttons have this id`);
    ids.add(button.id);
    if ('data' in action) {
      const namespace = action.data.slice(0, action.data.indexOf(':'));
      if (!registry.find('interactiveHandler', plugin, namespace))
        return refuse('invalid', `${place}: plugin ${plugin} has no interactive handler for "${namespace}"`);
      buttons.push({ ...button, action });
      continue;
    }
    const { pluginId = plugin, ...deed } = action;
    if (pluginId !== plugin || !registry.find('sessionAction', plugin, deed.actionId))
      return refuse('invalid', `${place}: plugin ${plugin} has no session action "${deed.actionId}" of its own`);
    buttons.push({ ...button, action: { ...deed, pluginId } });
  }
  return buttons;
}

export function beyondChannel(
  { key, item }: RegisteredItem<'channel'>,
  { text, files }: Pick<Given, 'text' | 'files'>,
  buttons: number,
): string | undefined {
  const { textChars, files: mostFiles, buttons: mostButtons } = item.limits ?? {};
  if (textChars !== undefined && (text?.length ?? 0) > textChars) return `the channel ${key} takes ${textChars} characters of text`;
  if (mostFiles !== undefined && (files?.length ?? 0) > mostFiles) return `the channel ${key} takes ${mostFiles} files`;
  return mostButtons !== undefined && buttons > mostButtons ? `the channel ${key} takes ${mostButtons} buttons` : undefined;
}
