// What attacks are made of: addresses of their own, bytes by hand, and the one check that follows every attack.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ConnectParams, deviceSigningText } from '@tenon/protocol';
import { cleanEnv, type GatewayProcess, tenonBin } from '../support/gateway.ts';
import { connectRaw, type Frame, openRaw, connectParams, type RawClient } from '../support/raw-client.ts';

let attackers = 0;

/** A loopback address that nobody has used yet: its limits are untouched, and its audit records are its own. */
export function newAddress(): string {
  attackers++;
  return `127.1.${attackers >> 8}.${attackers & 255}`;
}

/** What a gateway is started with that is to take every loopback address for a proxy. */
export const behindProxy = ['--trusted-proxies', '127.0.0.0/8'];

/** An address that a proxy forwards: somebody of their own, with budgets of their own, where the gateway trusts the proxy. */
export function newRemote(): string {
  attackers++;
  return `10.1.${attackers >> 8}.${attackers & 255}`;
}

/** What makes a socket come from there: bound to an address of this machine, or forwarded. */
export function comingFrom(from: string | undefined): { localAddress?: string; headers?: Record<string, string> } {
  if (from === undefined) return {};
  return from.startsWith('127.') ? { localAddress: from } : { headers: { 'X-Forwarded-For': from } };
}

/** Where the bystander sits who must not notice anything. */
const BYSTANDER = '127.0.0.200';

/** An authenticated client from the address of somebody who does nothing wrong. */
export function bystander(gateway: GatewayProcess): Promise<RawClient & { hello: Frame }> {
  return connectRaw(gateway.socketUrl, gateway.token, {}, { localAddress: BYSTANDER });
}

export interface AuditRecord {
  readonly seq: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly details: unknown;
}

/** What has to hold after every attack. `incidents` are the kinds that were refused at the door, from that address. */
export async function assertUnharmed(
  gateway: GatewayProcess,
  { from = '127.0.0.1', incidents = [] }: { from?: string; incidents?: readonly string[] } = {},
): Promise<void> {
  assert.equal(gateway.child.exitCode, null, 'the gateway has ended');
  assert.equal(gateway.child.signalCode, null, 'the gateway was killed');
  await using other = await bystander(gateway);
  const health = await other.request('health');
  assert.equal(health.payload?.ok, true, `not healthy: ${JSON.stringify(health)}`);
  for (const kind of incidents) {
    await eventually(`one audit record "${kind}" from ${from}`, async () => (await incidentRecords(other, kind, from)).length > 0);
    assert.equal((await incidentRecords(other, kind, from)).length, 1, `more than one audit record "${kind}" from ${from}`);
  }
  assertNoSecrets(gateway);
}

async function incidentRecords(client: RawClient, kind: string, from: string): Promise<AuditRecord[]> {
  const { payload } = await client.request('audit.list', { limit: 200 });
  assert.equal(payload.chain.ok, true, payload.chain.reason);
  return (payload.records as AuditRecord[]).filter(({ action, actor }) => action === kind && actor === `address:${from}`);
}

/** No log file and no output of the process has a token in it, whichever token. */
export function assertNoSecrets(gateway: GatewayProcess): void {
  for (const [name, text] of [...logFiles(gateway.home), ['stderr', gateway.stderr()] as const]) {
    assert.ok(!text.includes(gateway.token), `the token is in ${name}`);
    assert.doesNotMatch(text, /tenon_[A-Za-z0-9_-]{43}/, `a token is in ${name}`);
  }
}

export function logFiles(home: string): [name: string, text: string][] {
  const folder = join(home, 'logs');
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => [file, readFileSync(file, 'utf8')]);
}

/** Asks again until it is so. For what becomes true a moment later, such as an audit record of a refusal. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) assert.fail(`not within ${timeoutMs} ms: ${what}`);
    await pause(10);
  }
}

export interface HttpAnswer {
  /** 0 when the connection ended without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface BareSocket extends AsyncDisposable {
  readonly socket: Socket;
  readonly received: () => Buffer;
  /** Resolves when the other side has ended the connection, with all that it sent. */
  readonly ended: Promise<Buffer>;
}

