// The bytes of attachments: files of the home folder under their digest, for their owner only. A file is whole and in its
// place before a row names it, and goes after the last row that did. No name from outside is part of a path.
import { createHash } from 'node:crypto';
import { constants, mkdirSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Attachment } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { moveDurably, syncFolder } from '../kernel/durable-file.ts';
import { faultpoint } from '../kernel/fault.ts';
import { randomId } from '../kernel/ids.ts';
import { createLanes } from '../kernel/lane.ts';
import type { Log } from '../kernel/log.ts';
import { SNIFFED_BYTES, sniffMime } from '../kernel/sniff.ts';
import type { Quotas } from './attachments.ts';
import type { Store } from './store.ts';

export const ATTACHMENTS_FOLDER = 'attachments';
const DRAFTS = 'uploads';
const SWEEP_EVERY_MS = 60_000;
export const DIGEST = /^[0-9a-f]{64}$/;
const KNOWN_AT_ONCE = 500;

/** A file that is in its place, or about to be. */
export interface KeptFile {
  readonly sha256: string;
  readonly bytes: number;
  readonly mime: string;
}

export interface AttachmentFiles {
  readonly quotas: Quotas;
  /** How many bytes of the upload are there. */
  received(uploadId: string): Promise<number>;
  /** Adds bytes at this place, as far as they are not there; gives how many are there then. Undefined: there is a gap before them. */
  append(uploadId: string, offset: number, data: Buffer): Promise<number | undefined>;
  /** Puts the upload in its place, if the check does not throw, then does what makes a row of it. Nothing removes the file in between. */
  keepUpload<Result>(uploadId: string, check: (file: KeptFile) => void, commit: (file: KeptFile) => Promise<Result>): Promise<Result>;
  /** The same, of bytes. */
  keepAll<Result>(contents: readonly Buffer[], commit: (files: readonly KeptFile[]) => Promise<Result>): Promise<Result>;
  dropUpload(uploadId: string): Promise<void>;
  /** All bytes; undefined when the file is not in this home. */
  read(attachment: Pick<Attachment, 'sha256' | 'bytes'>): Promise<Buffer | undefined>;
  /** To be closed by whoever asks; undefined when the file is not in this home. */
  open(attachment: Pick<Attachment, 'sha256' | 'bytes'>): Promise<FileHandle | undefined>;
  /** At start: looks the whole folder over, then as `sweepSoon`. Contract: does not throw. */
  sweep(): Promise<void>;
  /** Removes what no row needs any more, and uploads that nobody goes on with. Contract: does not throw. */
  sweepSoon(): Promise<void>;
  close(): Promise<void>;
}

interface Deps {
  readonly home: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly quotas: Quotas;
  readonly unusedMs: number;
}

/** Where the file of this digest lies. Two letters of it are a folder, so that none grows too long. */
export function placeOf(home: string, sha256: string): string {
  if (!DIGEST.test(sha256)) throw new Error(`"${sha256}" is no digest`);
  return join(home, ATTACHMENTS_FOLDER, sha256.slice(0, 2), sha256);
}

