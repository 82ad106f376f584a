// A question of the gateway before something is done: everything that would be done, whole, and what can be answered.
// Nothing here is an answer by default. The page shows the same facts; this is their form for a terminal.
import { risks, type Approval, type ApprovalRule, type Decision } from '@tenon/protocol';
import { spell } from '../amounts.ts';
import type { Output } from '../output.ts';
import { safeLines } from './text.ts';

type Style = Output['style'];

const NOT_BOUND = '(can change until it runs, so it can be allowed only once)';

export function questionLines(approval: Approval, style: Style, now: number): string[] {
  const rows: [name: string, lines: readonly string[]][] = [['why', safeLines(approval.reason)]];
  if (approval.risk !== undefined) rows.push(['risk', [`${approval.risk}: ${risks[approval.risk]}`]]);
  if (approval.argv) rows.push(['program', approval.argv.flatMap((word, index) => indexed(index, word))]);
  if (approval.cwd !== undefined) rows.push(['folder', safeLines(approval.cwd)]);
  const env = Object.entries(approval.env ?? {});
  if (env.length > 0) rows.push(['env', env.flatMap(([name, value]) => hanging(`+ ${safeOne(name)}=`, value))]);
  if (approval.bound) rows.push(['bound', approval.bound.flatMap((file) => safeLines(`${file}, as it was when this was asked`))]);
  if (approval.notBound) rows.push(['not bound', [...approval.notBound.flatMap((what) => safeLines(what)), NOT_BOUND]]);
  const rest = approval.toolName === undefined ? undefined : notShownYet(approval);
  if (rest !== undefined) rows.push(['args', argLines(rest)]);
  rows.push(['asked by', [`${askerOf(approval)} in ${safeOne(approval.sessionKey)}`]]);
  rows.push(['for', [safeOne(approval.principal)]]);
  if (approval.state === 'pending') rows.push(['time left', [`${spell(approval.expiresAt - now)}, then it is denied`]]);
  else rows.push(['state', [stateText(approval)]]);
  rows.push(['id', [approval.id]]);
  return [style('bold', style('yellow', `? ${safeOne(approval.title)}`)), ...labelled(rows, style)];
}

function askerOf({ toolName, pluginId, agentId }: Approval): string {
  if (toolName === undefined) return `plugin ${safeOne(pluginId ?? '')}`;
  return `${safeOne(toolName)} of agent ${safeOne(agentId)}`;
}

/** The answers that this question takes, as they are typed. */
export function answersLine({ allowed }: Approval): string {
  const words = [
    ...(allowed.includes('allow-once') ? ['a allow once'] : []),
    ...(allowed.includes('deny') ? ['d deny'] : []),
    ...(allowed.includes('allow-always') ? ['! always, for exactly this'] : []),
  ];
  return `${words.join(' · ')} · no answer denies`;
}

const answers: Readonly<Record<string, Decision>> = {
  a: 'allow-once',
  allow: 'allow-once',
  d: 'deny',
  deny: 'deny',
  '!': 'allow-always',
  always: 'allow-always',
};

/** Words that somebody may mean as an answer and that are none: they are not sent to the agent as a message. */
const nearAnswers = new Set(['y', 'yes', 'n', 'no', 'ok', 'okay', 'allow once', 'allow-once', 'allow always']);

export type Answer = { readonly kind: 'decision'; readonly decision: Decision } | { readonly kind: 'unclear' } | { readonly kind: 'none' };

/** `none`: a line that is about something else. */
export function parseAnswer(line: string, allowed: readonly Decision[]): Answer {
  const word = line.trim().toLowerCase();
  if (word === '') return { kind: 'unclear' };
  const decision = Object.hasOwn(answers, word) ? answers[word] : undefined;
  if (decision !== undefined) return allowed.includes(decision) ? { kind: 'decision', decision } : { kind: 'unclear' };
  return nearAnswers.has(word) ? { kind: 'unclear' } : { kind: 'none' };
}

/** What became of a question, in a few words. */
export function stateText({ state, decision, decidedBy }: Pick<Approval, 'state' | 'decision' | 'decidedBy'>): string {
  const by = decidedBy === undefined ? '' : ` by ${safeOne(decidedBy)}`;
  if (state === 'allowed') return `allowed ${decision === 'allow-always' ? 'always, for exactly this' : 'once'}${by}`;
  if (state === 'denied') return `denied${by}`;
  if (state === 'expired') return 'denied: nobody answered in time';
  return state === 'voided' ? 'no longer needed' : 'pending';
}

export function ruleLines(rule: ApprovalRule): string[] {
  return [safeOne(rule.title), ...argLines(rule.args).map((line) => `  ${line}`)];
}

/** The arguments, without those that stand above in a better form, word for word the same. */
function notShownYet({ args, argv, cwd, env, bound, notBound }: Approval): Approval['args'] | undefined {
  const above: Readonly<Record<string, unknown>> = { argv, cwd, env: env ?? {}, bound, notBound };
  const isAbove = (name: string) => Object.hasOwn(above, name) && JSON.stringify(above[name]) === JSON.stringify(args[name]);
  const rest = Object.entries(args).filter(([name]) => !isAbove(name));
  return rest.length === 0 && argv ? undefined : Object.fromEntries(rest);
}

/** All arguments, whole: what is shown is what is done. */
function argLines(args: Readonly<Record<string, unknown>>): string[] {
  const entries = Object.entries(args);
  if (entries.length === 0) return ['none'];
  return entries.flatMap(([name, value]) =>
    typeof value === 'string' ? hanging(`${safeOne(name)}: `, value) : [`${safeOne(name)}: ${safeOne(JSON.stringify(value) ?? 'null')}`],
  );
}

// A word with a line break in it must not look like two words.
function indexed(index: number, word: string): string[] {
  return [`${String(index).padStart(2)} ${word === '' ? '(empty)' : safeOne(word)}`];
}

/** The first line behind the name, further ones below each other. */
function hanging(name: string, value: string): string[] {
  const lines = safeLines(value);
  return lines.length === 1 ? [`${name}${lines[0]}`] : [name.trimEnd(), ...lines.map((line) => `  ${line}`)];
}

function safeOne(text: string): string {
  return safeLines(text).join('\\u{a}');
}

function labelled(rows: readonly (readonly [string, readonly string[]])[], style: Style): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.flatMap(([name, lines]) =>
    lines.map((line, index) => `  ${style('dim', (index === 0 ? name : '').padEnd(width))}  ${line}`.trimEnd()),
  );
}
