// A real Chromium: the system's where there is one, else the one that an npm package carries.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'];

// It looks nothing up outside: a machine of tests may have no network.
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic'];

export interface TestBrowser extends AsyncDisposable {
  readonly browser: Browser;
}

export async function openBrowser(): Promise<TestBrowser> {
  const installed = INSTALLED.find((path) => existsSync(path));
  if (installed) {
    const unconfined = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const browser = await chromium.launch({ executablePath: installed, args: [...QUIET, ...unconfined] });
    return { browser, [Symbol.asyncDispose]: () => browser.close() };
  }
  // Unpacked once for all test files by `npm test`; a file that is run alone does it for itself.
  const shared = process.env.TENON_TEST_BROWSER;
  const folder = shared === undefined ? mkdtempSync(join(tmpdir(), 'tenon-browser-')) : undefined;
  const remove = () => folder !== undefined && rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  try {
    const executablePath = shared ?? (await unpack(folder!));
    // Not the package's own arguments: they switch off web security and run everything in one process.
    const browser = await chromium.launch({ executablePath, args: [...QUIET, '--no-sandbox', '--disable-gpu'] });
    return {
      browser,
      async [Symbol.asyncDispose]() {
        await browser.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** The browser of the package in that folder, for every test file of a run; nothing where the system has one. */
export async function unpackBrowser(folder: string): Promise<string | undefined> {
  if (INSTALLED.some((path) => existsSync(path))) return undefined;
  mkdirSync(folder);
  return unpack(folder);
}

/** The package unpacks into the folder for temporary files under a fixed name, where another user's copy may be. */
async function unpack(folder: string): Promise<string> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    const { default: packed } = await import('@sparticuz/chromium');
    return await packed.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}
