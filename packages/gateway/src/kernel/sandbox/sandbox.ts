// Which sandbox this system has, found by running a program in it once that looks at what holds there. Where there is none,
// the reason is for people: the status shows it, and the policy asks before each program.
import type { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { startProgram } from '../processes.ts';
import { bounded } from './bounds.ts';
import { bubblewrapArgv } from './bubblewrap.ts';
import { guarded } from './overlays.ts';
import { ownerOf } from './owner.ts';
import { HOLDS, probeArgv, probeVariables } from './probe.ts';
import { profileOf, type SandboxPolicy } from './profile.ts';
import { unshareArgv } from './unshare.ts';

export type SandboxKind = 'bubblewrap' | 'unshare' | 'none';

export interface DetectedSandbox {
  readonly kind: SandboxKind;
  readonly reason: string;
}

export type Spawn = typeof spawn;

const PROBE_TIMEOUT_MS = 10_000;
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';

/** The words that run `argv` in a sandbox of this kind. */
export function wrap(kind: 'bubblewrap' | 'unshare', argv: readonly string[], policy: SandboxPolicy): string[] {
  const profile = profileOf(policy);
  const words = bounded(guarded(argv, profile.overlays));
  return (kind === 'bubblewrap' ? bubblewrapArgv : unshareArgv)(words, profile, ownerOf(policy.workspace));
}

type Kind = Exclude<SandboxKind, 'none'>;
const tools: Readonly<Record<Kind, string>> = { bubblewrap: 'bwrap', unshare: 'unshare' };

/** The first of these that works. */
export async function detectSandbox(
  spawnProgram: Spawn,
  clock: Clock,
  kinds: readonly Kind[] = ['bubblewrap', 'unshare'],
  remedy = 'install bubblewrap or allow user namespaces',
): Promise<DetectedSandbox> {
  if (process.platform !== 'linux') return { kind: 'none', reason: `there is no sandbox for programs on ${process.platform}` };
  const failures: string[] = [];
  for (const kind of kinds) {
    const tool = tools[kind];
    const failure = await probe(kind, spawnProgram, clock);
    if (failure === undefined) return { kind, reason: `programs run under ${kind}` };
    failures.push(`${tool}: ${failure}`);
  }
  const what = kinds.length === 1 ? `${kinds[0]} does not work here` : 'no sandbox works here';
  return { kind: 'none', reason: `${what} (${failures.join('; ')}); ${remedy}`.slice(0, 512) };
}

/** Undefined when a program ran in it and found everything as it has to be. */
async function probe(kind: Kind, spawnProgram: Spawn, clock: Clock): Promise<string | undefined> {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'tenon-sandbox-')));
  try {
    const policy = { workspace, cwd: workspace, hidden: [], userHome: '/root', readOnly: [], network: false };
    let said = '';
    const program = startProgram(wrap(kind, probeArgv, policy), {
      spawn: spawnProgram,
      clock,
      cwd: '/',
      env: { PATH: SYSTEM_PATH, ...probeVariables(profileOf(policy)) },
      onOutput: (chunk) => {
        said = `${said}${chunk}`.slice(0, 400);
      },
    });
    const timer = clock.after(PROBE_TIMEOUT_MS, () => program.kill());
    const { code, signal, error } = await program.ended;
    timer.cancel();
    if (code === 0 && said.includes(HOLDS)) return undefined;
    if (error) return error.code === 'ENOENT' ? 'not installed' : error.message;
    return said.trim().split('\n')[0] || `ended with ${signal ?? `code ${code}`}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}
