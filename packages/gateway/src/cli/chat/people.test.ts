import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UiQuestion } from '@tenon/protocol';
import { answersHint, createPeople, questionLines, replyOf } from './people.ts';

const question = (more: Partial<UiQuestion> = {}): UiQuestion => ({
  id: 'q'.repeat(22),
  sessionKey: 'agent:main:here',
  extension: 'notes',
  kind: 'confirm',
  prompt: 'Go on?',
  state: 'pending',
  createdAt: 0,
  expiresAt: 120_000,
  ...more,
});

test('a line is an answer only where it is one', () => {
  const confirm = question();
  assert.deepEqual(
    ['y', ' YES ', 'n', 'no', '', 'maybe', '1'].map((line) => replyOf(line, confirm)),
    [{ confirmed: true }, { confirmed: true }, { confirmed: false }, { confirmed: false }, undefined, undefined, undefined],
  );
  const select = question({ kind: 'select', options: ['red', '2', 'blue'] });
  assert.deepEqual(
    ['1', 'red', '2', '3', '4', '0', '', 'green'].map((line) => replyOf(line, select)),
    [{ value: 'red' }, { value: 'red' }, { value: '2' }, { value: 'blue' }, undefined, undefined, undefined, undefined],
  );
  const input = question({ kind: 'input', default: 'A' });
  assert.deepEqual(
    ['', 'y', ' with space '].map((line) => replyOf(line, input)),
    [{ text: 'A' }, { text: 'y' }, { text: ' with space ' }],
  );
  assert.match(answersHint(input), /empty for "A"/);
});

test('what is asked is printed safely, with the choices by number', () => {
  const lines = questionLines(
    question({ kind: 'select', prompt: 'Which\u001b[2J?\nSay it.', options: ['a\u202eb', 'c\nd'] }),
    (_style, text) => text,
  );
  assert.deepEqual(lines, ['? notes asks: Which\\u{1b}[2J?', '  Say it.', '    1  a\\u{202e}b', '    2  c\\u{a}d']);
});

function world() {
  const said: string[] = [];
  const sent: unknown[] = [];
  const listeners = new Map<string, (payload: never) => void>();
  const people = createPeople({
    client: {
      on: ((name: string, listener: (payload: never) => void) => {
        listeners.set(name, listener);
        return () => undefined;
      }) as never,
      onState: () => () => undefined,
      call: (async (method: string, params: object) => {
        sent.push([method, params]);
        return { questions: [], shown: [] };
      }) as never,
    },
    sessionKey: () => 'agent:main:here',
    card: (text) => void said.push(text),
    lines: (lines) => void said.push(lines.join('\n')),
    note: (text) => void said.push(`note ${text}`),
    problem: (text) => void said.push(`problem ${text}`),
    style: (_style, text) => text,
    now: () => 0,
    newId: () => 'key',
    onChange: () => undefined,
  });
  const hear = (name: string, payload: object) => listeners.get(name)?.(payload as never);
  return { people, said, sent, hear };
}

test('one question at a time, the oldest first; a command is never an answer, and one that is settled elsewhere folds', async () => {
  const { people, said, sent, hear } = world();
  const second = question({ id: 's'.repeat(22), prompt: 'And then?' });
  hear('ui.requested', question());
  hear('ui.requested', second);
  hear('ui.requested', question({ id: 'o'.repeat(22), sessionKey: 'agent:main:other' }));
  assert.equal(people.question?.prompt, 'Go on?');
  assert.equal(people.take('/status'), false);
  assert.equal(people.take('perhaps'), true);
  hear('ui.resolved', { id: question().id, state: 'answered' });
  assert.equal(people.question?.prompt, 'And then?');
  assert.equal(people.take('/dismiss'), true);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(people.question, undefined);
  assert.equal(people.dismiss(), false);
  assert.deepEqual(sent, [['ui.answer', { id: second.id, reply: { cancelled: true }, idempotencyKey: 'key' }]]);
  assert.deepEqual(
    said.map((each) => each.split('\n', 1)[0]),
    [
      '? notes asks: Go on?',
      'note (notes asks in another session: tenon chat --session agent:main:other)',
      'note Answer with: yes or no · /dismiss puts it away',
      'note (answered elsewhere)',
      '? notes asks: And then?',
    ],
  );
});

test('what is shown is a line of the footer and a part of the panel, printed when it comes and not with every change', () => {
  const { people, said, hear } = world();
  const shown = { sessionKey: 'agent:main:here', extension: 'notes' };
  hear('ui.shown', { ...shown, status: 'at work', title: 'T\u0007', widget: { kind: 'progress', value: 0.5, label: 'Files' } });
  hear('ui.shown', { ...shown, status: 'at work', widget: { kind: 'progress', value: 1, label: 'Files' } });
  assert.deepEqual([people.status, people.title], [['notes: at work'], undefined]);
  assert.equal(said.length, 1);
  assert.match(people.panel(), /notes shows:\n {4}Files:\n {4}\[#{20}\] 100 %/);
  hear('ui.notified', { ...shown, level: 'error', message: 'It failed' });
  hear('ui.shown', shown);
  assert.deepEqual([people.status, people.panel()], [[], '']);
  assert.equal(said.at(-1), 'problem notes: It failed');
});
