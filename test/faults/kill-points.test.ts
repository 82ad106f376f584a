// kill -9 at every named point of the store and the requests, on both engines: the next start has all that was answered, and goes on.
import { test } from 'node:test';
import { seed } from '../support/chaos.ts';
import { faultPoints, isElsewhere, killAt } from '../support/fault-points.ts';
import { isTurnPoint } from '../support/turn-kills.ts';
import { verifies } from '../support/verifies.ts';

/** Those of files, of backups and of what is made of them are many processes each: kill-files.test.ts. */
const isFilePoint = (point: string) => /^(file|backup|restore)\./.test(point);

// Those of a turn have stories of their own: turn-kill.test.ts.
for (const point of faultPoints().filter((name) => !isTurnPoint(name) && !isElsewhere(name) && !isFilePoint(name))) {
  test(`killed at ${point} it starts again and nothing is lost`, async (t) => {
    verifies('R01', 'R02', 'R15', 'foundation:faultpoints');
    // npm run chaos takes each time that a process comes by.
    t.diagnostic(`seed ${seed}, ${await killAt(point, seed, 'doubling')} kills`);
  });
}
