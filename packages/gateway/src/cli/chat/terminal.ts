// A chat on a terminal: the conversation above, the line that is being typed below. One line at a time is worked on, in the
// order in which they were typed; the gateway queues what comes while the agent is busy.
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Approval, CommandInfo, Decision, JsonValue } from '@tenon/protocol';
import { exitCodes } from '../failure.ts';
import type { Output } from '../output.ts';
import type { Conversation } from './conversation.ts';
import { changeFiles } from './chat-files.ts';
import type { Show } from './follow.ts';
import type { People, PeopleOptions } from './people.ts';
import { createFormAsker, type FormAsker } from './plugin-form.ts';
import { closedText, panelText, press, readPress } from './plugin-press.ts';
import type { Control, PluginsShown } from './plugin-view.ts';
import { completeLine, createLineJoiner, readInput } from './input.ts';
import { answersLine, parseAnswer } from './question.ts';
import { createLiveScreen, createPlainScreen } from './screen.ts';
import { createView } from './view.ts';

export interface TerminalOptions {
  readonly stdin: Readable;
  readonly stdout: Writable & { readonly columns?: number };
  readonly style: Output['style'];
  /** Whether the cursor may be moved. */
  readonly live: boolean;
  readonly verbose: boolean;
  readonly now: () => number;
  /** Typed earlier, oldest first. */
  readonly typedBefore: readonly string[];
  readonly banner: string;
  /** Of last messages that are shown on entry. */
  readonly messages: number;
  /** They go with the first message. */
  readonly files: readonly string[];
  /** Joins the session once there is something to show it on. */
  readonly join: (show: Show, onPlugins: (shown: PluginsShown) => void) => Promise<Conversation>;
  /** What extensions ask and show. */
  readonly people: (options: Omit<PeopleOptions, 'client' | 'newId'>) => People;
  /** Ctrl-C where the terminal makes a signal of it; asked for anew each time. SIGTERM and SIGHUP leave. */
  readonly interrupted: () => AbortSignal;
  /** Rejects when the connection is gone for good. */
  readonly lost: Promise<never>;
}

export interface TerminalEnd {
  readonly code: number;
  /** Typed in this chat, oldest first. */
  readonly typed: readonly string[];
  /** Whether a turn goes on without us. */
  readonly busy: boolean;
}

const AGAIN_MS = 2_000;
const REFRESH_MS = 1_000;
const MOST_TYPED = 500;
/** The title of the window; an empty one leaves it to the terminal. */
const titleText = (title: string) => `\u001b]2;${title}\u0007`;
const PASTE = { on: '\u001b[?2004h', off: '\u001b[?2004l' };

