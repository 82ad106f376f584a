// The text of a manifest: a small plain file that belongs to whoever runs the gateway. What keeps it from being used is an
// `Unfit` whose message is shown beside the folder.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { PluginManifest } from '@tenon/protocol';
import { type TreeRules, unfitFor } from './tree-hash.ts';

const MAX_MANIFEST_BYTES = 262_144;

export class Unfit extends Error {
  readonly manifest: PluginManifest | undefined;
  constructor(reason: string, manifest?: PluginManifest) {
    super(reason);
    this.manifest = manifest;
  }
}

/** Without rules, whoever owns it. */
export async function readManifestText(file: string, rules: TreeRules | undefined): Promise<string> {
  const name = basename(file);
  // Not followed: a link could lead to any file of the machine, whose content an error text would then show.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      throw new Unfit(error.code === 'ELOOP' ? `${name} is a link` : `${name} cannot be read (${error.code})`);
    },
  );
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new Unfit(`${name} is not a file`);
    const unfit = rules && unfitFor(found, name, rules);
    if (unfit !== undefined) throw new Unfit(unfit);
    if (found.size > MAX_MANIFEST_BYTES) throw new Unfit(`${name} has ${found.size} bytes; ${MAX_MANIFEST_BYTES} are possible`);
    const buffer = Buffer.alloc(MAX_MANIFEST_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
      length += bytesRead;
      if (bytesRead === 0 || length === buffer.length) break;
    }
    if (length > MAX_MANIFEST_BYTES) throw new Unfit(`${name} has more than ${MAX_MANIFEST_BYTES} bytes`);
    return buffer.subarray(0, length).toString('utf8');
  } finally {
    await handle.close();
  }
}
