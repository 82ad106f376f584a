// Runs the gateway as a process: says where it is, and stops when told. What is heavy is loaded when it is needed.
import { flushCompileCache } from 'node:module';
import type { Config } from './config.ts';
import { giveBackSoon } from './kernel/give-back.ts';
import { version } from './version.ts';

export { adoptWriterThread } from './store/sqlite-thread.ts';

export interface RunOptions {
  readonly config: Config;
  readonly json: boolean;
  /** In place of the one of the token file. */
  readonly token?: string;
}

/** Of a process that was ended from inside with 0, as if all were well: supervisors start again what ends with another. */
const ENDED_FROM_INSIDE = 70;

/** Resolves with the exit code when the gateway has stopped. */
export async function runGateway({ config, json, token }: RunOptions): Promise<number> {
  let isOver = false;
  process.on('exit', (code) => {
    if (!isOver && code === 0) process.exitCode = ENDED_FROM_INSIDE;
  });
  const { startGateway } = await import('./gateway.ts');
  const gateway = await startGateway({ config, version, ownProcess: true, ...(token === undefined ? {} : { token }) });
  // The first asks it to drain, the second not to wait any longer.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void gateway.stop(signal));
  const { url, port, tokenFile, signInUrl } = gateway;
  if (json) process.stdout.write(`${JSON.stringify({ url, port, pid: process.pid, tokenFile, signInUrl })}\n`);
  else {
    process.stdout.write(`Tenon ${version} is running at ${url}\nOpen ${signInUrl}\n`);
    const warnings = gateway.warnings.map((warning) => `Warning: ${warning}\n`);
    process.stderr.write(`Token file: ${tokenFile}\n${warnings.join('')}Try, in another terminal: npx tenon chat\nStop with Ctrl-C\n`);
  }
  // A gateway that is killed never gets to write its compile cache at exit.
  setImmediate(flushCompileCache);
  giveBackSoon();
  const fault = await gateway.stopped;
  isOver = true;
  if (fault) throw fault;
  return 0;
}
