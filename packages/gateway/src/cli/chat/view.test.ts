import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Approval } from '@tenon/protocol';
import type { Screen } from './screen.ts';
import { treeLines } from './tree.ts';
import { createView } from './view.ts';

function world() {
  const lines: string[] = [];
  let footer: readonly string[] = [];
  let text = '';
  let now = 0;
  const endText = () => {
    if (text !== '') lines.push(text);
    text = '';
  };
  const screen: Screen = {
    width: 80,
    text(delta) {
      text += delta;
    },
    endText,
    line(line) {
      endText();
      lines.push(line);
    },
    footer(rows) {
      footer = rows;
    },
    hasFooter: true,
  };
  const pass = (ms: number) => {
    now += ms;
  };
  const style = (_style: string, plain: string) => plain;
  const view = createView({ screen, style, verbose: false, now: () => now, canAnswer: true, sign: '› ', onChange() {} });
  return { view, lines: () => lines.splice(0), footer: () => footer, pass };
}

const approval = (id: string): Approval => ({
  id,
  sessionKey: 'agent:main:main',
  runId: 'r1',
  callId: 'c1',
  agentId: 'main',
  toolName: 'write',
  title: `Write ${id}?`,
  reason: 'asks first',
  risk: 'write',
  args: { path: id },
  digest: 'd',
  principal: 'token:x',
  allowed: ['allow-once', 'deny'],
  state: 'pending',
  createdAt: 0,
  expiresAt: 60_000,
});

test('questions are asked one after another, and each is folded into one line when it is settled', () => {
  const { view, lines, footer, pass } = world();
  view.began('r1');
  view.asked(approval('one'));
  view.asked(approval('two'));
  assert.equal(view.question?.id, 'one');
  assert.deepEqual(
    lines().filter((line) => line.startsWith('?')),
    ['? Write one?'],
  );
  assert.deepEqual(footer(), ['a allow once · d deny · no answer denies · 1m left (1 more after it)']);
  pass(20_000);
  view.refresh();
  assert.match(footer()[0]!, /40s left/);
  view.answered('one');
  view.settled({ id: 'one', state: 'allowed', decision: 'allow-once', decidedBy: 'token:x' });
  assert.equal(lines()[0], 'Write one? allowed once by token:x');
  assert.equal(view.question?.id, 'two');
  view.settled({ id: 'two', state: 'denied', decision: 'deny', decidedBy: 'token:y' });
  assert.deepEqual(lines(), ['Write two? denied by token:y (answered elsewhere)']);
  assert.equal(view.question, undefined);
  assert.deepEqual(footer(), ['working 20s · Ctrl-C stops it']);
});

test('a message that waits is in the footer until it is told, or its run has ended', () => {
  const { view, lines, footer } = world();
  view.began('r1');
  view.queued('r2', 'and then');
  view.queued('r3', 'and more');
  assert.deepEqual(footer().slice(1), ['queued: and then', 'queued: and more']);
  view.said('and then');
  view.ended('r3', { kind: 'aborted' });
  view.refresh();
  assert.deepEqual(footer().slice(1), []);
  assert.deepEqual(lines(), ['› and then', 'stopped']);
});

test('tools at work and a message that is not whole yet are in the footer', () => {
  const { view, lines, footer, pass } = world();
  view.began('r1');
  view.working({ callId: 'r1 c', name: 'exec', state: 'running', subject: 'make', output: '' });
  pass(1_500);
  view.draft(['first line']);
  assert.deepEqual(footer(), ['◌ exec  make  running 1.5s', 'working 1s · Ctrl-C stops it', '› first line']);
  view.worked({ callId: 'r1 c', name: 'exec', state: 'ok', subject: 'make', output: 'done', durationMs: 1_500 });
  view.draft([]);
  view.ended('r1', { kind: 'completed' });
  assert.deepEqual(footer(), []);
  assert.deepEqual(lines(), ['● exec  make  ok 1.5s', '  │ done']);
});

test('a tree goes deeper only where it parts, and long chains do not', () => {
  const node = (id: string, parentId: string | null, current: boolean) => ({ id, parentId, type: 'message', at: 0, preview: '', current });
  const nodes = [node('a', null, true), node('b', 'a', true), node('c', 'b', false), node('d', 'b', true), node('e', 'd', true)];
  assert.deepEqual(
    treeLines(nodes, 'e').map(({ mark, prefix, node: { id } }) => `${mark}${prefix}${id}`),
    ['*a', '*b', ' └ c', '*└ d', '>└ e'],
  );
  const chain = Array.from({ length: 20_000 }, (_, index) => node(`n${index}`, index === 0 ? null : `n${index - 1}`, true));
  assert.ok(treeLines(chain, null).every(({ prefix }) => prefix === ''));
});

test('a call that waits for an answer says so, and what can be answered stands there once', () => {
  const { view, lines, footer, pass } = world();
  view.began('r1');
  view.working({ callId: 'r1 c1', name: 'write', state: 'writing', subject: 'one', output: '' });
  pass(2_800);
  view.refresh();
  assert.match(footer()[0]!, /writing 2\.8s$/);
  view.asked(approval('one'));
  assert.equal(footer()[0], '? write  one  waits for you');
  assert.equal([...lines(), ...footer()].filter((line) => line.includes('a allow once')).length, 1);
});

test('an end that was told already, and the words that are meant for the model, are not shown', () => {
  const { view, lines } = world();
  const end = { kind: 'refused', reason: 'The operator denied this call. Do not try to do the same in another way' } as const;
  view.ended('r1', end, true);
  assert.deepEqual(lines(), []);
  view.ended('r2', end);
  assert.deepEqual(lines(), ['denied']);
});
