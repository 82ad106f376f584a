// A process of its own for each side of a measurement, and typed calls to it over IPC.
import { fork } from 'node:child_process';
import { once } from 'node:events';

// biome-ignore lint/suspicious/noExplicitAny: the generic slot of a table of jobs; each has its own argument
export type Jobs = Readonly<Record<string, (args: any) => unknown>>;

export interface Child<Table extends Jobs> {
  readonly pid: number;
  call<Name extends keyof Table & string>(name: Name, args: Parameters<Table[Name]>[0]): Promise<Awaited<ReturnType<Table[Name]>>>;
  close(): Promise<void>;
}

interface Request {
  readonly id: number;
  readonly name: string;
  readonly args: unknown;
}

type Reply = { readonly id: number } & ({ readonly value: unknown } | { readonly error: string });

export function openChild<Table extends Jobs>(file: string): Child<Table> {
  const child = fork(file, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let nextId = 0;
  child.on('message', (reply: Reply) => {
    const asked = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('error' in reply) asked?.reject(new Error(reply.error));
    else asked?.resolve(reply.value);
  });
  child.on('exit', (code, signal) => {
    for (const asked of waiting.values()) asked.reject(new Error(`${file} ended (${signal ?? code})`));
    waiting.clear();
  });
  return {
    pid: child.pid!,
    call(name, args) {
      const asked = Promise.withResolvers<unknown>();
      waiting.set(++nextId, asked);
      child.send({ id: nextId, name, args } satisfies Request);
      return asked.promise as Promise<never>;
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** The child's side: answers calls from the table, one line per job. */
export function serveJobs(jobs: Jobs): void {
  process.on('message', async ({ id, name, args }: Request) => {
    const reply = (answer: Reply) => process.send?.(answer);
    try {
      reply({ id, value: (await jobs[name]!(args)) ?? null });
    } catch (error) {
      reply({ id, error: `${name}: ${error instanceof Error ? error.message : error}` });
    }
  });
  process.on('disconnect', () => process.exit());
}
