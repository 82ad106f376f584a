// Every way the program fails, as one line and an exit code. Whatever was thrown ends here; nothing else decides codes.

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  locked: 3,
  denied: 4,
  unreachable: 5,
  needsConsent: 6,
  /** Stopped with Ctrl-C, as shells say it. */
  interrupted: 130,
} as const;

/** A failure that the command line itself finds. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: string;
  readonly exitCode: number;
  readonly hint: string | undefined;

  constructor(code: string, exitCode: number, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** The command was typed wrongly; the message names the flag or argument. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError('USAGE', exitCodes.usage, message, hint);
}

/** A word that is none of the known ones: the nearest of them is the hint, else `otherwise`. */
export async function unknownWord(message: string, typed: string, known: Iterable<string>, otherwise?: string): Promise<CliError> {
  const { nearest } = await import('../kernel/nearest.ts');
  const candidate = nearest(typed, known);
  return usageError(message, candidate === undefined ? otherwise : `did you mean ${quoted(candidate)}?`);
}

/** What somebody typed, as it stands in a message: quoted, and cut before it fills the screen. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}…` : text);
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly exitCode: number;
}

/** Errors come from several packages, some of them loaded late: they are told apart by `code` and `exitCode`, not by class. */
export function describeFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { code: 'INTERNAL', message: String(error), exitCode: exitCodes.failed };
  const { code, hint, exitCode } = error as Error & { code?: unknown; hint?: unknown; exitCode?: unknown };
  const name =
    typeof code === 'string' ? code : (codesOfNames[error.name] ?? (typeof exitCode === 'number' ? codeOfExit(exitCode) : 'INTERNAL'));
  const known = byCode[name];
  const advice = typeof hint === 'string' ? hint : known?.hint?.(detailsOf(error));
  return {
    code: name,
    message: error.message,
    ...(advice === undefined ? {} : { hint: advice }),
    exitCode: typeof exitCode === 'number' ? exitCode : (known?.exitCode ?? exitCodes.failed),
  };
}

const codesOfNames: Readonly<Record<string, string>> = { CallTimeout: 'TIMEOUT', ProtocolError: 'PROTOCOL', TooManyCalls: 'UNAVAILABLE' };

function codeOfExit(exitCode: number): string {
  return exitCode === exitCodes.usage ? 'USAGE' : exitCode === exitCodes.locked ? 'LOCKED' : 'FAILED';
}

type Details = Readonly<Record<string, unknown>>;

/** Codes that exit with something else than 1, or know what to do next. */
const byCode: Readonly<Record<string, { readonly exitCode?: number; readonly hint?: (details: Details) => string }>> = {
  UNREACHABLE: { exitCode: exitCodes.unreachable, hint: () => 'start one with: tenon start' },
  LOST: { exitCode: exitCodes.unreachable },
  REVOKED: { exitCode: exitCodes.denied },
  UNAUTHORIZED: {
    exitCode: exitCodes.denied,
    hint: () => 'give a valid token with --token @file or TENON_TOKEN; without one, the file "token" in the home folder is used',
  },
  SCOPE: {
    exitCode: exitCodes.denied,
    hint: ({ missingScope }) =>
      typeof missingScope === 'string' ? `make a token that has it with: tenon token new --scope ${missingScope}` : 'use another token',
  },
  NOT_PAIRED: {
    exitCode: exitCodes.denied,
    hint: ({ requestId }) =>
      typeof requestId === 'string' ? `approve it with: tenon device approve ${requestId}` : 'see: tenon device ls',
  },
  FORBIDDEN_ORIGIN: { exitCode: exitCodes.denied },
  RATE_LIMITED: { hint: () => 'wait and try again' },
  TIMEOUT: { hint: () => 'wait longer with --timeout 60s' },
};

function detailsOf(error: Error): Details {
  const { details } = error as Error & { details?: unknown };
  return typeof details === 'object' && details !== null ? (details as Details) : {};
}
