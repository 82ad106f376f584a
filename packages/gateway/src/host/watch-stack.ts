// What the main thread is doing, read from another thread through Node's inspector: it is paused for a moment, its stack is
// read, and it goes on. No port is opened. Where it does not run JavaScript (a system call, a regular expression), it cannot be
// paused, and nothing is known.
import { Session } from 'node:inspector';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The address of a module and the line in it, from the innermost out. */
export type Stack = readonly { readonly url: string; readonly line: number }[];

/** Contract: does not reject. */
export function readMainStack(withinMs: number): Promise<Stack | undefined> {
  return new Promise((resolve) => {
    const urls = new Map<string, string>();
    let session: Session | undefined;
    const timer = setTimeout(finish, withinMs);
    function finish(stack?: Stack): void {
      clearTimeout(timer);
      resolve(stack);
      try {
        // Also lets a thread go on that is paused.
        session?.disconnect();
      } catch {
        // It was never connected.
      }
    }
    try {
      session = new Session();
      session.connectToMainThread();
      session.on('Debugger.scriptParsed', ({ params }) => void urls.set(params.scriptId, params.url));
      session.on('Debugger.paused', ({ params }) => {
        const stack = params.callFrames.map(({ url, location }) => ({
          url: url || (urls.get(location.scriptId) ?? ''),
          line: location.lineNumber + 1,
        }));
        session?.post('Debugger.resume', () => finish(stack));
      });
      session.post('Debugger.enable', (error) => (error ? finish() : session?.post('Debugger.pause')));
    } catch {
      finish();
    }
  });
}

/** The innermost frame that is in one of the folders, and whose folder that is. */
export function codeInFolders(
  stack: Stack,
  folders: ReadonlyMap<string, string>,
): { readonly plugin: string; readonly code: string } | undefined {
  for (const { url, line } of stack) {
    const path = pathOf(url);
    if (path === undefined) continue;
    for (const [plugin, folder] of folders) {
      if (path.startsWith(`${folder}${sep}`)) return { plugin, code: `${relative(folder, path)}:${line}` };
    }
  }
  return undefined;
}

function pathOf(url: string): string | undefined {
  try {
    return url.startsWith('file:') ? fileURLToPath(new URL(url)) : undefined;
  } catch {
    return undefined;
  }
}
