// A disk of a few megabytes that can be filled and freed, where the system lets us mount one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readyBecomes } from './chaos.ts';
import { openLink } from './chaos-link.ts';
import type { GatewayProcess } from './gateway.ts';
import { type Ledger, readSessions } from './ledger.ts';

export interface SmallDisk extends Disposable {
  readonly folder: string;
  /** Leaves no byte free, or so many. */
  fill(left?: number): void;
  free(): void;
}

/** Undefined where mounting is not permitted. */
export function mountSmallDisk(megabytes: number, more = ''): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-disk-'));
  const filler = join(folder, 'filler');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700${more}`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  return {
    folder,
    fill(left = 0) {
      const handle = openSync(filler, 'a');
      try {
        for (let bytes = 65_536; bytes >= 1; ) {
          try {
            if (writeSync(handle, Buffer.alloc(bytes)) === 0) break;
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
            bytes >>= 1;
          }
        }
        if (left > 0) ftruncateSync(handle, Math.max(0, fstatSync(handle).size - left));
      } finally {
        closeSync(handle);
      }
    },
    free: () => rmSync(filler, { force: true }),
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Fills the disk under load, sees what a client and an operator see, makes room, and compares. */
export async function surviveFullDisk(options: {
  disk: SmallDisk;
  ledger: Ledger;
  gateway: GatewayProcess;
  /** How many answers before it is filled. */
  after?: number;
  /** Something that happens while there is no room; returns the gateway that is there then. */
  whileFull?: () => Promise<GatewayProcess>;
}): Promise<void> {
  const { disk, ledger, after = 100, whileFull } = options;
  let { gateway } = options;
  await ledger.observe(gateway);
  const load = await ledger.load(gateway);
  const target = ledger.stats.answered + after;
  await ledger.until(() => ledger.stats.answered >= target);
  disk.fill();
  const { refused } = ledger.stats;
  await ledger.until(() => ledger.stats.refused > refused);
  await load.stop();
  await readyBecomes(gateway, 503, 5_000);
  const link = await openLink(gateway);
  await readSessions(link);
  await link.cut();
  if (whileFull) gateway = await whileFull();
  disk.free();
  await writeOnce(gateway);
  await readyBecomes(gateway, 200, 5_000);
  await ledger.compare(gateway);
}

async function writeOnce(gateway: GatewayProcess): Promise<void> {
  const link = await openLink(gateway);
  for (;;) {
    const written = await link.request('tokens.create', { idempotencyKey: `token${process.hrtime.bigint()}`, name: 'spare', scopes: [] });
    if (written.kind === 'answered') break;
    assert.equal(written.kind === 'refused' && written.error.code, 'STORAGE', JSON.stringify(written));
  }
  await link.cut();
}
