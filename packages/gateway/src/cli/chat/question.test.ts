import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Approval } from '@tenon/protocol';
import { answersLine, parseAnswer, questionLines, stateText } from './question.ts';

const plain = (_style: string, text: string) => text;

function approval(more: Partial<Approval> = {}): Approval {
  return {
    id: 'abcdefghijklmnop',
    sessionKey: 'agent:main:main',
    runId: 'r1',
    callId: 'c1',
    agentId: 'main',
    toolName: 'exec',
    title: 'Run "rm -rf build"?',
    reason: 'exec asks: there is no sandbox',
    risk: 'exec',
    argv: ['rm', '-rf', 'build dir', 'two\nlines', ''],
    cwd: '/home/me/work',
    env: { CI: '1' },
    args: { command: 'rm -rf "build dir"' },
    digest: 'd',
    principal: 'token:abc',
    allowed: ['allow-once', 'allow-always', 'deny'],
    state: 'pending',
    createdAt: 0,
    expiresAt: 300_000,
    ...more,
  };
}

test('a question shows all that would be done: each word of argv, folder, environment, arguments, who asks, time left', () => {
  assert.deepEqual(questionLines(approval(), plain, 10_000), [
    '? Run "rm -rf build"?',
    '  why        exec asks: there is no sandbox',
    '  risk       exec: Runs a program.',
    '  program     0 rm',
    '              1 -rf',
    '              2 build dir',
    '              3 two\\u{a}lines',
    '              4 (empty)',
    '  folder     /home/me/work',
    '  env        + CI=1',
    '  args       command: rm -rf "build dir"',
    '  asked by   exec of agent main in agent:main:main',
    '  for        token:abc',
    '  time left  4m 50s, then it is denied',
    '  id         abcdefghijklmnop',
  ]);
});

test('a question says which files run as they were, and what can still change, once each', () => {
  const what = { bound: ['sub/run.sh'], notBound: ['Any file of the workspace that “make” loads'] };
  const question = approval({ ...what, allowed: ['allow-once', 'deny'], args: { ...what, network: true } });
  const lines = questionLines(question, plain, 0).map((line) => line.trim());
  assert.ok(lines.includes('bound      sub/run.sh, as it was when this was asked'), lines.join('\n'));
  assert.ok(lines.includes('not bound  Any file of the workspace that “make” loads'));
  assert.ok(lines.includes('(can change until it runs, so it can be allowed only once)'));
  assert.ok(lines.includes('args       network: true'));
  assert.doesNotMatch(answersLine(question), /always/);
});

test('arguments that stand above already are not shown twice, others and differing ones are', () => {
  const [argv, cwd] = [['ls'], '/w'];
  const lines = (args: Approval['args']) =>
    questionLines(approval({ argv, cwd, env: {}, args }), plain, 0).filter(
      (line) => /^ {2}(args| {4}) /.test(line) || line.includes('argv'),
    );
  assert.deepEqual(lines({ argv: ['ls'], cwd: '/w', env: {} }), []);
  assert.match(lines({ argv: ['ls', '-l'], cwd: '/w', network: true }).join('\n'), /args +argv: \["ls","-l"\]\n +network: true/);
});

test('an argument of many lines is shown whole, and nothing in it can move the cursor', () => {
  const content = `${Array.from({ length: 300 }, (_, index) => `line ${index}`).join('\n')}\n\u001b[2J\u202eabc`;
  const lines = questionLines(approval({ args: { path: 'a.txt', content }, title: 'Write\u001b[1A a.txt?' }), plain, 0);
  assert.ok(lines.some((line) => line.endsWith('line 0')) && lines.some((line) => line.endsWith('line 299')));
  assert.ok(lines.some((line) => line.includes('\\u{1b}[2J\\u{202e}abc')));
  assert.ok(lines.every((line) => !['\u001b', '\u202e', '\n'].some((hidden) => line.includes(hidden))));
});

test('an answer is never taken for granted', () => {
  const all = ['allow-once', 'allow-always', 'deny'] as const;
  assert.deepEqual(parseAnswer('a', all), { kind: 'decision', decision: 'allow-once' });
  assert.deepEqual(parseAnswer(' D ', all), { kind: 'decision', decision: 'deny' });
  assert.deepEqual(parseAnswer('!', all), { kind: 'decision', decision: 'allow-always' });
  assert.deepEqual(parseAnswer('always', all), { kind: 'decision', decision: 'allow-always' });
  for (const word of ['', '  ', 'y', 'yes', 'no', 'ok']) assert.deepEqual(parseAnswer(word, all), { kind: 'unclear' }, word);
  for (const line of ['and now?', 'a file please', '!ls', 'constructor']) assert.deepEqual(parseAnswer(line, all), { kind: 'none' }, line);
});

test('an answer that the question does not take is refused', () => {
  assert.deepEqual(parseAnswer('!', ['allow-once', 'deny']), { kind: 'unclear' });
  assert.equal(answersLine(approval({ allowed: ['allow-once', 'deny'] })), 'a allow once · d deny · no answer denies');
});

test('what became of a question is said in words', () => {
  assert.equal(stateText({ state: 'allowed', decision: 'allow-once', decidedBy: 'token:x' }), 'allowed once by token:x');
  assert.equal(stateText({ state: 'allowed', decision: 'allow-always' }), 'allowed always, for exactly this');
  assert.equal(stateText({ state: 'denied' }), 'denied');
  assert.equal(stateText({ state: 'expired' }), 'denied: nobody answered in time');
  assert.equal(stateText({ state: 'voided' }), 'no longer needed');
});
