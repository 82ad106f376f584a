// Reminders: at the time that somebody, or the agent for them, has said, a card with buttons arrives where the session came from. The
// plugin takes its own scheduled turns and sends it: no model is asked. Only if it cannot be sent, the agent is told instead, and says it.
import { definePluginEntry, type DueTurn, type RegisterApi } from '@tenon/plugin-sdk';
import { FORMS, readWish, showTime, type When } from './times.ts';

interface Reminder {
  readonly id: number;
  readonly text: string;
  /** When it comes, or came. */
  readonly at: number;
  /** Of one that comes again and again, in words. */
  readonly every?: string;
  /** It was shown and waits for somebody. */
  readonly due?: true;
}

type Outcome = { readonly said: string } | { readonly wrong: string };

const NAMESPACE = 'reminders';
const MAX_REMINDERS = 100;
const MAX_TEXT = 200;
const LATE_MS = 60_000;
/** What the agent is told where the card cannot be sent; the text follows. */
const TELL = 'A reminder that was asked for is due now. Tell the person in one sentence: ';

// biome-ignore lint/style/noDefaultExport: the host looks for the default export of a plugin
export default definePluginEntry({
  id: 'reminders',
  name: 'Reminders',
  register(api) {
    const tz = zoneOf(api);
    api.registerSessionExtension({
      namespace: NAMESPACE,
      description: 'What people are reminded of in this session',
      project: ({ state }) => toJson(readReminders(state)),
    });
    // Not a hook of all turns, which would show it what is said in them: it is given the turns that it has scheduled, and no others.
    api.registerScheduledTurnHandler({ id: 'deliver', handler: (turn) => deliver(api, turn, tz) });
    api.registerCommand({
      name: 'remind',
      description: 'Reminds you of something: once, or again and again',
      usage: '/remind <when> <what> | list | cancel <number>',
      async handler({ sessionKey, args, state }) {
        const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args.trim()) ?? [];
        if (word === '' || word === 'list') return { text: show(readReminders(state(NAMESPACE)), tz, api.now()) };
        const done = word === 'cancel' ? await cancel(api, sessionKey, rest.trim()) : await add(api, sessionKey, args, tz);
        return { text: 'wrong' in done ? done.wrong : done.said };
      },
    });
    api.registerTool({
      name: 'remind',
      label: 'Reminders',
      description:
        'Remind the person in this conversation of something at a later time: add, list, cancel. A card with buttons comes then.',
      parameters: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['add', 'list', 'cancel'] },
          when: { type: 'string', minLength: 1, maxLength: 64, description: `For add, such as: ${FORMS}` },
          text: { type: 'string', minLength: 1, maxLength: MAX_TEXT, description: 'For add: of what' },
          id: { type: 'integer', minimum: 1, description: 'For cancel: the number in the list' },
        },
        required: ['action'],
        additionalProperties: false,
      },
      // It speaks to people later, in the agent's place.
      risk: 'write',
      tags: ['planning'],
      async execute({ action, when, text, id }, { sessionKey, state }) {
        if (action === 'list') return { content: show(readReminders(state(NAMESPACE)), tz, api.now()) };
        if (action === 'add' && (when === undefined || text === undefined)) return { content: '"add" needs when and text', isError: true };
        const done = action === 'add' ? await add(api, sessionKey, `${when} ${text}`, tz) : await cancel(api, sessionKey, String(id ?? ''));
        return 'wrong' in done ? { content: done.wrong, isError: true } : { content: done.said };
      },
    });
    registerButtons(api, tz);
  },
});

