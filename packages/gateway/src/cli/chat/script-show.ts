// A conversation as a script sees it: answers are data, on stdout; tools, questions and notes are talk, on stderr.
import type { Approval } from '@tenon/protocol';
import { cardLine, cardOutput } from './card.ts';
import type { Show } from './follow.ts';
import { questionLines, stateText } from './question.ts';
import type { Screen } from './screen.ts';
import { oneLine, safeLines } from './text.ts';
import { endText } from './view.ts';

export interface ScriptShowOptions {
  /** Where answers go; nothing if they are printed when they are whole. */
  readonly answers: Screen | undefined;
  readonly talk: (line: string) => void;
  readonly verbose: boolean;
  readonly quiet: boolean;
  readonly now: () => number;
  readonly onAsked?: (approval: Approval) => void;
  readonly onWaits?: () => void;
}

const plain = (_style: string, text: string) => text;
const WIDTH = 200;

export function createScriptShow({ answers, talk, verbose, quiet, now, onAsked, onWaits }: ScriptShowOptions): Show {
  const titles = new Map<string, string>();
  const chatter = (text: string) => {
    if (quiet) return;
    answers?.endText();
    for (const line of safeLines(text)) talk(line);
  };
  const style = { style: plain, width: WIDTH, verbose };
  return {
    answer: (delta) => answers?.text(delta),
    thinking() {},
    pause: () => answers?.endText(),
    working() {},
    worked(card) {
      chatter([cardLine(card, style), ...(verbose ? cardOutput(card, style) : [])].join('\n'));
    },
    said: (text, by) => chatter(`> ${by === undefined ? '' : `${by}: `}${text}`),
    note: chatter,
    problem: (text) => talk(oneLine(text, 2_000)),
    began() {},
    ended(_runId, end, told) {
      answers?.endText();
      const text = told ? undefined : endText(end);
      if (text !== undefined) talk(text);
    },
    waits: () => onWaits?.(),
    asked(approval) {
      answers?.endText();
      titles.set(approval.id, approval.title);
      // What waits is said even to those who want it quiet: without an answer nothing goes on.
      for (const line of questionLines(approval, plain, now())) talk(line);
      talk(`  answer it with: tenon approve allow ${approval.id}   (or deny, or always)`);
      onAsked?.(approval);
    },
    settled(settled) {
      chatter(`${oneLine(titles.get(settled.id) ?? settled.id, 120)} ${stateText(settled)}`);
      titles.delete(settled.id);
    },
  };
}
