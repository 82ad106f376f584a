// The rules of a job as they are typed: `--on-miss 2h`, `--retry 3:30s`.
import type { Job, OnMiss } from '@tenon/protocol';
import { quoted, usageError } from '../failure.ts';
import { BadValue } from '../spec.ts';
import { parseDuration, parseInteger } from '../values.ts';
import { INTERVAL, parseInterval } from './cron-shown.ts';

interface Typed {
  readonly onMiss: string | undefined;
  readonly retry: string | undefined;
}

export function rulesOf({ onMiss, retry }: Typed): { onMiss?: OnMiss; retry?: NonNullable<Job['retry']> } {
  return {
    ...(onMiss === undefined
      ? {}
      : { onMiss: onMiss === 'run' || onMiss === 'skip' ? onMiss : { within: read('--on-miss', onMiss, parseLateness) } }),
    ...(retry === undefined ? {} : { retry: read('--retry', retry, parseRetry) }),
  };
}

function parseLateness(given: string): number {
  try {
    return parseInterval(given);
  } catch {
    throw new BadValue(`run, skip, or ${INTERVAL}`);
  }
}

const FIRST_WAIT_MS = 60_000;

function parseRetry(given: string): NonNullable<Job['retry']> {
  const [attempts = '', wait] = given.split(':', 2);
  const backoffMs = wait === undefined ? FIRST_WAIT_MS : parseDuration(wait);
  if (backoffMs < 1_000 || backoffMs > 86_400_000) throw new BadValue('attempts, and a first wait from 1s to 24h, such as 3:30s');
  return { attempts: parseInteger(attempts, 2, 10), backoffMs };
}

function read<Value>(label: string, given: string, parse: (text: string) => Value): Value {
  try {
    return parse(given);
  } catch (error) {
    if (error instanceof BadValue) throw usageError(`${label} cannot be ${quoted(given)}; it must be ${error.message}`);
    throw error;
  }
}
