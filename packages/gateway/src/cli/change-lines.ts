// What has changed about a plugin since it was accepted, in lines for a person who decides about it.
import type { Result } from '@tenon/protocol';

export type Changes = Result<'plugins.changes'>;
type Visible = (text: string) => string;
type ToolChange = Changes['tools'][number];

const fileWords = { added: 'new', changed: 'changed', removed: 'gone', mode: 'mode changed' } as const;
const SHOWN_FILES = 50;

/** Nothing where nothing has changed, or where nobody has accepted anything yet. */
export function changeLines(changes: Changes, visible: Visible): string[] {
  const { trustedHash, files, moreFiles = 0, filesUnknown, grants } = changes;
  if (trustedHash === undefined) return [];
  const unlisted = moreFiles + Math.max(0, files.length - SHOWN_FILES);
  return [
    ...files.slice(0, SHOWN_FILES).map(({ path, change }) => visible(`${fileWords[change]}: ${path}`)),
    ...(unlisted > 0 ? [`and ${unlisted} files more`] : []),
    ...(filesUnknown ? ['its files are others; which, was not kept'] : []),
    ...grants.added.map((grant) => visible(`asks for more: ${grant}`)),
    ...grants.removed.map((grant) => visible(`asks no longer for: ${grant}`)),
    ...changes.tools.filter(({ change }) => change !== 'same').flatMap((tool) => toolLines(tool, visible)),
  ];
}

/** What all of its tools say, where it has run before. */
export function toolTextLines({ tools }: Changes, visible: Visible): string[] {
  return tools.flatMap(({ name, change, after }) => (change === 'removed' || !after ? [] : [visible(`${name}: ${after.description}`)]));
}

function toolLines({ name, change, before, after }: ToolChange, visible: Visible): string[] {
  if (change === 'removed') return [visible(`tool gone: ${name}`)];
  if (change === 'added') return [visible(`new tool: ${name}: ${after?.description ?? ''}`)];
  const parts = ['description', 'parameters', 'risk'] as const;
  return [
    visible(`tool changed: ${name}`),
    ...parts
      .filter((part) => before?.[part] !== after?.[part])
      .flatMap((part) => [visible(`  ${part} was: ${before?.[part] ?? ''}`), visible(`  ${part} is:  ${after?.[part] ?? ''}`)]),
  ];
}
