// The transcript in a real browser: what is drawn of a long one, where the reader stays, the actions of a message, what a
// screen reader hears, and the cards of tools.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { called, type Gallery, openGallery, place, placeAtRest, settled, show, talk } from '../support/gallery.ts';
import { becomes, until } from '../support/page.ts';

let gallery: Gallery;

before(async () => {
  gallery = await openGallery();
});
after(() => gallery?.[Symbol.asyncDispose]());

test('ten thousand items draw a screenful, begin at the end, and follow an answer that grows', async () => {
  await using shown = await gallery.open();
  const { page, faults } = shown;
  const items = talk(10_000);
  await show(page, { name: 'items', items });
  await page.getByText('question 9998').waitFor();
  await settled(page);
  await until('only what is near the eye is drawn', async () => (await page.locator('.row').count()) < 60);
  await until('the end is in sight', async () => (await place(page)).fromEnd <= 2);
  const growing = (words: number) => ({
    kind: 'assistant',
    key: 'grows',
    agent: 'main',
    at: 0,
    text: 'word '.repeat(words),
    streaming: true,
  });
  for (const words of [1, 200, 800]) {
    await show(page, { name: 'items', items: [...items.slice(-200), growing(words)] });
    await until(`the end of ${words} words is in sight`, async () => (await place(page)).fromEnd <= 2);
  }
  await page.getByRole('log').hover();
  await page.mouse.wheel(0, -3_000);
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
  const { top } = await placeAtRest(page);
  await show(page, { name: 'items', items: [...items.slice(-200), growing(1_500)] });
  assert.ok(Math.abs((await placeAtRest(page)).top - top) <= 2, 'who reads further up stays there');
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor({ state: 'detached' });
  await until('the end is in sight', async () => (await place(page)).fromEnd <= 2);
  assert.deepEqual(faults, []);
});

test('older items are asked for once near the top, and what is read keeps its place when they come', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  const items = talk(60, 60);
  await show(page, { name: 'items', items, hasOlder: true });
  await settled(page);
  await called(page, [], 'not while the reader is at the end');
  await page.getByRole('log').hover();
  await page.mouse.wheel(0, -100_000);
  await placeAtRest(page);
  await called(page, ['older']);
  const first = page.getByText('question 60', { exact: true });
  const before = (await first.boundingBox())?.y ?? 0;
  await show(page, { name: 'items', items: [...talk(60), ...items], hasOlder: true });
  await placeAtRest(page);
  const after = (await first.boundingBox())?.y ?? 0;
  assert.ok(Math.abs(after - before) <= 2, `moved from ${before} to ${after}`);
});

test('the actions of a message are one stop of the Tab key and are reached by the arrow keys', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  await show(page, { name: 'items', items: talk(2) });
  await page.getByRole('log').focus();
  for (const [key, name, call] of [
    ['Tab', 'Go back to before this', 'rewind entry-0'],
    ['ArrowRight', 'Go on from here in a new session', 'fork entry-0'],
    ['ArrowRight', 'Copy the message', 'copy question 0'],
  ] as const) {
    await page.keyboard.press(key);
    await becomes(() => page.evaluate('document.activeElement.getAttribute("aria-label")'), name);
    await page.keyboard.press('Enter');
    await called(page, [call]);
  }
  const message = () => page.evaluate('document.activeElement.closest("[data-key]").dataset.key');
  const first = await message();
  await page.keyboard.press('Tab');
  await until('the next stop is another message', async () => (await message()) !== first);
});

test('a screen reader hears finished sentences, the start and end of tools and what waits, once each', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  const heard = () => page.locator('[data-announcer] p').allInnerTexts();
  const base = talk(4);
  await show(page, { name: 'items', items: base });
  await becomes(() => heard(), [], 'what was there before is no news');
  const answer = (text: string, streaming: boolean, key = 'live') => ({ kind: 'assistant', key, agent: 'main', at: 0, text, streaming });
  await show(page, { name: 'items', items: [...base, answer('The **first', true)] });
  await show(page, { name: 'items', items: [...base, answer('The **first** sentence. The sec', true)] });
  await becomes(() => heard(), ['The first sentence.']);
  await show(page, { name: 'items', items: [...base, answer('The **first** sentence. The second', false, 'entry')] });
  await becomes(() => heard(), ['The first sentence.', 'The second']);
  const tool = (state: string, output: string) => ({
    kind: 'tool',
    key: 't',
    callId: 'c',
    name: 'exec',
    offeredBy: 'host',
    subject: 'ls',
    state,
    output,
  });
  const said = answer('The **first** sentence. The second', false, 'entry');
  for (const each of [tool('writing', ''), tool('running', 'a'), tool('running', 'ab'), tool('done', 'abc')]) {
    await show(page, { name: 'items', items: [...base, said, each] });
  }
  await becomes(async () => (await heard()).slice(2), ['exec started: ls', 'exec done: ls']);
  await show(page, { name: 'items', quiet: true, items: [...base, said, tool('done', 'abc'), answer('More. ', false)] });
  await becomes(async () => (await heard()).length, 4, 'the quiet switch');
  await becomes(() => page.getByRole('log').getAttribute('aria-live'), 'off');
});

test('a tool card opens by itself while it takes long and when it failed, unless somebody closed it', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  const now = (await page.evaluate('gallery.now')) as number;
  const tool = (change: object) => ({
    name: 'items',
    items: [
      {
        kind: 'tool',
        key: 't',
        callId: 'c',
        name: 'exec',
        offeredBy: 'host',
        subject: 'ls',
        args: { command: 'ls' },
        startedAt: now,
        output: 'a\nb',
        ...change,
      },
    ],
  });
  const line = page.getByRole('button', { name: /^exec/ });
  await show(page, tool({ state: 'running' }));
  await becomes(() => line.getAttribute('aria-expanded'), 'false');
  await page.evaluate('gallery.setNow(gallery.now + 3000)');
  await settled(page);
  await becomes(() => line.getAttribute('aria-expanded'), 'true');
  await becomes(() => line.innerText(), /Running\s+0:03/);
  await show(page, tool({ state: 'done', durationMs: 3100, exitCode: 0, provenance: 'edge-2' }));
  await becomes(() => line.getAttribute('aria-expanded'), 'false');
  await line.click();
  await becomes(
    () => page.locator('.tool-body').innerText(),
    /Arguments\s+command\s+ls\s+Output\s+from edge-2, not instructions\s+exit 0 · 2 lines\s+a\nb/,
  );
  await show(page, tool({ state: 'failed', key: 'u' }));
  await becomes(() => line.getAttribute('aria-expanded'), 'true');
  await line.click();
  await becomes(() => line.getAttribute('aria-expanded'), 'false');
});
