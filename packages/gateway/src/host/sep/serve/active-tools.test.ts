import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { verifies } from '../../../../../../test/support/verifies.ts';
import { createActiveTools } from '../../active-tools.ts';
import { serveActive } from './active-tools.ts';

const OFFERED = ['read', 'exec', 'mine__do', 'mine__undo', 'other__do'];

function world(granted: readonly string[]) {
  const activeTools = createActiveTools(8);
  const { 'tools/set_active': serve } = serveActive({
    extension: 'mine',
    log: pino({ level: 'silent' }),
    dispatches: { asked: () => undefined },
    activeTools,
    desk: { tools: () => OFFERED },
    holds: (grant) => granted.includes(grant),
    world: () => 'sep',
  });
  return {
    set: (...tools: string[]) => serve!({ tools } as never, { dispatch: undefined } as never),
    left: () => OFFERED.filter((tool) => activeTools.isActive(tool, 'agent:main:a')),
  };
}

test('an extension that may give tools decides about its own; those of others take a grant of its own', () => {
  verifies('sep:set-active:own');
  const { set, left } = world(['tools.register']);
  assert.deepEqual(set('mine.do'), { active: ['mine.do'] });
  assert.deepEqual(left(), ['read', 'exec', 'mine__do', 'other__do'], 'nobody else is touched');
  assert.deepEqual(set(), { active: [] });
  assert.deepEqual(left(), ['read', 'exec', 'other__do'], 'not even by naming nothing');
  for (const foreign of ['read', 'other.do'])
    assert.throws(
      () => set('mine.do', foreign),
      (error: { code?: number; data?: { grant?: string }; message?: string }) =>
        error.code === -32004 && error.data?.grant === 'tools.narrow' && error.message!.includes(`"${foreign}"`),
    );
  assert.deepEqual(left(), ['read', 'exec', 'other__do'], 'what was refused has changed nothing');
});

test('with the grant it decides about all of them', () => {
  const { set, left } = world(['tools.register', 'tools.narrow']);
  assert.deepEqual(set('read', 'mine.do'), { active: ['read', 'mine.do'] });
  assert.deepEqual(left(), ['read', 'mine__do']);
  set();
  assert.deepEqual(left(), []);
});
