// A question of an extension where its session came from: as buttons, in a channel that carries as many as it has answers. A press
// answers it, once, in one commit with the press. When it is settled elsewhere, the buttons go.
import { DEFAULT_CHANNEL, limits, type Presentation, type UiQuestion, type UiReply } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { AttachmentFiles } from '../store/attachment-files.ts';
import type { Store } from '../store/store.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import type { Deliverer } from './deliverer.ts';
import { gateSending, type SendingHooks } from './message-hooks.ts';

export interface ChannelQuestions {
  /** `none`: the session came from no channel. `cannot`: that channel cannot show it. Contract: throws only what the store throws. */
  canShow(sessionKey: string, question: Pick<UiQuestion, 'kind' | 'prompt' | 'options'>): Promise<'none' | 'cannot' | 'can'>;
  /** Contract: does not throw. */
  send(question: UiQuestion): Promise<void>;
  /** Contract: does not throw. */
  settled(id: string): Promise<void>;
}

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly files: AttachmentFiles;
  readonly registry: ContributionRegistry;
  readonly deliverer: Deliverer;
  readonly hooks?: SendingHooks;
}

type Buttons = NonNullable<Presentation['buttons']>;

const LABEL_CHARS = 128;
const TITLE_CHARS = 256;
/** As many as can wait in all sessions together; what is beyond keeps its buttons, and a press says that it is settled. */
const MAX_SENT = 4_096;

export function createChannelQuestions({ store, clock, log, files, registry, deliverer, hooks }: Deps): ChannelQuestions {
  const sent = new Map<string, { readonly key: string; readonly id: string; readonly pluginId: string; readonly title: string }>();

  async function canShow(sessionKey: string, question: Pick<UiQuestion, 'kind' | 'prompt' | 'options'>) {
    const { channel } = await store.read('routes.get', { key: sessionKey });
    if (channel === DEFAULT_CHANNEL) return 'none';
    const found = registry.findAny('channel', channel);
    if (!found) return 'none';
    const answers = answersOf(question);
    const { buttons = limits.deliveryButtons.value, textChars = Number.POSITIVE_INFINITY } = found.item.limits ?? {};
    const most = Math.min(buttons, limits.deliveryButtons.value);
    return answers && answers.length <= most && question.prompt.length <= textChars ? 'can' : 'cannot';
  }

  async function send(question: UiQuestion): Promise<void> {
    const { id, sessionKey: key, extension, prompt } = question;
    const answers = answersOf(question);
    if (!answers || (await canShow(key, question)) !== 'can') return;
    const route = await store.read('routes.get', { key });
    const buttons: Buttons = answers.map(({ label, reply }, at) => ({ id: `answer-${at}`, label, action: { question: id, reply } }));
    const labels = answers.map(({ label }) => label);
    const where = { sessionKey: key, channel: route.channel, to: route.to, by: extension };
    const gated = await gateSending(hooks, { ...where, content: prompt, files: [], buttons: labels });
    if ('cancelled' in gated) return log.info({ plugin: extension, sessionKey: key, reason: gated.cancelled }, 'a question was not sent');
    const title = `${extension} asks`.slice(0, TITLE_CHARS);
    const { record } = await store.write('deliveries.create', {
      ...{ key, id: randomId(), pluginId: extension, pluginName: extension, route, text: gated.content },
      presentation: { title, buttons },
      files: [],
      quotas: files.quotas,
      at: clock.now(),
    });
    if (sent.size < MAX_SENT) sent.set(id, { key, id: record.id, pluginId: extension, title });
    await deliverer.attempt(record);
    // It may have been settled while it was on its way.
    const { question: now } = await store.read('ui.get', { id });
    if (now?.state !== 'pending') await settled(id);
  }

  async function settled(id: string): Promise<void> {
    const delivery = sent.get(id);
    if (!delivery || !sent.delete(id)) return;
    const { key, id: deliveryId, pluginId, title } = delivery;
    const { found } = await store.read('deliveries.get', { id: deliveryId });
    // A press takes the buttons away by itself.
    if (!found || found.record.pressed || found.record.state === 'failed') return;
    const { question } = await store.read('ui.get', { id });
    const became = question?.state === 'answered' ? 'answered elsewhere' : (question?.reason ?? 'settled');
    const presentation = { title: `${title}: ${became}`.slice(0, TITLE_CHARS) };
    const { record } = await store.write('deliveries.update', { key, id: deliveryId, pluginId, presentation, at: clock.now() });
    await deliverer.edit(record);
  }

  const quietly = (work: Promise<void>, id: string) =>
    work.catch((error: unknown) => log.warn({ error, question: id }, 'cannot show a question of an extension in its channel'));

  return { canShow, send: (question) => quietly(send(question), question.id), settled: (id) => quietly(settled(id), id) };
}

/** Undefined where buttons cannot say it. */
function answersOf({ kind, options = [] }: Pick<UiQuestion, 'kind' | 'options'>): { label: string; reply: UiReply }[] | undefined {
  if (kind === 'confirm')
    return [
      { label: 'Yes', reply: { confirmed: true } },
      { label: 'No', reply: { confirmed: false } },
    ];
  if (kind === 'input' || options.some((option) => option === '' || option.length > LABEL_CHARS)) return undefined;
  return options.map((value) => ({ label: value, reply: { value } }));
}
