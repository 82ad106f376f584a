// `exec`: a program, in the sandbox where there is one. What is shown for approval is the words, the folder, the further
// variables, the digests of the files that it names or runs, and what else it may run; all of it is looked at again directly
// before the start. Files that it runs are copied when somebody is asked, and the copies are what it then sees.
import { realpathSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, limits, visible } from '@tenon/protocol';
import { Type } from 'typebox';
import { ownerOf } from '../../kernel/sandbox/owner.ts';
import type { DetectedSandbox } from '../../kernel/sandbox/sandbox.ts';
import { wrap } from '../../kernel/sandbox/sandbox.ts';
import { SETUP_FAILED } from '../../kernel/sandbox/unshare.ts';
import { parseCommand, showCommand } from './argv.ts';
import { closed, defineTool, said } from './define.ts';
import { execEnvironment } from './exec-env.ts';
import type { ApprovedFiles, HeldFiles } from './approved-files.ts';
import { type LookedAt, lookAt } from './exec-files.ts';
import { programFacts } from './facts.ts';
import { type FileDeps, locateFolder } from './files/file-deps.ts';
import { type Boundary, locate } from './files/workspace.ts';
import type { Job, JobEnd, Jobs } from './jobs.ts';
import { type PreparedCall, type Tool, ToolError, type ToolIo, type ToolOutput } from './tool.ts';
import { markOf, type WorkspaceMark } from './workspace-mark.ts';

export interface ExecSettings {
  readonly sandbox: 'auto' | 'require' | 'off';
  readonly network: boolean;
  readonly env: readonly string[];
  readonly timeoutMs: number;
}

export interface ExecDeps extends FileDeps {
  readonly settings: ExecSettings;
  readonly gatewayEnv: Readonly<Record<string, string | undefined>>;
  /** Names of variables that hold keys of models. */
  readonly keyNames: () => readonly string[];
  readonly jobs: Jobs;
  readonly detectSandbox: () => Promise<DetectedSandbox>;
  /** What is done in a workspace when a program has ended there; gives what could not be done. */
  readonly tidy: (workspace: string) => Promise<string | undefined>;
  readonly userHome: string;
  /** Folders of programs outside the system's, shown read-only in the sandbox. */
  readonly programFolders: readonly string[];
  readonly approved: ApprovedFiles;
}

/** What can be shown whole. */
const MAX_COMMAND_BYTES = 8_192;

interface Command {
  readonly argv: readonly string[];
  readonly words: readonly string[];
  /** Why it goes through a shell. */
  readonly shell: string | undefined;
}