export async function chatOnTerminal(options: TerminalOptions): Promise<TerminalEnd> {
  const { stdin, stdout, style, live: isLive, now } = options;
  let known: CommandInfo[] = [];
  const editor = createInterface({
    input: stdin,
    output: stdout,
    terminal: isLive,
    history: options.typedBefore.toReversed(),
    historySize: MOST_TYPED,
    removeHistoryDuplicates: true,
    completer: complete,
    // A key that begins an escape sequence must not hold up the ones after it.
    escapeCodeTimeout: 50,
    prompt: '',
  });
  const live = isLive ? createLiveScreen({ editor, output: stdout, style }) : undefined;
  const screen = live ?? createPlainScreen({ write: (text) => void stdout.write(text), style, width: stdout.columns || 80 });
  const sign = isLive ? '› ' : '> ';
  const joiner = createLineJoiner();
  const typed: string[] = [];
  const left = Promise.withResolvers<number>();
  const view = createView({ screen, style, verbose: options.verbose, now, canAnswer: true, sign, onChange: () => changed() });
  const stash = createStash(editor, isLive);
  let conversation: Conversation | undefined;
  let isPasting = false;
  let isOver = false;
  let interruptedAt = Number.NEGATIVE_INFINITY;
  let work = Promise.resolve();
  /** What is being asked for a control, or whether a message is sent all the same. */
  let form: { readonly asker: FormAsker; readonly control: Control } | undefined;
  let unsent: string | undefined;
  /** The cards as they were shown last. */
  let shownCards = new Map<string, string>();
  let shownTitle: string | undefined;
  const people = options.people({
    sessionKey: () => conversation?.sessionKey,
    card: (text) => view.card(text),
    lines: (lines) => view.lines(lines),
    note: (text) => view.note(text),
    problem: (text) => view.problem(text),
    style,
    now,
    onChange: () => peopleChanged(),
  });

  // What can follow is shown with the first Tab, above the line; readline would draw it over the footer.
  function complete(line: string, done: (error: null, found: [string[], string]) => void): void {
    void lineEnds(line).then((found) => done(null, offer(...found)));
  }

  /** What may follow a command the gateway knows; while it does not answer, what the list of commands says. */
  async function lineEnds(line: string): Promise<[found: string[], part: string]> {
    const local = completeLine(line, known);
    const [head] = /^\/[a-z0-9][a-z0-9_:-]*\s+/.exec(line) ?? [];
    if (!conversation || head === undefined) return local;
    const offered = await conversation.complete(line).catch(() => []);
    const ends = offered.flatMap(({ text }) => (text.startsWith(line) ? [text.slice(head.length)] : []));
    return ends.length > 0 ? [ends, line.slice(head.length)] : local;
  }

  function offer(found: string[], part: string): [found: string[], part: string] {
    const shared = commonStart(found);
    if (found.length < 2 || shared.length > part.length) return [found.length < 2 ? found : [shared], part];
    view.note(found.map((each) => each.trim()).join('  '));
    return [[], part];
  }

  function changed(): void {
    if (isOver) return;
    if (view.question || people.question) stash.take();
    else stash.giveBack();
    showPrompt();
  }

  function peopleChanged(): void {
    showStatus();
    if (isLive && people.title !== shownTitle) {
      shownTitle = people.title;
      stdout.write(titleText(shownTitle ?? ''));
    }
    changed();
  }

  function showPrompt(): void {
    if (isOver) return;
    const asks = view.question !== undefined || people.question !== undefined || form !== undefined || unsent !== undefined;
    const now_ = asks ? `answer ${sign}` : joiner.isOpen ? '… ' : sign;
    if (live) return live.prompt(asks ? style('yellow', now_) : now_);
    if (view.isBusy && !asks) return;
    editor.setPrompt(now_);
    editor.prompt();
  }

  function onLine(line: string): void {
    live?.takeBack(line);
    const { question } = view;
    if (question && !isPasting) {
      const answer = parseAnswer(line, question.allowed);
      if (answer.kind === 'decision') return enqueue(() => decide(question, answer.decision));
      if (answer.kind === 'unclear') {
        view.note(`Answer with: ${answersLine(question)}`);
        return showPrompt();
      }
    }
    if (!question && !isPasting && !joiner.isOpen && people.take(line)) return showPrompt();
    const text = joiner.add(line, isPasting);
    view.draft(isLive ? joiner.lines : []);
    if (text === undefined) return showPrompt();
    enqueue(() => (form ? fill(form, text) : unsent === undefined ? say(text) : decideUnsent(unsent, text)));
  }

  function enqueue(task: () => Promise<void>): void {
    work = work.then(task).catch((error: Error) => view.problem(error.message));
    void work.then(showPrompt);
  }

  async function say(text: string): Promise<void> {
    const input = readInput(text, known.length === 0 ? undefined : known);
    if (input.kind === 'nothing') return;
    if (typed.length < MOST_TYPED && !text.includes('\n')) typed.push(text);
    // In the middle of an answer a message would tear it apart: it is shown when it is told to the agent.
    const shown = !isLive || !view.isBusy || input.kind !== 'message';
    if (live && shown) view.typed(text);
    if (input.kind === 'quit') return left.resolve(exitCodes.ok);
    if (input.kind === 'wrong') return view.problem(input.reason);
    if (!conversation) return;
    if (input.kind === 'press') return pressed(input.rest);
    if (input.kind === 'panel') return view.card([panelText(conversation.plugins), people.panel()].filter(Boolean).join('\n'));
    if (input.kind === 'attach' || input.kind === 'detach') return view.note(await changeFiles(conversation, input.kind, input.rest));
    if (input.kind === 'command') {
      const before = conversation.sessionKey;
      view.note(await conversation.command(input.text));
      if (conversation.sessionKey !== before) await people.open();
      if (input.text.startsWith('/help')) view.note(HELP);
      return;
    }
    const { closed } = conversation.plugins;
    if (closed?.mode === 'disabled') return view.problem(closedText(closed));
    if (closed) {
      unsent = input.text;
      return view.card(`  ${closed.reason} (${closed.pluginId})\n  Send it all the same? yes or no`);
    }
    const sent = await conversation.send(input.text, shown);
    if (sent.status === 'handled' && sent.reply !== undefined) view.note(sent.reply);
    if (sent.status !== 'queued') return;
    if (shown) view.note('(queued: the agent is busy)');
    else view.queued(sent.runId, input.text);
  }

  function showPlugins(shown: PluginsShown): void {
    const now_ = new Map(shown.cards.filter((card) => card.isInChat).map((card) => [card.name, card.lines.join('\n')]));
    for (const [name, text] of now_) if (shownCards.get(name) !== text) view.card(text);
    shownCards = now_;
    showStatus();
  }

  function showStatus(): void {
    const { status = [], closed } = conversation?.plugins ?? {};
    view.plugins([...status, ...people.status], closed && closedText(closed));
  }

  async function pressed(rest: string): Promise<void> {
    if (!conversation) return;
    const read = readPress(rest, conversation.plugins);
    if (read.kind === 'wrong') return view.problem(read.reason);
    if (read.kind === 'send') return finish(read.control, read.payload);
    form = { asker: createFormAsker(read.form), control: read.control };
    view.card([...form.asker.question(), '    Ctrl-C leaves it'].join('\n'));
  }

  async function fill({ asker, control }: NonNullable<typeof form>, text: string): Promise<void> {
    const taken = asker.take(text);
    if (taken && 'payload' in taken) {
      form = undefined;
      return finish(control, taken.payload);
    }
    if (taken) view.problem(taken.wrong);
    view.card(asker.question().join('\n'));
  }

  async function finish(control: Control, payload: JsonValue | undefined): Promise<void> {
    if (!conversation) return;
    const { ok, text } = await press(conversation, control, payload);
    if (ok) view.note(text);
    else view.problem(text);
  }

  /** A plugin wants people to think twice. */
  async function decideUnsent(message: string, text: string): Promise<void> {
    const isSent = ['y', 'yes'].includes(text.trim().toLowerCase());
    unsent = undefined;
    if (!isSent) return view.note('Not sent.');
    await conversation?.send(message, true, true);
  }

  async function decide({ id }: Approval, decision: Decision): Promise<void> {
    view.answered(id);
    await conversation?.answer(id, decision);
  }

  function interrupt(): void {
    const at = now();
    if (at - interruptedAt < AGAIN_MS) return left.resolve(exitCodes.ok);
    interruptedAt = at;
    if (view.isBusy && conversation) {
      view.note('stopping the turn; Ctrl-C again leaves');
      conversation.abort().catch((error: Error) => view.problem(`It could not be stopped: ${error.message}`));
      return;
    }
    if (people.dismiss()) return;
    joiner.take();
    view.draft([]);
    if (form || unsent !== undefined) {
      form = undefined;
      unsent = undefined;
      view.note('(left)');
      return showPrompt();
    }
    stash.drop();
    view.note('Ctrl-C again, or Ctrl-D, leaves');
    showPrompt();
  }

  editor.on('line', onLine);
  editor.on('SIGINT', interrupt);
  editor.on('close', () => {
    isOver = true;
    left.resolve(exitCodes.ok);
  });
  stdin.on('keypress', (_text: string | undefined, key: { readonly name?: string } | undefined) => {
    if (key?.name === 'paste-start') isPasting = true;
    if (key?.name === 'paste-end') isPasting = false;
  });
  const listening = new AbortController();
  listenForSignals(options.interrupted, listening.signal, interrupt, () => left.resolve(exitCodes.ok));
  const timer = setInterval(() => view.refresh(), REFRESH_MS);
  if (isLive) stdout.write(PASTE.on);
  try {
    screen.line(style('dim', options.banner));
    conversation = await Promise.race([options.join(view, showPlugins), options.lost]);
    known = await Promise.race([conversation.commands(), options.lost]);
    await Promise.race([conversation.open(options.messages), options.lost]);
    await Promise.race([people.open(), options.lost]);
    for (const file of options.files) view.note(await Promise.race([conversation.attach(file), options.lost]));
    showPrompt();
    const code = await Promise.race([left.promise, options.lost]);
    return { code, typed, busy: view.isBusy };
  } finally {
    isOver = true;
    clearInterval(timer);
    listening.abort();
    live?.close();
    editor.close();
    if (isLive && shownTitle !== undefined) stdout.write(titleText(''));
    if (isLive) stdout.write(PASTE.off);
  }
}

