// What a command of the program is: a path, arguments and options, examples, and what it does. A command is one file that
// calls `defineCommand`, and one line in commands.ts; help, parsing and completion come from there. Loading a command file
// must be cheap: what it needs to run, it imports when it runs.
import type { CommandContext } from './context.ts';
import type { ArgTable, ArgValues, OptionTable, OptionValues } from './spec.ts';

export interface CommandSpec<A extends ArgTable = ArgTable, O extends OptionTable = OptionTable> {
  /** `session ls` */
  readonly path: string;
  readonly alias?: string;
  readonly summary: string;
  /** Without the leading `tenon`, unless another program comes first. */
  readonly examples: readonly string[];
  /** In the order in which they are typed; the names are those of the help. */
  readonly args?: A;
  /** camelCase here, `--kebab-case` on the command line. A function where the table costs time to load. */
  readonly options?: O | (() => Promise<O>);
  readonly hidden?: true;
  /** Resolves with the exit code; nothing is 0. */
  run(context: CommandContext<ArgValues<A>, OptionValues<O>>): Promise<number | undefined>;
}

export function defineCommand<const A extends ArgTable = Record<never, never>, const O extends OptionTable = Record<never, never>>(
  spec: CommandSpec<A, O>,
): CommandSpec {
  return spec as unknown as CommandSpec;
}
