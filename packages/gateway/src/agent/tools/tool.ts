// What a tool is. `prepare` looks at the arguments and says exactly what would be done; the policy, the approval and the
// run all work on what it returned, so what was shown is what is done.
import type { ImageBlock, JsonObject, Risk, TextBlock } from '@tenon/protocol';
import type { TObject } from 'typebox';
import type { OutputName } from '../../kernel/processes.ts';

export interface Tool {
  readonly name: string;
  /** For people: a few words. */
  readonly label: string;
  /** For the model. */
  readonly description: string;
  readonly parameters: TObject;
  readonly risk: Risk;
  readonly tags: readonly string[];
  /** Whether running it twice with the same call id is as good as once: it is run again after a crash. */
  readonly idempotent: boolean;
  /** Whether it may run beside other calls of the same message that say so too. */
  readonly parallelSafe: boolean;
  /** The plugin that it is of; without it, it is built in. */
  readonly plugin?: string;
  /** Only for agents that list it. */
  readonly optional?: boolean;
  /** What keeps the arguments from fitting, where `parameters` is a JSON Schema of somebody else. */
  faultIn?(args: JsonObject): string | undefined;
  /**
   * What a call with these arguments is about, for whoever judges it. Contract: throws only ToolError. The arguments fit
   * `parameters`. Changes nothing. Without it, nothing is known but the arguments.
   */
  facts?(args: JsonObject, place: ToolPlace): Promise<CallFacts> | CallFacts;
  /** Contract: throws only ToolError. The arguments fit `parameters`. Changes nothing. */
  prepare(args: JsonObject, place: ToolPlace): Promise<PreparedCall> | PreparedCall;
}

/** Where a call happens. */
export interface ToolPlace {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly runId: string;
  readonly callId: string;
  /** The real path of the workspace. */
  readonly workspace: string;
  /** Further variables for programs, from the hook `resolve_exec_env`. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface CallFacts {
  /** Where it differs from that of the tool. */
  readonly risk?: Risk;
  /** Absolute: each place as it is spelled and where it leads. */
  readonly derivedPaths?: readonly string[];
  /** Of a program: the words of its command, those inside of words too. */
  readonly commandWords?: readonly string[];
  readonly hosts?: readonly string[];
}

export interface PreparedCall {
  /** What it is about, in a few words, for the tool card: `notes/list.md`, `git status`. */
  readonly subject: string;
  /** The question of an approval: `Write notes/list.md?` */
  readonly question: string;
  readonly risk: Risk;
  /** Everything that decides what happens; shown whole, and hashed. Real paths, argv, content, digests of files that a program would run. */
  readonly exact: JsonObject;
  /** For programs. */
  readonly exec?: {
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly sandboxed: boolean;
  };
  /** For programs: the files that run as they were copied, and what else may run as code. */
  readonly binding?: { readonly bound: readonly string[]; readonly notBound: readonly string[] };
  /**
   * The same call, held to the bytes that it is about now: what somebody is asked, and what then runs. It is run, or released.
   * Contract: throws only ToolError.
   */
  bind?(): Promise<PreparedCall>;
  /** Of a call that was bound and is not run. */
  release?(): void;
  /** Contract: throws only ToolError (or the reason of the signal). Ends soon after the signal aborts, with nothing left running. */
  run(io: ToolIo): Promise<ToolOutput>;
}

export interface ToolIo {
  readonly signal: AbortSignal;
  /** Whoever judges calls is asked again, for arguments that the call has come to, such as where a page leads. Throws ToolError when it may not go on. */
  readonly judgeAgain?: (args: JsonObject) => Promise<void>;
  /** Of a program: all of its output as it comes, for whoever wants more than what the model is told. */
  readonly onOutput?: (chunk: Buffer, from: OutputName) => void;
  /** Output so far, for people who watch; only the last lines of it may be shown. */
  onUpdate(text: string): void;
}

export interface ToolOutput {
  readonly content: readonly (TextBlock | ImageBlock)[];
  /** An error that the model can read and react to. */
  readonly isError?: boolean;
  readonly details?: JsonObject;
  /** Set when the text comes from elsewhere: `web_fetch example.com`. */
  readonly provenance?: string;
}

/** The call cannot be done. The model reads the message: it says what was wrong and what would work. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
