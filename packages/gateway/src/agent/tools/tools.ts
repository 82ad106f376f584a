// The tools that every agent has. `openTools` puts them together with what they share; closing it ends every program that
// they have started.
import { spawn as systemSpawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { SandboxState, Settings } from '@tenon/protocol';
import type { Clock } from '../../kernel/clock.ts';
import { randomId } from '../../kernel/ids.ts';
import { detectSandbox, type DetectedSandbox, type Spawn } from '../../kernel/sandbox/sandbox.ts';
import { stripSetIds } from '../../kernel/sandbox/set-ids.ts';
import { openApprovedFiles } from './approved-files.ts';
import { type ExecDeps, execTool } from './exec-tool.ts';
import { applyPatchTool } from './files/apply-patch-tool.ts';
import { editTool } from './files/edit-tool.ts';
import { keepHidden } from './files/file-deps.ts';
import { findTool } from './files/find-tool.ts';
import { grepTool } from './files/grep-tool.ts';
import { lsTool } from './files/ls-tool.ts';
import { readTool } from './files/read-tool.ts';
import { writeTool } from './files/write-tool.ts';
import { createJobs } from './jobs.ts';
import { processTool } from './process-tool.ts';
import { readMoreTool } from './read-more-tool.ts';
import { createSpool } from './spool.ts';
import type { Tool } from './tool.ts';
import type { WebDeps } from './web/fetch-page.ts';
import { systemNetwork, webFetchTool } from './web/web-fetch-tool.ts';

export interface ToolsDeps {
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'exec.sandbox' | 'exec.network' | 'exec.env' | 'exec.timeoutMs' | 'web.allowPrivate'>;
  /** The environment of the gateway. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Tenon's home: no tool enters it, and the sandbox does not show it. */
  readonly home: string;
  /** Where output goes that is too long to be told at once; made when it is not there. */
  readonly outputFolder: string;
  /** Undefined while the gateway does not listen. */
  readonly gatewayPort: () => number | undefined;
  /** Names of variables that hold keys of models: programs never get them. */
  readonly keyNames?: () => readonly string[];
  readonly newId?: () => string;
  readonly spawn?: Spawn;
  readonly network?: Pick<WebDeps, 'resolve' | 'connect' | 'secure' | 'ownAddresses'>;
}

export interface Tools {
  readonly tools: readonly Tool[];
  /** Where programs run, and why not in a sandbox; the same answer each time. */
  sandbox(): Promise<SandboxState>;
  /** Ends the background jobs of a session. */
  endJobs(sessionKey: string): void;
  /** Ends all programs, background jobs too. */
  close(): Promise<void>;
}

export function openTools(deps: ToolsDeps): Tools {
  const { clock, settings, home } = deps;
  const newId = deps.newId ?? randomId;
  const spawn = deps.spawn ?? systemSpawn;
  const spool = createSpool(deps.outputFolder, newId);
  const jobs = createJobs({ spawn, clock, newId, spool });
  let detected: Promise<DetectedSandbox> | undefined;
  const sandbox = () => {
    if (settings['exec.sandbox'] === 'off') return Promise.resolve<DetectedSandbox>({ kind: 'none', reason: 'exec.sandbox is off' });
    detected ??= detectSandbox(spawn, clock);
    return detected;
  };
  const setIds = { spawn, clock, since: clock.now() };
  const tidy = async (workspace: string): Promise<string | undefined> => {
    const left = await stripSetIds(workspace, setIds);
    return left && `Files that run as their owner may be left in the workspace: ${left}. Look for them with find -perm /6000`;
  };
  const approved = openApprovedFiles(join(home, 'approved'), newId);
  const files = { clock, newId, spool, homes: keepHidden([home, deps.outputFolder]), usedBy: approved.usedBy };
  const exec: ExecDeps = {
    ...files,
    settings: {
      sandbox: settings['exec.sandbox'],
      network: settings['exec.network'],
      env: settings['exec.env'],
      timeoutMs: settings['exec.timeoutMs'],
    },
    gatewayEnv: deps.env,
    keyNames: deps.keyNames ?? (() => []),
    jobs,
    detectSandbox: sandbox,
    tidy,
    userHome: deps.env.HOME ?? join(home, '..'),
    programFolders: [dirname(dirname(process.execPath))],
    approved,
  };
  const web: WebDeps = {
    clock,
    gatewayPort: deps.gatewayPort,
    allowPrivate: settings['web.allowPrivate'],
    ...(deps.network ?? systemNetwork),
  };
  return {
    tools: [
      ...[lsTool(files), readTool(files), writeTool(files), editTool(files), applyPatchTool(files), grepTool(files), findTool(files)],
      ...[execTool(exec), processTool(jobs, spool), webFetchTool(web, spool), readMoreTool(spool)],
    ],
    sandbox,
    endJobs: jobs.endOf,
    close: () => jobs.close(),
  };
}
