// The process of an extension: started as a host starts it, with the scripted host at its other end, and raw access for what no
// decent host would send.
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

export interface RunningExtension {
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
  readonly pid: number | undefined;
  /** Ends it if it still runs, with what it has started where it has a group of its own. */
  stop(): Promise<void>;
}

export interface StartOptions extends ScriptedHostOptions {
  /**
   * Ends it. With one it has a process group of its own, so that what it has started is ended with it; a Ctrl-C in the
   * terminal does not reach it.
   */
  readonly signal?: AbortSignal;
  /** Every line in both directions, as it is on the wire. */
  onTraffic?(direction: 'to-extension' | 'to-host', line: string): void;
  /** What it writes to its standard error. */
  onStderr?(text: string): void;
}

export function startExtension({ command, args = [], env = {}, cwd }: ExtensionCommand, options: StartOptions = {}): RunningExtension {
  const inherited = Object.fromEntries(
    inheritedEnv.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  const { signal, onTraffic, onStderr } = options;
  const isApart = signal !== undefined && process.platform !== 'win32';
  const child = spawn(command, args, { cwd, env: { ...inherited, ...env }, stdio: 'pipe', detached: isApart });
  const kill = () => {
    if (!isApart || child.pid === undefined) return void child.kill('SIGKILL');
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nothing of the group is left.
    }
  };
  const waiting = new Map<unknown, (frame: Readonly<Record<string, unknown>>) => void>();
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-MOST_STDERR);
    onStderr?.(chunk.toString());
  });
  // A process that is not there, or is gone, is told by how it ended.
  child.stdin.on('error', () => {});
  const ended = Promise.race([
    once(child, 'exit').then(([code, signal]) => (signal ?? code ?? 'unknown') as number | string),
    once(child, 'error').then(([error]) => `not started: ${(error as Error).message}`),
  ]).catch((error: Error) => `not started: ${error.message}`);
  // What it has left behind goes with it.
  if (isApart) child.once('exit', kill);
  if (signal?.aborted) kill();
  signal?.addEventListener('abort', kill, { once: true });
  void ended.then(() => signal?.removeEventListener('abort', kill));
  const transport = stdioTransport({ input: child.stdout, output: child.stdin });
  const host = new ScriptedHost(
    {
      ...transport,
      send(line) {
        onTraffic?.('to-extension', line);
        transport.send(line);
      },
      start: (events) =>
        transport.start({
          ...events,
          onLine(line) {
            onTraffic?.('to-host', line);
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
    pid: child.pid,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) kill();
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
