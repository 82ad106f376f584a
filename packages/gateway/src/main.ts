// Runs the gateway as a process: says where it is, and stops when told.
import type { Config } from './config.ts';
import { StartError, startGateway } from './gateway.ts';
import { version } from './version.ts';

export interface RunOptions {
  readonly config: Config;
  readonly json: boolean;
  readonly token?: string;
}

/** Resolves with the exit code when the gateway has stopped. */
export async function runGateway({ config, json, token }: RunOptions): Promise<number> {
  const gateway = await startGateway({ config, version, ...(token === undefined ? {} : { token }) });
  // The first asks it to drain, the second not to wait any longer.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void gateway.stop(signal));
  const { url, port, tokenFile } = gateway;
  if (json) process.stdout.write(`${JSON.stringify({ url, port, pid: process.pid, tokenFile })}\n`);
  else {
    process.stdout.write(`Tenon ${version} is running at ${url}\n`);
    process.stderr.write(
      `Token file: ${tokenFile}\n${gateway.warnings.map((warning) => `Warning: ${warning}\n`).join('')}Stop with Ctrl-C\n`,
    );
  }
  await gateway.stopped;
  return 0;
}

export { StartError };
