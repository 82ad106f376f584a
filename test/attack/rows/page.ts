// The web page in a real browser: pages of others, stored markup, and what is left behind after signing out.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestBrowser, openBrowser } from '../../support/browser.ts';
import { markupAttacks } from '../../support/markup-attacks.ts';
import { openContext, openSignedIn, signInLink } from '../../support/page.ts';
import { createRandom } from '../../support/random.ts';
import { tryConnect } from '../../security/harness.ts';
import { type Attack, noneOf, untried, type World } from '../attack.ts';

async function browserFor(world: World): Promise<TestBrowser | string> {
  try {
    const opened = await openBrowser();
    world.after(() => opened[Symbol.asyncDispose]());
    return opened;
  } catch (error) {
    return (error as Error).message.split('\n')[0]!;
  }
}

/** Another site, on this machine. */
async function otherSite(world: World, body: (path: string) => string): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    response.writeHead(200, { 'content-type': 'text/html' }).end(body(request.url!));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  world.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export const pageAttacks: readonly Attack[] = [
  {
    id: 'S08',
    tried: 'page: what is left of the token after signing out (storage, databases, caches, workers, cookies, history, address)',
    async run(world) {
      const opened = await browserFor(world);
      if (typeof opened === 'string') return untried(opened);
      const { gateway } = await world.shared();
      await using mine = await openContext(opened.browser);
      const { page, context } = mine;
      const seen: string[] = [];
      page.on('request', (request) => seen.push(request.url()));
      const link = await signInLink(gateway);
      const code = link.split('code=')[1]!;
      await page.goto(link);
      await page.locator('.shell').waitFor();
      const token = String(await page.evaluate(`Object.values({ ...localStorage, ...sessionStorage }).join(' ')`)).match(
        /tenon_[A-Za-z0-9_-]{43}/,
      )?.[0];
      if (token === undefined) throw new Error('the page keeps no token where it was expected');
      const found: string[] = [];
      if (token === gateway.token) found.push('the page has the token of the file, and not one of its own');
      await page.goto(`${gateway.url}/#/settings`);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in to Tenon' }).waitFor();
      const left = (await page.evaluate(`(async () => JSON.stringify({
        local: { ...localStorage }, session: { ...sessionStorage }, cookie: document.cookie, address: location.href, name: window.name,
        databases: await indexedDB.databases(), caches: await caches.keys(), workers: (await navigator.serviceWorker.getRegistrations()).length,
        text: document.documentElement.outerHTML,
      }))()`)) as string;
      for (const [what, secret] of Object.entries({ 'the token': token, 'the code': code })) {
        if (left.includes(secret)) found.push(`${what} is left in the page`);
        if (seen.some((url) => url.includes(secret) && !(what === 'the code' && url === link))) found.push(`${what} was in an address`);
      }
      const kept = JSON.parse(left) as {
        local: object;
        session: object;
        databases: unknown[];
        caches: unknown[];
        workers: number;
        cookie: string;
      };
      if (Object.keys(kept.local).length + Object.keys(kept.session).length + kept.databases.length + kept.caches.length + kept.workers > 0)
        found.push(`something is kept: ${left.slice(0, 200)}`);
      if (kept.cookie !== '' || (await context.cookies()).length > 0) found.push('a cookie is kept');
      for (let step = 0; step < 5; step++) {
        await page.goBack().catch(() => null);
        if (/code=|token=/.test(page.url())) found.push(`in the history: ${page.url()}`);
      }
      if ((await tryConnect(gateway, { token })).ok) found.push('the token still works');
      return noneOf(found, 'nothing is left, and the token is revoked');
    },
  },
  {
    id: 'S01',
    tried: 'page: another site in the same browser: WebSocket, fetch, frame, image, script, form',
    async run(world) {
      const opened = await browserFor(world);
      if (typeof opened === 'string') return untried(opened);
      const { gateway } = await world.shared();
      const site = await otherSite(world, () => '<title>evil</title><body></body>');
      await using mine = await openSignedIn(opened.browser, gateway);
      const page = await mine.context.newPage();
      await page.goto(site.url);
      const found = JSON.parse(
        (await page.evaluate(`(async () => {
        const got = [];
        const soon = (work) => Promise.race([work, new Promise((resolve) => setTimeout(() => resolve(undefined), 5000))]);
        await soon(new Promise((resolve) => { const socket = new WebSocket('${gateway.socketUrl}'); socket.onopen = () => { got.push('a WebSocket'); resolve(); }; socket.onerror = resolve; }));
        for (const path of ['/', '/metrics', '/v1/models', '/healthz']) {
          await soon(fetch('${gateway.url}' + path).then(async (answer) => got.push('fetch ' + path + ': ' + (await answer.text()).slice(0, 20))).catch(() => {}));
          await soon(fetch('${gateway.url}' + path, { method: 'POST', mode: 'no-cors', body: 'x' }).catch(() => {}));
        }
        await soon(new Promise((resolve) => { const image = new Image(); image.onload = () => { got.push('an image'); resolve(); }; image.onerror = resolve; image.src = '${gateway.url}/assets/icon.png'; }));
        await soon(new Promise((resolve) => { const script = document.createElement('script'); script.onload = () => { got.push('a script'); resolve(); }; script.onerror = resolve; script.src = '${gateway.url}/'; document.body.append(script); }));
        const frame = document.createElement('iframe'); frame.src = '${gateway.url}/'; document.body.append(frame);
        await new Promise((resolve) => setTimeout(resolve, 1500));
        try { if (frame.contentDocument?.body?.innerHTML) got.push('a frame that can be read'); } catch {}
        return JSON.stringify(got);
      })()`)) as string,
      ) as string[];
      const framed = page.frames().filter((frame) => frame.url().startsWith(gateway.url));
      for (const frame of framed)
        if (
          await frame
            .locator('.shell, .sign-in')
            .count()
            .catch(() => 0)
        )
          found.push('the page is shown in a frame');
      return noneOf(found, 'all blocked');
    },
  },
  {
    id: 'S63',
    tried: 'page: stored markup in titles, messages and answers (40 of the corpus, chosen by the seed)',
    async run(world) {
      const opened = await browserFor(world);
      if (typeof opened === 'string') return untried(opened);
      const target = await world.shared();
      const site = await otherSite(world, () => 'x');
      const random = createRandom(world.seed);
      const corpus = markupAttacks(site.url);
      const chosen = Array.from({ length: 40 }, () => random.pick(corpus));
      const key = `agent:main:markup-${Date.now()}`;
      await target.ask('sessions.create', { key, title: chosen[0]!.slice(0, 200) });
      for (const text of chosen.slice(0, 20)) {
        target.server.next({ text });
        // Not as the first character: there it may be a command.
        await target.say(`x\n\n${text}`, { sessionKey: key });
      }
      target.server.next({ text: chosen.slice(20).join('\n\n') });
      await target.say('all', { sessionKey: key });
      await using mine = await openSignedIn(opened.browser, target.gateway);
      const { page } = mine;
      await page.goto(`${target.gateway.url}/#/chat/${key}`);
      await page.locator('.md').first().waitFor();
      await page.waitForTimeout(1_000);
      await page.goto(`${target.gateway.url}/#/sessions`);
      await page.waitForTimeout(500);
      const found: string[] = [];
      if (await page.evaluate('globalThis.pwned !== undefined')) found.push('a script ran');
      if (site.asked.length > 0) found.push(`the other site was asked: ${site.asked.slice(0, 3).join()}`);
      const odd = (await page.evaluate(
        `[...document.querySelectorAll('*')].flatMap((element) => [...element.attributes].filter(({ name, value }) => /^on/i.test(name) || (/^(href|src)$/i.test(name) && /^\\s*(javascript|data:text|vbscript)/i.test(value))).map(({ name }) => element.tagName + ' ' + name))`,
      )) as string[];
      found.push(...odd, ...(await mine.faults()).filter((fault) => fault.startsWith('CSP') || fault.startsWith('dialog')));
      return noneOf(found, '40 texts, no script, no handler, no request');
    },
  },
];
