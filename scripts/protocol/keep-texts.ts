// Texts that are generated and committed: written, or with `--check` compared with what is there.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { firstDifference } from './difference.ts';

/** File name → text. A difference is printed, with `advice` after all of them, and makes the process fail. */
export function keepTexts(folder: string, texts: Readonly<Record<string, string>>, advice: string): void {
  const isCheck = process.argv[2] === '--check';
  for (const [name, made] of Object.entries(texts)) {
    const path = join(folder, name);
    const difference = isCheck ? firstDifference(read(path), made) : undefined;
    if (!isCheck) writeFileSync(path, made);
    if (isCheck && difference === undefined) continue;
    console.log(`${relative(join(import.meta.dirname, '..', '..'), path)}${difference === undefined ? '' : `: ${difference}`}`);
    if (difference !== undefined) process.exitCode = 1;
  }
  if (process.exitCode === 1) console.log(advice);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
