// A slice of a text keeps the whole text in memory for as long as the slice lives: a line of 4 kB that was cut out of 60 kB costs
// 60. Whoever keeps a part of what somebody else has sent keeps a copy.

/** The first characters of a text, as a text of its own. */
export function ownStart(text: string, maxChars: number): string {
  return Buffer.from(text.slice(0, maxChars), 'utf8').toString('utf8');
}
