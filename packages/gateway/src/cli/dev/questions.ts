// What an extension asks people while it is tried out: the next line that is typed is the answer. One question at a time.
import type { UiAnswer, UiRequest } from '@tenon/extension-sdk/testing';

export interface Questions {
  /** The answer, or undefined where it was dismissed, took too long or nobody can type. */
  ask(request: UiRequest): Promise<UiAnswer | undefined>;
  /** Whether the line was an answer. */
  take(line: string): boolean;
  /** Nobody will type any more. */
  close(): void;
}

interface Waiting {
  readonly request: UiRequest;
  readonly answer: (answer: UiAnswer | undefined) => void;
}

const MOST_WAITING = 16;

/** `say` shows a question; `patienceMs` is how long an answer may take. */
export function createQuestions(say: (text: string) => void, patienceMs: number): Questions {
  const waiting: Waiting[] = [];
  let isClosed = false;

  function end(one: Waiting, answer: UiAnswer | undefined): void {
    const index = waiting.indexOf(one);
    if (index < 0) return;
    waiting.splice(index, 1);
    one.answer(answer);
    if (index === 0 && waiting[0]) say(textOf(waiting[0].request));
  }

  return {
    ask(request) {
      if (!isDialog(request)) return Promise.resolve(undefined);
      if (isClosed || waiting.length >= MOST_WAITING) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<UiAnswer | undefined>();
      const one: Waiting = { request, answer: resolve };
      waiting.push(one);
      if (waiting.length === 1) say(textOf(request));
      const timer = setTimeout(() => end(one, undefined), patienceMs);
      return promise.finally(() => clearTimeout(timer));
    },
    take(line) {
      const [first] = waiting;
      if (!first) return false;
      end(first, answerOf(first.request, line.trim()));
      return true;
    },
    close() {
      isClosed = true;
      for (const each of [...waiting]) end(each, undefined);
    },
  };
}

function isDialog({ kind }: UiRequest): boolean {
  return kind === 'select' || kind === 'confirm' || kind === 'input';
}

function textOf({ kind, prompt, message, options }: UiRequest): string {
  const asked = [prompt, message].filter((part) => typeof part === 'string').join(' ');
  if (kind === 'confirm') return `${asked} Type y or n, or nothing to dismiss it:`;
  if (kind === 'input') return `${asked} Type the answer, or nothing to dismiss it:`;
  return `${asked} Type one of these, or its number: ${choicesOf(options)
    .map((each, index) => `${index + 1} ${each}`)
    .join(', ')}`;
}

function answerOf({ kind, options }: UiRequest, line: string): UiAnswer | undefined {
  if (line === '') return undefined;
  if (kind === 'confirm') return { confirmed: /^y(es)?$/i.test(line) };
  if (kind === 'input') return { text: line };
  const choices = choicesOf(options);
  const chosen = choices.includes(line) ? line : choices[Number(line) - 1];
  return chosen === undefined ? undefined : { value: chosen };
}

function choicesOf(options: unknown): string[] {
  return Array.isArray(options) ? options.map(String) : [];
}
