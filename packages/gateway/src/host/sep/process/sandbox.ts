// What an extension reaches of the machine: the files of the system and its own, both only to read, and beyond that what its manifest
// asks for under `net` and `fs` and the operator has granted. Held by a sandbox where the system has one; where it has none, that is said.
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ExtensionManifest } from '@tenon/protocol/sep';
import { UNCONFINED_GRANT } from '@tenon/protocol';
import type { Clock } from '../../../kernel/clock.ts';
import { isInside, type Place } from '../../../kernel/sandbox/profile.ts';
import { type DetectedSandbox, detectSandbox, type SandboxKind, type Spawn, wrap } from '../../../kernel/sandbox/sandbox.ts';

export const NET_GRANT = 'extension.use:net';
export const FILES_GRANT = 'extension.use:files';
/** They are settled when a process is started, and hold for as long as it runs. */
export const reachGrants = [NET_GRANT, FILES_GRANT, UNCONFINED_GRANT];

/** As the setting `extensions.sandbox` says. */
export type SandboxWish = 'auto' | 'require' | 'off';

/** What the manifest asks for. */
export interface Reach {
  readonly net: boolean;
  readonly read: readonly string[];
  readonly write: readonly string[];
}

export interface Confined {
  readonly command: readonly string[];
  /** Where it runs in one. */
  readonly kind?: Exclude<SandboxKind, 'none'>;
}

export interface ConfineDeps {
  /** Of the extension. */
  readonly name: string;
  readonly home: string;
  readonly workspace: string;
  readonly userHome: string;
  readonly node: string;
  readonly confinement: Confinement;
  readonly wish: SandboxWish;
}

export function reachOf({ capabilities = {} }: Pick<ExtensionManifest, 'capabilities'>): Reach {
  return { net: capabilities.net === true, read: capabilities.fs?.read ?? [], write: capabilities.fs?.write ?? [] };
}

/** What the operator is asked for because of it. */
export function grantsOfReach({ net, read, write }: Reach): string[] {
  return [...(net ? [NET_GRANT] : []), ...(read.length + write.length > 0 ? [FILES_GRANT] : [])];
}

/** What confines the extensions of this gateway. */
export interface Confinement {
  /** Looked for once. */
  find(): Promise<DetectedSandbox>;
  /** What was found; undefined until then. */
  readonly found: DetectedSandbox | undefined;
  /** What the operator is asked for because of it: to say `off` for all is an answer for each. */
  readonly needs: readonly string[];
}

export function createConfinement(wish: SandboxWish, spawn: Spawn, clock: Clock): Confinement {
  let looking: Promise<DetectedSandbox> | undefined;
  let found: DetectedSandbox | undefined = wish === 'off' ? { kind: 'none', reason: 'extensions.sandbox is off' } : undefined;
  return {
    async find() {
      if (found) return found;
      looking ??= detectSandbox(spawn, clock).catch(({ message }: Error) => ({
        kind: 'none',
        reason: `no sandbox could be tried: ${message}`,
      }));
      found = await looking;
      return found;
    },
    get found() {
      return found;
    },
    get needs() {
      return wish === 'auto' && found?.kind === 'none' ? [UNCONFINED_GRANT] : [];
    },
  };
}

/** The words that start it. Throws an error that says why it is not to be started. */
export async function confine(
  command: readonly string[],
  root: string,
  reach: Reach,
  granted: ReadonlySet<string>,
  deps: ConfineDeps,
): Promise<Confined> {
  const { kind, reason } = await deps.confinement.find();
  if (kind === 'none') {
    if (deps.wish === 'require') throw new Error(`extensions.sandbox is require, and ${reason}`);
    if (deps.confinement.needs.some((grant) => !granted.has(grant)))
      throw new Error(
        `it would run unconfined, with your rights, and you have not allowed that: tenon ext trust ${deps.name} --unconfined (${reason})`,
      );
    return { command };
  }
  const home = await realpath(deps.home);
  const workspace = await realpath(deps.workspace).catch(() => deps.workspace);
  const places = granted.has(FILES_GRANT) ? await placesOf(reach, { ...deps, home, workspace }) : [];
  const words = wrap(kind, command, {
    workspace: await realpath(root),
    isReadOnly: true,
    cwd: await realpath(root),
    hidden: [home],
    userHome: deps.userHome,
    readOnly: [],
    places: [...(await programPlace(deps, home)), ...places],
    network: granted.has(NET_GRANT) && reach.net,
  });
  return { command: words, kind };
}

/** Node may lie anywhere; what it is with, as far as that holds nobody's home. */
async function programPlace({ node, userHome }: ConfineDeps, home: string): Promise<Place[]> {
  const real = await realpath(node);
  const around = [dirname(dirname(real)), dirname(real)].find((folder) => !isInside(userHome, folder) && !isInside(home, folder)) ?? real;
  return isInside(around, '/usr') ? [] : [{ path: around, isWritable: false }];
}

/** Those that are there. What holds the home of the gateway, or lies in it beside the workspace, is never given. */
async function placesOf({ read, write }: Reach, deps: Pick<ConfineDeps, 'home' | 'workspace' | 'userHome'>): Promise<Place[]> {
  const asked = [...read.map((path) => ({ path, isWritable: false })), ...write.map((path) => ({ path, isWritable: true }))];
  const places: Place[] = [];
  for (const { path: said, isWritable } of asked) {
    const path = await realpath(placeOf(said, deps)).catch(() => undefined);
    if (path === undefined) continue;
    const isOurs = isInside(deps.home, path) || (isInside(path, deps.home) && !isInside(path, deps.workspace));
    if (isOurs) throw new Error(`its manifest asks for ${said}, which reaches into the home of the gateway; no extension gets that`);
    places.push({ path, isWritable });
  }
  return places;
}

function placeOf(said: string, { workspace, userHome }: Pick<ConfineDeps, 'workspace' | 'userHome'>): string {
  if (said.startsWith('~/')) return join(userHome, said.slice(2));
  return said === 'workspace' || said.startsWith('workspace/') ? join(workspace, said.slice('workspace'.length)) : said;
}