export function openAttachmentFiles({ home, store, clock, log, quotas, unusedMs }: Deps): AttachmentFiles {
  const folder = join(home, ATTACHMENTS_FOLDER);
  const drafts = join(folder, DRAFTS);
  const lanes = createLanes();
  let isClosed = false;
  let sweeping: Promise<void> | undefined;
  const timer = clock.every(SWEEP_EVERY_MS, () => void sweep());

  const draftOf = (uploadId: string) => {
    if (!/^[A-Za-z0-9_-]{16,64}$/.test(uploadId)) throw new Error('an upload id is not one');
    return join(drafts, uploadId);
  };
  /** Rows and files of one digest change together. */
  const ofDigest = <Result>(sha256: string, work: () => Promise<Result>) => lanes.run(`digest\n${sha256}`, work);
  const ofUpload = <Result>(uploadId: string, work: () => Promise<Result>) => lanes.run(`upload\n${uploadId}`, work);

  async function place(draft: string, sha256: string): Promise<void> {
    const file = placeOf(home, sha256);
    makeFolder(join(folder, sha256.slice(0, 2)));
    await moveDurably(draft, file);
  }

  async function sizeOf(file: string): Promise<number> {
    return (await stat(file).catch(absent))?.size ?? 0;
  }

  async function look(file: string): Promise<KeptFile> {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const digest = createHash('sha256');
      let head = Buffer.alloc(0);
      let bytes = 0;
      for await (const part of handle.createReadStream({ autoClose: false })) {
        const chunk = part as Buffer;
        if (head.length < SNIFFED_BYTES) head = Buffer.concat([head, chunk.subarray(0, SNIFFED_BYTES - head.length)]);
        digest.update(chunk);
        bytes += chunk.length;
      }
      return { sha256: digest.digest('hex'), bytes, mime: sniffMime(head) };
    } finally {
      await handle.close();
    }
  }

  /** In the lanes of all digests, in one order, so that two never wait for each other. */
  function inLanes<Result>(digests: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const [first, ...rest] = [...new Set(digests)].sort();
    return first === undefined ? work() : ofDigest(first, () => inLanes(rest, work));
  }

  /** Contract: does not throw. */
  async function sweep(): Promise<void> {
    if (isClosed) return;
    sweeping ??= sweepAll().finally(() => {
      sweeping = undefined;
    });
    await sweeping;
  }

  async function sweepAll(): Promise<void> {
    try {
      for (let more = true; more && !isClosed; ) {
        const expired = await store.write('attachments.expire', { at: clock.now(), unusedMs });
        more = expired.more;
        for (const uploadId of expired.uploadIds) await ofUpload(uploadId, () => rm(draftOf(uploadId), { force: true }));
        if (expired.removed > 0) log.info({ removed: expired.removed }, 'attachments that nobody has used were removed');
      }
      for (let digests: readonly string[] = await garbage(); digests.length > 0 && !isClosed; digests = await garbage()) {
        for (const sha256 of digests) await removeUnneeded(sha256);
      }
    } catch (error) {
      if (!isClosed) log.warn({ error }, 'cannot remove attachments that are not needed any more');
    }
  }

  async function garbage(): Promise<readonly string[]> {
    return (await store.read('attachments.garbage', {})).digests;
  }

  function removeUnneeded(sha256: string): Promise<void> {
    return ofDigest(sha256, async () => {
      const { digests } = await store.read('attachments.known', { digests: [sha256] });
      if (digests.length === 0) await rm(placeOf(home, sha256), { force: true });
      await store.write('attachments.forgetGarbage', { sha256 });
    });
  }

  return {
    quotas,
    received: (uploadId) => sizeOf(draftOf(uploadId)),
    append: (uploadId, offset, data) =>
      ofUpload(uploadId, async () => {
        const there = await sizeOf(draftOf(uploadId));
        if (offset > there) return undefined;
        const fresh = data.subarray(there - offset);
        if (fresh.length === 0) return there;
        makeFolder(drafts);
        const handle = await open(draftOf(uploadId), constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
        try {
          await writeAll(handle, fresh, there);
        } finally {
          await handle.close();
        }
        return there + fresh.length;
      }),
    keepUpload: (uploadId, check, commit) =>
      ofUpload(uploadId, async () => {
        const draft = draftOf(uploadId);
        const file = await look(draft);
        check(file);
        return ofDigest(file.sha256, async () => {
          await place(draft, file.sha256);
          return commitOrDrop([file.sha256], () => commit(file));
        });
      }),
    keepAll: async (contents, commit) => {
      const files = contents.map((content) => ({
        sha256: createHash('sha256').update(content).digest('hex'),
        bytes: content.length,
        mime: sniffMime(content.subarray(0, SNIFFED_BYTES)),
      }));
      return inLanes(
        files.map(({ sha256 }) => sha256),
        async () => {
          for (const [index, { sha256 }] of files.entries()) {
            makeFolder(drafts);
            const draft = join(drafts, randomId());
            const handle = await open(draft, 'wx', 0o600);
            try {
              await writeAll(handle, contents[index] as Buffer, 0);
            } finally {
              await handle.close();
            }
            await place(draft, sha256);
          }
          return commitOrDrop(
            files.map(({ sha256 }) => sha256),
            () => commit(files),
          );
        },
      );
    },
    dropUpload: (uploadId) => ofUpload(uploadId, () => rm(draftOf(uploadId), { force: true })),
    async read({ sha256, bytes }) {
      const content = await readFile(placeOf(home, sha256), { flag: constants.O_RDONLY | constants.O_NOFOLLOW }).catch(absent);
      return content?.length === bytes ? content : undefined;
    },
    async open({ sha256, bytes }) {
      const handle = await open(placeOf(home, sha256), constants.O_RDONLY | constants.O_NOFOLLOW).catch(absent);
      if (!handle || (await handle.stat()).size === bytes) return handle;
      await handle.close();
      return undefined;
    },
    sweepSoon: sweep,
    sweep: async () => {
      await sweepStrays();
      await sweep();
    },
    async close() {
      isClosed = true;
      timer.cancel();
      await sweeping;
    },
  };

  /** In the lanes of these digests. A file whose row was refused does not stay. */
  async function commitOrDrop<Result>(digests: readonly string[], commit: () => Promise<Result>): Promise<Result> {
    try {
      faultpoint('attachment.placed');
      const kept = await commit();
      faultpoint('attachment.committed');
      return kept;
    } catch (error) {
      const { digests: known } = await store.read('attachments.known', { digests });
      for (const sha256 of digests) if (!known.includes(sha256)) await rm(placeOf(home, sha256), { force: true });
      throw error;
    }
  }

  /** What a gateway that died left behind: files without a row, and drafts without an upload. */
  async function sweepStrays(): Promise<void> {
    try {
      for (const name of await namesIn(drafts)) {
        const { upload } = /^[A-Za-z0-9_-]{16,64}$/.test(name)
          ? await store.read('attachments.upload', { uploadId: name, at: clock.now() })
          : {};
        if (!upload) await rm(join(drafts, name), { force: true, recursive: true });
      }
      let strays = 0;
      for (const part of await namesIn(folder)) {
        if (!/^[0-9a-f]{2}$/.test(part)) continue;
        const names = await namesIn(join(folder, part));
        for (let first = 0; first < names.length; first += KNOWN_AT_ONCE) {
          const some = names.slice(first, first + KNOWN_AT_ONCE);
          const { digests } = await store.read('attachments.known', { digests: some.filter((name) => DIGEST.test(name)) });
          const known = new Set(digests);
          for (const name of some) {
            if (known.has(name)) continue;
            if (DIGEST.test(name)) await removeUnneeded(name);
            else await rm(join(folder, part, name), { force: true, recursive: true });
            strays++;
          }
        }
      }
      if (strays > 0) log.info({ strays }, 'files of attachments that nothing needs were removed');
    } catch (error) {
      log.warn({ error }, 'cannot look the folder of the attachments over');
    }
  }
}

async function writeAll(handle: FileHandle, content: Buffer, position: number): Promise<void> {
  for (let written = 0; written < content.length; ) {
    written += (await handle.write(content, written, content.length - written, position + written)).bytesWritten;
  }
}

function makeFolder(folder: string): void {
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (made === undefined) return;
  // A folder that is lost takes its files along.
  for (const parent of new Set([dirname(folder), dirname(made)])) syncFolder(parent);
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(absent)) ?? [];
}

function absent(error: unknown): undefined {
  const { code } = error as { code?: string };
  // ELOOP: somebody has put a link there. It is not followed, and so it is not there.
  if (code === 'ENOENT' || code === 'ELOOP') return undefined;
  throw error;
}
