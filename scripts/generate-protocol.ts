// `schema docs` and `swift` write what is derived from packages/protocol; `--check` says whether what is committed is
// what would be written. See scripts/protocol for the making.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findStale, generate, groups, isGroup, type Group } from './protocol/outputs.ts';
import { protocolTables } from './protocol/tables.ts';

const root = join(import.meta.dirname, '..');

process.exitCode = main(process.argv.slice(2));

function main(args: readonly string[]): number {
  if (args.length === 1 && args[0] === '--check') return check();
  const unknown = args.find((arg) => !isGroup(arg));
  if (args.length === 0 || unknown !== undefined) {
    console.error(`usage: generate-protocol.ts --check | ${groups.join(' | ')} ...`);
    return 2;
  }
  return write(args.filter(isGroup));
}

function write(wanted: readonly Group[]): number {
  for (const [path, text] of generate(protocolTables(), wanted)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    console.log(path);
  }
  return 0;
}

function check(): number {
  const stale = findStale(protocolTables(), (path) => readIfThere(join(root, path)));
  for (const line of stale) console.error(line);
  if (stale.length > 0) console.error('Run: npm run protocol:gen && npm run protocol:gen:swift');
  return stale.length > 0 ? 1 : 0;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
