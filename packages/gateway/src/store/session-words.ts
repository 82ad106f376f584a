// The words by which a session is found. The engines would cut text into words each in its own way: we cut, and they
// only look up.
import { type Sql, sql } from './sql.ts';

const MAX_WORDS = 64;
/** In characters: PostgreSQL refuses words of 2 kB, and one sign can become many when it is normalized. */
const MAX_WORD = 64;

export function wordsIn(text: string): string[] {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.slice(0, MAX_WORDS);
  return words?.map((word) => (word.length > MAX_WORD ? [...word].slice(0, MAX_WORD).join('') : word)) ?? [];
}

export function wordsOf(key: string, title: string): string {
  return [...new Set([...wordsIn(title), ...wordsIn(key)])].join(' ');
}

export function sqliteSearch(words: readonly string[]): Sql {
  const match = words.map((word) => `"${word}"*`).join(' ');
  return sql`session_words match ${match}`;
}

export function postgresSearch(words: readonly string[]): Sql {
  const query = words.map((word) => `'${word}':*`).join(' & ');
  return sql`array_to_tsvector(string_to_array(words, ' ')) @@ ${query}::tsquery`;
}
