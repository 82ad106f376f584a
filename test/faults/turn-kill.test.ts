// kill -9 at every named point of a turn, on both engines: the next start takes the turn up where it was, nothing is twice in
// the store, the model is told each message once, and what may have happened is not done again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seed } from '../support/chaos.ts';
import { faultPoints } from '../support/fault-points.ts';
import { createRandom } from '../support/random.ts';
import { engines } from '../support/stores.ts';
import { isTurnPoint, killTurnAt, LONGEST_STORY, storiesOf } from '../support/turn-kills.ts';
import { verifies } from '../support/verifies.ts';

for (const [at, point] of faultPoints().filter(isTurnPoint).entries()) {
  test(`killed at ${point} a turn goes on after the restart and ends once`, async () => {
    verifies('turns:kill-resumes', 'turns:ends-once', 'R01', 'R03', 'R06', 'S56', 'foundation:faultpoints');
    const stories = storiesOf(point);
    assert.ok(stories.length > 0, `no story comes by ${point}`);
    // Each story on one engine, the stories of a point and the points in turn on both; npm run chaos takes each on both.
    for (const [index, story] of stories.entries()) {
      const engine = engines[(at + index) % engines.length]!;
      assert.equal(await killTurnAt(story, point, engine), 1, `"${story}" on ${engine} never came by ${point}`);
    }
  });
}

/** Commits from the start of a gateway to the end of the turn; npm run chaos takes each. */
const COMMITS = 12;
const commitPoints = {
  sqlite: ['writer.before-commit', 'writer.after-commit'],
  postgres: ['postgres.before-commit', 'postgres.after-commit'],
};

for (const engine of engines) {
  test(`${engine}: killed at a commit that the seed chooses, a turn goes on after the restart and ends once`, async (t) => {
    verifies('turns:kill-resumes', 'turns:ends-once', 'R01', 'R03');
    t.diagnostic(`seed ${seed}`);
    const random = createRandom(seed);
    for (const point of commitPoints[engine]) {
      for (let kill = 0; kill < 2; kill++) {
        const nth = 4 + random.below(COMMITS - 4);
        t.diagnostic(`${point}:${nth} ${(await killTurnAt(LONGEST_STORY, point, engine, nth)) === 1 ? 'killed' : 'not reached'}`);
      }
    }
  });
}
