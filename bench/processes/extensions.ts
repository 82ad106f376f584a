// One side that asks, as the gateway does, and a process that answers: by our SDK, by that of the Model Context Protocol, or by the
// least that two processes need. What a call costs is counted in both of them.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { readResult } from '../../packages/protocol/src/sep/index.ts';
import { createPeer } from '../../packages/gateway/src/host/sep/connection/peer.ts';
import { systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { serveJobs } from '../child.ts';
import { percentile } from '../rounds.ts';

type Side = 'echo' | 'sdk' | 'reference' | 'mcp';
type What = 'tool' | 'hook';

interface Opened {
  readonly pid: number;
  call(what: What): Promise<unknown>;
  close(): void;
}

export interface Driven {
  readonly p50: number;
  readonly rate: number;
  /** Microseconds of both processes for one call. */
  readonly cpu: number;
}

const HELLO = {
  protocol_version: 1,
  host: { name: 'bench', version: '1' },
  workspace: { root: '/', trusted: true },
  mode: 'headless',
  capabilities_enabled: { tools: true },
};
const CALL = { call_id: 'c', tool: 'echo', arguments: { text: 'hello' }, context: { token: 't', tier: 'command' } };
const HOOK = { hook: 'tool_call', context: { token: 't', tier: 'command' }, input: { tool: 'read', arguments: { path: 'a' } } };
const FILES = {
  echo: join(import.meta.dirname, '..', 'extensions', 'echo.js'),
  sdk: join(import.meta.dirname, '..', 'extensions', 'sdk.js'),
  mcp: join(import.meta.dirname, '..', 'extensions', 'mcp.js'),
  reference: join(import.meta.dirname, '..', '..', 'spec', 'sep', 'reference', 'javascript', 'main.mjs'),
} as const satisfies Record<Side, string>;

const opened = new Map<Side, Promise<Opened>>();

export const jobs = {
  /** Milliseconds from the spawn to the answer to the first request. */
  async ready({ side }: { side: Side }): Promise<number> {
    const startedAt = performance.now();
    const one = await open(side);
    const took = performance.now() - startedAt;
    one.close();
    return took;
  },

  async drive({ side, what, inFlight, forMs }: { side: Side; what: What; inFlight: number; forMs: number }): Promise<Driven> {
    let waiting = opened.get(side);
    if (!waiting) {
      waiting = open(side);
      opened.set(side, waiting);
    }
    const { pid, call } = await waiting;
    const taken: number[] = [];
    const startedAt = performance.now();
    const before = cpuOf(process.pid) + cpuOf(pid);
    const one = async () => {
      while (performance.now() - startedAt < forMs) {
        const askedAt = performance.now();
        await call(what);
        taken.push(performance.now() - askedAt);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, one));
    const cpu = cpuOf(process.pid) + cpuOf(pid) - before;
    const seconds = (performance.now() - startedAt) / 1_000;
    return { p50: percentile(taken, 0.5), rate: taken.length / seconds, cpu: cpu / 1_000 / taken.length };
  },
};

function open(side: Side): Promise<Opened> {
  if (side === 'mcp') return openMcp();
  return side === 'echo' ? openEcho() : openExtension(side);
}

function start(side: Side): ChildProcess & { readonly pid: number } {
  const child = spawn(process.execPath, [FILES[side]], { stdio: ['pipe', 'pipe', 'inherit'] });
  if (child.pid === undefined) throw new Error(`${side} cannot be started`);
  return child as ChildProcess & { readonly pid: number };
}

async function openExtension(side: 'sdk' | 'reference'): Promise<Opened> {
  const child = start(side);
  let last = 0;
  const peer = createPeer({
    input: child.stdout!,
    output: child.stdin!,
    clock: systemClock,
    nextId: () => ++last,
    request: () => undefined,
    notification: () => () => {},
    closed() {},
  });
  const introduced = readResult('initialize', await peer.request('initialize', HELLO, { timeoutMs: 10_000 }));
  if (!introduced.ok) throw new Error(introduced.message);
  return {
    pid: child.pid,
    async call(what) {
      const read =
        what === 'tool'
          ? readResult('tool/execute', await peer.request('tool/execute', CALL, { timeoutMs: 10_000 }))
          : readResult('hook', await peer.request('hook', HOOK, { timeoutMs: 10_000 }));
      if (!read.ok) throw new Error(read.message);
    },
    close() {
      peer.close('over');
      child.kill('SIGKILL');
    },
  };
}

async function openEcho(): Promise<Opened> {
  const child = start('echo');
  const waiting = new Map<number, (result: unknown) => void>();
  let rest = '';
  let out = '';
  let last = 0;
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const { id, result } = JSON.parse(line) as { id: number; result: unknown };
      const resolve = waiting.get(id);
      waiting.delete(id);
      resolve?.(result);
    }
  });
  const flush = () => {
    child.stdin!.write(out);
    out = '';
  };
  const ask = (method: string, params: object) =>
    new Promise((resolve) => {
      waiting.set(++last, resolve);
      if (out === '') queueMicrotask(flush);
      out += `${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`;
    });
  await ask('initialize', HELLO);
  return {
    pid: child.pid,
    call: (what) => (what === 'tool' ? ask('tool/execute', CALL) : ask('hook', HOOK)),
    close: () => void child.kill('SIGKILL'),
  };
}

async function openMcp(): Promise<Opened> {
  const transport = new StdioClientTransport({ command: process.execPath, args: [FILES.mcp] });
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(transport);
  const pid = transport.pid!;
  return {
    pid,
    call: () => client.callTool({ name: 'echo', arguments: { text: 'hello' } }),
    close: () => void process.kill(pid, 'SIGKILL'),
  };
}

/** Nanoseconds that all threads of a process have run. */
function cpuOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + runOf(`/proc/${pid}/task/${task}/schedstat`), 0);
}

function runOf(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0]);
  } catch {
    return 0; // it has just ended
  }
}

serveJobs(jobs);
