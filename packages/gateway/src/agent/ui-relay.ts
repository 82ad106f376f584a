// What extensions ask and show the people who watch a session. A question is in the store before anybody sees it; the first answer
// settles it there, and here is only who waits for which. Nobody there, too late, nobody who waits any more: it is cancelled, on
// record, and whoever shows it is told. What an extension says is text, and is made safe to look at before it goes anywhere.
import {
  type EventPayload,
  GatewayError,
  limits,
  type UiNotice,
  type UiQuestion,
  type UiReply,
  type UiShown,
  visible,
} from '@tenon/protocol';
import type { UiAnswer, UiRequest } from '@tenon/protocol/sep';
import { texts } from '@tenon/protocol/sep/wire';
import type { Asker, People } from '../host/sep/serve/people.ts';
import type { ChannelQuestions } from '../host/send-question.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import { createWindow } from '../kernel/window.ts';
import type { Store } from '../store/store.ts';
import type { StoredEvent } from '../store/stream.ts';
import { createShownParts } from './ui-shown.ts';

export interface UiRelayDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Whether a client is there that shows questions in this session and may answer them. */
  readonly isWatched: (sessionKey: string) => boolean;
  readonly shown: (shown: UiShown) => void;
  readonly notified: (notice: UiNotice) => void;
  /** The channels that sessions came from; none while plugins are being opened. */
  readonly channels: () => ChannelQuestions | undefined;
  /** The setting `extensions.answerMs`. */
  readonly answerMs: number;
  /** The setting `extensions.autoConfirm`. */
  readonly autoConfirm: readonly string[];
}

export interface UiRelay extends People {
  /** After the commit of the answer: whoever waits for it has it. */
  answered(id: string, reply: UiReply): void;
  shownIn(sessionKey?: string): UiShown[];
  /** What was asked before the gateway was started: nobody waits for it. */
  resume(): Promise<void>;
  /** From the store, after the commit. */
  committed(batch: readonly StoredEvent[]): void;
  close(): Promise<void>;
}

/** Questions and notices of one extension, or of one credential that relays. */
const ASKED = { limit: 120, windowMs: 10_000 } as const;
export const AUTO_CONFIRM = 'setting:extensions.autoConfirm';

type Question = Extract<UiRequest, { kind: UiQuestion['kind'] }>;