/** A TCP connection that says what it is told to, well-formed or not. */
export async function openBare(gateway: Pick<GatewayProcess, 'port'>, from?: string, allowHalfOpen = false): Promise<BareSocket> {
  const socket = connect({ host: '127.0.0.1', port: gateway.port, allowHalfOpen, ...(from === undefined ? {} : { localAddress: from }) });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const received = () => Buffer.concat(chunks);
  const ended = new Promise<Buffer>((resolve) => {
    socket.once('end', () => resolve(received()));
    socket.once('close', () => resolve(received()));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  // A reset after the answer is a way to end, too.
  socket.on('error', () => {});
  const dispose = async () => void socket.destroy();
  return { socket, received, ended, [Symbol.asyncDispose]: dispose };
}

/** Sends the bytes as they are and reads until the gateway ends the connection. */
export async function exchange(gateway: Pick<GatewayProcess, 'port'>, bytes: string | Buffer, from?: string): Promise<HttpAnswer> {
  const { localAddress, headers = {} } = comingFrom(from);
  await using bare = await openBare(gateway, localAddress);
  const forwarded = Object.entries(headers).map(([name, value]) => `\r\n${name}: ${value}`);
  bare.socket.write(forwarded.length > 0 ? String(bytes).replace('\r\n', `${forwarded.join('')}\r\n`) : bytes);
  return parseAnswer(await bare.ended);
}

/** A request by hand: the right Host unless told otherwise, and `Connection: close` unless it is an upgrade. */
export function requestText(
  { port }: Pick<GatewayProcess, 'port'>,
  target: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Readonly<Record<string, string>> } = {},
): string {
  const all = { Host: `127.0.0.1:${port}`, ...('Upgrade' in headers ? {} : { Connection: 'close' }), ...headers };
  return `${method} ${target} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
}

export const upgradeHeaders = {
  Upgrade: 'websocket',
  Connection: 'Upgrade',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
} as const;

export function parseAnswer(bytes: Buffer): HttpAnswer {
  const text = bytes.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end === -1 ? undefined : end).split('\r\n');
  const headers = lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0),
    headers: Object.fromEntries(headers),
    body: end === -1 ? '' : bytes.subarray(end + 4).toString(),
  };
}

/** The headers that every answer has, whatever it is an answer to; `nonce` is that of its page. */
export function assertStrictHeaders({ status, headers }: HttpAnswer, what: string, cacheControl = 'no-store'): { nonce: string } {
  assert.notEqual(status, 0, `${what}: no answer`);
  const policy = headers['content-security-policy'] ?? '';
  const nonce = /'nonce-([A-Za-z0-9+/=]{24})'/.exec(policy)?.[1] ?? '';
  const strict = {
    'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': cacheControl,
  };
  for (const [name, value] of Object.entries(strict)) assert.equal(headers[name], value, `${what} (${status}): ${name}`);
  for (const name of Object.keys(headers)) assert.doesNotMatch(name, /^(access-control-|server$|x-powered-by$|set-cookie$)/, what);
  return { nonce };
}

export interface HandSocket extends BareSocket {
  /** The code of the close frame, or 1006 when the connection ended without one. */
  readonly closeCode: Promise<number>;
}

/** A WebSocket made by hand, after the answer 101: what follows are frames, well-formed or not. */
export async function openByHand(gateway: Pick<GatewayProcess, 'port'>, from?: string): Promise<HandSocket> {
  const bare = await openBare(gateway, from);
  bare.socket.write(requestText(gateway, '/', { headers: upgradeHeaders }));
  await eventually('an answer to the upgrade', () => bare.received().includes('\r\n\r\n'));
  const head = bare.received().indexOf('\r\n\r\n') + 4;
  assert.equal(parseAnswer(bare.received()).status, 101, bare.received().toString());
  const closeCode = new Promise<number>((resolve) => {
    const look = () => {
      const code = findCloseCode(bare.received().subarray(head));
      if (code !== undefined) resolve(code);
    };
    look();
    bare.socket.on('data', look);
    void bare.ended.then(() => resolve(1006));
  });
  return { ...bare, closeCode };
}

function findCloseCode(bytes: Buffer): number | undefined {
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = bytes[at + 1]! & 127;
    const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (at + 2 + extra > bytes.length) return undefined;
    const length = extra === 2 ? bytes.readUInt16BE(at + 2) : extra === 8 ? Number(bytes.readBigUInt64BE(at + 2)) : short;
    const payload = at + 2 + extra;
    if ((bytes[at]! & 15) === 8 && payload + 2 <= bytes.length) return bytes.readUInt16BE(payload);
    at = payload + length;
  }
  return undefined;
}

/** The bytes of a masked frame. `announced` lies about the length. */
export function frameBytes(
  payload: string | Buffer,
  { opcode = 1, fin = true, rsv1 = false, announced }: { opcode?: number; fin?: boolean; rsv1?: boolean; announced?: number } = {},
): Buffer {
  const body = Buffer.from(payload as string);
  const length = announced ?? body.length;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = (fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | opcode;
  if (length < 126) head[1] = 0x80 | length;
  else if (length < 65_536) {
    head[1] = 0x80 | 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  // A mask of zeros changes nothing, so the payload can be read in a capture.
  return Buffer.concat([head, Buffer.alloc(4), body]);
}

/** Tries to connect, and says what came of it; the socket is closed again. */
export async function tryConnect(
  gateway: GatewayProcess,
  { token, from, more = {} }: { token?: string; from?: string; more?: Record<string, unknown> },
): Promise<Frame & { closeCode?: number }> {
  const client = await openRaw(gateway.socketUrl, comingFrom(from));
  const answer = await client.request('connect', connectParams(token, more), 'connect');
  if (answer.ok) {
    await client.close();
    return answer;
  }
  return { ...answer, closeCode: (await client.closed).code };
}

/** A new token with these scopes, made by the token of the token file. */
/** Somebody who is inside is answered all the while. */
export async function assertServedDuring(inside: RawClient, flooding: Promise<unknown>, isOn: () => boolean): Promise<void> {
  let answered = 0;
  while (isOn()) {
    assert.equal((await inside.request('health')).ok, true);
    answered++;
  }
  await flooding;
  assert.ok(answered > 20, `${answered} answers during the flood`);
}

export async function mintToken(
  admin: RawClient,
  scopes: readonly string[],
  more: Record<string, unknown> = {},
): Promise<{ token: string; id: string }> {
  const { payload, error } = await admin.request('tokens.create', { name: 'test', scopes, ...more });
  assert.equal(error, undefined);
  return { token: payload.token as string, id: payload.record.id as string };
}

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `tenon` as a person would. */
export function tenon(home: string, ...args: readonly string[]): Promise<CliResult> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [tenonBin, '--home', home, ...args],
      { env: cleanEnv(), maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      },
    );
  });
}

export interface TestDevice {
  readonly id: string;
  readonly publicKey: string;
  sign(text: string): string;
}

/** A device with a real key. */
export function createDevice(): TestDevice {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const der = publicKey.export({ format: 'der', type: 'spki' });
  return {
    id: createHash('sha256').update(der).digest('hex'),
    publicKey: der.toString('base64url'),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
  };
}

/** Signs as a well-made client does; `forge` changes the proof afterwards, `before` what is signed. */
export function proveDevice(
  device: TestDevice,
  nonce: string,
  params: Record<string, unknown>,
  { before = {}, forge = {} }: { before?: { signedAt?: number; nonce?: string; id?: string }; forge?: Record<string, unknown> } = {},
): Record<string, unknown> {
  const proof = { id: device.id, signedAt: Date.now(), nonce, ...before };
  const signature = device.sign(deviceSigningText(proof, params as unknown as ConnectParams));
  return { ...params, device: { ...proof, publicKey: device.publicKey, signature, ...forge } };
}

/** Opens a socket and connects with the device; the socket stays open. */
export async function connectDevice(
  gateway: GatewayProcess,
  device: TestDevice,
  {
    params = {},
    from,
    before,
    forge,
  }: {
    params?: Record<string, unknown>;
    from?: string;
    before?: { signedAt?: number; nonce?: string; id?: string };
    forge?: Record<string, unknown>;
  } = {},
): Promise<{ client: RawClient; answer: Frame; sent: Record<string, unknown> }> {
  const client = await openRaw(gateway.socketUrl, comingFrom(from));
  const { payload } = await client.find((frame) => frame.event === 'connect.challenge');
  const sent = proveDevice(device, payload.nonce as string, connectParams(undefined, params), {
    ...(before === undefined ? {} : { before }),
    ...(forge === undefined ? {} : { forge }),
  });
  return { client, sent, answer: await client.request('connect', sent, 'connect') };
}

/** Asks to pair with these scopes; the id of the request that an operator can approve. */
export async function askToPair(gateway: GatewayProcess, device: TestDevice, scopes: readonly string[], from?: string): Promise<string> {
  const { client, answer } = await connectDevice(gateway, device, { params: { scopes }, ...(from === undefined ? {} : { from }) });
  assert.equal(answer.error?.code, 'NOT_PAIRED', JSON.stringify(answer));
  await client.closed;
  return answer.error?.details?.requestId as string;
}
