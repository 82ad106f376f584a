// The process of an extension under test: started as a host starts it, with the scripted host at its other end, and raw
// access for what no decent host would send.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { inheritedEnv } from '@tenon/protocol/sep/wire';
import { stdioTransport } from '../index.ts';
import { frameCheck } from './check-frames.ts';
import { ScriptedHost, type ScriptedHostOptions } from './scripted-host.ts';

export interface ExtensionCommand {
  readonly command: string;
  readonly args?: readonly string[];
  /** Beside the variables that every extension gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of the extension. */
  readonly cwd?: string;
}

export interface Subject {
  readonly host: ScriptedHost;
  /** A line as it is. */
  write(line: string): void;
  /** The frame with this id that the extension sends next. */
  answerTo(id: number | string): Promise<Readonly<Record<string, unknown>>>;
  /** No more input, as when the host has died. */
  endInput(): void;
  /** The code, or the signal, that it ended with. */
  readonly exited: Promise<number | string>;
  /** The end of what it wrote to its standard error. */
  complaints(): string;
  /** Ends it if it still runs. */
  stop(): Promise<void>;
}

export function startSubject({ command, args = [], env = {}, cwd }: ExtensionCommand, options: ScriptedHostOptions): Subject {
  const inherited = Object.fromEntries(
    inheritedEnv.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  const child = spawn(command, args, { cwd, env: { ...inherited, ...env }, stdio: 'pipe' });
  const waiting = new Map<unknown, (frame: Readonly<Record<string, unknown>>) => void>();
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-MOST_STDERR);
  });
  // A process that is not there, or is gone, is told by how it ended.
  child.stdin.on('error', () => {});
  const ended = Promise.race([
    once(child, 'exit').then(([code, signal]) => (signal ?? code ?? 'unknown') as number | string),
    once(child, 'error').then(([error]) => `not started: ${(error as Error).message}`),
  ]).catch((error: Error) => `not started: ${error.message}`);
  const transport = stdioTransport({ input: child.stdout, output: child.stdin });
  const host = new ScriptedHost(
    {
      ...transport,
      start: (events) =>
        transport.start({
          ...events,
          onLine(line) {
            const frame = idOf(line);
            if (frame) waiting.get(frame.id)?.(frame);
            events.onLine(line);
          },
        }),
    },
    options,
    frameCheck,
  );
  return {
    host,
    write: (line) => void child.stdin.write(`${line}\n`),
    answerTo: (id) => new Promise((resolve) => waiting.set(id, resolve)),
    endInput: () => void child.stdin.end(),
    exited: ended,
    complaints: () => stderr.trim(),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
      await host.close();
    },
  };
}

const MOST_STDERR = 4_096;

function idOf(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const frame: unknown = JSON.parse(line);
    return typeof frame === 'object' && frame !== null && !('method' in frame) ? (frame as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
