// Copies in the place of files, for real, in every kind of sandbox that this machine has.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { verifies } from '../../../../../test/support/verifies.ts';
import { systemClock } from '../clock.ts';
import { bubblewrapArgv } from './bubblewrap.ts';
import { guarded } from './overlays.ts';
import { ownerOf } from './owner.ts';
import { type Overlay, profileOf, type SandboxPolicy } from './profile.ts';
import { detectSandbox, wrap } from './sandbox.ts';
import { SETUP_FAILED } from './unshare.ts';

const kinds = (
  await Promise.all(
    (['bubblewrap', 'unshare'] as const).map(async (kind) => [kind, await detectSandbox(spawn, systemClock, [kind])] as const),
  )
).flatMap(([kind, found]) => (found.kind === 'none' ? [] : [kind]));

interface World extends Disposable {
  readonly workspace: string;
  readonly overlay: Overlay;
  policy(more?: Partial<SandboxPolicy>): SandboxPolicy;
}

/** `sub/run.sh` holds "now", and its copy "approved". */
function world(): World {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "tenon it's copied-")));
  const workspace = join(base, 'work space');
  mkdirSync(join(workspace, 'sub'), { recursive: true });
  writeFileSync(join(workspace, 'sub', 'run.sh'), 'echo now\n');
  writeFileSync(join(base, 'copy'), 'echo approved\n', { mode: 0o444 });
  return {
    workspace,
    overlay: { path: join(workspace, 'sub', 'run.sh'), from: join(base, 'copy') },
    policy: (more) => ({ workspace, cwd: workspace, hidden: [base], userHome: '/root', readOnly: [], network: false, ...more }),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

function run(words: readonly string[]): { code: number | null; out: string } {
  const { status, stdout, stderr } = spawnSync(words[0]!, words.slice(1), { env: { PATH: process.env.PATH ?? '' }, encoding: 'utf8' });
  return { code: status, out: `${stdout}${stderr}`.trim() };
}

for (const kind of kinds) {
  test(`${kind}: a covered file is the copy, cannot be written or replaced, and is itself again outside`, () => {
    verifies('S52');
    using box = world();
    const script =
      'sh sub/run.sh; (echo x > sub/run.sh) 2>/dev/null; rm -f sub/run.sh 2>/dev/null; mv sub/other sub/run.sh 2>/dev/null; sh sub/run.sh';
    writeFileSync(join(box.workspace, 'sub', 'other'), 'echo other\n');
    const result = run(wrap(kind, ['sh', '-c', script], box.policy({ overlays: [box.overlay] })));
    assert.deepEqual(result, { code: 0, out: 'approved\napproved' });
    assert.equal(readFileSync(box.overlay.path, 'utf8'), 'echo now\n');
  });

  test(`${kind}: a folder above that has become a link does not lead around the copy`, () => {
    verifies('S52');
    using box = world();
    const words = wrap(kind, ['sh', 'sub/run.sh'], box.policy({ overlays: [box.overlay] }));
    // After everything was looked at, and before the mounts are made.
    renameSync(join(box.workspace, 'sub'), join(box.workspace, 'was'));
    mkdirSync(join(box.workspace, 'evil'));
    writeFileSync(join(box.workspace, 'evil', 'run.sh'), 'echo evil\n');
    for (const target of ['evil', join(box.workspace, 'evil')]) {
      symlinkSync(target, join(box.workspace, 'sub'));
      const { code, out } = run(words);
      // Either the copy covers where the link leads, or nothing is run.
      assert.ok(code === 0 ? out === 'approved' : !/^evil/m.test(out), out);
      rmSync(join(box.workspace, 'sub'));
    }
  });

  test(`${kind}: another program cannot move the folders of a covered file, nor the file`, () => {
    verifies('S52');
    using box = world();
    const script = 'mv sub was; rm -rf sub; echo evil > sub/run.sh; mv /tmp/x sub/run.sh; cat sub/run.sh; : > sub/made && echo made';
    const pinned = { overlays: [box.overlay], pinned: [join(box.workspace, 'sub')] };
    const { out } = run(wrap(kind, ['sh', '-c', `exec 2>/dev/null; echo evil > /tmp/x; ${script}`], box.policy(pinned)));
    assert.equal(out, 'echo approved\nmade');
    assert.equal(readFileSync(box.overlay.path, 'utf8'), 'echo now\n');
  });
}

test('the profile for bubblewrap covers files last, and pins the folders before', () => {
  using box = world();
  const pinned = [join(box.workspace, 'sub')];
  const words = bubblewrapArgv(['true'], profileOf(box.policy({ overlays: [box.overlay], pinned })), ownerOf(box.workspace));
  const at = (...wanted: string[]) => words.findIndex((_, index) => wanted.every((word, offset) => words[index + offset] === word));
  assert.ok(at('--bind', box.workspace, box.workspace) < at('--bind', pinned[0]!, pinned[0]!));
  assert.ok(at('--bind', pinned[0]!, pinned[0]!) < at('--ro-bind', box.overlay.from, box.overlay.path));
  assert.ok(at('--bind', pinned[0]!, pinned[0]!) > 0);
});

test('the start of a program looks where its copies are', () => {
  using box = world();
  assert.deepEqual(guarded(['true'], []), ['true']);
  assert.deepEqual(run(guarded(['echo', '$HOME', 'a b'], [{ path: box.overlay.from, from: box.overlay.from }])), {
    code: 0,
    out: '$HOME a b',
  });
  const { code, out } = run(guarded(['echo', 'ran'], [box.overlay]));
  assert.equal(code, SETUP_FAILED);
  assert.match(out, /nothing was run/);
});
