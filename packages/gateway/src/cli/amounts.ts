// Durations, moments and sizes as people say them.

const STEPS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];

/** `3d`, `2h 5m`, `41s`, `0s`: the largest unit, and the next one where it matters. */
export function spell(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  const index = STEPS.findIndex(([, size]) => ms >= size);
  if (index === -1) return '0s';
  const [unit, size] = STEPS[index]!;
  const whole = Math.floor(ms / size);
  const next = STEPS[index + 1];
  const rest = next && whole < 10 ? Math.floor((ms - whole * size) / next[1]) : 0;
  return rest > 0 && next ? `${whole}${unit} ${rest}${next[0]}` : `${whole}${unit}`;
}

/** `5m ago`, `in 2h`, `now`; `-` for never. */
export function relative(at: number | null, now: number): string {
  if (at === null) return '-';
  const distance = at - now;
  if (Math.abs(distance) < 1_000) return 'now';
  return distance < 0 ? `${spell(-distance)} ago` : `in ${spell(distance)}`;
}

export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1_000).toFixed(1)} kB`;
  return count < 1_000_000_000 ? `${(count / 1_000_000).toFixed(1)} MB` : `${(count / 1_000_000_000).toFixed(2)} GB`;
}
