// The docs as a reader meets them: every relative link leads to a file, and to a heading where it names one; the two
// pages that everybody reads stay short.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const mostLines: Readonly<Record<string, number>> = { 'README.md': 120, 'ARCHITECTURE.md': 150 };

/** Path → text of the Markdown files; `exists` answers for any other path of the repository. */
export function findDocFaults(pages: ReadonlyMap<string, string>, exists: (path: string) => boolean): string[] {
  return [...pages].flatMap(([path, text]) => {
    const lines = text.trimEnd().split('\n').length;
    const limit = mostLines[path];
    const tooLong = limit !== undefined && lines > limit ? [`${path}: ${lines} lines, at most ${limit} are wanted`] : [];
    return [...tooLong, ...linksOf(text).flatMap((link) => faultOfLink(path, link, pages, exists))];
  });
}

function faultOfLink(page: string, link: string, pages: ReadonlyMap<string, string>, exists: (path: string) => boolean): string[] {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return [];
  const [path = '', heading] = link.split('#');
  const target = path === '' ? page : posix.join(posix.dirname(page), decodeURIComponent(path));
  const text = pages.get(target);
  if (target.startsWith('..') || (text === undefined && !exists(target))) return [`${page}: "${link}" leads nowhere`];
  if (heading === undefined || text === undefined || anchorsOf(text).has(heading)) return [];
  return [`${page}: "${link}" names a heading that ${target} does not have`];
}

function linksOf(text: string): string[] {
  const prose = withoutCode(text);
  const inline = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)];
  const definitions = [...prose.matchAll(/^\[[^\]]+\]:\s+<?(\S+?)>?\s*$/gm)];
  return [...inline, ...definitions].map(([, link]) => link!);
}

/** The anchors that GitHub makes of the headings. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of withoutFences(text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const base = heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    let anchor = base;
    for (let copy = 1; anchors.has(anchor); copy++) anchor = `${base}-${copy}`;
    anchors.add(anchor);
  }
  return anchors;
}

function withoutCode(text: string): string {
  return withoutFences(text).replaceAll(/`[^`\n]*`/g, 'code');
}

function withoutFences(text: string): string {
  return text.replaceAll(/^(`{3,}|~{3,})[\s\S]*?^\1\s*$/gm, '');
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const isOurs = (path: string) => !/(^|\/)(node_modules|dist)\//.test(path);
  const paths = globSync('**/*.md', { cwd: root, exclude: (path) => /(^|\/)(node_modules|\.git)$/.test(path) }).filter(isOurs);
  const pages = new Map(paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(join(root, path), 'utf8')]));
  const faults = findDocFaults(pages, (path) => existsSync(join(root, path)));
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
