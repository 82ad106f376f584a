// What extensions ask and show, on a terminal: a question is printed whole, above the line that is being typed, and the next line
// answers it; what they show is a line of the footer and a part of /panel. All of it is text.
import type { Client } from '@tenon/client';
import type { EventName, UiNotice, UiQuestion, UiReply, UiShown } from '@tenon/protocol';
import { widgetBlocks } from '@tenon/protocol/ui';
import { spell } from '../amounts.ts';
import type { Output } from '../output.ts';
import { blockLines } from './plugin-view.ts';
import { oneLine, safeLines } from './text.ts';

export const peopleEvents = ['ui.requested', 'ui.resolved', 'ui.shown', 'ui.notified'] as const satisfies readonly EventName[];

export interface PeopleOptions {
  readonly client: Pick<Client, 'on' | 'onState' | 'call'>;
  readonly sessionKey: () => string | undefined;
  readonly card: (text: string) => void;
  /** As they are: what is in them is safe to print. */
  readonly lines: (lines: readonly string[]) => void;
  readonly note: (text: string) => void;
  readonly problem: (text: string) => void;
  readonly style: Output['style'];
  readonly now: () => number;
  readonly newId: () => string;
  /** What is to be answered, or what is shown, has changed. */
  readonly onChange: () => void;
}

export interface People {
  /** The one that is to be answered now. */
  readonly question: UiQuestion | undefined;
  readonly status: readonly string[];
  readonly title: string | undefined;
  /** All that extensions show here; empty where they show nothing. */
  panel(): string;
  /** Whether the line is about the question: an answer, or what was meant as one. */
  take(line: string): boolean;
  /** Puts the question away; false where there is none. */
  dismiss(): boolean;
  /** Reads what waits and what is shown, of the session as it is now. */
  open(): Promise<void>;
}

const MOST = 100;
const TITLE_CHARS = 120;
const DISMISS = '/dismiss';

export function createPeople(options: PeopleOptions): People {
  const { client, style, now } = options;
  const questions = new Map<string, UiQuestion>();
  const answeredHere = new Set<string>();
  let shown: readonly UiShown[] = [];
  let isOpen = false;

  const isHere = ({ sessionKey }: { readonly sessionKey: string }) => sessionKey === options.sessionKey();
  const current = () => questions.values().next().value;

  function ask(question: UiQuestion): void {
    if (!isHere(question)) {
      const where = oneLine(question.sessionKey, TITLE_CHARS);
      return options.note(`(${nameOf(question)} asks in another session: tenon chat --session ${where})`);
    }
    if (questions.has(question.id) || questions.size >= MOST) return;
    questions.set(question.id, question);
    if (current()?.id === question.id) print(question);
    options.onChange();
  }

  function print(question: UiQuestion): void {
    options.lines([...questionLines(question, style), `  ${answersHint(question)} · ${spell(question.expiresAt - now())} left`]);
  }

  function settle(id: string, text: string | undefined): void {
    const wasCurrent = current()?.id === id;
    if (!questions.delete(id)) return;
    if (text !== undefined && !answeredHere.delete(id)) options.note(`(${text})`);
    const next = current();
    if (wasCurrent && next) print(next);
    options.onChange();
  }

  function reply(question: UiQuestion, given: UiReply): void {
    answeredHere.add(question.id);
    // At once, and not behind what was typed before: that may be the command that waits for this answer.
    client.call('ui.answer', { id: question.id, reply: given, idempotencyKey: options.newId() }).then(
      () => settle(question.id, undefined),
      (error: Error & { code?: string }) => {
        answeredHere.delete(question.id);
        if (error.code === 'GONE' || error.code === 'NOT_FOUND')
          return settle(question.id, 'somebody else has answered, or nobody waits any more');
        options.problem(`The answer did not arrive: ${error.message}`);
      },
    );
  }

  function showAll(next: readonly UiShown[]): void {
    const known = new Set(shown.filter(({ widget }) => widget).map(keyOf));
    shown = next.slice(-MOST);
    // Once: what changes all the time would bury the conversation. /panel has it as it is.
    for (const each of shown) if (each.widget && !known.has(keyOf(each))) options.card(`${widgetText(each)}\n  /panel shows it as it is`);
    options.onChange();
  }

  client.on('ui.requested', ask);
  client.on('ui.resolved', ({ id, state, reason }) => settle(id, state === 'answered' ? 'answered elsewhere' : (reason ?? state)));
  client.on('ui.shown', (each) => {
    if (isHere(each)) showAll([...shown.filter((other) => keyOf(other) !== keyOf(each)), ...(isNothing(each) ? [] : [each])]);
  });
  client.on('ui.notified', (notice) => {
    if (isHere(notice)) (notice.level === 'error' ? options.problem : options.note)(noticeText(notice));
  });
  client.onState(({ kind }) => kind === 'connected' && isOpen && void open());

  async function open(): Promise<void> {
    isOpen = true;
    const sessionKey = options.sessionKey();
    if (sessionKey === undefined) return;
    // Who may not read them is asked nothing.
    const found = await client.call('ui.pending', { sessionKey }).catch(() => ({ questions: [], shown: [] }));
    if (sessionKey !== options.sessionKey()) return;
    const waiting = new Set(found.questions.map(({ id }) => id));
    for (const id of [...questions.keys()]) if (!waiting.has(id)) questions.delete(id);
    for (const question of found.questions) ask(question);
    showAll(found.shown);
  }

  return {
    get question() {
      return current();
    },
    get status() {
      return shown.flatMap(({ status, ...each }) => (status === undefined ? [] : `${nameOf(each)}: ${oneLine(status, TITLE_CHARS)}`));
    },
    get title() {
      const title = shown.findLast((each) => each.title !== undefined)?.title;
      return title === undefined ? undefined : oneLine(title, TITLE_CHARS);
    },
    panel: () =>
      shown
        .filter(({ widget }) => widget)
        .map(widgetText)
        .join('\n'),
    take(line) {
      const question = current();
      if (!question) return false;
      if (line.trim() === DISMISS) reply(question, { cancelled: true });
      // A command is never an answer, so that one that a person cannot or does not want to answer holds up nothing.
      else if (line.startsWith('/')) return false;
      else {
        const given = replyOf(line, question);
        if (given) reply(question, given);
        else options.note(`Answer with: ${answersHint(question)}`);
      }
      return true;
    },
    dismiss() {
      const question = current();
      if (question) reply(question, { cancelled: true });
      return question !== undefined;
    },
    open,
  };
}

