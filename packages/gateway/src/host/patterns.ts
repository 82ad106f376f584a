// Patterns that plugins bring, matched in linear time. The engine is dear to start, and most gateways have no plugin that
// needs it: it is loaded before the first plugin is, and not before.
import type { RE2JS } from 're2js';

let engine: typeof RE2JS | undefined;

/** Needed before anything of a plugin is compiled. */
export async function loadPatterns(): Promise<void> {
  engine ??= (await import('re2js')).RE2JS;
}

/** Whether the pattern is found in a text. Throws what the engine throws at a pattern that it does not have. */
export function compilePattern(pattern: string): (text: string) => boolean {
  if (!engine) throw new Error('the engine for patterns is not loaded');
  const compiled = engine.compile(pattern);
  return (text) => compiled.matcher(text).find();
}