export function createUiRelay(deps: UiRelayDeps): UiRelay {
  const { store, clock, log, metrics, answerMs } = deps;
  const waiting = new Map<string, (answer: UiAnswer) => void>();
  const settling = new Set<Promise<unknown>>();
  const asked = createWindow({ ...ASKED, clock });
  const autoConfirm = new Set(deps.autoConfirm);
  const parts = createShownParts({ clock, maxSessions: limits.uiShown.value, publish: deps.shown });
  metrics.describe('tenon_ui_requests_total', 'What extensions asked and showed people, by kind and outcome.');

  function count(kind: string, outcome: string): void {
    metrics.count('tenon_ui_requests_total', { kind, outcome });
  }

  async function request(from: Asker, given: UiRequest, signal: AbortSignal): Promise<UiAnswer> {
    const checked = checkRequest(given);
    if (checked.kind === 'set_status') return show(from, checked.kind, { status: checked.status });
    if (checked.kind === 'set_title') return show(from, checked.kind, { title: checked.title });
    if (checked.kind === 'set_widget') return show(from, checked.kind, { widget: checked.widget as NonNullable<UiShown['widget']> });
    takeTurn(from, checked.kind);
    return checked.kind === 'notify' ? notify(from, checked) : ask(from, checked, signal);
  }

  function takeTurn({ extension, via }: Asker, kind: string): void {
    const who = `${via ?? ''}\n${extension}`;
    if (asked.waitMs(who) > 0) {
      count(kind, 'refused');
      throw new GatewayError('TOO_LARGE', `${ASKED.limit} questions and notices in ${ASKED.windowMs / 1000} seconds are the most`, {
        details: { code: 'TOO_MANY_QUESTIONS' },
      });
    }
    asked.hit(who);
  }

  function show(from: Asker, kind: string, shown: Pick<UiShown, 'status' | 'title' | 'widget'>): UiAnswer {
    const isTaken = parts.set(from, shown);
    count(kind, isTaken ? 'shown' : 'cancelled');
    return isTaken ? {} : { cancelled: true };
  }

  function notify({ sessionKey, extension, via }: Asker, { message, level = 'info' }: Extract<UiRequest, { kind: 'notify' }>): UiAnswer {
    const isHeard = deps.isWatched(sessionKey);
    count('notify', isHeard ? 'shown' : 'cancelled');
    if (!isHeard)
      log.info({ plugin: extension, sessionKey, level, notice: message.slice(0, 512) }, 'a notice of an extension has reached nobody');
    else deps.notified({ sessionKey, extension, ...(via === undefined ? {} : { via }), level, message });
    return isHeard ? {} : { cancelled: true };
  }

  async function ask(from: Asker, question: Question, signal: AbortSignal): Promise<UiAnswer> {
    const { sessionKey, extension, via } = from;
    const { kind, context: _context, ...said } = question;
    const at = clock.now();
    const isYes = kind === 'confirm' && via === undefined && autoConfirm.has(extension);
    const place = isYes || deps.isWatched(sessionKey) ? undefined : await placeOf(from, question);
    if (place === 'none' || signal.aborted) {
      count(kind, 'cancelled');
      if (place === 'none') log.info({ plugin: extension, sessionKey, kind }, 'an extension asks, and nobody is there');
      return { cancelled: true };
    }
    if (place === 'cannot') {
      count(kind, 'refused');
      throw new GatewayError('UNAVAILABLE', texts.noUi(kind), { details: { code: 'NO_UI', kind } });
    }
    const { question: kept } = await store.write('ui.ask', {
      ...{ key: sessionKey, id: randomId(), extension, kind, asked: said, expiresAt: at + answerMs, at },
      ...(via === undefined ? {} : { via }),
      ...(isYes ? { confirmedBy: AUTO_CONFIRM } : {}),
    });
    if (isYes) {
      count(kind, 'auto-confirmed');
      return { confirmed: true };
    }
    if (via === undefined) void deps.channels()?.send(kept);
    const answer = await answerTo(kept, signal);
    count(kind, answer.cancelled ? 'cancelled' : 'answered');
    return answer;
  }

  /** Where no client watches: whether the channel of the session can show it. What a run elsewhere asks goes to no channel. */
  async function placeOf({ sessionKey, via }: Asker, question: Question): Promise<'none' | 'cannot' | 'can'> {
    return (via === undefined ? await deps.channels()?.canShow(sessionKey, question) : undefined) ?? 'none';
  }

  async function answerTo({ id, sessionKey, extension, expiresAt }: UiQuestion, signal: AbortSignal): Promise<UiAnswer> {
    const { promise, resolve } = Promise.withResolvers<UiAnswer>();
    waiting.set(id, resolve);
    const give = (state: 'cancelled' | 'expired', reason: string) => {
      const settled = store.write('ui.settle', { which: { id }, state, reason, at: clock.now() });
      // Where the store fails, the extension is told all the same; the next start puts the row right.
      const told = settled.catch((error: unknown) => {
        log.error({ error, plugin: extension, sessionKey, id }, 'cannot keep that a question of an extension is settled');
        resolve({ cancelled: true });
      });
      settling.add(told);
      void told.then(() => settling.delete(told));
    };
    const timer = clock.after(Math.max(0, expiresAt - clock.now()), () => give('expired', 'nobody answered in time'));
    const left = () => give('cancelled', 'the extension does not wait for it any more');
    signal.addEventListener('abort', left, { once: true });
    if (signal.aborted) left();
    try {
      return await promise;
    } finally {
      waiting.delete(id);
      timer.cancel();
      signal.removeEventListener('abort', left);
    }
  }

  return {
    request,
    gone: parts.gone,
    answered(id, reply) {
      waiting.get(id)?.(reply);
    },
    shownIn: parts.list,
    async resume() {
      const { questions } = await store.read('ui.pending', { limit: 1 });
      if (questions.length === 0) return;
      const { settled } = await store.write('ui.settle', {
        which: { all: true },
        state: 'cancelled',
        reason: 'the gateway was restarted',
        at: clock.now(),
      });
      log.info({ settled }, 'questions of extensions were cancelled, because those who asked are gone');
    },
    committed(batch) {
      for (const { event, payload } of batch) {
        if (event === 'sessions.changed') {
          const { key, reason } = JSON.parse(payload) as EventPayload<'sessions.changed'>;
          if (reason === 'reset' || reason === 'delete') parts.forget(key);
        }
        if (event !== 'ui.resolved') continue;
        const { id, state } = JSON.parse(payload) as EventPayload<'ui.resolved'>;
        // What was answered comes from whoever has answered: the store does not keep all of it.
        if (state !== 'answered') waiting.get(id)?.({ cancelled: true });
        void deps.channels()?.settled(id);
      }
    },
    async close() {
      parts.close();
      await Promise.all(settling);
    },
  };
}

