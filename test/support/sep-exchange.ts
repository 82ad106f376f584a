// Replays scripted exchanges with an extension that runs as a process of its own. Every frame of the extension is held against
// what a writer may send, whether a step expects it or not.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { matches } from '@tenon/protocol';
import { Frame, readFrame, wire, writeFault } from '@tenon/protocol/sep';
import type { Exchange, Pattern, Step } from '@tenon/protocol/sep/conformance';

/** How long a step waits: much longer than any takes, on any machine. */
const STEP_MS = 60_000;

export interface ExtensionUnderTest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

type Fields = Readonly<Record<string, unknown>>;

export interface Connection {
  /** Rejects with what was expected and what came instead. */
  play(exchange: Exchange): Promise<void>;
  close(): Promise<void>;
}

export async function connectExtension(extension: ExtensionUnderTest): Promise<Connection> {
  const child = spawn(extension.command, [...extension.args], {
    cwd: extension.cwd,
    env: { PATH: process.env.PATH ?? '', PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  await once(child, 'spawn');
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  const frames: Fields[] = [];
  const faults: string[] = [];
  const pending = new Map<string, wire.SepMethodName>();
  let stderr = '';
  let wake = () => {};
  let isOver = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4_096);
  });
  // What is written to one that has just left is its loss.
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    const frame = JSON.parse(line) as Fields;
    const fault = faultOf(frame, pending);
    if (fault !== undefined) faults.push(`${fault}: ${line}`);
    frames.push(frame);
    wake();
  });
  void exited.then(() => {
    isOver = true;
    wake();
  });

  function send(text: string): void {
    child.stdin.write(`${text}\n`);
  }

  async function take(pattern: Pattern, bound: Map<string, unknown>): Promise<void> {
    const until = Date.now() + STEP_MS;
    for (;;) {
      const index = frames.findIndex((frame) => isLike(pattern, frame, new Map(bound)));
      if (index >= 0) {
        isLike(pattern, frames.splice(index, 1)[0], bound);
        return;
      }
      const left = until - Date.now();
      if (isOver || left <= 0)
        throw new Error(`expected ${JSON.stringify(pattern)}, got ${JSON.stringify(frames)}${stderr === '' ? '' : `\n${stderr}`}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async function step(each: Step, bound: Map<string, unknown>): Promise<void> {
    if ('line' in each) return send(each.line);
    if ('expect' in each) return take(each.expect, bound);
    if ('end' in each) return void child.stdin.end();
    if ('exit' in each) {
      const [code] = await exited;
      if (code !== each.exit) throw new Error(`it has ended with ${code}\n${stderr}`);
      return;
    }
    const frame = withBound(each.send, bound) as Fields;
    const asked = typeof frame.method === 'string' ? wire.methodOf(frame.method) : undefined;
    if (asked !== undefined && frame.id !== undefined && frame.id !== null) pending.set(JSON.stringify(frame.id), asked);
    send(JSON.stringify(frame));
  }

  const bound = new Map<string, unknown>();
  return {
    async play({ name, steps }) {
      for (const each of steps) await step(each, bound);
      // An error without an id is how somebody says that a line was none.
      const left = frames.splice(0).filter((frame) => frame.method !== 'log' && !(frame.id === null && 'error' in frame));
      if (left.length > 0) throw new Error(`${name}: nobody expected ${JSON.stringify(left)}`);
      if (faults.length > 0) throw new Error(`${name}: ${faults.splice(0).join('\n')}`);
    },
    close: () => end(child, exited),
  };
}

async function end(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.kill('SIGKILL');
  await exited;
}

function faultOf(frame: Fields, pending: Map<string, wire.SepMethodName>): string | undefined {
  const isFrame: boolean = matches(Frame, frame);
  if (!isFrame) return 'no frame as it should be written';
  const read = readFrame(frame);
  if (read.kind === 'request' || read.kind === 'notification') {
    const method = wire.methodNames.find((name) => name === read.method);
    if (method === undefined) return 'no such method';
    const { direction, kind } = wire.methodRow(method);
    if (direction === 'to-extension') return 'this is for hosts to ask';
    if (kind !== 'either' && kind !== read.kind) return `it is a ${kind}`;
    return writeFault(method, 'params', frame.params ?? {});
  }
  if (read.kind !== 'success') return undefined;
  const key = JSON.stringify(read.id);
  const method = pending.get(key);
  pending.delete(key);
  return method === undefined ? 'nobody has asked' : writeFault(method, 'result', frame.result);
}

function isLike(pattern: Pattern | undefined, value: unknown, bound: Map<string, unknown>): boolean {
  if (typeof pattern !== 'object' || pattern === null) return pattern === value;
  if (Array.isArray(pattern)) {
    return Array.isArray(value) && value.length === pattern.length && pattern.every((each, index) => isLike(each, value[index], bound));
  }
  const fields = pattern as { readonly [field: string]: Pattern };
  if ('$any' in fields) return value !== undefined;
  if ('$match' in fields) return typeof value === 'string' && new RegExp(String(fields.$match)).test(value);
  if ('$bind' in fields) {
    bound.set(String(fields.$bind), value);
    return value !== undefined;
  }
  if ('$ref' in fields) return bound.get(String(fields.$ref)) === value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(fields).every(([name, each]) => isLike(each, (value as Fields)[name], bound));
}

function withBound(value: unknown, bound: ReadonlyMap<string, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => withBound(each, bound));
  if ('$ref' in value) return bound.get(String(value.$ref));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withBound(each, bound)]));
}
