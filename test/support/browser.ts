// A real Chromium: the system's where there is one, else the one that an npm package carries.
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'];

export async function openBrowser(): Promise<Browser> {
  const installed = INSTALLED.find((path) => existsSync(path));
  // It looks nothing up outside: a machine of tests may have no network.
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic'];
  const unconfined = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  if (installed) return chromium.launch({ executablePath: installed, args: [...quiet, ...unconfined] });
  const { default: packed } = await import('@sparticuz/chromium');
  // Not the package's own arguments: they switch off web security and run everything in one process.
  return chromium.launch({ executablePath: await packed.executablePath(), args: [...quiet, '--no-sandbox', '--disable-gpu'] });
}
