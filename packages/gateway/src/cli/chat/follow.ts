// Follows one session: what the gateway publishes about it goes in, what a person has to be shown comes out. Text is
// shown while it streams; the entry that follows it says whether all of it was seen, and what was missed is shown then.
// It knows no terminal and no connection, so `tenon chat` and `tenon run` follow alike.
import {
  type Approval,
  type Entry,
  type EventPayload,
  type RunEnd,
  type RunStream,
  unseenReasons,
  type UserMessage,
} from '@tenon/protocol';
import { subjectOf, type Card } from './card.ts';
import { deliveryIn, deliveryText, editIn, pressIn } from './delivery.ts';
import { isOperatorDenial } from './outcome.ts';

export interface Show {
  answer(delta: string): void;
  thinking(delta: string): void;
  /** What streamed is whole: the next thing begins on a line of its own. */
  pause(): void;
  /** A tool is at work; called again whenever something about it changes. */
  working(card: Card): void;
  worked(card: Card): void;
  /** A message that was said from elsewhere. */
  said(text: string, by?: string): void;
  note(text: string): void;
  problem(text: string): void;
  began(runId: string): void;
  /** `told`: why it ended stands on the screen already. */
  ended(runId: string, end: RunEnd | undefined, told?: boolean): void;
  /** The turn waits for an answer of the operator, as the run says; the question itself comes by `asked`. */
  waits(): void;
  asked(approval: Approval): void;
  settled(approval: Settled): void;
}

export type Settled = Pick<EventPayload<'approval.resolved'>, 'id' | 'state' | 'decision' | 'decidedBy'>;

export interface Follower {
  chat(event: EventPayload<'chat'>): void;
  run(said: RunStream): void;
  asked(approval: Approval): void;
  settled(approval: Settled): void;
  session(event: EventPayload<'sessions.changed'>): void;
  /** An entry that was read rather than published. */
  entry(entry: Entry): void;
  /** A message that was sent from here: it stands on the screen already. */
  own(text: string): void;
  /** What streamed may have been cut: what comes next is not taken for the rest of it. */
  interrupted(): void;
  hasSeen(entryId: string): boolean;
  /** What was read rather than published. */
  began(runId: string): void;
  ended(runId: string, end: RunEnd | undefined): void;
  /** Runs that have begun and not ended. */
  readonly running: ReadonlySet<string>;
}

export interface FollowOptions {
  readonly sessionKey: string;
  readonly show: Show;
  /** An entry that was too large to be published has to be read. */
  readonly fetchEntry: (entryId: string) => void;
}

const MOST_REMEMBERED = 200;

