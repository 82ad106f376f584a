// What tells how the gateway does: the page at `/`, the two probes and the metrics.
import { json } from '../answer.ts';
import { createNonce } from '../headers.ts';
import type { Routes } from '../route.ts';
import { escapeHtml, statusPage } from '../status-page.ts';

export function createStatusRoutes(): Routes {
  return {
    '/': {
      method: 'GET',
      scope: 'none',
      async handle({ path, request }, { page, version, health, warnings }) {
        const built = await page.answer(path, request.headers['accept-encoding']);
        if (built) return { ...built, body: withWarnings(String(built.body), warnings) };
        const nonce = createNonce();
        const body = statusPage({ version, health: health.snapshot(), warnings, nonce });
        return { status: 200, type: 'text/html; charset=utf-8', nonce, body };
      },
    },
    // Alive: the process answers. Ready: it can also write.
    '/healthz': { method: 'GET', scope: 'none', handle: () => json(200, { ok: true }) },
    '/readyz': {
      method: 'GET',
      scope: 'none',
      handle(_, { ready }) {
        const state = ready();
        return json(state.ok ? 200 : 503, state);
      },
    },
    '/metrics': {
      method: 'GET',
      scope: 'operator.read',
      handle: (_, { metrics }) => ({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: metrics.render() }),
    },
  };
}

/** Where the page says what is less safe than the default: before anybody signs in, and without a script. */
const WARNINGS_MARK = '<!--WARNINGS-->';

function withWarnings(page: string, warnings: readonly string[]): string {
  return page.replace(WARNINGS_MARK, () => warnings.map((text) => `<p class="exposed" role="alert">${escapeHtml(text)}</p>`).join(''));
}
