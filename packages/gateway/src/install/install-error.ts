// Why an extension was not installed: a code, a sentence that names what was wrong, and what to do. The command line tells
// errors apart by `code` and `exitCode`.

const exitCodes = { USAGE: 2, LOCKED: 3 } as const;

type InstallCode =
  /** What was typed is no source. */
  | 'USAGE'
  /** Somebody else is at work on the same store. */
  | 'LOCKED'
  | 'NOT_FOUND'
  /** What came is not what may be installed. */
  | 'REFUSED'
  | 'CONFLICT'
  /** A server, a program or a time limit. */
  | 'FETCH'
  | 'INTERRUPTED';

export class InstallError extends Error {
  override readonly name = 'InstallError';
  readonly code: InstallCode;
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(code: InstallCode, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.exitCode = code === 'INTERRUPTED' ? 130 : (exitCodes[code as keyof typeof exitCodes] ?? 1);
  }
}

/** Work that is not worth going on with. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new InstallError('INTERRUPTED', 'Interrupted; nothing was changed');
}
