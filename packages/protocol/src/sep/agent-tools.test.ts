import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentTools, argumentsHere, callsThere, callThere, toolsHere, toolThere } from './wire.ts';

/** What a call looks like there, and what comes back where the extension changes it so. */
function changed(name: string, args: Record<string, unknown>, change: (there: Record<string, unknown>) => object): unknown {
  const [{ arguments: sent } = { arguments: {} }] = callsThere(name, args);
  return argumentsHere(name, args, sent, change(structuredClone(sent) as Record<string, unknown>) as Record<string, unknown>);
}

const samples: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  exec: [
    { command: 'ls -l', timeoutMs: 1_500 },
    { argv: ['sh', '-c', "echo 'it''s'"], cwd: 'sub', background: true },
  ],
  read: [{ path: 'a', offset: 3, limit: 2 }],
  write: [{ path: 'a', content: 'b' }],
  edit: [
    { path: 'a', edits: [{ find: 'x', replace: 'y' }] },
    {
      path: 'a',
      edits: [
        { find: 'x', replace: 'y' },
        { find: 'z', replace: '' },
      ],
    },
  ],
  apply_patch: [{ patch: '*** Begin Patch\n*** Add File: new\n+one\n*** Update File: old\n*** Move to: moved\n@@\n-a\n+b\n*** End Patch' }],
  grep: [{ pattern: 'x', path: 'a', glob: '*.ts', ignoreCase: true, context: 1 }],
  find: [{ glob: '*.ts', path: 'a' }],
  ls: [{ path: 'a' }],
};

test('what an extension leaves alone stays the very same arguments, for every tool', () => {
  assert.deepEqual(Object.keys(samples), Object.keys(agentTools));
  for (const [name, all] of Object.entries(samples))
    for (const args of all)
      assert.equal(
        changed(name, args, (there) => there),
        args,
        name,
      );
});

test('names and arguments are those of SEP and pi', () => {
  const shown = (name: string, nth = 0) => callsThere(name, samples[name]![nth]!)[0];
  assert.deepEqual(shown('exec'), { tool: 'bash', arguments: { command: 'ls -l', timeout: 1.5 } });
  assert.deepEqual(shown('exec', 1), {
    tool: 'bash',
    arguments: { command: "sh -c 'echo '\\''it'\\'''\\''s'\\'''", cwd: 'sub', background: true },
  });
  assert.deepEqual(shown('edit'), {
    tool: 'edit',
    arguments: { path: 'a', edits: [{ oldText: 'x', newText: 'y' }], oldText: 'x', newText: 'y' },
  });
  assert.deepEqual(shown('find'), { tool: 'find', arguments: { pattern: '*.ts', path: 'a' } });
  assert.equal(toolThere('web_fetch'), 'web_fetch');
});

test('a patch is a call for each file that it names, and one call once it is done', () => {
  const args = samples.apply_patch![0]!;
  const part = '*** Update File: old\n*** Move to: moved\n@@\n-a\n+b';
  assert.deepEqual(callsThere('apply_patch', args), [
    { tool: 'write', arguments: { path: 'new', content: 'one\n' } },
    { tool: 'edit', arguments: { path: 'old', patch: part } },
    { tool: 'edit', arguments: { path: 'moved', patch: part } },
  ]);
  assert.deepEqual(callThere('apply_patch', args), { tool: 'edit', arguments: { path: 'new', ...args } });
  assert.equal(
    changed('apply_patch', args, (there) => ({ ...there, path: 'elsewhere' })),
    undefined,
  );
  assert.equal(callsThere('apply_patch', { patch: 'no patch' }).length, 1, 'what cannot be read is asked about all the same');
});

test('what an extension changes is changed here; what its world does not know stays where it is left out', () => {
  assert.deepEqual(
    changed('exec', { argv: ['rm', 'x'], cwd: 'sub' }, () => ({ command: 'ls' })),
    { command: 'ls', cwd: 'sub' },
  );
  assert.deepEqual(
    changed('exec', { command: 'ls', timeoutMs: 1_000 }, (there) => ({ ...there, timeout: 2 })),
    { command: 'ls', timeoutMs: 2_000 },
  );
  assert.deepEqual(
    changed('exec', { command: 'ls', timeoutMs: 1_000 }, () => ({ command: 'ls' })),
    { command: 'ls' },
  );
  assert.deepEqual(
    changed('exec', { command: 'ls' }, () => ({})),
    {},
    'a call without a command is refused by the tool',
  );
  assert.deepEqual(
    changed('exec', { command: 'ls' }, (there) => ({ ...there, argv: ['rm'] })),
    { command: 'ls', argv: ['rm'] },
    'both: refused by the tool',
  );
  const edit = { path: 'a', edits: [{ find: 'x', replace: 'y' }] };
  assert.deepEqual(
    changed('edit', edit, (there) => ({ ...there, newText: 'z' })),
    { path: 'a', edits: [{ find: 'x', replace: 'z' }] },
  );
  assert.deepEqual(
    changed('edit', edit, (there) => ({ ...there, edits: [{ oldText: 'p', newText: 'q' }] })),
    { path: 'a', edits: [{ find: 'p', replace: 'q' }] },
  );
  assert.deepEqual(
    changed('edit', edit, (there) => ({ ...there, path: 'b' })),
    { ...edit, path: 'b' },
  );
  assert.deepEqual(
    changed('find', { glob: '*' }, () => ({ pattern: '*.md' })),
    { glob: '*.md' },
  );
});

test('active tools are those of both names; a patch needs both that it may be', () => {
  const here = (...names: string[]) => [...toolsHere(new Set(names))].filter((name) => Object.hasOwn(agentTools, name)).sort();
  assert.deepEqual(here('bash', 'read'), ['exec', 'read']);
  assert.deepEqual(here('exec'), ['exec']);
  assert.deepEqual(here('edit'), ['edit']);
  assert.deepEqual(here('edit', 'write'), ['apply_patch', 'edit', 'write']);
});
