// The web page in a real browser, as a person has it: signed in by a link, with everything recorded that must not happen
// (violations of the CSP, errors, dialogs), and with the ways to look at it that tests share.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { createClient } from '@tenon/client';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { GatewayProcess } from './gateway.ts';

export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What went wrong so far: CSP violations, uncaught errors, errors of the console, dialogs. */
  readonly faults: () => Promise<string[]>;
}

export const desktop = { width: 1440, height: 900 };
export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

/** A browser of its own, not signed in. */
export async function openContext(browser: Browser, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: desktop, ...options });
  const faults: string[] = [];
  await context.exposeFunction('tellFault', (text: string) => void faults.push(text));
  await context.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) => tellFault(['CSP', event.violatedDirective, event.blockedURI, event.sample].join(' ')));`,
  );
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`uncaught ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  return {
    page,
    context,
    // A round trip, so that what the page told before is here.
    faults: async () => {
      if (!page.isClosed()) await page.evaluate('0');
      return faults;
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** A fresh link for one sign-in. */
export async function signInLink(gateway: GatewayProcess): Promise<string> {
  const client = createClient({ url: gateway.socketUrl, token: gateway.token });
  try {
    await client.connect();
    return (await client.call('signin.create', {})).url;
  } finally {
    await client.close();
  }
}

export async function openSignedIn(browser: Browser, gateway: GatewayProcess, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const opened = await openContext(browser, options);
  await opened.page.goto(await signInLink(gateway));
  await opened.page.locator('.shell').waitFor();
  return opened;
}

export async function send(page: Page, text: string): Promise<void> {
  await page.locator('.composer textarea').fill(text);
  await page.locator('.composer textarea').press('Control+Enter');
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds, as lines; nothing when the page is accessible. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource);
  const { violations } = (await page.evaluate(`axe.run(document, { resultTypes: ['violations'] })`)) as AxeResults;
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ''}`));
}

/** Goes to a view of the page that is open, by its address: an address changes before what is shown. */
export async function goToView(page: Page, gateway: GatewayProcess, view: string): Promise<void> {
  await page.goto(`${gateway.url}/#/${view}`);
  await page.locator(`.shell[data-view="${view.split('/')[0]}"]`).waitFor();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await until(`${view} is loaded`, async () => (await page.locator('.skeleton').count()) === 0);
}

export async function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > window.innerWidth || document.body.scrollWidth > window.innerWidth');
}

/** Controls that are smaller than a finger or a pointer needs; links inside a sentence are as high as the sentence. */
export async function smallTargets(page: Page, leastPx: number): Promise<string[]> {
  return (await page.evaluate(`[...document.querySelectorAll('a, button, select, input, textarea, summary')].flatMap((element) => {
    const label = element.closest('label');
    const { width, height, bottom } = (label ?? element).getBoundingClientRect();
    const inSentence = element.closest('p, dd, .md') && getComputedStyle(element).display.startsWith('inline') && element.tagName !== 'SELECT' && !element.querySelector('svg');
    if (width === 0 || bottom < 0 || inSentence || element.closest('[inert], .visually-hidden')) return [];
    if (element.parentElement.matches('.field, .search-field, .palette-input')) return [];
    return width < ${leastPx} - 0.5 || height < ${leastPx} - 0.5 ? [Math.round(width) + 'x' + Math.round(height) + ' ' + element.outerHTML.slice(0, 120)] : [];
  })`)) as string[];
}

/** What keeps people from using what is on the screen, with the name of where that is: nothing, once it has been drawn. */
export async function faultsInView(page: Page, where: string, leastPx: number, allowed = /^$/): Promise<string[]> {
  const look = async () =>
    [
      ...(await accessibilityFaults(page)),
      ...((await scrollsSideways(page)) ? ['scrolls sideways'] : []),
      ...(await smallTargets(page, leastPx)).map((line) => `too small: ${line}`),
    ].filter((line) => !allowed.test(line));
  return (await lastOf(look, (found) => found.length === 0, SETTLING_MS)).map((line) => `${where} ${line}`);
}

// A machine with other work needs many times as long as one without.
const WAIT_MS = 30_000;
const SETTLING_MS = 10_000;

/** Waits until the condition holds. The wait is bounded; what it was about is in the message. */
export async function until(what: string, condition: () => Promise<boolean>, timeoutMs = WAIT_MS): Promise<void> {
  assert.ok(await lastOf(condition, Boolean, timeoutMs), `Not within ${timeoutMs} ms: ${what}`);
}

/** Waits until what is read is what is expected: a page, a file or a list of events gets there in its own time. */
export async function becomes<T>(read: () => Promise<T>, expected: T | RegExp, what?: string, timeoutMs = WAIT_MS): Promise<void> {
  const isThere = (value: T) => (expected instanceof RegExp ? expected.test(String(value)) : isDeepStrictEqual(value, expected));
  const last = await lastOf(read, isThere, timeoutMs);
  if (expected instanceof RegExp) assert.match(String(last), expected, what);
  else assert.deepEqual(last, expected, what);
}

async function lastOf<T>(read: () => Promise<T>, isThere: (value: T) => boolean, timeoutMs: number): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (isThere(value) || Date.now() >= deadline) return value;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