export function createFollower({ sessionKey, show, fetchEntry }: FollowOptions): Follower {
  const running = new Set<string>();
  /** The id of a question → its run. */
  const asked = new Map<string, string | undefined>();
  /** Runs in which a question was denied, and those that ended with it. */
  const deniedRuns = createMemory();
  const toldRuns = createMemory();
  /** Entries that were shown. A replay brings some again. */
  const seen = createMemory();
  const endedCalls = createMemory();
  const endedRuns = createMemory();
  const cards = new Map<string, Card>();
  /** Calls that the agent has written, for the results that come without a card. */
  const calls = new Map<string, string>();
  let ownTexts: string[] = [];
  /** What streamed and was not confirmed by an entry, piece by piece. */
  let pieces: string[] = [];
  let streaming: 'answer' | 'thinking' | undefined;
  /** What there is to say of a message of one's own that came while its answer streamed: it waits for the end of the piece. */
  const later: string[] = [];
  /** Which run streams, and the number of what it said last. */
  let heard = { runId: '', seq: -1 };
  /** Something before it was missed: the text is shown when it is whole. */
  let isTorn = false;

  function closePiece(): void {
    if (streaming) show.pause();
    streaming = undefined;
    for (const note of later.splice(0)) show.note(note);
  }

  function stream(kind: 'answer' | 'thinking', delta: string): void {
    if (delta === '' || isTorn) return;
    if (streaming !== undefined && streaming !== kind) closePiece();
    show[kind](delta);
    if (kind === 'answer') {
      if (streaming === 'answer' && pieces.length > 0) pieces[pieces.length - 1] += delta;
      else if (pieces.length < MOST_REMEMBERED) pieces.push(delta);
    }
    streaming = kind;
  }

  /** Shows what of this text did not stream. */
  function confirm(text: string): void {
    isTorn = false;
    const found = matchPieces(text, pieces);
    if (!found && text.trim() !== '' && pieces.length > 0) {
      // The stream had a hole, or began before we came.
      closePiece();
      show.note('(the whole answer:)');
    }
    if (found || text.trim() !== '') pieces = pieces.slice(found?.next ?? pieces.length);
    const rest = found?.rest ?? text;
    if (rest.trim() !== '') {
      show.answer(rest);
      streaming = 'answer';
    }
    // What streams already belongs to the next message.
    if (pieces.length === 0) closePiece();
  }

  function tool(said: Extract<RunStream, { stream: 'tool' }>): void {
    closePiece();
    const id = cardId(said.runId, said.callId);
    if (endedCalls.has(id)) return;
    const before = cards.get(id);
    const card: Card = {
      callId: id,
      name: said.name,
      state: said.phase === 'ended' ? (said.isError ? 'failed' : 'ok') : said.phase === 'writing' ? 'writing' : 'running',
      subject: said.subject ?? before?.subject ?? subjectOf(said.args),
      output: said.output ?? before?.output ?? '',
      ...(said.durationMs === undefined ? {} : { durationMs: said.durationMs }),
    };
    // One that has ended is finished by its entry, which has all of its output.
    if (cards.size < MOST_REMEMBERED || before) cards.set(id, card);
    show.working(card);
  }

  function finish(card: Card): void {
    closePiece();
    cards.delete(card.callId);
    endedCalls.add(card.callId);
    show.worked(card);
  }

  function lifecycle({ runId, phase, detail }: Extract<RunStream, { stream: 'lifecycle' }>): void {
    if (phase === 'started' || phase === 'resumed') begin(runId);
    if (phase === 'waiting') show.waits();
    if (phase === 'resumed') show.note('The gateway came back, and the turn goes on');
    if (phase === 'discarded') {
      closePiece();
      pieces = [];
      isTorn = false;
      show.note('(that was taken back: the model is asked again)');
    }
    const about = detail === undefined ? '' : `: ${detail}`;
    if (phase === 'retry') show.note(`The model did not answer and is asked again${about}`);
    if (phase === 'fallback') show.note(`Another model is asked instead${about}`);
    if (phase === 'compacting') show.note('Older messages are being summed up');
  }

  function begin(runId: string): void {
    if (running.has(runId) || endedRuns.has(runId)) return;
    running.add(runId);
    show.began(runId);
  }

  function end(runId: string, how: RunEnd | undefined): void {
    if (endedRuns.has(runId)) return;
    endedRuns.add(runId);
    closePiece();
    running.delete(runId);
    for (const [id, card] of cards) if (id.startsWith(`${runId} `) && (card.state === 'ok' || card.state === 'failed')) finish(card);
    if (running.size === 0) {
      pieces = [];
      cards.clear();
    }
    show.ended(runId, how, how?.kind === 'refused' && toldRuns.has(runId));
  }

  function entry(added: Entry): void {
    if (seen.has(added.id)) return;
    seen.add(added.id);
    if (added.type === 'message') return message(added);
    closePiece();
    if (added.type === 'compaction') show.note('Older messages were summed up to make room');
    if (added.type === 'branch_summary') show.note('The conversation goes on from another point; what was left behind is summed up');
    if (added.type === 'model_change') show.note(`The model is ${added.modelId} now`);
    if (added.type === 'thinking_level_change') show.note(`Thinking is ${added.thinkingLevel} now`);
    if (added.type === 'custom_message' && added.customType === 'bash') return bash(added, added.details);
    if (added.type === 'custom' && added.customType === 'bash') return bash(added, added.data);
    if (added.type === 'custom_message' && added.display) show.said(textOf(added.content), labelOf(added));
    if (added.type === 'custom' && added.customType === 'command') command(added.data);
    if (added.type === 'custom' && added.customType === 'reply') reply(added.data);
    if (added.type === 'custom' && added.customType === 'extension') reply(added.data);
    const delivery = deliveryIn(added);
    if (delivery) show.said(deliveryText(delivery), delivery.byName);
    const edited = editIn(added);
    if (edited) show.said(deliveryText(edited), `${edited.byName} (changed)`);
    if (added.type === 'custom' && added.customType === 'delivery_failed') {
      const { channel, reason } = fieldsOf(added.data);
      show.problem(`Not delivered over ${String(channel)}: ${String(reason)}`);
    }
    const pressed = pressIn(added);
    if (pressed) show.note(`Pressed: ${pressed.label}${pressed.text === undefined ? '' : ` (${pressed.text})`}`);
  }

  function message({ message: said, runId = '' }: Extract<Entry, { type: 'message' }>): void {
    if (said.role === 'user') {
      const first = said.content.find(({ type }) => type === 'text');
      const isMine = said.from === undefined && isOwn(first?.type === 'text' ? first.text : '');
      const isLate = isMine && streaming !== undefined;
      if (!isLate) closePiece();
      for (const block of said.content) {
        const text = block.type === 'text' ? block.text : '[image]';
        if (text !== '' && !isMine) show.said(text, authorOf(said));
      }
      for (const { name, unseen } of said.attachments ?? []) {
        const note = `[file] ${name}${unseen === undefined ? '' : ` (the model does not see it: ${unseenReasons[unseen]})`}`;
        if (!isLate) show.note(note);
        else if (unseen !== undefined && later.length < MOST_REMEMBERED) later.push(note);
      }
    } else if (said.role === 'assistant') {
      for (const block of said.content) {
        if (block.type === 'toolCall' && calls.size < MOST_REMEMBERED) calls.set(block.id, subjectOf(block.arguments));
      }
      confirm(said.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(''));
    } else {
      const id = cardId(runId, said.toolCallId);
      const known = cards.get(id);
      const subject = known?.subject || (calls.get(said.toolCallId) ?? '');
      calls.delete(said.toolCallId);
      if (endedCalls.has(id)) return;
      const durationMs = said.durationMs ?? known?.durationMs;
      const output = textOf(said.content);
      const isDenied = said.isError && isOperatorDenial(output);
      finish({
        callId: id,
        name: said.toolName,
        state: isDenied ? 'denied' : said.isError ? 'failed' : 'ok',
        subject,
        output: isDenied ? '' : output,
        ...(durationMs === undefined ? {} : { durationMs }),
      });
    }
  }

  /** A program that the person has run with `!`: shown as the card of a tool. */
  function bash({ runId = '' }: Entry, data: unknown): void {
    const { command: typed, output } = fieldsOf(data);
    const isDenied = typeof output === 'string' && isOperatorDenial(output);
    if (isDenied) toldRuns.add(runId);
    // Who denied it was said when it was answered.
    if (isDenied && deniedRuns.has(runId)) return;
    const known = [...cards.values()].find(({ callId }) => callId.startsWith(`${runId} `));
    finish({
      callId: known?.callId ?? cardId(runId, 'bash'),
      name: known?.name ?? 'exec',
      // One that is told of while its turn runs and was never at work was not let run.
      state: isDenied ? 'denied' : known?.state === 'failed' || (!known && running.has(runId)) ? 'failed' : 'ok',
      subject: typeof typed === 'string' ? typed : (known?.subject ?? ''),
      output: typeof output === 'string' && !isDenied ? output : '',
      ...(known?.durationMs === undefined ? {} : { durationMs: known.durationMs }),
    });
  }

  /** A slash command that was given elsewhere, and its answer. */
  function command(data: unknown): void {
    const { command: typed, reply } = fieldsOf(data);
    if (typeof typed !== 'string' || isOwn(typed)) return;
    show.said(typed);
    if (typeof reply === 'string') show.note(reply);
  }

  /** What a plugin said when one of its controls was pressed. */
  function reply(data: unknown): void {
    const { plugin, text } = fieldsOf(data);
    if (typeof text === 'string') show.said(text, typeof plugin === 'string' ? plugin : undefined);
  }

  /** Whether it stands on the screen since it was typed here; each counts once. */
  function isOwn(text: string): boolean {
    const at = ownTexts.indexOf(text);
    if (at >= 0) ownTexts.splice(at, 1);
    return at >= 0;
  }

  return {
    running,
    chat(event) {
      if (event.sessionKey !== sessionKey) return;
      if (event.kind === 'started' && event.runId !== undefined) begin(event.runId);
      if (event.kind === 'entry') {
        if (event.entry) entry(event.entry);
        else if (event.entryId !== undefined && !seen.has(event.entryId)) fetchEntry(event.entryId);
      }
      if (event.kind === 'ended' && event.runId !== undefined) end(event.runId, event.end);
      if (event.kind === 'moved') {
        closePiece();
        show.note('The conversation was moved to another point of its tree');
      }
    },
    run(said) {
      if (said.sessionKey !== sessionKey || endedRuns.has(said.runId) || said.stream === 'plugin') return;
      // A run that goes on after a restart counts from 0 again.
      const expected = heard.runId === said.runId ? heard.seq + 1 : 0;
      if (said.seq === 0) isTorn = false;
      else if (said.seq !== expected) isTorn = true;
      heard = said;
      if (said.stream === 'lifecycle') return lifecycle(said);
      begin(said.runId);
      if (said.stream === 'tool') return tool(said);
      stream(said.stream === 'assistant' ? 'answer' : 'thinking', said.delta);
    },
    asked(approval) {
      if (approval.sessionKey !== sessionKey || approval.state !== 'pending' || asked.has(approval.id)) return;
      if (asked.size >= MOST_REMEMBERED) return show.problem('More questions wait than can be shown here: tenon approve ls lists them');
      asked.set(approval.id, approval.runId);
      closePiece();
      show.asked(approval);
    },
    settled(approval) {
      const runId = asked.get(approval.id);
      if (!asked.delete(approval.id)) return;
      if (runId !== undefined && approval.state === 'denied') deniedRuns.add(runId);
      show.settled(approval);
    },
    session({ key, reason }) {
      if (key !== sessionKey) return;
      if (reason === 'reset') show.note('The session was started afresh: what was said before is not told to the agent any more');
      if (reason === 'delete') show.problem('The session was deleted');
    },
    entry,
    own(text) {
      ownTexts = [...ownTexts, text].slice(-MOST_REMEMBERED);
    },
    interrupted: closePiece,
    hasSeen: (entryId) => seen.has(entryId),
    began: begin,
    ended: end,
  };
}

