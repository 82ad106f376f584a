// A backup that is made while clients write, restored elsewhere: one moment of the store, whole, not earlier than the last
// write that had been acknowledged when the backup began. Both engines, and from one to the other.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openChaosWorld, seed } from '../support/chaos.ts';
import { openLink } from '../support/chaos-link.ts';
import { runTenon } from '../support/fault-points.ts';
import { Ledger, paramsOf, readSessions } from '../support/ledger.ts';
import { createRandom } from '../support/random.ts';
import { engines } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

for (const from of engines) {
  for (const to of engines) {
    test(`a backup of ${from} during writes, restored to ${to}, is one moment with all that was acknowledged before`, async (t) => {
      verifies('foundation:backup', 'R03', 'R05');
      t.diagnostic(`seed ${seed}`);
      const random = createRandom(seed);
      const ledger = new Ledger({ seed, observers: 1 });
      const [observer] = ledger.observers;
      await using source = await openChaosWorld(from);
      const gateway = await source.start();
      await ledger.observe(gateway);
      const load = await ledger.load(gateway);
      const target = ledger.stats.answered + 300;
      await ledger.until(() => ledger.stats.answered >= target);

      const before = ledger.answered;
      const file = join(source.home, 'backup');
      const backup = await runTenon(['backup', file, '--home', source.home]);
      assert.equal(backup.code, 0, backup.stderr);
      const sentMeanwhile = ledger.answered.length - before.length;
      assert.ok(sentMeanwhile > 0, 'nothing was written during the backup');
      await load.stop();
      await ledger.compareEvents(await ledger.compare(gateway));
      assert.equal(await gateway.stop(), 0);

      await using place = await openChaosWorld(to);
      place.writeConfig();
      const restore = await runTenon(['restore', file, '--yes', '--home', place.home]);
      assert.equal(restore.code, 0, restore.stderr);
      const restored = await place.start({ keepConfig: true });
      assert.equal(restored.token, gateway.token, 'the token is part of the backup');
      const link = await openLink(restored, { connect: { caps: ['resume'] } });
      const { seq } = link.hello.events as { seq: number };
      assert.deepEqual(await readSessions(link), ledger.chronicle.sessionsAt(seq), `not the sessions as of position ${seq}`);
      const told = new Set(ledger.chronicle.changesUpTo(seq).map((change) => JSON.stringify(change.session)));
      for (const { key, answer } of before) {
        if (answer && 'session' in answer) assert.ok(told.has(JSON.stringify(answer.session)), `${key} was acknowledged before the backup`);
      }
      for (let n = 0; n < 10; n++) {
        const request = random.pick(before);
        assert.deepEqual(await link.request(request.method, paramsOf(request)), { kind: 'answered', payload: request.answer });
      }
      const audit = await link.request('audit.list', { limit: 1 });
      assert.ok(audit.kind === 'answered' && audit.payload.chain.ok, JSON.stringify(audit));
      await link.cut();

      // Positions of the old life do not hold here, and who remembers one is told so.
      await observer!.connect(restored);
      await observer!.reach(seq);
      assert.equal(observer!.snapshots, 1);
      t.diagnostic(`${before.length} acknowledged before, ${sentMeanwhile} during the backup; restored to position ${seq}`);
    });
  }
}
