// The browser's entry. Before anything else the address is cleaned of what must not stay in it. The connection goes to
// the page's own origin: no part of an address says where.
import { createRoot } from 'react-dom/client';
import { CLIENT_VERSION } from '@tenon/client';
import { App } from './shell/app.tsx';
import { createPost, TOKEN_KEY } from './state/credentials.ts';
import { createPage } from './state/page.ts';
import { readAddress } from './state/route.ts';
import './tokens.css';
import './base.css';
import './shell/shell.css';
import './views/views.css';
import './chat/chat.css';

const { code, cleaned } = readAddress(location);
if (cleaned !== undefined) history.replaceState(null, '', cleaned);

const HIDDEN_FLUSH_MS = 250;

const page = createPage({
  socketUrl: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`,
  shelves: { lasting: lazyShelf(() => localStorage), tab: lazyShelf(() => sessionStorage) },
  post: createPost(fetch.bind(globalThis)),
  fetch: fetch.bind(globalThis),
  now: () => Date.now(),
  // A tab in the background gets no frames.
  soon: (run) => void (document.hidden ? setTimeout(run, HIDDEN_FLUSH_MS) : requestAnimationFrame(run)),
  version: CLIENT_VERSION,
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

// The keyboard of a phone takes its part of the page: the composer stays above it.
const { visualViewport: viewport } = globalThis;
viewport?.addEventListener('resize', () => {
  const { style } = document.documentElement;
  if (viewport.scale === 1) style.setProperty('--height', `${viewport.height}px`);
  else style.removeProperty('--height');
});

// A link that is pasted into this tab changes only what stands behind the #: nothing is loaded again. Before the views hear of it.
addEventListener('hashchange', ({ oldURL }) => {
  const { code: pasted, cleaned: left } = readAddress(location);
  if (left === undefined) return;
  const isSignedIn = page.store.get().identity !== undefined && page.store.get().connection.kind !== 'signed-out';
  const before = URL.parse(oldURL)?.hash ?? '';
  history.replaceState(null, '', isSignedIn && before.startsWith('#/') ? left + before : left);
  if (pasted !== undefined && !isSignedIn) void page.start(pasted);
});
addEventListener('storage', (event) => {
  if ((event.key === TOKEN_KEY || event.key === null) && event.newValue === null) page.signedOutElsewhere();
});
// Phones stop pages that are not looked at: come back at once, not when the next attempt is due.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && page.store.get().connection.kind === 'offline') page.link().retry();
});
addEventListener('online', () => {
  if (page.store.get().connection.kind === 'offline') page.link().retry();
});

void page.start(code);

createRoot(document.getElementById('root')!).render(<App page={page} />);

/** Reaching for storage throws where the browser has it switched off: every use is guarded, so reach late. */
function lazyShelf(shelf: () => Storage) {
  return {
    getItem: (key: string) => shelf().getItem(key),
    setItem: (key: string, value: string) => shelf().setItem(key, value),
    removeItem: (key: string) => shelf().removeItem(key),
    clear: () => shelf().clear(),
  };
}
