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

/** A word that is none of the known ones: the only one that begins with it is the hint, or the nearest, else `otherwise`. */
export async function unknownWord(message: string, typed: string, known: Iterable<string>, otherwise?: string): Promise<CliError> {
  const { nearest } = await import('../kernel/nearest.ts');
  const words = [...known];
  const begun = typed.length < 2 ? [] : words.filter((word) => word.startsWith(typed));
  const candidate = begun.length === 1 ? begun[0] : nearest(typed, words);
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
  const details = detailsOf(error);
  const advice = typeof hint === 'string' ? hint : known?.hint?.(details, error);
  return {
    code: name,
    message: error.message,
    ...(advice === undefined ? {} : { hint: advice }),
    exitCode: typeof exitCode === 'number' ? exitCode : exitOf(name, details),
  };
}

/** Too many wrong credentials are a matter of credentials; too many calls are not. */
function exitOf(name: string, { code }: Details): number {
  return code === 'AUTH_RATE_LIMITED' ? exitCodes.denied : (byCode[name]?.exitCode ?? exitCodes.failed);
}

/** The same, and if it fails with one of these codes and without advice, this is the advice. */
export async function hinting<Answer>(work: Promise<Answer>, codes: readonly string[], hint: string): Promise<Answer> {
  try {
    return await work;
  } catch (error) {
    const { code, hint: known } = describeFailure(error);
    throw error instanceof Error && known === undefined && codes.includes(code) ? Object.assign(error, { hint }) : error;
  }
}

const codesOfNames: Readonly<Record<string, string>> = { CallTimeout: 'TIMEOUT', ProtocolError: 'PROTOCOL', TooManyCalls: 'UNAVAILABLE' };

function codeOfExit(exitCode: number): string {
  return exitCode === exitCodes.usage ? 'USAGE' : exitCode === exitCodes.locked ? 'LOCKED' : 'FAILED';
}

type Details = Readonly<Record<string, unknown>>;

/** Codes that exit with something else than 1, or know what to do next. */
const byCode: Readonly<
  Record<string, { readonly exitCode?: number; readonly hint?: (details: Details, error: Error) => string | undefined }>
> = {
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
  NOT_FOUND: {
    hint: (_details, { message }) => {
      const [, kind] = /^Cannot find (session|agent|attachment) /.exec(message) ?? [];
      return kind === undefined ? undefined : `list them with: tenon ${kind === 'attachment' ? 'attach' : kind} ls`;
    },
  },
  RATE_LIMITED: { hint: (_details, error) => `${waitText(error)} and try again` },
  TIMEOUT: { hint: () => 'wait longer with --timeout 60s' },
};

/** In whole seconds, rounded up: whoever waits that long is let in. */
function waitText(error: Error): string {
  const { retryAfterMs } = error as Error & { retryAfterMs?: unknown };
  if (typeof retryAfterMs !== 'number') return 'wait';
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return seconds < 120 ? `wait ${seconds} s` : `wait ${Math.ceil(seconds / 60)} min`;
}

function detailsOf(error: Error): Details {
  const { details } = error as Error & { details?: unknown };
  return typeof details === 'object' && details !== null ? (details as Details) : {};
}
