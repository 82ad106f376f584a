// A part of `npm run attack` on every run of the tests: what is cheap, against one gateway. And the runner itself: it must be able to fail.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirements } from '../requirements.ts';
import { cleanEnv } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';
import { carryOut } from './carry-out.ts';
import { attacks } from './list.ts';
import { details, exitCode, summary, table } from './report.ts';

test('the quick attacks hold', async (t) => {
  verifies('foundation:attack');
  const quick = attacks.filter((attack) => attack.quick);
  assert.ok(quick.length > 20, `${quick.length} attacks are quick`);
  const carried = await carryOut(quick, 1, ({ attack: { id, tried }, state, seconds }) =>
    t.diagnostic(`${state} ${id} ${tried} ${seconds.toFixed(2)} s`),
  );
  const wrong = carried
    .filter(({ state }) => state === 'broke' || state === 'failed')
    .map(({ attack, state, evidence }) => `${state} ${attack.id} ${attack.tried}: ${evidence}`);
  assert.deepEqual(wrong, []);
  assert.ok(carried.filter(({ state }) => state === 'held').length > 15, 'most of them were tried');
});

test('every attack cites a requirement, and none is there twice', () => {
  verifies('foundation:attack');
  assert.deepEqual(
    attacks.filter(({ id }) => !Object.hasOwn(requirements, id)).map(({ id, tried }) => `${id}: ${tried}`),
    [],
  );
  const names = attacks.map(({ id, tried }) => `${id} ${tried}`);
  assert.equal(new Set(names).size, names.length);
});

test('an attack that breaks something, or cannot be carried out, makes the runner fail and is named', (t) => {
  verifies('foundation:attack');
  const folder = mkdtempSync(join(tmpdir(), 'tenon-planted-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const planted = join(folder, 'planted.mjs');
  const run = (...states: string[]) => {
    const outcome = (state: string) =>
      state === 'failed' ? `throw new Error('planted evidence')` : `return { state: '${state}', evidence: 'planted evidence' }`;
    const rows = states.map((state, at) => `{ id: 'P${at}', tried: 'something ${state}', async run() { ${outcome(state)} } }`);
    writeFileSync(planted, `export const attacks = [${rows.join(', ')}];`);
    const user = process.getuid?.() === 0 ? 'root' : 'user';
    const words = [join(import.meta.dirname, 'run.ts'), '--plant', planted, '--no-build', '--user', user, '--sandbox', 'unshare'];
    return spawnSync(process.execPath, words, { encoding: 'utf8', env: cleanEnv({ NODE_NO_WARNINGS: '1' }) });
  };
  const good = run('held', 'untried');
  assert.equal(good.status, 0, good.stderr);
  assert.match(good.stdout, /P0 +something held +held\n/);
  const bad = run('held', 'broke', 'failed');
  assert.equal(bad.status, 1, bad.stdout);
  assert.match(bad.stdout, /P1 +something broke +BROKE\nP2 +something failed +FAILED\n/);
  assert.match(bad.stdout, /planted evidence/);
});

test('the table says what was tried as whom, and the summary counts', () => {
  verifies('foundation:attack');
  const row = { id: 'S1', tried: 'a long way', evidence: 'because', seconds: 1 };
  const rows = [
    { ...row, place: 'root, unshare', state: 'held' as const },
    { ...row, place: 'uid 65534, unshare', state: 'broke' as const },
  ];
  assert.match(table(rows), /^id +what was tried +root, unshare +uid 65534, unshare\nS1 +a long way +held +BROKE$/);
  assert.match(details(rows), /^BROKE {2}S1 {2}a long way \(uid 65534, unshare\)\n +because$/);
  assert.equal(summary(rows), '2 attacks: 1 held, 1 broke');
  const failed = { ...row, place: 'root, unshare', state: 'failed' as const };
  assert.deepEqual([exitCode(rows), exitCode([failed]), exitCode(rows.slice(0, 1)), exitCode([])], [1, 1, 0, 1]);
});
