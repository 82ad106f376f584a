// What people answer and write, in a real browser: the card of a question and the composer, by keyboard, pointer and finger.
// Nothing is behind them here; the page has its own tests.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  ask,
  called,
  type Gallery,
  openGallery,
  PHONE,
  picture,
  place,
  placeAtRest,
  set,
  settled,
  show,
  SOMETHING,
  stopClock,
  talk,
} from '../support/gallery.ts';
import { accessibilityFaults, becomes, until } from '../support/page.ts';
import { verifies } from '../support/verifies.ts';

let gallery: Gallery;

before(async () => {
  gallery = await openGallery();
});
after(() => gallery?.[Symbol.asyncDispose]());

test('an approval shows every byte of a long command, its end in reach, and makes hidden characters visible', async () => {
  verifies('S53');
  await using shown = await gallery.open();
  const { page } = shown;
  const long = `${'a'.repeat(200_000)}; rm -rf / #end`;
  await ask(page, {
    argv: ['sh', '-c', long, 'two\nlines', 'left\u202etfel', 'no\u200bspace', '', 'spelled \\u{202e}'],
    args: { stdin: 'x\u0007y' },
  });
  await page.locator('.argv-word').nth(7).waitFor();
  const words = await page.locator('.argv-word').allInnerTexts();
  assert.equal(words.length, 8);
  assert.equal(words[2], long);
  assert.deepEqual(words.slice(3), ['two\\u{a}lines', 'left\\u{202e}tfel', 'no\\u{200b}space', '(empty)', 'spelled \\u{202e}']);
  // What is spelled out is told from what was hidden.
  await becomes(() => page.locator('.argv mark').allInnerTexts(), ['\\u{a}', '\\u{202e}', '\\u{200b}']);
  await becomes(() => page.locator('.argv-index').allInnerTexts(), ['0', '1', '2', '3', '4', '5', '6', '7']);
  await becomes(() => page.locator('.exact-box').nth(1).innerText(), /stdin\s+x\\u\{7\}y/);
  const box = page.locator('.exact-box').first();
  await box.focus();
  await page.keyboard.press('End');
  await until('the end of the command', () =>
    page.evaluate(
      '(({ scrollTop, clientHeight, scrollHeight }) => scrollTop + clientHeight >= scrollHeight - 2)(document.querySelector(".exact-box"))',
    ),
  );
  await becomes(() => page.evaluate('getComputedStyle(document.querySelector(".argv-word")).textOverflow'), 'clip');
});

test('an approval takes the focus to its question, and its keys decide only when they are meant', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await show(page, { name: 'items', items: [{ kind: 'user', key: 'u', author: 'Mara', at: 0, text: 'Do it', state: 'sent' }] });
  await stopClock(page);
  await ask(page);
  const card = page.getByRole('alertdialog', { name: 'Run this command?' });
  await card.waitFor();
  await becomes(() => page.evaluate('document.activeElement.textContent'), 'Run this command?');
  await page.keyboard.press('a');
  await page.clock.runFor(200);
  await page.keyboard.press('d');
  await called(page, [], 'keys that were pressed as the card appeared');
  await page.clock.runFor(200);
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await called(page, [], 'the second key of another command');
  await page.clock.runFor(1_100);
  await page.keyboard.press('Control+a');
  await called(page, []);
  await page.keyboard.press('a');
  await called(page, ['decide approval-00000000aa allow-once']);
  await page.keyboard.press('d');
  await called(page, ['decide approval-00000000aa deny']);
  for (const [name, decision] of [
    ['Deny', 'deny'],
    ['Allow once', 'allow-once'],
    ['Always for exactly this', 'allow-always'],
  ] as const) {
    await card.getByRole('button', { name }).click();
    await called(page, [`decide approval-00000000aa ${decision}`]);
  }
});

