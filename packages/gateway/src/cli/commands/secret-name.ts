import { isSecretFileName } from '../../kernel/secret-files.ts';
import { quoted, usageError } from '../failure.ts';

/** The name of a secret as it was typed, if it can be one. */
export function secretName(typed: string): string {
  if (isSecretFileName(typed)) return typed;
  throw usageError(`${quoted(typed)} cannot be the name of a secret: up to 64 lower-case letters, digits and single dashes`);
}