/**
 * Where in the pieces that streamed this text is: `next` is the piece behind it, `rest` what of it did not stream yet. Pieces
 * before it are of an attempt that was given up: after a restart the model is asked again and begins from the start.
 */
function matchPieces(text: string, pieces: readonly string[]): { readonly next: number; readonly rest: string } | undefined {
  for (let first = 0; first < pieces.length; first++) {
    let rest = text;
    let next = first;
    while (next < pieces.length && rest !== '' && rest.startsWith(pieces[next]!)) rest = rest.slice(pieces[next++]!.length);
    if (next > first && (rest === '' || next === pieces.length)) return { next, rest };
  }
  return undefined;
}

function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.map((block) => (block.type === 'text' ? (block.text ?? '') : '[image]')).join('\n');
}

/** Ids of calls are unique in their run only. */
/** Who said it, where no person of this conversation did. */
function authorOf({ from, via }: UserMessage): string | undefined {
  return via === 'schedule' ? `schedule "${from}"` : from;
}

function cardId(runId: string, callId: string): string {
  return `${runId} ${callId}`;
}

function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
}

function labelOf({ details, customType }: Extract<Entry, { type: 'custom_message' }>): string {
  return typeof details?.label === 'string' ? details.label : customType;
}

/** Ids, of which the oldest are forgotten. */
function createMemory(): { has(id: string): boolean; add(id: string): void } {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.add(id);
      if (ids.size > MOST_REMEMBERED * 10) ids.delete(ids.values().next().value as string);
    },
  };
}
