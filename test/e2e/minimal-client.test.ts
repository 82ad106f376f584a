// The smallest client that the protocol's own document shows, byte for byte, against a real gateway.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp } from '../support/clean-up.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

const fixture = join(import.meta.dirname, 'fixtures', 'minimal-client.mjs');
const text = readFileSync(fixture, 'utf8');

test('the minimal client works unchanged without auth, and with one added field by default', async (t) => {
  verifies('seed4:minimal-client', 'foundation:auth-none');
  const isFree = await isPortFree(18789);
  await using open = await startGatewayProcess({ args: ['--auth', 'none'], ...(isFree ? { port: 18789 } : {}) });
  t.diagnostic(isFree ? 'on the default port, as it stands' : 'the default port is taken: only the port was changed');
  assert.match(await run(t, isFree ? text : onPort(text, open)), /^health: \{ ok: true/);

  await using closed = await startGatewayProcess();
  const withToken = onPort(text, closed).replace('maxProtocol: 3,', `maxProtocol: 3, auth: { token: ${JSON.stringify(closed.token)} },`);
  assert.match(await run(t, withToken), /^health: \{ ok: true/);
  assert.equal(await run(t, onPort(text, closed)), '', 'without the token nothing is answered');
});

function onPort(source: string, { port }: GatewayProcess): string {
  return source.replace('127.0.0.1:18789', `127.0.0.1:${port}`);
}

/** What the program prints. It stands beside the fixture, where it finds `ws`. */
function run(t: { after(work: () => void): void }, source: string): Promise<string> {
  const file = join(import.meta.dirname, 'fixtures', `run-${process.pid}-${Math.random().toString(36).slice(2)}.mjs`);
  writeFileSync(file, source);
  cleanUp(t, () => rmSync(file, { force: true }));
  return new Promise((resolve) => execFile(process.execPath, [file], { timeout: 20_000 }, (_, stdout) => resolve(stdout)));
}

function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