function registerButtons(api: RegisterApi, tz: string): void {
  const id = { type: 'integer', minimum: 1 };
  const ofWhat = { type: 'string', maxLength: MAX_TEXT };
  api.registerSessionAction({
    id: 'done',
    description: 'It was heard: nothing more comes of it, unless it comes again and again',
    schema: { type: 'object', properties: { id, text: ofWhat }, required: ['id', 'text'], additionalProperties: false },
    handler({ payload, state }) {
      const { id: heard, text } = payload as { id: number; text: string };
      // The card of one that was cancelled may still stand there, and its number belong to another.
      const left = readReminders(state(NAMESPACE)).filter((each) => each.id !== heard || each.text !== text || each.every !== undefined);
      return { result: { id: heard }, statePatch: { [NAMESPACE]: toJson(left) } };
    },
  });
  const minutes = { type: 'integer', minimum: 1, maximum: 1_440 };
  api.registerSessionAction({
    id: 'snooze',
    description: 'It comes again a little later',
    schema: { type: 'object', properties: { id, minutes, text: ofWhat }, required: ['id', 'minutes', 'text'], additionalProperties: false },
    async handler({ payload, sessionKey, state }) {
      const { id: shown, minutes: later, text } = payload as { id: number; minutes: number; text: string };
      const all = readReminders(state(NAMESPACE));
      const known = all.some((each) => each.id === shown && each.text !== text) ? nextId(all) : shown;
      const planned = await plan(api, sessionKey, `snooze-${known}`, { delayMs: later * 60_000 }, text);
      if ('wrong' in planned) return { ok: false, error: planned.wrong, code: 'NOT_SCHEDULED' };
      const { every } = all.find((each) => each.id === known) ?? {};
      const next = [...all.filter((each) => each.id !== known), { id: known, text, at: planned.nextAt, ...(every ? { every } : {}) }];
      return { reply: `Until ${showTime(planned.nextAt, tz, api.now())}`, statePatch: { [NAMESPACE]: toJson(next) } };
    },
  });
}

/** A gateway that was killed meanwhile asks again: the card of one time is one card. */
async function deliver(api: RegisterApi, { sessionKey, message, tag = '', jobId, dueAt }: DueTurn, tz: string) {
  const id = Number(/^(?:remind|snooze)-(\d+)$/.exec(tag)?.[1]);
  if (!Number.isInteger(id)) return undefined;
  const text = message.slice(TELL.length);
  const snooze = (minutes: number) => ({ actionId: 'snooze', payload: { id, minutes, text } });
  const late = api.now() - dueAt > LATE_MS ? [{ kind: 'markdown' as const, text: `It was due ${showTime(dueAt, tz, api.now())}.` }] : [];
  const sent = await api.session.workflow.sendSessionAttachment({
    sessionKey,
    presentation: {
      title: `Reminder: ${text}`,
      blocks: late,
      buttons: [
        { id: 'snooze-10', label: 'In 10 minutes', action: snooze(10) },
        { id: 'snooze-60', label: 'In 1 hour', action: snooze(60) },
        { id: 'done', label: 'Done', style: 'primary', action: { actionId: 'done', payload: { id, text } } },
      ],
    },
    idempotencyKey: `${jobId}-${dueAt}`,
  });
  if (!sent.ok) return void api.logger.warn('a reminder could not be sent, and the agent is told instead', { reason: sent.message });
  await change(api, sessionKey, (all) => all.map((each) => (each.id === id ? { ...each, at: dueAt, due: true } : each)));
  return { handled: true };
}

/** First the turn, then what is kept of it: what is on the list comes. */
async function add(api: RegisterApi, sessionKey: string, said: string, tz: string): Promise<Outcome> {
  const wish = readWish(said, api.now(), tz);
  if ('wrong' in wish) return wish;
  const { when, text, every } = wish;
  if (text === '') return { wrong: 'Of what? Say it after the time' };
  if (text.length > MAX_TEXT) return { wrong: `That has ${text.length} characters; ${MAX_TEXT} are possible` };
  const kept = await change(api, sessionKey, async (all) => {
    if (all.length >= MAX_REMINDERS) return { wrong: `There are ${MAX_REMINDERS} reminders in this session already; cancel one first` };
    const id = nextId(all);
    const planned = await plan(api, sessionKey, `remind-${id}`, when, text);
    if ('wrong' in planned) return planned;
    return [...all, { id, text, at: planned.nextAt, ...(every === undefined ? {} : { every }) }];
  });
  return 'wrong' in kept ? kept : { said: show(kept.all.slice(-1), tz, api.now()) };
}