test('a question that is out of sight takes no focus and no key', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await show(page, { name: 'items', items: talk(80) });
  const question = { kind: 'approval', key: 'ap', approval: { ...SOMETHING, id: 'approval-00000000cc', argv: ['ls'], expiresAt: 1 } };
  await stopClock(page);
  await page.getByRole('log').evaluate((log) => {
    (log as unknown as { scrollTop: number }).scrollTop = 0;
  });
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
  await show(page, { name: 'items', items: [...talk(80), question] });
  await becomes(() => page.evaluate('document.activeElement.tagName'), 'BODY');
  // Put there all the same, it decides nothing until it is seen.
  await page.evaluate('document.querySelector(".approval-title").focus({ preventScroll: true })');
  await page.clock.runFor(2_000);
  await page.keyboard.press('a');
  await called(page, []);
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await page.locator('.approval-title').focus();
  await page.clock.runFor(2_000);
  await page.keyboard.press('a');
  await called(page, ['decide approval-00000000cc allow-once']);
});

test('an approval takes nobody away from what they write, and letters typed there decide nothing', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await show(page, { name: 'items', items: [{ kind: 'user', key: 'u', author: 'Mara', at: 0, text: 'Do it', state: 'sent' }] });
  await page.getByRole('textbox').focus();
  await stopClock(page);
  await ask(page);
  await page.getByRole('alertdialog').waitFor();
  await page.clock.runFor(2_000);
  await page.keyboard.type('add a day');
  await becomes(() => page.getByRole('textbox').inputValue(), 'add a day');
  await called(page, []);
});

test('a decided approval folds to one line that keeps the focus, and opens again', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await show(page, { name: 'items', items: [{ kind: 'user', key: 'u', author: 'Mara', at: 0, text: 'Do it', state: 'sent' }] });
  await ask(page);
  await page.getByRole('alertdialog').waitFor();
  await ask(page, { state: 'allowed', decision: 'allow-once', decidedBy: 'Mara', decidedAt: await page.evaluate('gallery.now') });
  await becomes(() => page.getByRole('alertdialog').count(), 0);
  await becomes(() => page.locator('.approval-line').innerText(), /^Allowed once Run this command\?, Mara, 13:44\s+Details$/);
  await becomes(() => page.evaluate('document.activeElement.textContent'), 'Details');
  await page.keyboard.press('Enter');
  await becomes(() => page.locator('.argv-word').allInnerTexts(), ['ls', '-l']);
});

test('on a phone the answers to a long question stick to the bottom and are large enough to touch', async () => {
  await using shown = await gallery.open('light', PHONE);
  const { page } = shown;
  await ask(page, { argv: Array.from({ length: 200 }, (_, index) => `word-${index}`), reason: 'long '.repeat(100) });
  await page.getByRole('log').evaluate((log) => {
    (log as unknown as { scrollTop: number }).scrollTop = 0;
  });
  await placeAtRest(page);
  await picture(page, 'sticky-phone');
  const log = await page.getByRole('log').boundingBox();
  const jump = await page.getByRole('button', { name: 'Jump to latest' }).boundingBox();
  for (const name of ['Deny', 'Allow once', 'Always for exactly this']) {
    const box = await page.getByRole('button', { name }).boundingBox();
    assert.ok(box && log && jump);
    assert.ok(box.height >= 44, `${name} is ${box.height} high`);
    assert.ok(box.y > log.y && box.y + box.height <= log.y + log.height, `${name} at ${JSON.stringify(box)} in ${JSON.stringify(log)}`);
    assert.ok(jump.y + jump.height < box.y, `the way down lies over ${name}`);
  }
});

test('Enter sends, Shift+Enter makes a line, and an input method keeps its Enter', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await show(page, { name: 'items', items: [] });
  const text = page.getByRole('textbox');
  await text.click();
  await page.keyboard.press('Enter');
  await called(page, [], 'nothing is sent where nothing is written');
  await page.keyboard.type('one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('two');
  await page.keyboard.press('Enter');
  await called(page, ['send one\ntwo']);
  await page.keyboard.type('three');
  await page.keyboard.press('Control+Enter');
  await called(page, ['send three']);
  await set(page, { value: 'にほ' });
  await text.evaluate((each) =>
    (each as unknown as EventTarget).dispatchEvent(
      new (globalThis as never as { KeyboardEvent: new (name: string, init: object) => Event }).KeyboardEvent('keydown', {
        key: 'Enter',
        isComposing: true,
        bubbles: true,
        cancelable: true,
      }),
    ),
  );
  await called(page, []);
  await page.keyboard.press('Alt+ArrowUp');
  await becomes(() => text.inputValue(), 'the last one');
});

