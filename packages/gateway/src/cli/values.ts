// The kinds of values that options and arguments take. What a method's own schema checks is not checked here again.
import { BadValue, type ArgSpec, type OptionSpec, type SwitchSpec } from './spec.ts';

export function on(summary: string, short?: string): SwitchSpec {
  return { summary, parse: () => true, ...(short === undefined ? {} : { short }) };
}

export function text(value: string, summary: string): OptionSpec<string> {
  return { summary, value, parse: (given) => given };
}

export function list(value: string, summary: string, choices?: OptionSpec['choices']): OptionSpec<string[]> {
  return { summary, value, list: true, parse: splitList, ...(choices ? { choices } : {}) };
}

/** May be given several times; commas are part of the value. */
export function repeated(value: string, summary: string): OptionSpec<string[]> {
  return { summary, value, list: '\n', parse: (given) => given.split('\n') };
}

export function choice<const Value extends string>(values: readonly Value[], summary: string): OptionSpec<Value> {
  return { summary, value: `<${values.join('|')}>`, choices: () => values, parse: (given) => oneOf(values, given) };
}

export function integer(value: string, summary: string, bounds: { min: number; max: number; short?: string }): OptionSpec<number> {
  const parse = (given: string) => parseInteger(given, bounds.min, bounds.max);
  return { summary, value, parse, ...(bounds.short === undefined ? {} : { short: bounds.short }) };
}

export function duration(summary: string): OptionSpec<number> {
  return { summary, value: '<duration>', parse: parseDuration };
}

export function required(summary: string): ArgSpec<string, 'one'> {
  return { summary, count: 'one', parse: (given) => given };
}

export function optional(summary: string): ArgSpec<string, 'optional'> {
  return { summary, count: 'optional', parse: (given) => given };
}

export function many(summary: string): ArgSpec<string, 'many'> {
  return { summary, count: 'many', parse: (given) => given };
}

export function oneOf<Value extends string>(values: readonly Value[], given: string): Value {
  const found = values.find((each) => each === given);
  if (found === undefined) throw new BadValue(values.length === 2 ? values.join(' or ') : `one of ${values.join(', ')}`);
  return found;
}

export function parseInteger(given: string, min: number, max: number): number {
  const value = /^-?\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < min || value > max) throw new BadValue(`a whole number from ${min} to ${max}`);
  return value;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `500ms`, `10s`, `2m`, `12h`, `90d`; a bare number counts milliseconds. */
export function parseDuration(given: string): number {
  const [, amount, unit] = /^(\d{1,12})(ms|s|m|h|d)?$/.exec(given) ?? [];
  const value = Number(amount) * UNIT_MS[unit ?? 'ms']!;
  if (amount === undefined || value < 1 || value > 3_650 * UNIT_MS.d!) throw new BadValue('a duration such as 500ms, 10s, 2m, 12h or 90d');
  return value;
}

function splitList(given: string): string[] {
  return given
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
