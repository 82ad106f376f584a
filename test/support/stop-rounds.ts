// `tenon stop && tenon start`, round after round, with an extension that takes its time to go: a few rounds for the tests, twenty for
// `npm run chaos`.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { putExtension } from './extension-home.ts';
import { cleanEnv, type GatewayProcess, startGatewayProcess, tenonBin } from './gateway.ts';
import { connectRaw } from './raw-client.ts';

export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `tenon` for a home, to its end. */
export function runTenon(home: string, ...words: readonly string[]): Promise<CliRun> {
  return new Promise((resolve) => {
    const options = { env: cleanEnv({ TENON_HOME: home }), timeout: 120_000 };
    execFile(process.execPath, [tenonBin, ...words], options, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
    });
  });
}

/** A home with the extension, which is trusted and has no sandbox. */
export async function prepareLingering(home: string): Promise<void> {
  writeFileSync(join(home, 'tenon.toml'), '[extensions]\nsandbox = "off"\n', { mode: 0o600 });
  putExtension(home, 'lingers', { fixture: 'lingers.mjs', capabilities: 'tools = true' });
  const gateway = await startGatewayProcess({ home });
  const trusted = await runTenon(home, 'ext', 'trust', 'lingers', '--yes');
  assert.equal(trusted.code, 0, trusted.stderr);
  assert.equal(await gateway.stop(), 0);
}

/** Each time on the port of the time before, so that this must be free, too. */
export async function stopAndStart(home: string, rounds: number, step: (done: number) => void = () => {}): Promise<void> {
  let gateway: GatewayProcess | undefined;
  try {
    for (let round = 0; round < rounds; round++) {
      gateway = await startGatewayProcess({ home, ...(gateway ? { port: gateway.port } : {}) });
      await extensionIsReady(gateway);
      const { code, stdout, stderr } = await runTenon(home, 'stop');
      assert.deepEqual([code, stdout], [0, `Stopped ws://127.0.0.1:${gateway.port}\n`], stderr);
      step(round + 1);
    }
  } finally {
    await gateway?.kill();
  }
}

async function extensionIsReady(gateway: GatewayProcess): Promise<void> {
  await using client = await connectRaw(gateway.socketUrl, gateway.token);
  for (;;) {
    const { payload } = await client.request('plugins.get', { id: 'lingers' });
    if (payload?.plugin?.process?.state === 'ready') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