export function execTool(deps: ExecDeps): Tool {
  return defineTool({
    name: 'exec',
    label: 'Run a program',
    description:
      'Run a program in the workspace and get its output. Give command (one line; with | > && $ * and the like it goes through sh) or argv (the words, never a shell). ' +
      'Programs that it leaves behind are ended with it; for servers and long work use background, then the tool process. ' +
      'In the sandbox only the workspace can be written, /tmp is empty for each call, and there is usually no network.',
    parameters: Type.Object(
      {
        command: Type.Optional(Type.String({ minLength: 1, description: 'Command line, such as: npm test -- --watch=false' })),
        argv: Type.Optional(
          Type.Array(Type.String(), { minItems: 1, maxItems: 1_000, description: 'The program and its arguments, word by word' }),
        ),
        cwd: Type.Optional(
          Type.String({ minLength: 1, description: 'Folder to run in, relative to the workspace; default: the workspace' }),
        ),
        timeoutMs: Type.Optional(
          Type.Integer({
            minimum: 100,
            maximum: 86_400_000,
            description: `End it after this time; default ${deps.settings.timeoutMs}, in the background none`,
          }),
        ),
        background: Type.Optional(Type.Boolean({ description: 'Return at once with a job id' })),
      },
      closed,
    ),
    risk: 'exec',
    tags: ['programs'],
    idempotent: false,
    parallelSafe: false,
    async facts({ command, argv, cwd = '.' }, place) {
      const { spot, boundary } = await locateFolder(place, cwd, deps);
      return programFacts(readCommand(command, argv).words, { cwd: spot.real, homes: [deps.userHome, boundary.root] });
    },
    async prepare({ command, argv, cwd = '.', timeoutMs, background = false }, place) {
      const line = readCommand(command, argv);
      const { spot, boundary } = await locateFolder(place, cwd, deps);
      if (spot.kind !== 'folder') throw new ToolError('NOT_A_FOLDER', `cwd: ${spot.shown} is a file`);
      const sandbox = await chooseSandbox(deps);
      const env = execEnvironment({
        gateway: deps.gatewayEnv,
        names: deps.settings.env,
        keys: deps.keyNames(),
        further: place.env ?? {},
        home: sandbox.kind === 'none' ? undefined : boundary.root,
      });
      const { jobs, approved, clock } = deps;
      const others = jobs.runningIn(boundary.root);
      const look = (running: readonly Job[]) =>
        lookAt(line.argv, {
          cwd: spot.real,
          path: env.all.PATH ?? '',
          boundary,
          sandboxed: sandbox.kind !== 'none',
          others: running.map((job) => job.title),
        });
      const looked = await look(others);
      const limitMs = timeoutMs ?? (background ? undefined : deps.settings.timeoutMs);
      const title = visible(showCommand(line.argv));

      /** As it runs, held to what it was bound to. */
      function callOf(notBound: readonly string[], held?: HeldFiles, mark?: WorkspaceMark): PreparedCall {
        const names = looked.bound.map((file) => file.spot.shown);
        return {
          subject: title.slice(0, 200),
          question: `${line.shell === undefined ? 'Run' : 'Run in a shell'} ${title}`.slice(0, 400).concat('?'),
          risk: 'exec',
          exact: {
            argv: [...line.argv],
            cwd: spot.real,
            env: { ...env.added },
            files: { ...looked.files },
            ...(names.length === 0 ? {} : { bound: names }),
            ...(notBound.length === 0 ? {} : { notBound: [...notBound] }),
            ...(mark === undefined ? {} : { workspace: mark.digest }),
            sandbox: sandbox.kind,
            network: sandbox.kind === 'none' || deps.settings.network,
            background,
            timeoutMs: limitMs ?? null,
            ...(line.shell === undefined ? {} : { shell: line.shell }),
          },
          exec: { argv: line.argv, cwd: spot.real, env: env.added, sandboxed: sandbox.kind !== 'none' },
          binding: { bound: names, notBound },
          bind,
          ...(held ? { release: () => held.release() } : {}),
          run: (io) => runHeld(io, held, mark),
        };
      }

      async function bind(): Promise<PreparedCall> {
        const held = await approved.hold(looked.bound);
        if (looked.notBound.length === 0) return callOf([], held);
        try {
          const mark = await markOf(boundary, { isAnyFile: looked.isAnyFile, clock });
          return callOf(mark.isPartial ? [...looked.notBound, TOO_MANY_FILES] : looked.notBound, held, mark);
        } catch (error) {
          held.release();
          throw error;
        }
      }

      async function runHeld(io: ToolIo, held: HeldFiles | undefined, mark: WorkspaceMark | undefined): Promise<ToolOutput> {
        let job: Job | undefined;
        try {
          io.signal.throwIfAborted();
          const now = await locate(spot.real, boundary).catch(() => undefined);
          if (now?.real !== spot.real || now.kind !== 'folder')
            throw new ToolError('CHANGED', `The folder ${spot.shown} leads elsewhere by now; nothing was run`);
          await refuseChanged(looked, await look(others));
          if (mark) await refuseOther(mark, { boundary, isAnyFile: looked.isAnyFile });
          io.signal.throwIfAborted();
          const own = (await held?.use(title)) ?? [];
          // From here to the start nothing is waited for: every other program either runs by now, or will find these files in use.
          const further = jobs.runningIn(boundary.root).find((each) => !others.includes(each));
          if (own.length > 0 && further)
            throw new ToolError(
              'CHANGED',
              `Another program was started in the workspace meanwhile and could replace what was approved (${further.title.slice(0, 200)}); nothing was run. Ask again`,
            );
          const leave = approved.inUse(boundary.root, held);
          const isOwn = (path: string) => own.some((each) => each.path === path);
          const policy = {
            workspace: boundary.root,
            cwd: spot.real,
            hidden: boundary.hidden,
            userHome: deps.userHome,
            readOnly: deps.programFolders,
            network: deps.settings.network,
            pinned: leave.pinned.filter(isThere),
            overlays: [...leave.overlays.filter(({ path }) => !isOwn(path) && isThere(path)), ...own],
          };
          job = jobs.start({
            sessionKey: place.sessionKey,
            workspace: boundary.root,
            title,
            argv: sandbox.kind === 'none' ? line.argv : wrap(sandbox.kind, line.argv, policy),
            ...(sandbox.kind === 'none' ? { owner: ownerOf(boundary.root) } : { afterwards: () => deps.tidy(boundary.root) }),
            cwd: spot.real,
            env: env.all,
            timeoutMs: limitMs,
            background,
            onUpdate: background ? () => {} : (text) => io.onUpdate(text),
            onOutput: io.onOutput,
          });
          if (background) {
            return said(`Started ${job.id} in the background. See process {"action":"output","id":"${job.id}"}`, {
              details: { job: job.id, sandbox: sandbox.kind },
            });
          }
          const end = await endOf(job, io);
          return report(job.output.told(), end, line, {
            sandbox: sandbox.kind,
            handle: job.output.handle ?? null,
            bytes: job.output.bytes,
          });
        } finally {
          if (job) void job.ended.finally(() => held?.release());
          else held?.release();
        }
      }

      async function refuseOther(mark: WorkspaceMark, where: { boundary: Boundary; isAnyFile: boolean }): Promise<void> {
        const now = await markOf(where.boundary, { isAnyFile: where.isAnyFile, after: mark.newest, clock });
        if (now.digest === mark.digest) return;
        const names = now.since.length === 0 ? 'Files of the workspace' : now.since.join(', ');
        throw new ToolError(
          'CHANGED',
          `${names} changed after the question was asked, and the command may run what is in there; nothing was run. Ask again`,
        );
      }

      return callOf(looked.notBound);
    },
  });
}

