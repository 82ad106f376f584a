// Names of files as people give them: shown, sent in headers, never part of a path.
import { basename } from 'node:path';

const MAX_NAME = 255;

/** One line without folders and without what a terminal or a header would stumble over. Never empty. */
export function cleanFileName(name: string): string {
  const last = basename(name.replaceAll('\\', '/'));
  const shown = last
    .toWellFormed()
    // Control characters, and those that turn the reading direction: `gpj.exe` must not look like `exe.jpg`.
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .trim();
  const cut = [...shown].slice(0, MAX_NAME).join('').slice(0, MAX_NAME);
  return cut === '' || cut === '.' || cut === '..' ? 'file' : cut;
}

/** The header that makes a browser save a file under this name and never show it. */
export function attachmentDisposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%;]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
