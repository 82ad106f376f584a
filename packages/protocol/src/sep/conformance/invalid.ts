// What a reader must refuse, made from the examples: each required field left out, and each field with a value of another type.
// Beside them, what a writer must not send though a reader takes it: a field that is not known.
import { matches } from '../../validate.ts';
import { readSchema, writeSchema } from '../read.ts';
import { methodNames, type SepMethodName } from '../wire.ts';
import { examples } from './examples.ts';

export interface InvalidFixture {
  readonly method: SepMethodName;
  readonly part: 'params' | 'result';
  readonly why: string;
  readonly value: unknown;
  /** Whether a reader takes it all the same. */
  readonly read: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

export function invalidFixtures(): InvalidFixture[] {
  return methodNames.flatMap((method) => (['params', 'result'] as const).flatMap((part) => ofPart(method, part)));
}

function ofPart(method: SepMethodName, part: 'params' | 'result'): InvalidFixture[] {
  const strict = writeSchema(method, part);
  const generous = readSchema(method, part);
  if (strict === undefined || generous === undefined) return [];
  const found = new Map<string, InvalidFixture>();
  for (const example of (examples[method][part] ?? []) as readonly Fields[]) {
    for (const [why, value] of spoiled(example)) {
      // Most of what may be missing or is free is no fault at all.
      if (found.has(why) || matches(strict, value)) continue;
      found.set(why, { method, part, why, value, read: matches(generous, value) });
    }
  }
  return [...found.values()];
}

function spoiled(example: Fields): [why: string, value: unknown][] {
  const names = Object.keys(example);
  return [
    ...names.map((name): [string, unknown] => [
      `without ${name}`,
      Object.fromEntries(Object.entries(example).filter(([each]) => each !== name)),
    ]),
    ...names.map((name): [string, unknown] => [`${name} of another type`, { ...example, [name]: otherType(example[name]) }]),
    ['with a field that is not known', { ...example, 'not a field': 1 }],
  ];
}

function otherType(value: unknown): unknown {
  if (typeof value === 'string') return 7;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? 'text' : { not: 'this' };
}