test('the composer grows with its text, up to a bound', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  const height = async () => (await page.getByRole('textbox').boundingBox())?.height ?? 0;
  const one = await height();
  await set(page, { value: 'a\nb\nc\nd' });
  await until('it has grown', async () => (await height()) > one * 3);
  await set(page, { value: 'a\n'.repeat(500) });
  await until('it keeps its bound', async () => (await height()) <= 344);
  await set(page, { value: '' });
  await becomes(() => height(), one);
});

test('two presses of Escape stop the turn, one does not; queueing goes on while it runs', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await show(page, { name: 'items', items: [] });
  await set(page, { busy: true });
  await page.getByRole('textbox').click();
  await stopClock(page);
  await page.keyboard.press('Escape');
  await page.clock.runFor(1_000);
  await page.keyboard.press('Escape');
  await called(page, [], 'one, and later another');
  await page.keyboard.press('Escape');
  await called(page, ['stop']);
  await page.getByRole('button', { name: 'Stop' }).click();
  await called(page, ['stop']);
  await page.keyboard.press('Tab');
  await page.getByRole('textbox').fill('later');
  await page.getByRole('button', { name: 'Queue' }).click();
  await called(page, ['send later']);
});

test('a slash offers the commands that fit, by keyboard and by pointer', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await show(page, { name: 'items', items: [] });
  const text = page.getByRole('textbox');
  const offered = page.getByRole('listbox', { name: 'Commands' });
  await text.click();
  await page.keyboard.type('/');
  await becomes(
    () => offered.getByRole('option').locator('code').allInnerTexts(),
    ['/help', '/model [id | default]', '/new [title]', '/stop'],
  );
  await becomes(() => accessibilityFaults(page), []);
  await page.keyboard.press('ArrowDown');
  await becomes(() => offered.getByRole('option', { selected: true }).innerText(), /model/);
  const selected = await offered.getByRole('option', { selected: true }).getAttribute('id');
  await becomes(() => text.getAttribute('aria-activedescendant'), selected);
  await page.keyboard.press('Enter');
  await becomes(() => text.inputValue(), '/model ');
  await becomes(() => offered.count(), 0);
  await text.fill('/st');
  await page.keyboard.press('Enter');
  await becomes(() => text.inputValue(), '/stop');
  await page.keyboard.press('Enter');
  await called(page, ['send /stop']);
  await text.fill('/he');
  await page.keyboard.press('Escape');
  await becomes(() => offered.count(), 0);
  await text.fill('/n');
  await offered.getByRole('option').first().click();
  await becomes(() => text.inputValue(), '/new ');
  await text.fill('!ls');
  await becomes(() => page.locator('.composer-hints').innerText(), /shell command/);
});

test('what may follow a command is offered as it is typed, and taken only by who chooses it', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await show(page, { name: 'items', items: [] });
  const text = page.getByRole('textbox');
  const offered = page.getByRole('listbox', { name: 'Suggestions' });
  await text.click();
  await page.keyboard.type('/mod');
  await page.keyboard.press('Tab');
  await becomes(() => text.inputValue(), '/model ');
  await becomes(() => offered.getByRole('option').locator('code').allInnerTexts(), ['/model demo', '/model default']);
  await becomes(() => page.locator('.composer [role=status].visually-hidden').innerText(), /2 suggestions/);
  await becomes(() => text.getAttribute('aria-activedescendant'), null);
  await becomes(() => accessibilityFaults(page), []);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await becomes(() => offered.getByRole('option', { selected: true }).innerText(), /default/);
  const selected = await offered.getByRole('option', { selected: true }).getAttribute('id');
  await becomes(() => text.getAttribute('aria-activedescendant'), selected);
  await page.keyboard.press('Enter');
  await becomes(() => text.inputValue(), '/model default');
  await becomes(() => offered.count(), 0);
  await text.fill('/model de');
  await offered.getByRole('option').first().waitFor();
  await page.keyboard.press('Escape');
  await becomes(() => offered.count(), 0);
  await text.fill('/model d');
  await offered.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await called(page, ['send /model d']);
});

