// What can be typed: options and arguments, each a row that says how it is read, so that commands get values with types.
import { quoted, usageError } from './failure.ts';

/** A value that can be typed. `parse` throws `BadValue`. */
interface Typed<Value> {
  readonly summary: string;
  readonly parse: (text: string) => Value;
  /** For completion. */
  readonly choices?: () => readonly string[] | Promise<readonly string[]>;
}

export interface OptionSpec<Value = unknown> extends Typed<Value> {
  /** `<n>`, or `[n]` if the value may be left out; without it the option is a switch. */
  readonly value?: string;
  readonly short?: string;
  /** Given several times, the values are joined with commas, or with this. */
  readonly list?: true | '\n';
}

export interface SwitchSpec extends OptionSpec<boolean> {
  readonly value?: never;
}

export interface ArgSpec<Value = unknown, Count extends 'one' | 'optional' | 'many' = 'one' | 'optional' | 'many'> extends Typed<Value> {
  readonly count: Count;
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;
export type ArgTable = Readonly<Record<string, ArgSpec>>;

export type OptionValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends SwitchSpec
    ? boolean
    : Table[Name] extends OptionSpec<infer Value>
      ? Value | undefined
      : never;
};

export type ArgValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends ArgSpec<infer Value, infer Count>
    ? Count extends 'many'
      ? readonly Value[]
      : Count extends 'optional'
        ? Value | undefined
        : Value
    : never;
};

/** Says what would be right: `a whole number from 1 to 200`. */
export class BadValue extends Error {
  override readonly name = 'BadValue';
}

/** The value of a flag or argument; `label` names it in the error. */
export function parseTyped<Value>(spec: Typed<Value>, label: string, text: string): Value {
  try {
    return spec.parse(text);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    throw usageError(`${label} cannot be ${quoted(text)}; it must be ${error.message}`);
  }
}

export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
