// A form, asked field by field on a terminal. An empty line takes what is proposed, or leaves out what is not needed.
import type { JsonValue } from '@tenon/protocol';
import { fillForm, type Form, type FormField, readAnswer } from '@tenon/protocol/ui';
import { oneLine, safeLines } from './text.ts';

export interface FormAsker {
  /** What to show before the next answer is read. */
  question(): string[];
  /** Undefined: another question follows. `wrong`: the same one once more. */
  take(text: string): { readonly payload: JsonValue } | { readonly wrong: string } | undefined;
}

const MOST_LINES = 40;

export function createFormAsker(form: Form): FormAsker {
  const answers: Record<string, string> = {};
  let at = 0;
  return {
    question() {
      const field = form.fields[at];
      return field ? questionOf(field) : [];
    },
    take(text) {
      const field = form.fields[at];
      if (field) {
        const given = text.trim() === '' ? field.first : typed(field, text);
        const read = readAnswer(field, given);
        if ('wrong' in read) return { wrong: read.wrong };
        answers[field.name] = given;
        at++;
      }
      if (at < form.fields.length) return undefined;
      const filled = fillForm(form, answers);
      return filled.ok ? { payload: filled.payload } : { wrong: Object.values(filled.wrong).join('; ') };
    },
  };
}

function questionOf({ label, help, kind, isRequired, first, choices = [] }: FormField): string[] {
  const how = {
    text: '',
    lines: ' (a backslash at the end of a line goes on with the next)',
    number: ' (a number)',
    switch: ' (yes or no)',
    choice: ' (its number)',
    json: ' (JSON)',
  }[kind];
  const lines = [`? ${oneLine(label, 160)}${how}${help === undefined ? '' : `: ${oneLine(help, 200)}`}`];
  for (const [index, choice] of choices.entries()) lines.push(`    ${index + 1}  ${oneLine(choice.label, 120)}`);
  if (kind === 'switch') lines.push(`    Enter: ${first === 'true' ? 'yes' : 'no'}`);
  else if (first !== '')
    lines.push('    Enter keeps this:', ...shortened(kind === 'choice' ? [String(Number(first) + 1)] : safeLines(first)));
  else if (!isRequired) lines.push('    Enter leaves it out');
  return lines;
}

function shortened(lines: readonly string[]): string[] {
  const shown = lines.slice(0, MOST_LINES).map((line) => `    | ${line}`);
  return lines.length > MOST_LINES ? [...shown, `    | … ${lines.length - MOST_LINES} more lines`] : shown;
}

/** As the fields of a form have it. */
function typed({ kind, choices = [] }: FormField, text: string): string {
  const word = text.trim().toLowerCase();
  if (kind === 'switch') return ['y', 'yes', 'true', 'on', '1'].includes(word) ? 'true' : 'false';
  if (kind !== 'choice') return text;
  const named = choices.findIndex(({ label }) => label.toLowerCase() === word);
  return String(named >= 0 ? named : Number(word) - 1);
}
