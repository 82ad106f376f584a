// The port: web pages of others, rebound names, smuggled requests, frames that are too large, credentials that are none.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  assertStrictHeaders,
  connectDevice,
  createDevice,
  exchange,
  frameBytes,
  mintToken,
  newAddress,
  openBare,
  openByHand,
  requestText,
  tryConnect,
  upgradeHeaders,
} from '../../security/harness.ts';
import { connectParams, connectRaw, openRaw } from '../../support/raw-client.ts';
import { type Attack, noneOf } from '../attack.ts';
import { residentBytes } from '../observe.ts';
import { CANARY } from '../target.ts';

const matrix = JSON.parse(readFileSync(join(import.meta.dirname, '../../security/scope-matrix.json'), 'utf8')) as Record<string, string[]>;

export const networkAttacks: readonly Attack[] = [
  {
    id: 'S01',
    tried: 'a socket and a request from 14 foreign web origins',
    quick: true,
    async run(world) {
      const { gateway } = await world.shared();
      const { port } = gateway;
      const origins = [
        'https://evil.example',
        'null',
        '',
        'http://localhost.evil.example',
        `http://127.0.0.1:${port + 1}`,
        'http://127.0.0.1',
        `https://127.0.0.1:${port}`,
        `http://127.0.0.1:${port}.evil.example`,
        `http://127.0.0.1:${port}@evil.example`,
        `http://evil.example#http://127.0.0.1:${port}`,
        `http://127.0.0.1:${port}, http://evil.example`,
        `http://0.0.0.0:${port}`,
        'file://',
        'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
      ];
      const found: string[] = [];
      for (const Origin of origins) {
        const upgrade = await exchange(gateway, requestText(gateway, '/', { headers: { ...upgradeHeaders, Origin } }), newAddress());
        const plain = await exchange(gateway, requestText(gateway, '/', { headers: { Origin } }), newAddress());
        if (upgrade.status !== 403 || plain.status !== 403) found.push(`Origin ${Origin}: ${upgrade.status}, ${plain.status}`);
      }
      return noneOf(found, `${origins.length} origins, all refused`);
    },
  },
  {
    id: 'S02',
    tried: 'a rebound name: 11 values of Host',
    quick: true,
    async run(world) {
      const { gateway } = await world.shared();
      const { port } = gateway;
      const hosts = [
        `evil.example:${port}`,
        'evil.example',
        '127.0.0.1',
        `127.0.0.1:${port + 1}`,
        `localhost.:${port}`,
        `127.0.0.1:${port}.evil.example`,
        `evil.example@127.0.0.1:${port}`,
        `0x7f.1:${port}`,
        `2130706433:${port}`,
        `[::ffff:127.0.0.1]:${port}`,
        '',
      ];
      const found: string[] = [];
      for (const Host of hosts) {
        const { status } = await exchange(gateway, requestText(gateway, '/', { headers: { Host } }), newAddress());
        const upgrade = await exchange(gateway, requestText(gateway, '/', { headers: { Host, ...upgradeHeaders } }), newAddress());
        if (status < 400 || upgrade.status < 400) found.push(`Host ${Host}: ${status}, ${upgrade.status}`);
      }
      return noneOf(found, `${hosts.length} names, all refused`);
    },
  },
  {
    id: 'S05',
    tried: 'a form, an image and a fetch of another site at every route',
    quick: true,
    async run(world) {
      const { gateway } = await world.shared();
      const found: string[] = [];
      for (const path of [
        '/',
        '/healthz',
        '/readyz',
        '/metrics',
        '/v1/models',
        '/v1/chat/completions',
        '/api/sign-in',
        '/api/sign-out',
        '/api/ui/request',
        '/api/ui/answer',
      ]) {
        for (const [method, mode] of [
          ['GET', 'no-cors'],
          ['POST', 'no-cors'],
          ['OPTIONS', 'cors'],
        ] as const) {
          const headers = {
            Origin: 'https://evil.example',
            'Sec-Fetch-Site': 'cross-site',
            'Sec-Fetch-Mode': mode,
            'Content-Type': 'text/plain',
            'Content-Length': '0',
          };
          const answer = await exchange(gateway, requestText(gateway, path, { method, headers }), newAddress());
          if (answer.status < 400) found.push(`${method} ${path}: ${answer.status}`);
          if ('access-control-allow-origin' in answer.headers) found.push(`${path} allows other sites`);
        }
      }
      return noneOf(found, '30 requests, all refused');
    },
  },
  {
    id: 'S27',
    tried: 'reach /metrics and files by 40 spellings of a path',
    quick: true,
    async run(world) {
      const { gateway } = await world.shared();
      const targets = [
        '//metrics',
        '/metrics/',
        '/./metrics',
        '/../metrics',
        '/healthz/../metrics',
        '/healthz/..%2fmetrics',
        '/healthz/%2e%2e/metrics',
        '/%2e/metrics',
        '/%6detrics',
        '/%256detrics',
        '/metrics%00',
        '/metrics%20',
        '/metrics%2f',
        '/metrics.',
        '/metrics;',
        '/metrics;jsessionid=1',
        '/metrics\\',
        '/\\metrics',
        '/METRICS',
        '/metrics%3f',
        '/%2fmetrics',
        '/metrics%c0%af',
        '/..%c0%af../etc/passwd',
        '/../../../../etc/passwd',
        '/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
        '/..%252f..%252fetc/passwd',
        '/assets/../../token',
        '/assets/%2e%2e/%2e%2e/token',
        '/assets/..%5c..%5ctoken',
        '/tenon.db',
        '/token',
        '/.env',
        '*',
        'metrics',
        '@127.0.0.1/metrics',
        '/metrics\t',
        '/\x00metrics',
        'http://evil.example/metrics',
        '/v1/../metrics',
        '/api/..;/metrics',
      ];
      const found: string[] = [];
      for (const target of targets) {
        const { status, body } = await exchange(
          gateway,
          Buffer.from(requestText(gateway, target, { headers: { 'X-Original-URL': '/metrics', 'X-Rewrite-URL': '/metrics' } })),
          newAddress(),
        );
        if (/^tenon_|root:|SQLite format/m.test(body) || body.includes(gateway.token) || status === 200)
          found.push(`${JSON.stringify(target)}: ${status}`);
      }
      return noneOf(found, `${targets.length} spellings, none answered`);
    },
  },
  {
    id: 'S16',
    tried: 'smuggle a second request behind 15 malformed ones',
    quick: true,
    async run(world) {
      const { gateway } = await world.shared();
      const host = `Host: 127.0.0.1:${gateway.port}\r\n`;
      const second = `GET /metrics HTTP/1.1\r\n${host}Authorization: Bearer ${gateway.token}\r\nConnection: close\r\n\r\n`;
      const smuggled: Record<string, string> = {
        'two lengths': `POST / HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: ${second.length}\r\n\r\n${second}`,
        'length and chunks': `POST / HTTP/1.1\r\n${host}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${second}`,
        'chunked in other words': `POST / HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${second}`,
        'chunked twice': `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${second}`,
        'a space before the colon': `POST / HTTP/1.1\r\n${host}Content-Length : 0\r\n\r\n${second}`,
        'a folded header': `POST / HTTP/1.1\r\n${host}X: a\r\n Content-Length: 0\r\n\r\n${second}`,
        'a bare line feed': `POST / HTTP/1.1\n${host}Content-Length: 0\n\n${second}`,
        'a bare carriage return': `POST / HTTP/1.1\r\n${host}X: a\rContent-Length: 0\r\n\r\n${second}`,
        'a negative length': `POST / HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n${second}`,
        'a length in hexadecimal': `POST / HTTP/1.1\r\n${host}Content-Length: 0x0\r\n\r\n${second}`,
        'a plus sign': `POST / HTTP/1.1\r\n${host}Content-Length: +0\r\n\r\n${second}`,
        'a chunk of a huge size': `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n\r\n${second}`,
        'a version that does not exist': `POST / HTTP/9.9\r\n${host}\r\n${second}`,
        'no version': `GET /\r\n${host}\r\n${second}`,
        'a zero in a header': `POST / HTTP/1.1\r\n${host}X: a\0b\r\nContent-Length: 0\r\n\r\n${second}`,
      };
      const found: string[] = [];
      for (const [what, bytes] of Object.entries(smuggled)) {
        const { body } = await exchange(gateway, Buffer.from(bytes, 'latin1'), newAddress());
        if (/^# (HELP|TYPE) /m.test(body)) found.push(`${what}: the second request was answered`);
      }
      return noneOf(found, `${Object.keys(smuggled).length} requests, no second one answered`);
    },
  },
  {
    id: 'S67',
    tried: 'find an answer without the strict headers',
    quick: true,
    async run(world) {
      const { gateway } = await world.shared();
      const found: string[] = [];
      for (const path of ['/', '/healthz', '/readyz', '/metrics', '/v1/models', '/nowhere', '/api/sign-in']) {
        try {
          assertStrictHeaders(await exchange(gateway, requestText(gateway, path), newAddress()), path);
        } catch (error) {
          found.push((error as Error).message.split('\n')[0]!);
        }
      }
      return noneOf(found, 'all have them');
    },
  },
  {
    id: 'S19',
    tried: 'get in with 12 credentials that are none, on the socket and on /v1',
    quick: true,
    async run(world) {
      const { gateway } = await world.shared();
      const tokens = [
        undefined,
        ' ',
        'undefined',
        'null',
        'admin',
        gateway.token.slice(0, -1),
        `${gateway.token}x`,
        gateway.token.toUpperCase(),
        ` ${gateway.token}`,
        `Bearer ${gateway.token}`,
        'x'.repeat(512),
        '__proto__',
      ];
      const found: string[] = [];
      for (const token of tokens) {
        const more = { scopes: ['operator.admin'], client: { id: 'control-ui', version: '1', platform: 'web', mode: 'control-ui' } };
        const answer = await tryConnect(gateway, { ...(token === undefined ? {} : { token }), from: newAddress(), more }).catch(
          () => undefined,
        );
        if (answer?.ok) found.push(`the socket took ${JSON.stringify(token)}`);
        const headers = token === undefined ? {} : { Authorization: `Bearer ${token}x` };
        const http = await exchange(
          gateway,
          requestText(gateway, '/v1/models', { headers: headers as Record<string, string> }),
          newAddress(),
        );
        if (http.status === 200) found.push(`/v1 took ${JSON.stringify(token)}`);
      }
      return noneOf(found, `${tokens.length} credentials, all refused`);
    },
  },
  {
    id: 'S18',
    tried: 'connect as a node, with a role of another name, with scopes of its own choice',
    quick: true,
    async run(world) {
      const { gateway, admin } = await world.shared();
      const { token } = await mintToken(admin, ['operator.read']);
      const found: string[] = [];
      for (const [who, credential] of [
        ['the token of the file', gateway.token],
        ['a token that may read', token],
      ] as const) {
        for (const role of ['node', 'admin', 'operator.admin', '__proto__', 'Operator']) {
          const client = await openRaw(gateway.socketUrl, { localAddress: newAddress() });
          const hello = await client.request('connect', connectParams(credential, { role, scopes: ['operator.admin'] }), 'connect');
          const scopes = (hello.payload?.auth?.scopes ?? []) as string[];
          if (hello.ok && scopes.some((scope) => scope.startsWith('operator.'))) found.push(`${who} as ${role}: ${scopes.join(', ')}`);
          await client.close();
        }
      }
      const client = await connectRaw(gateway.socketUrl, token, { scopes: ['operator.admin'] });
      if ((await client.request('tokens.list', {})).ok) found.push('scopes of its own choice counted');
      await client.close();
      return noneOf(found, 'no role but the one of an operator has its scopes');
    },
  },
  {
    id: 'S82',
    tried: '/metrics without a token, with a wrong one, with one that may do nothing',
    quick: true,
    async run(world) {
      const { gateway, admin } = await world.shared();
      const { token } = await mintToken(admin, []);
      const found: string[] = [];
      for (const [what, headers] of Object.entries({
        'no token': {},
        'a wrong one': { Authorization: 'Bearer wrong' },
        'one without scopes': { Authorization: `Bearer ${token}` },
      })) {
        const { status, body } = await exchange(
          gateway,
          requestText(gateway, '/metrics', { headers: headers as Record<string, string> }),
          newAddress(),
        );
        if (status === 200 || body.includes('tenon_')) found.push(`${what}: ${status}`);
      }
      const right = await exchange(gateway, requestText(gateway, '/metrics', { headers: { Authorization: `Bearer ${gateway.token}` } }));
      if (right.status !== 200) throw new Error(`the right token gets ${right.status}`);
      if (right.body.includes(CANARY) || right.body.includes(gateway.token)) found.push('a secret is in the metrics');
      return noneOf(found, 'refused without a token that may read');
    },
  },
  {
    id: 'S15',
    tried: 'frames over the limit: before and after connect, in pieces, packed, announced',
    quick: true,
    async run(world) {
      const { gateway } = await world.shared();
      const connect = JSON.stringify({ type: 'req', id: 'connect', method: 'connect', params: connectParams(gateway.token) });
      const big = (bytes: number) => 'x'.repeat(bytes);
      const before: Record<string, readonly Buffer[]> = {
        'one frame before connect': [frameBytes(big(16_385))],
        'fragments before connect': Array.from({ length: 40 }, (_, at) => frameBytes(big(1_000), { opcode: at === 0 ? 1 : 0, fin: false })),
        'an announced terabyte': [frameBytes('', { announced: 2 ** 40 })],
      };
      const after: Record<string, readonly Buffer[]> = {
        'one frame after connect': [frameBytes(big(1_048_577))],
        'fragments after connect': Array.from({ length: 12 }, (_, at) =>
          frameBytes(big(100_000), { opcode: at === 0 ? 1 : 0, fin: false }),
        ),
        'a packed frame': [frameBytes(big(100), { rsv1: true })],
        'an unknown opcode': [frameBytes('x', { opcode: 3 })],
      };
      const memory = residentBytes(gateway.pid).now;
      const found: string[] = [];
      for (const [what, frames] of [...Object.entries(before), ...Object.entries(after)]) {
        await using hand = await openByHand(gateway, newAddress());
        if (what in after) {
          hand.socket.write(frameBytes(connect));
          while (!hand.received().includes('hello-ok')) await new Promise((resolve) => setTimeout(resolve, 5));
        }
        for (const frame of frames) hand.socket.write(frame);
        const code = await Promise.race([hand.closeCode, new Promise<number>((resolve) => setTimeout(() => resolve(0), 10_000).unref())]);
        if (![1009, 1002].includes(code)) found.push(`${what}: closed with ${code}`);
      }
      const grown = residentBytes(gateway.pid).now - memory;
      if (grown > 60_000_000) found.push(`the gateway grew by ${Math.round(grown / 1e6)} MB`);
      return noneOf(found, 'all closed with 1009 or 1002');
    },
  },
  {
    id: 'S16',
    tried: '2,500 headers; a header of 64 KiB; a URL of 100 KB',
    quick: true,
    async run(world) {
      const { gateway } = await world.shared();
      const requests = {
        'many headers': requestText(gateway, '/', {
          headers: Object.fromEntries(Array.from({ length: 2_500 }, (_, at) => [`X-${at}`, 'y'])),
        }),
        'a long header': requestText(gateway, '/', { headers: { ...upgradeHeaders, 'Sec-WebSocket-Protocol': 'x'.repeat(65_536) } }),
        'a long address': requestText(gateway, `/${'x'.repeat(100_000)}`),
      };
      const found: string[] = [];
      for (const [what, text] of Object.entries(requests)) {
        const { status } = await exchange(gateway, text, newAddress());
        if (status !== 0 && status < 400) found.push(`${what}: ${status}`);
      }
      return noneOf(found, 'all refused');
    },
  },
  {
    id: 'S13',
    tried: 'half a request line, an upgrade and then silence, half a first frame',
    async run(world) {
      const { gateway } = await world.shared();
      const found: string[] = [];
      const closes = async (what: string, bytes: string | Buffer) => {
        await using bare = await openBare(gateway, newAddress());
        bare.socket.write(bytes);
        const isClosed = await Promise.race([
          bare.ended.then(() => true),
          new Promise<false>((resolve) => setTimeout(() => resolve(false), 20_000).unref()),
        ]);
        if (!isClosed) found.push(`${what} is open after 20 s`);
      };
      const upgrade = requestText(gateway, '/', { headers: upgradeHeaders });
      await Promise.all([
        closes('half a request line', 'GET / HT'),
        closes('half a header', 'GET / HTTP/1.1\r\nHost: '),
        closes('an upgrade and silence', upgrade),
        closes('half a first frame', Buffer.concat([Buffer.from(upgrade), frameBytes('x'.repeat(100), { announced: 1_000 })])),
      ]);
      return noneOf(found, 'all closed');
    },
  },
  {
    id: 'S26',
    tried: 'hostile JSON in frames: deep, wide, reserved keys, 1e400, lone surrogates, duplicates',
    quick: true,
    async run(world) {
      const { gateway } = await world.shared();
      const found: string[] = [];
      const texts = {
        deep: `{"type":"req","id":"1","method":"health","params":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
        wide: `{"type":"req","id":"1","method":"health","params":{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":1`).join()}}}`,
        proto: '{"type":"req","id":"1","method":"system.echo","params":{"text":"x","__proto__":{"polluted":1}}}',
        constructor:
          '{"type":"req","id":"1","method":"system.echo","params":{"text":"x","a":{"constructor":{"prototype":{"polluted":1}}}}}',
        number: '{"type":"req","id":"1","method":"system.echo","params":{"text":1e400}}',
        surrogate: '{"type":"req","id":"1","method":"system.echo","params":{"text":"\\ud800"}}',
        duplicate: '{"type":"req","id":"1","method":"health","method":"gateway.shutdown","params":{}}',
      };
      for (const [what, text] of Object.entries(texts)) {
        await using client = await connectRaw(gateway.socketUrl, gateway.token);
        const answer = client.find((frame) => frame.type === 'res' && frame.id !== 'connect').catch(() => undefined);
        client.socket.send(text);
        const got = await Promise.race([answer, client.closed.then(() => undefined)]);
        if (got?.ok) found.push(`${what} was taken`);
      }
      return noneOf(found, `${Object.keys(texts).length} frames, all refused`);
    },
  },
  {
    id: 'S23',
    tried: 'every method with a token of every single scope',
    async run(world) {
      const { gateway, admin } = await world.shared();
      const found: string[] = [];
      let tried = 0;
      for (const scope of [undefined, 'operator.read', 'operator.write', 'operator.approvals', 'operator.pairing']) {
        const { token } = await mintToken(admin, scope === undefined ? [] : [scope]);
        // More than a few refusals on one socket are throttled.
        let client = await connectRaw(gateway.socketUrl, token);
        for (const [at, [method, allowed]] of Object.entries(matrix).entries()) {
          if (at % 40 === 39) {
            await client.close();
            client = await connectRaw(gateway.socketUrl, token);
          }
          if (allowed.includes(scope ?? '(no scope)')) continue;
          tried++;
          const { ok, error } = await client.request(method, {});
          if (ok || !['SCOPE', 'RATE_LIMITED', 'UNAUTHORIZED', 'UNAVAILABLE'].includes(error!.code))
            found.push(`${method} with ${scope ?? 'no scope'}: ${ok ? 'answered' : error!.code}`);
        }
        await client.close();
      }
      return noneOf(found, `${tried} pairs beyond the table, all refused`);
    },
  },
  {
    id: 'S24',
    tried: 'reach another session with a token that is bound to one (20 ways)',
    quick: true,
    async run(world) {
      const { gateway, admin } = await world.shared();
      const [own, other] = [`agent:main:own-${Date.now()}`, `agent:main:other-${Date.now()}`];
      for (const key of [own, other]) await admin.request('sessions.create', { key, title: CANARY });
      const { token } = await mintToken(admin, ['operator.admin'], { sessionKey: own });
      await using bound = await connectRaw(gateway.socketUrl, token);
      const ways: [string, object][] = [
        ['sessions.get', { key: other }],
        ['sessions.patch', { key: other, title: 'mine' }],
        ['sessions.reset', { key: other }],
        ['sessions.delete', { key: other }],
        ['sessions.export', { key: other }],
        ['sessions.tree', { key: other }],
        ['sessions.compact', { key: other }],
        ['sessions.fork', { key: other, newKey: `${own}-fork` }],
        ['chat.history', { sessionKey: other }],
        ['chat.send', { sessionKey: other, message: 'x', idempotencyKey: 'x' }],
        ['chat.inject', { sessionKey: other, message: 'x' }],
        ['chat.abort', { sessionKey: other }],
        ['agent', { message: 'x', sessionKey: other, idempotencyKey: 'y' }],
        ['tools.effective', { sessionKey: other }],
        ['commands.invoke', { sessionKey: other, text: '/status' }],
        ['plugins.list', {}],
        ['tokens.create', { name: 'x', scopes: ['operator.admin'] }],
        ['config.patch', { set: { 'log.level': 'debug' } }],
        ['approvals.list', { sessionKey: other }],
        ['gateway.shutdown', {}],
      ];
      const found: string[] = [];
      for (const [method, params] of ways) {
        const answer = await bound.request(method, params);
        if (answer.ok && !(method === 'approvals.list' && answer.payload.approvals.length === 0)) found.push(method);
      }
      const { payload } = await bound.request('sessions.list', {});
      if (payload.sessions.some(({ key }: { key: string }) => key !== own)) found.push('sessions.list');
      if (bound.frames.some((frame) => JSON.stringify(frame).includes(other) && frame.type === 'event'))
        found.push('an event of the other session');
      return noneOf(found, `${ways.length} ways, none through`);
    },
  },
  {
    id: 'S20',
    tried: 'make, renew or revoke something wider with a token that may pair and write',
    quick: true,
    async run(world) {
      const { gateway, admin } = await world.shared();
      const { token } = await mintToken(admin, ['operator.pairing', 'operator.write']);
      const wide = await mintToken(admin, ['operator.admin']);
      await using client = await connectRaw(gateway.socketUrl, token);
      const ways: [string, object][] = [
        ['tokens.create', { name: 'x', scopes: ['operator.admin'] }],
        ['tokens.create', { name: 'x', scopes: ['operator.approvals'] }],
        ['tokens.rotate', { id: wide.id }],
        ['tokens.revoke', { id: wide.id }],
        ['signin.create', { scopes: ['operator.admin'] }],
        ['sessions.patch', { key: 'agent:main:main', permissions: 'bypass' }],
        ['sessions.create', { key: `agent:main:bypass-${Date.now()}`, permissions: 'bypass' }],
      ];
      const found: string[] = [];
      for (const [method, params] of ways) if ((await client.request(method, params)).ok) found.push(`${method} ${JSON.stringify(params)}`);
      return noneOf(found, 'all refused');
    },
  },
  {
    id: 'S22',
    tried: 'go on with a token after it was revoked',
    quick: true,
    async run(world) {
      const { gateway, admin } = await world.shared();
      const { token, id } = await mintToken(admin, ['operator.admin']);
      const client = await connectRaw(gateway.socketUrl, token);
      await admin.request('tokens.revoke', { id });
      const code = await Promise.race([
        client.closed.then((closed) => closed.code),
        new Promise<number>((resolve) => setTimeout(() => resolve(0), 3_000).unref()),
      ]);
      const again = await tryConnect(gateway, { token, from: newAddress() }).catch(() => undefined);
      return noneOf(
        [...(code >= 4000 || code === 1008 ? [] : [`its socket is open (${code})`]), ...(again?.ok ? ['it connects again'] : [])],
        `closed with ${code}`,
      );
    },
  },
  {
    id: 'S75',
    tried: 'use a signed connect of a device again, with another nonce, with a nonce of its own',
    quick: true,
    async run(world) {
      const { gateway } = await world.shared();
      const device = createDevice();
      const found: string[] = [];
      const captured = await connectDevice(gateway, device, { from: newAddress() });
      await captured.client.close();
      const client = await openRaw(gateway.socketUrl, { localAddress: newAddress() });
      const replay = await client.request('connect', captured.sent, 'connect');
      if (replay.ok || replay.error?.code === 'NOT_PAIRED')
        found.push(`the replay was read as a signature: ${JSON.stringify(replay.error)}`);
      await client.close();
      const forged = await connectDevice(gateway, device, { from: newAddress(), before: { nonce: 'x'.repeat(22) } });
      if (forged.answer.ok || forged.answer.error?.code === 'NOT_PAIRED') found.push('a nonce of its own was taken');
      await forged.client.close();
      return noneOf(found, 'refused');
    },
  },
  {
    id: 'S70',
    tried: 'get a stack, a path or a query out of errors',
    quick: true,
    async run(world) {
      const { gateway, admin, home } = await world.shared();
      const found: string[] = [];
      const asks: [string, unknown][] = [
        ['sessions.get', { key: "agent:main:x' OR 1=1 --" }],
        ['sessions.get', { key: '../../etc/passwd' }],
        ['plugins.get', { id: 'nothing' }],
        ['no.such.method', {}],
        ['sessions.list', { limit: -1 }],
        ['sessions.import', { key: 'agent:main:i', jsonl: '{' }],
        ['config.patch', { set: { nothing: 1 } }],
        ['attachments.get', { handle: '../token' }],
      ];
      for (const [method, params] of asks) {
        const text = JSON.stringify((await admin.request(method, params)).error ?? {});
        if (/\bat .+\.(ts|js|cjs):\d+|node_modules|SQLITE|select .+ from/i.test(text) || text.includes(home))
          found.push(`${method}: ${text.slice(0, 200)}`);
      }
      for (const path of ['/v1/nothing', '/api/nothing', '/%']) {
        const { body } = await exchange(gateway, requestText(gateway, path), newAddress());
        if (/\bat .+:\d+|node_modules/.test(body) || body.includes(home)) found.push(`${path}: ${body.slice(0, 200)}`);
      }
      return noneOf(found, 'codes and plain sentences only');
    },
  },
];
