// Measuring two sides in turn. Noise on a shared machine comes in waves, so a figure and its limit are taken a fraction of
// a second apart, round after round; the ratio is the median of the ratios of the rounds.

export interface Measured {
  readonly figure: number;
  readonly limit?: number;
  readonly ratio?: number;
  /** How far the rounds lie apart: half of them are within this share of the median. Large on a busy machine. */
  readonly spread: number;
  /** What each round gave. */
  readonly rounds: { readonly figure: readonly number[]; readonly limit?: readonly number[] };
}

export type Sides<Name extends string> = Readonly<Record<Name, () => Promise<number>>>;

/** Every side once a round, in turn forwards and backwards, so that none always follows the same other one. */
export async function alternate<Name extends string>(
  rounds: number,
  sides: Sides<Name>,
  onRound: (done: number) => void = () => {},
): Promise<Record<Name, number[]>> {
  const names = Object.keys(sides) as Name[];
  const taken = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) taken[name].push(await sides[name]());
    onRound(round + 1);
  }
  return taken;
}

export function measured(figures: readonly number[], limits?: readonly number[]): Measured {
  if (!limits) return { figure: median(figures), spread: spreadOf(figures), rounds: { figure: figures } };
  const ratios = figures.map((figure, round) => figure / limits[round]!);
  return {
    figure: median(figures),
    limit: median(limits),
    ratio: median(ratios),
    spread: spreadOf(ratios),
    rounds: { figure: figures, limit: limits },
  };
}

function spreadOf(values: readonly number[]): number {
  return (percentile(values, 0.75) - percentile(values, 0.25)) / 2 / median(values);
}

/** Round by round: `sum(echo, fsync)` is what both take one after the other. */
export function sum(...series: readonly (readonly number[])[]): number[] {
  return series[0]!.map((_, round) => series.reduce((total, each) => total + each[round]!, 0));
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}
