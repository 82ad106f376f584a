// Rules about commands. A rule is the first word of a command, or its first words: `rm`, `git push`. Further words may stand
// among them in the command, such as options.
import { type Hit, hit, leavesOf, wordsOf } from './words.ts';

export interface CommandRule {
  readonly rule: string;
  readonly words: readonly string[];
}

/** They run what is named after them, so every word after them may be a program. */
const RUNNERS = new Set(
  (
    'sudo doas su env nice ionice nohup time timeout xargs exec command builtin eval stdbuf setsid chroot unshare flock watch parallel ' +
    'sh bash dash zsh ksh fish busybox npx if then else elif while until do ! find fd script ssh'
  ).split(' '),
);

export function commandRule(rule: string): CommandRule {
  return { rule, words: rule.trim().toLowerCase().split(/\s+/) };
}

export function findCommand(params: unknown, rules: readonly CommandRule[]): Hit | undefined {
  if (rules.length === 0) return undefined;
  for (const { key, text } of leavesOf(params)) {
    if (key === 'cwd') continue;
    // What stands in quotes or after an operator may be a command of its own.
    for (const part of text.split(/[;|&\n\r(){}`'"]|\$\(/)) {
      const found = findIn(part, rules);
      if (found) return found;
    }
    const whole = findIn(text, rules);
    if (whole) return whole;
  }
  return undefined;
}

function findIn(part: string, rules: readonly CommandRule[]): Hit | undefined {
  const words = wordsOf(part).map((word) => word.toLowerCase());
  while (words[0] !== undefined && /^[a-z_][a-z0-9_]*=/.test(words[0])) words.shift();
  if (words.length === 0) return undefined;
  const last = RUNNERS.has(programOf(words[0]!)) ? words.length - 1 : 0;
  for (let at = 0; at <= last; at++) {
    const rule = rules.find((each) => isCalled(words, at, each));
    if (rule) return hit(rule.rule, words.slice(at).join(' '));
  }
  return undefined;
}

function isCalled(words: readonly string[], at: number, rule: CommandRule): boolean {
  if (programOf(words[at]!) !== rule.words[0]) return false;
  let next = 1;
  for (const word of words.slice(at + 1)) if (word === rule.words[next]) next++;
  return next >= rule.words.length;
}

/** `/bin/rm` is `rm`. */
function programOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}
