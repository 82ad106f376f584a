import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { createLiveScreen, createPlainScreen } from './screen.ts';

// readline draws nothing for a terminal that calls itself dumb, as some that run tests do.
process.env.TERM = 'xterm';

const plain = (_style: string, text: string) => text;

/** As much of a terminal as readline and the screen use: text, line breaks, cursor moves, clearing below. */
function createTerminal(columns: number) {
  let rows: string[][] = [[]];
  let [row, column] = [0, 0];
  const put = (character: string) => {
    if (column === columns) [row, column] = [row + 1, 0];
    rows[row] ??= [];
    rows[row]![column++] = character;
  };
  const feed = (text: string) => {
    const escapeSign = String.fromCharCode(27);
    for (let at = 0; at < text.length; at++) {
      const [whole, count, letter] = text[at] === escapeSign ? (/^\[(\??\d*)(?:;\d+)?([A-Za-z])/.exec(text.slice(at + 1)) ?? []) : [];
      if (whole !== undefined) {
        const n = Number(count || '1');
        if (letter === 'A') row = Math.max(0, row - n);
        else if (letter === 'B') row += n;
        else if (letter === 'C') column += n;
        else if (letter === 'D') column = Math.max(0, column - n);
        else if (letter === 'G') column = n - 1;
        else if (letter === 'J' && (count === '' || count === '0')) rows = [...rows.slice(0, row), (rows[row] ?? []).slice(0, column)];
        else if (letter === 'K') rows[row] = (rows[row] ?? []).slice(0, column);
        else assert.fail(`unknown sequence ${JSON.stringify(whole)}`);
        at += whole.length;
      } else if (text[at] === '\n') [row, column] = [row + 1, 0];
      else if (text[at] === '\r') column = 0;
      else put(text[at]!);
      for (let index = 0; index <= row; index++) rows[index] ??= [];
    }
  };
  return {
    feed,
    lines: () =>
      rows.map((cells) =>
        Array.from(cells, (cell) => cell ?? ' ')
          .join('')
          .trimEnd(),
      ),
    cursor: () => [row, column],
  };
}

function openLive(t: TestContext, columns = 40) {
  const terminal = createTerminal(columns);
  const output = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        terminal.feed(chunk.toString());
        done();
      },
    }),
    { columns, rows: 24, isTTY: true },
  );
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} });
  const editor = createInterface({ input, output, terminal: true, prompt: '' });
  t.after(() => editor.close());
  const screen = createLiveScreen({ editor, output, style: plain });
  screen.prompt('> ');
  return { terminal, screen, editor };
}

test('text streams above the line that is being typed, which stays whole with its cursor', (t) => {
  const { terminal, screen, editor } = openLive(t);
  editor.write('half a mes');
  for (const delta of ['Hello ', 'you, this is a text that ', 'is longer than a row\nand has ', 'lines']) screen.text(delta);
  assert.deepEqual(terminal.lines(), ['Hello you, this is a text that is', 'longer than a row', 'and has lines', '> half a mes']);
  assert.deepEqual(terminal.cursor(), [3, 12]);
  editor.write('sage');
  screen.endText();
  screen.line('a line');
  assert.deepEqual(terminal.lines().slice(2), ['and has lines', 'a line', '> half a message']);
});

test('the footer is drawn anew and leaves nothing behind', (t) => {
  const { terminal, screen, editor } = openLive(t);
  screen.footer(['running 1s', 'working']);
  editor.write('typed');
  screen.footer(['running 2s', 'working']);
  screen.text('an answer ');
  assert.deepEqual(terminal.lines(), ['an answer', 'running 2s', 'working', '> typed']);
  screen.footer([]);
  screen.line('done');
  assert.deepEqual(terminal.lines(), ['an answer', 'done', '> typed']);
});

test('a typed line of several rows does not eat what stands above it', (t) => {
  const { terminal, screen, editor } = openLive(t, 20);
  screen.line('first');
  editor.write('x'.repeat(50));
  screen.line('second');
  screen.text('third');
  screen.endText();
  assert.deepEqual(terminal.lines(), ['first', 'second', 'third', `> ${'x'.repeat(18)}`, 'x'.repeat(20), 'x'.repeat(12)]);
});

test('a line that was entered is taken off the screen, with the footer, for every length', (t) => {
  for (const length of [0, 5, 17, 18, 19, 38, 60]) {
    const { terminal, screen, editor } = openLive(t, 20);
    screen.line('above');
    screen.footer(['footer']);
    const entered: string[] = [];
    editor.on('line', (line) => {
      screen.takeBack(line);
      entered.push(line);
      screen.footer([]);
      screen.line(`said ${line.length}`);
    });
    editor.write(`${'y'.repeat(length)}\n`);
    assert.deepEqual(entered, ['y'.repeat(length)]);
    assert.deepEqual(terminal.lines(), ['above', `said ${length}`, '>'], String(length));
  }
});

test('closing leaves the conversation and nothing else', (t) => {
  const { terminal, screen } = openLive(t);
  screen.footer(['working']);
  screen.text('the end');
  screen.close();
  screen.line('never shown');
  assert.deepEqual(terminal.lines(), ['the end', '']);
});

test('the plain screen only adds, and begins each thing on a line of its own', () => {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const screen = createPlainScreen({ write, style: plain });
  screen.text('an ');
  screen.text('answer\u001b[2J');
  screen.line('a line');
  screen.text('more\n');
  screen.endText();
  screen.footer(['never']);
  assert.equal(written, 'an answer\\u{1b}[2J\na line\nmore\n');
});