const nextId = (all: readonly Reminder[]) => Math.max(0, ...all.map((each) => each.id)) + 1;

async function cancel(api: RegisterApi, sessionKey: string, number: string): Promise<Outcome> {
  const kept = await change(api, sessionKey, async (all) => {
    if (!all.some(({ id }) => String(id) === number)) return { wrong: `There is no reminder "${number.slice(0, 9)}": see /remind list` };
    for (const tag of [`remind-${number}`, `snooze-${number}`]) {
      const removed = await api.session.workflow.unscheduleSessionTurnsByTag({ sessionKey, tag });
      if (!removed.ok) return { wrong: `It was not cancelled: ${removed.message}` };
    }
    return all.filter(({ id }) => String(id) !== number);
  });
  return 'wrong' in kept ? kept : { said: `Reminder ${number} is cancelled.` };
}

/** One turn under the tag, however often it is asked for: one of which nobody was told is planned over. */
async function plan(api: RegisterApi, sessionKey: string, tag: string, when: When, text: string) {
  const { scheduleSessionTurn, unscheduleSessionTurnsByTag } = api.session.workflow;
  const cleared = await unscheduleSessionTurnsByTag({ sessionKey, tag });
  const turn = { sessionKey, tag, message: `${TELL}${text}`, name: text.slice(0, 128), ...when };
  const planned = cleared.ok ? await scheduleSessionTurn(turn) : cleared;
  return planned.ok ? planned : { wrong: `It cannot be planned: ${planned.message}` };
}

type Next = readonly Reminder[] | { readonly wrong: string };

/** On the freshest state; gives what is kept then, or why nothing was changed. */
async function change(api: RegisterApi, sessionKey: string, next: (all: readonly Reminder[]) => Next | Promise<Next>) {
  let outcome: { readonly all: readonly Reminder[] } | { readonly wrong: string } = { all: [] };
  const written = await api.session.state.update(sessionKey, NAMESPACE, async (current) => {
    const made = await next(readReminders(current));
    outcome = 'wrong' in made ? made : { all: made };
    return 'wrong' in made ? (current ?? null) : toJson(made);
  });
  return written.ok ? outcome : { wrong: `The reminders were not changed: ${written.message}` };
}

/** Throws for a zone that there is not: then the plugin is not loaded, and the reason is on record. */
function zoneOf({ pluginConfig }: RegisterApi): string {
  const { timeZone } = pluginConfig as { timeZone?: string };
  return new Intl.DateTimeFormat('en-GB', timeZone === undefined ? {} : { timeZone }).resolvedOptions().timeZone;
}

function show(reminders: readonly Reminder[], tz: string, now: number): string {
  if (reminders.length === 0) return `There are no reminders. /remind takes a time and a text. Times are such as: ${FORMS}`;
  const when = ({ at, every, due }: Reminder) => every ?? `${due ? 'due since ' : ''}${showTime(at, tz, now)}`;
  return reminders.map((each) => `${each.id}. ${each.text} (${when(each)})`).join('\n');
}

/** Whatever is kept there: only what is a reminder. */
function readReminders(value: unknown): readonly Reminder[] {
  if (!Array.isArray(value)) return [];
  return value.filter((each: Partial<Reminder> | null): each is Reminder => {
    return typeof each?.id === 'number' && typeof each.text === 'string' && typeof each.at === 'number';
  });
}

/** As plain values, in order. */
function toJson(reminders: readonly Reminder[]) {
  const plain = reminders.map(({ id, text, at, every, due }) => ({ id, text, at, ...(every ? { every } : {}), ...(due ? { due } : {}) }));
  return plain.sort((a, b) => a.id - b.id);
}