test('files are attached from the clipboard and by picking them, and what does not fit is refused in words', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await show(page, { name: 'items', items: [] });
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Attach files' }).click()]);
  await chooser.setFiles([
    { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from('x') },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') },
  ]);
  await page.getByRole('textbox').evaluate((each) => {
    const { DataTransfer, File, ClipboardEvent } = globalThis as never as Record<
      string,
      new (
        ...args: unknown[]
      ) => { items: { add(file: unknown): void } }
    >;
    const clipboardData = new DataTransfer!();
    clipboardData.items.add(new File!(['x'], 'pasted.png', { type: 'image/png' }));
    (each as unknown as EventTarget).dispatchEvent(
      new ClipboardEvent!('paste', { clipboardData, bubbles: true, cancelable: true }) as unknown as Event,
    );
  });
  await called(page, ['files dot.png,notes.txt', 'files pasted.png']);
  await set(page, { filesReason: 'Files are still on their way', refused: ['huge.bin has 30 MB; a file may have 26 MB'] });
  await becomes(() => page.locator('.composer-hints').innerText(), /huge\.bin has 30 MB/);
  const button = page.getByRole('button', { name: 'Send' });
  await becomes(() => button.getAttribute('title'), 'Files are still on their way');
  await button.click({ force: true });
  await set(page, { filesReason: undefined });
  await button.click();
  await called(page, ['send '], 'files alone are a message, once they have arrived');
});

test('a closed composer says why, and keeps the text', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await set(page, { value: 'half a thou' });
  await set(page, { closed: { title: 'Not connected', detail: 'Next try in 4 s.', icon: 'offline' } });
  await becomes(() => page.getByRole('textbox').count(), 0);
  await becomes(() => page.getByRole('region', { name: 'Message' }).innerText(), /Not connected\s+Next try in 4 s\. Your text is kept\./);
  await set(page, { closed: undefined });
  await becomes(() => page.getByRole('textbox').inputValue(), 'half a thou');
});

test('the pickers change the model, the thinking and the permissions by keyboard', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await page.getByRole('combobox', { name: 'Model' }).selectOption('demo');
  await becomes(() => page.getByRole('combobox', { name: 'Model' }).inputValue(), 'demo');
  await becomes(() => page.getByRole('combobox', { name: 'Thinking' }).count(), 0, 'a model that does not think has nothing to choose');
  await becomes(() => page.getByRole('option', { name: 'far: no key' }).isDisabled(), true);
  await page.getByRole('combobox', { name: /without a question/ }).selectOption('bypass');
  await becomes(() => page.locator('.picker.tone-warn').count(), 1);
});

test('a question that appears is seen whole by who reads the end, however large it is', async () => {
  await using shown = await gallery.open('light', { viewport: { width: 390, height: 700 } });
  const { page } = shown;
  await show(page, { name: 'items', items: talk(40) });
  const question = {
    ...SOMETHING,
    id: 'approval-00000000bb',
    argv: Array.from({ length: 12 }, (_, index) => `word-${index}`),
    expiresAt: 1,
    reason: 'long '.repeat(60),
  };
  await show(page, { name: 'items', items: [...talk(40), { kind: 'approval', key: 'ap', approval: question }] });
  await settled(page);
  await until('the end is in sight', async () => (await place(page)).fromEnd <= 2);
  await becomes(() => page.getByRole('button', { name: 'Jump to latest' }).count(), 0);
});
