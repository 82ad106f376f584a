// Plugins under kill -9, a seeded part of what npm run chaos does: an action is applied once or not at all, and each injection
// stands in exactly one turn that has an answer.
import { test } from 'node:test';
import { seed } from '../support/chaos.ts';
import { runPluginChaos } from '../support/plugin-chaos.ts';
import { engines } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

for (const engine of engines) {
  test(`${engine}: killed at random, every press is applied once and every injection is told in one turn`, async (t) => {
    verifies('R01', 'R03', 'R06', 'R07', 'compat:C6', 'seams:W14', 'seams:A16');
    t.diagnostic(`seed ${seed}`);
    t.diagnostic(JSON.stringify(await runPluginChaos({ engine, seed, kills: engine === 'sqlite' ? 4 : 2 })));
  });
}