const HELP =
  'In this terminal: !command runs a program, a backslash at the end of a line goes on with the next one, Tab completes\n' +
  'commands, /attach <file> sends a file with the next message, /panel shows what plugins and extensions show and /press <number> presses it,\n' +
  'Ctrl-C stops the turn, Ctrl-C twice or Ctrl-D or /quit leaves.';

function listenForSignals(ask: () => AbortSignal, until: AbortSignal, onInterrupt: () => void, onLeave: () => void): void {
  const signal = ask();
  signal.addEventListener(
    'abort',
    () => {
      if (until.aborted) return;
      if (signal.reason !== 'SIGINT') return onLeave();
      onInterrupt();
      listenForSignals(ask, until, onInterrupt, onLeave);
    },
    { once: true },
  );
}

function commonStart(words: readonly string[]): string {
  const [first = '', ...rest] = words;
  let length = first.length;
  for (const word of rest) while (!word.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}

interface Stash {
  take(): void;
  giveBack(): void;
  drop(): void;
}

/**
 * What was being typed when a question came is put aside until it is answered: whoever presses Enter in that moment must not
 * answer a question that they have not read.
 */
function createStash(editor: Interface, isLive: boolean): Stash {
  let kept: string | undefined;
  const clear = () => {
    if (!isLive || editor.line === '') return;
    editor.write(null, { ctrl: true, name: 'e' });
    editor.write(null, { ctrl: true, name: 'u' });
  };
  return {
    take() {
      if (kept !== undefined) return;
      kept = isLive ? editor.line : '';
      clear();
    },
    giveBack() {
      const text = kept;
      kept = undefined;
      if (text && isLive) editor.write(text);
    },
    drop: clear,
  };
}
