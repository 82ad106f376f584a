// The command line, from words to an exit code: the tree of commands is built from the registry, commander reads the words,
// the command runs, and whatever is thrown on the way becomes one line on stderr.
import { Command, CommanderError, Option } from 'commander';
import { version } from '../version.ts';
import type { CommandSpec } from './command.ts';
import { commands, groups } from './commands.ts';
import type { CompletionNode } from './completion.ts';
import { createContext } from './context.ts';
import { type CliError, describeFailure, exitCodes, type Failure, quoted, usageError } from './failure.ts';
import { globalOptions, type Globals } from './globals.ts';
import type { Io } from './io.ts';
import { createOutput, failureLine } from './output.ts';
import { kebab, parseTyped, type ArgSpec, type OptionSpec } from './spec.ts';

/** What is run when no command is named. */
const DEFAULT_COMMAND = 'overview';

/** Contract: must not throw. Resolves with the exit code. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await run(argv, io);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok;
    // A group without a verb has printed its help.
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage;
    const failure = advised(describeFailure(error instanceof CommanderError ? toUsageError(error, argv) : error), argv);
    const { visible } = await import('@tenon/protocol');
    io.stderr.write(`${failureLine(failure, argv.includes('--json'), visible)}\n`);
    if (io.env.TENON_DEBUG && error instanceof Error) io.stderr.write(`${visible(error.stack ?? '').replaceAll('\\u{a}', '\n')}\n`);
    return failure.exitCode;
  }
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const chosen: { spec?: CommandSpec; command?: Command } = {};
  const program = await buildProgram(argv, io, (spec, command) => Object.assign(chosen, { spec, command }));
  const { operands, unknown } = program.parseOptions([...argv]);
  const typed = operands.length === 0 && unknown.length === 0 ? [...argv, DEFAULT_COMMAND] : [...argv];
  await program.parseAsync(typed, { from: 'user' });
  const { spec, command } = chosen;
  if (!spec || !command) return exitCodes.usage;

  const globals = readOptions(globalOptions, program.opts()) as Globals;
  const args = readArgs(spec.args ?? {}, command.processedArgs);
  const options = readOptions(await optionsOf(spec), command.opts());
  const { context, close } = createContext({ args, options, globals, words }, io, createOutput(io, globals));
  try {
    return (await spec.run(context as Parameters<typeof spec.run>[0])) ?? exitCodes.ok;
  } finally {
    await close();
  }
}

/** The tree as commander knows it. Options that cost time to load are left out unless `argv` names their command. */
export async function buildProgram(
  argv: readonly string[],
  io: Pick<Io, 'stdout' | 'stderr'>,
  choose: (spec: CommandSpec, command: Command) => void,
): Promise<Command> {
  const program = new Command('tenon')
    .description('A self-hosted gateway for AI agents whose every joint is open')
    .version(version, '-V, --version', 'The version of this program')
    .helpOption('-h, --help', 'Examples, arguments and options')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: () => {},
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText('before', examplesText(['start', 'ui', 'chat', 'run "list the files"', 'approve ls', 'status']));
  addOptions(program, globalOptions);

  const nouns = new Map<string, Command>();
  for (const spec of commands) {
    const [first, verb] = spec.path.split(' ') as [string, string | undefined];
    let parent = program;
    if (verb !== undefined) {
      parent =
        nouns.get(first) ??
        program
          .command(first)
          .description(groups[first] ?? '')
          .addHelpText('before', groupExamples(first));
      nouns.set(first, parent);
    }
    const command = parent.command(verb ?? first, { hidden: spec.hidden ?? false }).description(spec.summary);
    if (spec.alias !== undefined) command.alias(spec.alias);
    command.addHelpText('before', examplesText(spec.examples));
    for (const [name, arg] of Object.entries(spec.args ?? {})) command.argument(argumentText(name, arg), arg.summary);
    if (typeof spec.options !== 'function' || argv.includes(verb ?? first)) addOptions(command, await optionsOf(spec));
    command.action(() => choose(spec, command));
  }
  return program;
}

// Loaded late: only completion needs it.
async function words(): Promise<CompletionNode[]> {
  const { describeWords } = await import('./words.ts');
  return describeWords();
}

async function optionsOf(spec: CommandSpec): Promise<Readonly<Record<string, OptionSpec>>> {
  return typeof spec.options === 'function' ? spec.options() : (spec.options ?? {});
}

