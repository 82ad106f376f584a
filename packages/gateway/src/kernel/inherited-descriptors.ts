// Descriptors that were open when this process began go on to every program that it starts: Node closes them at `exec` only as
// far as they are numbered without a gap. Nobody knows what they lead to, so a program gets an empty file in the place of each.
// They are not closed here: a supervisor may watch one, or hold a lock by it.
import type { IOType, StdioOptions } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';

const CLOSED_AT_EXEC = 0o2_000_000;
const LAST_STANDARD = 2;

/** What Node opens later is closed at `exec`, so the list stands from the first time on. */
let covers: readonly (IOType | number)[] | undefined;

/** The `stdio` of a program, with nothing in it beyond what is given. Every start of a program goes through this. */
export function withoutInherited(stdio: IOType | readonly IOType[]): StdioOptions {
  const own = typeof stdio === 'string' ? [stdio, stdio, stdio] : [...stdio];
  covers ??= coversOf(inheritedDescriptors());
  return [...own, ...covers.slice(own.length)];
}

/** Those above the standard ones that a program would get. None where the system does not tell; macOS closes them by itself. */
function inheritedDescriptors(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > LAST_STANDARD && !isClosedAtExec(descriptor));
}

function isClosedAtExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return (Number.parseInt(flags ?? '0', 8) & CLOSED_AT_EXEC) !== 0;
  } catch {
    // Closed meanwhile, like the one that the folder was read by.
    return true;
  }
}

function coversOf(descriptors: readonly number[]): (IOType | number)[] {
  if (descriptors.length === 0) return [];
  const nothing = openSync('/dev/null', 'r');
  const stdio: (IOType | number)[] = Array.from({ length: Math.max(...descriptors) + 1 }, () => 'ignore');
  for (const descriptor of descriptors) stdio[descriptor] = nothing;
  return stdio;
}