export function questionLines(question: UiQuestion, style: Output['style']): string[] {
  const [first = '', ...rest] = safeLines(question.prompt);
  const options = (question.options ?? []).map(
    (option, index) => `  ${String(index + 1).padStart(3)}  ${safeLines(option).join('\\u{a}')}`,
  );
  return [style('bold', style('yellow', `? ${nameOf(question)} asks: ${first}`)), ...rest.map((line) => `  ${line}`), ...options];
}

export function answersHint({ kind, default: start, options = [] }: UiQuestion): string {
  const how =
    kind === 'confirm'
      ? 'yes or no'
      : kind === 'select'
        ? `a number from 1 to ${options.length}`
        : start === undefined || start === ''
          ? 'a line of text'
          : `a line of text; empty for "${oneLine(start, 60)}"`;
  return `${how} · ${DISMISS} puts it away`;
}

/** Undefined where the line is no answer to it. */
export function replyOf(line: string, { kind, options = [], default: start }: UiQuestion): UiReply | undefined {
  if (kind === 'input') return { text: line === '' ? (start ?? '') : line };
  const word = line.trim();
  if (kind === 'confirm') {
    const said = word.toLowerCase();
    return ['y', 'yes'].includes(said) ? { confirmed: true } : ['n', 'no'].includes(said) ? { confirmed: false } : undefined;
  }
  const value = options.includes(word) ? word : /^\d{1,3}$/.test(word) ? options[Number(word) - 1] : undefined;
  return value === undefined ? undefined : { value };
}

function widgetText(each: UiShown): string {
  return [
    `  ${nameOf(each)} shows:`,
    ...widgetBlocks(each.widget)
      .flatMap((block) => blockLines(block, () => ''))
      .map((line) => `    ${line}`),
  ].join('\n');
}

function noticeText({ message, ...each }: UiNotice): string {
  return `${nameOf(each)}: ${message}`;
}

function nameOf({ extension, via }: { readonly extension: string; readonly via?: string | undefined }): string {
  return via === undefined ? extension : `${extension} (elsewhere)`;
}

function keyOf({ extension, via = '' }: UiShown): string {
  return `${via}\n${extension}`;
}

function isNothing({ status, title, widget }: UiShown): boolean {
  return status === undefined && title === undefined && widget === undefined;
}
