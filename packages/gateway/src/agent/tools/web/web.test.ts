// Pages from a local server that plays the public web: names and addresses are the test's own, the rest is real.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { systemClock } from '../../../kernel/clock.ts';
import { randomId } from '../../../kernel/ids.ts';
import { createSpool } from '../spool.ts';
import type { ToolOutput } from '../tool.ts';
import { refusalOf } from './address.ts';
import type { WebDeps } from './fetch-page.ts';
import { htmlToText } from './html-text.ts';
import { webFetchTool } from './web-fetch-tool.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Web extends AsyncDisposable {
  readonly connected: string[];
  fetch(url: string, signal?: AbortSignal): Promise<ToolOutput>;
  text(url: string): Promise<string>;
}

const PUBLIC = '93.184.216.34';

async function web(handler: Handler, more: Partial<WebDeps> = {}): Promise<Web> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'tenon-web-'));
  const connected: string[] = [];
  const deps: WebDeps = {
    clock: systemClock,
    resolve: async () => [PUBLIC],
    async connect(address, wantedPort) {
      connected.push(`${address}:${wantedPort}`);
      return connect(port, '127.0.0.1');
    },
    secure: (socket) => socket,
    ownAddresses: () => [],
    gatewayPort: () => 18789,
    allowPrivate: [],
    ...more,
  };
  const tool = webFetchTool(deps, createSpool(folder, randomId));
  const place = { sessionKey: 'agent:main:a', agentId: 'main', runId: 'r', callId: 'c', workspace: '/' };
  const fetch: Web['fetch'] = async (url, signal = new AbortController().signal) =>
    (await tool.prepare({ url }, place)).run({ signal, onUpdate() {} });
  return {
    connected,
    fetch,
    async text(url) {
      const [first] = (await fetch(url)).content;
      return first?.type === 'text' ? first.text : '';
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(body: string | Buffer, headers: Record<string, string> = { 'content-type': 'text/plain' }, status = 200): Handler {
  return (_, response) => response.writeHead(status, headers).end(body);
}

test('refusalOf knows what is not public, however it is written', () => {
  const refused = [
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '224.0.0.1',
    '255.255.255.255',
    '198.18.0.1',
    '192.0.2.1',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a00:1',
    '::ffff:169.254.169.254',
    '0:0:0:0:0:ffff:192.168.0.1',
    '::127.0.0.1',
    '::7f00:1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '100::1',
    'nonsense',
    '',
  ];
  for (const address of refused) assert.notEqual(refusalOf(address), undefined, address);
  for (const address of [PUBLIC, '1.1.1.1', '172.32.0.1', '::ffff:1.1.1.1', '2606:4700:4700::1111', '2a00:1450:4001::1'])
    assert.equal(refusalOf(address), undefined, address);
});

test('a page is told as text, with where it came from', async () => {
  await using site = await web(answer('<title>T</title><p>Hello <b>you</b>', { 'content-type': 'text/html; charset=utf-8' }));
  const output = await site.fetch('https://example.com/a?b=c#d');
  assert.equal(output.provenance, 'web_fetch example.com');
  assert.deepEqual(output.content, [{ type: 'text', text: 'https://example.com/a?b=c (HTTP 200)\n\nT\n\nHello you' }]);
  assert.deepEqual(site.connected, [`${PUBLIC}:443`]);
});

test('json and text come as they are, packed or not, in their own charset', async () => {
  for (const [body, headers, expected] of [
    ['{"a":1}', { 'content-type': 'application/json' }, '{"a":1}'],
    [gzipSync('packed'), { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, 'packed'],
    [brotliCompressSync('packed'), { 'content-type': 'text/markdown', 'content-encoding': 'br' }, 'packed'],
    [Buffer.from([0xe9]), { 'content-type': 'text/plain; charset=iso-8859-1' }, 'é'],
    ['none', {}, 'none'],
  ] as const) {
    await using site = await web(answer(body, { ...headers }));
    assert.equal((await site.text('http://example.com/')).split('\n\n')[1], expected);
  }
});

test('what is no text is refused, and an error of the server is told as one', async () => {
  await using image = await web(answer('x', { 'content-type': 'image/png' }));
  await assert.rejects(image.fetch('http://example.com/'), { code: 'NOT_TEXT' });
  await using binary = await web(answer(Buffer.from([1, 0, 2]), {}));
  await assert.rejects(binary.fetch('http://example.com/'), { code: 'NOT_TEXT' });
  await using missing = await web(answer('not here', { 'content-type': 'text/plain' }, 404));
  const output = await missing.fetch('http://example.com/');
  assert.equal(output.isError, true);
  assert.equal(output.details?.status, 404);
});

test('a page is cut at its bound, also when it is small until it is unpacked', async () => {
  await using bomb = await web(
    answer(gzipSync(Buffer.alloc(50_000_000, 97)), { 'content-type': 'text/plain', 'content-encoding': 'gzip' }),
  );
  const output = await bomb.fetch('http://example.com/');
  assert.equal(output.details?.bytes, 5_000_000);
  assert.match(JSON.stringify(output.content), /Only the first 5000000 bytes/);
});

test('redirects are followed a few times, and named', async () => {
  await using site = await web((request, response) => {
    const step = Number(request.url!.slice(1));
    if (step === 0) response.writeHead(200, { 'content-type': 'text/plain' }).end('there');
    else response.writeHead(302, { location: `https://other.example/${step - 1}` }).end();
  });
  const output = await site.fetch('http://example.com/2');
  assert.deepEqual(output.details?.redirected, ['http://example.com/2', 'https://other.example/1']);
  assert.equal(output.provenance, 'web_fetch other.example');
  await assert.rejects(site.fetch('http://example.com/9'), /more than 5 times/);
});

test('a page that never comes is given up, and one that is not wanted any more is dropped', async () => {
  const asked = Promise.withResolvers<void>();
  await using site = await web(() => asked.resolve());
  const stop = new AbortController();
  const dropped = assert.rejects(site.fetch('http://example.com/', stop.signal), /stopped/);
  await asked.promise;
  stop.abort(new Error('stopped'));
  await dropped;

  let timeUp = () => {};
  await using slow = await web(() => timeUp(), {
    clock: {
      ...systemClock,
      after(_, call) {
        timeUp = call;
        return { cancel() {} };
      },
    },
  });
  await assert.rejects(slow.fetch('http://example.com/'), { code: 'TIMEOUT' });
});

test('addresses that cannot be read or carry a name are refused', async () => {
  await using site = await web(answer('x'));
  for (const url of [
    'nonsense',
    '/a',
    'ftp://example.com',
    'file:///etc/passwd',
    'javascript:1',
    'http://user@example.com',
    'http://user:pw@example.com',
    'http://example.com@127.0.0.1/',
    'data:text/plain,x',
    `http://a/${'x'.repeat(5_000)}`,
  ])
    await assert.rejects(site.fetch(url), { name: 'ToolError' }, url);
  assert.deepEqual(site.connected, []);
});

test('htmlToText keeps the shape and leaves out what nobody reads', () => {
  const page = `<html><head><style>p{}</style><script>if (a < b) "</p>"</script></head><body><h2>Head &amp; more</h2><!-- hidden -->
    <ul><li>one<li>two</ul><p>a<br>b <a href="https://x.example/y?a=1&amp;b=2">link</a></p><pre>  keep
    this</pre><table><tr><td>1<td>2<tr><td>3</table><p>5 < 6 &#x41;&#66;&unknown; &nbsp; end`;
  assert.equal(
    htmlToText(page),
    '## Head & more\n\n- one\n- two\n\na\nb link (https://x.example/y?a=1&b=2)\n\n  keep\n    this\n\n| 1 | 2\n| 3\n\n5 < 6 AB&unknown; end',
  );
});

test('htmlToText takes time in proportion to the page', () => {
  const hostile = [
    '<',
    '<a',
    '<a href="',
    '<!--',
    '<script>',
    '</',
    '<p ',
    '&',
    '<a href=x ',
    '<pre>',
    '<x y="',
    "<a href='x'>",
    '<li>',
    '<script',
    '&#',
  ];
  for (const part of hostile) {
    const page = part.repeat(Math.floor(2_000_000 / part.length));
    assert.ok(htmlToText(page).length <= page.length * 2 + 10, part);
  }
});
