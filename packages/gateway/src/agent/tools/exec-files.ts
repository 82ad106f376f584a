// The files of the workspace that a command names or runs, as they are now: their digests, which of them the run can be
// held to by copies, and what cannot be held to anything.
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { normalize } from 'node:path';
import { limits } from '@tenon/protocol';
import { isInside } from '../../kernel/sandbox/profile.ts';
import { codeOf } from './code-of.ts';
import { type Boundary, locate, openFile, readWhole, type Spot } from './files/workspace.ts';

/** A file that runs as code, and can be replaced by its copy. */
export interface CodeFile {
  readonly spot: Spot;
  readonly bytes: number;
  /** `sha256:…` */
  readonly digest: string;
  readonly isExecutable: boolean;
}

export interface LookedAt {
  /** Name to digest, of everything that is compared again directly before the start. */
  readonly files: Readonly<Record<string, string>>;
  readonly bound: readonly CodeFile[];
  /** What may run as code beside that, in words for people. */
  readonly notBound: readonly string[];
  /** It may be any file at all, not only one that looks like code. */
  readonly isAnyFile: boolean;
}

export interface Circumstances {
  readonly cwd: string;
  /** Of the program. */
  readonly path: string;
  readonly boundary: Boundary;
  readonly sandboxed: boolean;
  /** Programs that run in the workspace now, as people know them. */
  readonly others: readonly string[];
}

interface Seen {
  readonly digest: string;
  readonly content: Buffer | undefined;
  readonly isExecutable: boolean;
}

/** What a mount table and a command line can hold. */
const MAX_BOUND_PATHS = 32_768;

export async function lookAt(argv: readonly string[], { cwd, path, boundary, sandboxed, others }: Circumstances): Promise<LookedAt> {
  const seen = new Map<string, Seen>();
  let bytes = 0;

  async function see(spot: Spot): Promise<Seen> {
    const known = seen.get(spot.real);
    if (known) return known;
    const found = await look(spot, Math.min(limits.approvedFileBytes.value, limits.approvedBytes.value - bytes));
    bytes += found.content?.length ?? 0;
    seen.set(spot.real, found);
    return found;
  }

  const code = await codeOf(argv, {
    root: boundary.root,
    cwd,
    path: await Promise.all(path.split(':').map((folder) => realpath(folder).catch(() => folder))),
    async read(file) {
      const spot = await spotOf(file, boundary);
      return spot === undefined ? undefined : (await see(spot)).content;
    },
  });

  const files: Record<string, string> = {};
  const bound: CodeFile[] = [];
  const notBound = [...code.open];
  let paths = 0;
  for (const file of code.files) {
    const spot = await spotOf(file, boundary);
    if (spot === undefined) continue;
    const { digest, content, isExecutable } = await see(spot);
    files[spot.shown] = digest;
    paths += spot.real.length;
    if (spot.real !== normalize(file)) notBound.push(`${spot.shown}: a link leads there, and can be made to lead elsewhere`);
    else if (code.changed.some((place) => isInside(spot.real, place)))
      notBound.push(`${spot.shown}: the command may change it before it runs it`);
    else if (content === undefined) notBound.push(`${spot.shown}: it is too large to be copied, or cannot be read`);
    else if (bound.length === limits.approvedFiles.value || paths > MAX_BOUND_PATHS)
      notBound.push(`${spot.shown}: more files than can be copied for one command`);
    else if (!bound.some((each) => each.spot.real === spot.real)) bound.push({ spot, bytes: content.length, digest, isExecutable });
  }
  for (const file of code.named) {
    const spot = await spotOf(file, boundary);
    if (spot !== undefined && !Object.hasOwn(files, spot.shown)) files[spot.shown] = (await see(spot)).digest;
  }
  const names = bound
    .map(({ spot }) => spot.shown)
    .join(', ')
    .slice(0, 160);
  if (bound.length > 0 && !sandboxed) notBound.push(`${names}: without a sandbox a file can still be replaced in the moment it is started`);
  else if (bound.length > 0 && others.length > 0)
    notBound.push(
      `${names}: could be replaced, while this runs, by what runs in the workspace already (${others.join('; ').slice(0, 80)})`,
    );
  return { files, bound: sandboxed ? bound : [], notBound, isAnyFile: code.isAnyFile };
}

/** A file of the workspace, followed as the system follows the path. */
async function spotOf(file: string, boundary: Boundary): Promise<Spot | undefined> {
  const real = await realpath(file).catch(() => undefined);
  const spot = real === undefined ? undefined : await locate(real, boundary).catch(() => undefined);
  return spot?.kind === 'file' ? spot : undefined;
}

async function look(spot: Spot, maxBytes: number): Promise<Seen> {
  const handle = await openFile(spot).catch(() => undefined);
  if (!handle) return { digest: 'not compared: cannot be read', content: undefined, isExecutable: false };
  try {
    const { size, ino, ctimeNs, mode } = await handle.stat({ bigint: true });
    const isExecutable = (mode & 0o111n) !== 0n;
    const content = size > maxBytes ? undefined : await readWhole(spot, maxBytes).catch(() => undefined);
    // Too large to be read each time: that it was touched is seen all the same.
    if (content === undefined) return { digest: `${size} bytes, inode ${ino}, changed ${ctimeNs}`, content, isExecutable };
    return { digest: digestOf(content), content, isExecutable };
  } finally {
    await handle.close();
  }
}

export function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
