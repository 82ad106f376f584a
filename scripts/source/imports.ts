// What a source imports: static and dynamic imports, re-exports, and imports of types in all their spellings.
import { tokensOf, type Token } from './tokens.ts';

export function importsOf(source: string): string[] {
  const tokens = tokensOf(source);
  const found: string[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (token.kind !== 'word' || tokens[at - 1]?.text === '.') continue;
    const specifier = token.text === 'import' ? importedBy(tokens, at) : token.text === 'export' ? reExportedBy(tokens, at) : undefined;
    if (specifier !== undefined) found.push(specifier);
  }
  return found;
}

function importedBy(tokens: readonly Token[], at: number): string | undefined {
  const next = tokens[at + 1];
  if (next?.kind === 'string') return next.text;
  if (isSign(next, '(')) return stringAt(tokens, at + 2);
  if (isSign(next, '.') || isSign(next, ':')) return undefined; // import.meta; a key called import
  for (let index = at + 1; index < tokens.length; index++) {
    const token = tokens[index]!;
    if (token.kind === 'word' && token.text === 'from' && tokens[index + 1]?.kind === 'string') return tokens[index + 1]!.text;
    if (isSign(token, ';') || isSign(token, '=') || isSign(token, '(')) return undefined;
  }
  return undefined;
}

function reExportedBy(tokens: readonly Token[], at: number): string | undefined {
  let index = at + 1;
  if (tokens[index]?.text === 'type') index++;
  if (isSign(tokens[index], '{')) {
    while (index < tokens.length && !isSign(tokens[index], '}')) index++;
    index++;
  } else if (isSign(tokens[index], '*')) {
    index++;
    if (tokens[index]?.text === 'as') index += 2;
  } else return undefined;
  return tokens[index]?.kind === 'word' && tokens[index]?.text === 'from' ? stringAt(tokens, index + 1) : undefined;
}

function stringAt(tokens: readonly Token[], at: number): string | undefined {
  return tokens[at]?.kind === 'string' ? tokens[at].text : undefined;
}

function isSign(token: Token | undefined, text: string): boolean {
  return token?.kind === 'sign' && token.text === text;
}
