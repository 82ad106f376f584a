// kill -9 at every named point of files, backups and restores, on both engines: the next start has all that was answered, and goes on.
import { test } from 'node:test';
import { seed } from '../support/chaos.ts';
import { faultPoints, killAt } from '../support/fault-points.ts';
import { verifies } from '../support/verifies.ts';

for (const point of faultPoints().filter((name) => /^(file|backup|restore)\./.test(name))) {
  test(`killed at ${point} it starts again and nothing is lost`, async (t) => {
    verifies('R01', 'R02', 'R15', 'foundation:faultpoints');
    // npm run chaos takes each time that a process comes by.
    t.diagnostic(`seed ${seed}, ${await killAt(point, seed, 'doubling')} kills`);
  });
}