const TOO_MANY_FILES = `Files beyond the first ${limits.markedFiles.value} of the workspace: they are not even compared`;

async function refuseChanged({ files }: LookedAt, { files: again }: LookedAt): Promise<void> {
  if (isDeepStrictEqual(again, files)) return;
  throw new ToolError('CHANGED', `${changedNames(files, again)} changed after the command was looked at; nothing was run. Ask again`);
}

/** At this very path, not at the end of a link. */
function isThere(path: string): boolean {
  try {
    return realpathSync(path) === path;
  } catch {
    return false;
  }
}

function readCommand(command: string | undefined, argv: readonly string[] | undefined): Command {
  if ((command === undefined) === (argv === undefined)) throw new ToolError('BAD_COMMAND', 'Give either command or argv');
  const bytes = Buffer.byteLength(command ?? argv!.join(' '));
  if (bytes > MAX_COMMAND_BYTES)
    throw new ToolError(
      'TOO_LARGE',
      `The command has ${bytes} bytes; over ${MAX_COMMAND_BYTES} it could not be shown whole. Write a script file and run that`,
    );
  if (argv !== undefined) {
    if (argv[0] === '') throw new ToolError('BAD_COMMAND', 'argv/0, the name of the program, is empty');
    if (argv.some((word) => word.includes('\0'))) throw new ToolError('BAD_COMMAND', 'A word of argv holds a zero byte');
    // Words of `sh -c …` are looked at like those of a line that needs a shell.
    const inner = argv.flatMap((word) => (/\s/.test(word) ? wordsOf(word) : []));
    return { argv, words: [...argv, ...inner], shell: undefined };
  }
  const line = parseCommand(command!);
  if (line.kind === 'bad') throw new ToolError('BAD_COMMAND', `The command cannot be read: ${line.reason}`);
  return {
    argv: line.argv,
    words: line.kind === 'shell' ? line.words : line.argv,
    shell: line.kind === 'shell' ? line.because : undefined,
  };
}

function wordsOf(text: string): readonly string[] {
  const line = parseCommand(text);
  if (line.kind === 'bad') return [];
  return line.kind === 'shell' ? line.words : line.argv;
}

async function chooseSandbox({ settings, detectSandbox }: ExecDeps): Promise<DetectedSandbox> {
  const detected = await detectSandbox();
  if (settings.sandbox === 'require' && detected.kind === 'none')
    throw new ToolError('NO_SANDBOX', `exec.sandbox is require, and ${detected.reason}. No program was run`);
  return detected;
}

/** Contract: when the signal aborts, ends after the program has ended, with the reason of the signal. */
async function endOf(job: { ended: Promise<JobEnd>; stop(): void }, { signal }: ToolIo): Promise<JobEnd> {
  const stop = () => job.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const end = await job.ended;
    signal.throwIfAborted();
    return end;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function report(output: string, end: JobEnd, line: Command, details: JsonObject): ToolOutput {
  const told = describeEnd(end, line, details.sandbox !== 'none');
  const text = output === '' ? told : `${output}${output.endsWith('\n') ? '' : '\n'}${told}`;
  return said(text, {
    ...(end.code === 0 && !end.timedOut ? {} : { isError: true }),
    details: { ...details, exitCode: end.code, signal: end.signal, timedOut: end.timedOut, durationMs: end.durationMs },
  });
}

export function describeEnd(end: JobEnd, line: { readonly argv: readonly string[] }, sandboxed: boolean): string {
  if (end.error?.code === 'ENOENT') return `[The program ${visible(line.argv[0] ?? '')} was not found]`;
  if (end.error) return `[The program could not be started: ${end.error.code ?? end.error.message}]`;
  if (end.overused !== undefined) return `[Ended: ${end.overused}]`;
  if (end.timedOut) return `[Ended after ${end.durationMs} ms: it took longer than it may]`;
  if (end.signal !== null) return `[Ended by ${end.signal}]`;
  if (sandboxed && end.code === SETUP_FAILED) return `[Exit code ${end.code}: the sandbox may not have been made; see above]`;
  return `[Exit code ${end.code}]`;
}

function changedNames(before: LookedAt['files'], after: LookedAt['files']): string {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]).join(', ');
}