/** With all that people are shown made safe to look at; several lines stay several lines. */
function checkRequest(request: UiRequest): UiRequest {
  const most = limits.uiPromptChars.value;
  switch (request.kind) {
    case 'select': {
      const { prompt, options } = request;
      if (options.length === 0) throw invalid('options is empty: there is nothing to choose from');
      if (options.length > limits.uiOptions.value)
        throw invalid(`options has ${options.length} choices; ${limits.uiOptions.value} are the most`);
      if (new Set(options).size < options.length) throw invalid('options has the same choice twice');
      return {
        kind: 'select',
        prompt: linesOf(prompt, 'prompt', most),
        options: options.map((each, at) => plain(each, `options/${at}`, most)),
      };
    }
    case 'confirm':
      return { kind: 'confirm', prompt: linesOf(request.prompt, 'prompt', most) };
    case 'input': {
      const { prompt, default: start } = request;
      return {
        kind: 'input',
        prompt: linesOf(prompt, 'prompt', most),
        ...(start === undefined ? {} : { default: plain(start, 'default', most) }),
      };
    }
    case 'notify':
      return { kind: 'notify', message: linesOf(request.message, 'message', most), level: request.level ?? 'info' };
    case 'set_status':
      return { kind: 'set_status', status: plain(visible(request.status), 'status', limits.uiStatusChars.value) };
    case 'set_title':
      return { kind: 'set_title', title: plain(visible(request.title), 'title', limits.uiStatusChars.value) };
    case 'set_widget': {
      const bytes = Buffer.byteLength(JSON.stringify(request.widget));
      if (bytes > limits.uiWidgetBytes.value) throw invalid(`widget has ${bytes} bytes; ${limits.uiWidgetBytes.value} are the most`);
      return { kind: 'set_widget', widget: request.widget };
    }
  }
}

/** A choice is given back as it was said: what is shown of it is made safe by whoever shows it. */
function plain(text: string, name: string, most: number): string {
  if (text.length > most) throw invalid(`${name} has ${text.length} characters; ${most} are the most`);
  return text;
}

function linesOf(text: string, name: string, most: number): string {
  // Counted as it is shown.
  return plain(text.replace(/\r\n?/g, '\n').split('\n').map(visible).join('\n'), name, most);
}

function invalid(message: string): GatewayError {
  return new GatewayError('INVALID_REQUEST', message, { details: { code: 'INVALID_PARAMS' } });
}
