// A program that a plugin wants run in a session, as the agent's own tool would run it. Who runs it lies above the host.

export interface ProgramWish {
  readonly plugin: string;
  readonly sessionKey: string;
  /** Of the turn in which it is asked for, if it is one. */
  readonly runId?: string | undefined;
  /** What stands for this one of all that are run for the same call of a tool, also when that is made again after a restart. */
  readonly id?: string | undefined;
  /** The call of a tool about which the plugin is asked. */
  readonly about?: string | undefined;
  /** While a person is asked, whoever waits for the plugin has time; what it gives ends that. */
  readonly hold?: (() => () => void) | undefined;
  /** The program and its words; never a shell. */
  readonly argv: readonly string[];
  /** Without it, the workspace. */
  readonly cwd?: string | undefined;
}

export type ProgramOutcome =
  | { readonly kind: 'ran'; readonly stdout: string; readonly stderr: string; readonly exitCode: number }
  /** Somebody said no: the settings of the operator, a person, nobody in time, or a plugin (then `plugin`). */
  | { readonly kind: 'refused'; readonly by: 'policy' | 'person' | 'nobody' | 'plugin'; readonly plugin?: string; readonly message: string }
  /** It cannot be run as it stands. */
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'stopped' };

/** Contract: throws only what the store throws. When the signal aborts, ends after the program has ended. */
export type RunProgram = (wish: ProgramWish, signal: AbortSignal) => Promise<ProgramOutcome>;