function addOptions(command: Command, table: Readonly<Record<string, OptionSpec>>): void {
  for (const [name, spec] of Object.entries(table)) {
    const option = new Option(`${spec.short ? `-${spec.short}, ` : ''}--${kebab(name)}${spec.value ? ` ${spec.value}` : ''}`, spec.summary);
    const joint = spec.list === true ? ',' : spec.list;
    if (joint !== undefined)
      option.argParser((text, before: string | undefined) => (before === undefined ? text : `${before}${joint}${text}`));
    command.addOption(option);
  }
}

function readOptions(table: Readonly<Record<string, OptionSpec>>, given: Record<string, unknown>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(table)) {
    const raw = given[name];
    if (spec.value === undefined) values[name] = isNegative(name) ? given[positive(name)] === false : raw === true;
    else if (raw !== undefined) values[name] = parseTyped(spec, `--${kebab(name)}`, String(raw));
  }
  return values;
}

// commander takes `--no-wait` for the opposite of `wait`, and gives that.
function isNegative(name: string): boolean {
  return /^no[A-Z]/.test(name);
}

function positive(name: string): string {
  return `${name.charAt(2).toLowerCase()}${name.slice(3)}`;
}

function readArgs(table: Readonly<Record<string, ArgSpec>>, given: readonly unknown[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [index, [name, spec]] of Object.entries(table).entries()) {
    const raw = given[index];
    const parse = (text: unknown) => parseTyped(spec, argumentText(name, spec), String(text));
    values[name] = Array.isArray(raw) ? raw.map(parse) : raw === undefined ? undefined : parse(raw);
  }
  return values;
}

function argumentText(name: string, { count }: ArgSpec): string {
  const word = kebab(name);
  return count === 'one' ? `<${word}>` : count === 'optional' ? `[${word}]` : `<${word}...>`;
}

function examplesText(examples: readonly string[]): string {
  return `Examples:\n${examples.map((each) => `  ${exampleLine(each)}`).join('\n')}\n`;
}

/** As it is typed. One that begins with another program stands there whole. */
export function exampleLine(example: string): string {
  const [first = ''] = example.split(' ', 1);
  const isOurs = first === '' || first.startsWith('-') || commands.some(({ path }) => path.split(' ')[0] === first);
  return isOurs ? `tenon ${example}` : example;
}

/** The first one of each verb. */
function groupExamples(noun: string): string {
  const verbs = commands.filter(({ path }) => path.startsWith(`${noun} `));
  return examplesText(verbs.flatMap(({ examples }) => examples.slice(0, 1)));
}

/** What commander says, in our words: one line, and its suggestion as the hint. */
function toUsageError({ code, message }: CommanderError, argv: readonly string[]): CliError {
  const [, said = '', similar] = /^(?:error: )?(.*?)\.?(?:\s*\(Did you mean (?:one of )?(.*)\?\))?$/s.exec(message) ?? [];
  const isDashed = code === 'commander.unknownOption' && /'-[^-]/.test(said);
  const dashed = isDashed ? 'an argument that begins with - goes behind --' : undefined;
  const begun = code === 'commander.unknownCommand' ? begunWords(/'(.*)'/.exec(said)?.[1] ?? '', argv) : [];
  if (begun.length > 0) return usageError(said, `did you mean ${begun.map(quoted).join(' or ')}?`);
  const hint = similar === undefined ? dashed : `did you mean ${similar.split(', ').map(quoted).join(' or ')}?`;
  return usageError(said.replace(/\s*\n\s*/g, ' '), hint);
}

/** The commands that begin with what was typed: whoever types half a word means the whole one rather than one like it. */
function begunWords(typed: string, argv: readonly string[]): string[] {
  const noun = argv[argv.indexOf(typed) - 1];
  const place = noun !== undefined && Object.hasOwn(groups, noun) ? `${noun} ` : '';
  const words = commands.flatMap(({ path, hidden }) =>
    hidden || !path.startsWith(place) ? [] : [path.slice(place.length).split(' ')[0]!],
  );
  return typed.length < 2 ? [] : [...new Set(words)].filter((word) => word.startsWith(typed)).slice(0, 3);
}

/** Something is missing or too much: the help of the command says what it takes. */
function advised(failure: Failure, argv: readonly string[]): Failure {
  const isAboutUsage = failure.code === 'USAGE' && /^missing required argument|^too many arguments| is missing$/.test(failure.message);
  if (!isAboutUsage || failure.hint !== undefined) return failure;
  const typed = ` ${argv.join(' ')} `;
  const spec = commands.find(({ path, alias }) => {
    const other = alias === undefined ? path : `${path.split(' ').slice(0, -1).join(' ')} ${alias}`.trim();
    return typed.includes(` ${path} `) || typed.includes(` ${other} `);
  });
  return { ...failure, hint: `see: tenon ${spec ? `${spec.path} ` : ''}-h` };
}
