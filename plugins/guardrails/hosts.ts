// Rules about hosts. A rule is a name, such as `example.com`, and covers every name below it; or an address.
import { type Hit, hit, leavesOf, wordsOf } from './words.ts';

export function hostRule(rule: string): string {
  const name = rule
    .trim()
    .toLowerCase()
    .replace(/^\*?\.+/, '');
  return canonical(name.includes(':') && !name.startsWith('[') ? `[${name}]` : name) ?? name;
}

export function findHost(params: unknown, rules: readonly string[]): Hit | undefined {
  if (rules.length === 0) return undefined;
  for (const { text } of leavesOf(params)) {
    const found = findKnownHost(hostsIn(text), rules);
    if (found) return found;
  }
  return undefined;
}

/** Among the hosts that a call is known to name. */
export function findKnownHost(hosts: readonly string[], rules: readonly string[]): Hit | undefined {
  for (const host of hosts) {
    const rule = rules.find((each) => host === each || host.endsWith(`.${each}`));
    if (rule !== undefined) return hit(rule, host);
  }
  return undefined;
}

/** Of addresses (`https://x/…`), of places that programs know (`me@x:path`, `x:22`, `x/path`), and names as they stand. */
function hostsIn(text: string): string[] {
  return [text.trim(), ...wordsOf(text).flatMap((word) => [word, ...word.split(/[=,]/)])].flatMap((word) => {
    const bare = word
      .replace(/^[a-z][a-z0-9+.-]*:[/\\]*/i, (scheme) => (/[/\\]$/.test(scheme) ? '' : scheme))
      .replace(/[/\\?#].*$/s, '')
      .replace(/^.*@/s, '');
    const host = canonical(bare) ?? canonical(bare.replace(/:.*$/s, ''));
    return host === undefined ? [] : [host];
  });
}

/** As the web writes it: lower case, other alphabets and odd spellings of addresses in their usual form. */
function canonical(host: string): string | undefined {
  if (host === '' || /\s/.test(host)) return undefined;
  try {
    return new URL(`http://${host}`).hostname.replace(/\.$/, '');
  } catch {
    return undefined;
  }
}
