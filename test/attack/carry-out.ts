// Carries rows out, one after the other, in this process: as whom it runs, and with the sandbox that the gateway finds here.
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeHome } from '../support/extensions.ts';
import { type Attack, broke, type Outcome, untried, type World } from './attack.ts';
import { openTarget, type Target } from './target.ts';

/** No attack needs as long, also on a busy machine. */
const LONGEST_MS = 300_000;

export interface Carried extends Outcome {
  readonly attack: Attack;
  readonly seconds: number;
}

export async function carryOut(attacks: readonly Attack[], seed: number, each: (carried: Carried) => void): Promise<Carried[]> {
  await using range = openRange(seed);
  const all: Carried[] = [];
  for (const attack of attacks) {
    const startedAt = performance.now();
    const outcome = await range.run(attack);
    const carried = { ...outcome, attack, seconds: (performance.now() - startedAt) / 1000 };
    all.push(carried);
    each(carried);
  }
  return all;
}

function openRange(seed: number) {
  let common: Target | undefined;
  let sandbox: string | undefined;

  async function shared(): Promise<Target> {
    common ??= await openTarget();
    return common;
  }

  async function run(attack: Attack): Promise<Outcome> {
    const steps: (() => unknown)[] = [];
    const world: World = {
      isRoot: process.getuid?.() === 0,
      get sandbox() {
        return sandbox ?? 'unknown';
      },
      seed,
      shared,
      async own(options) {
        const target = await openTarget(options);
        steps.push(() => target[Symbol.asyncDispose]());
        return target;
      },
      folder() {
        const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tenon-attack-')));
        steps.push(() => removeHome(folder));
        return folder;
      },
      after: (step) => void steps.push(step),
    };
    let outcome: Outcome;
    try {
      sandbox ??= attack.sandboxed ? await kindOf(await shared()) : undefined;
      outcome = (attack.sandboxed && missing(sandbox!)) || (await inTime(attack.run(world)));
      if (outcome.state === 'held' && common && !(await isWell(common))) outcome = broke(`${outcome.evidence}; the gateway is not well`);
    } catch (error) {
      outcome = { state: 'failed', evidence: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    for (const step of steps.reverse()) {
      try {
        await step();
      } catch (error) {
        outcome = { state: 'failed', evidence: `${outcome.evidence}; it could not be put away: ${String(error)}` };
      }
    }
    if (outcome.state !== 'held') await end();
    return outcome;
  }

  /** What is not as it was serves no other attack. */
  async function end(): Promise<void> {
    const target = common;
    common = undefined;
    await target?.[Symbol.asyncDispose]();
  }

  return { run, [Symbol.asyncDispose]: end };
}

/** The runner says which one it has put in place. */
function missing(kind: string): Outcome | undefined {
  const wanted = process.env.TENON_ATTACK_SANDBOX ?? kind;
  if (kind === 'none') return untried(`no sandbox works here (${wanted} was wanted)`);
  return kind === wanted ? undefined : { state: 'failed', evidence: `the gateway uses ${kind}, and ${wanted} was wanted` };
}

export async function kindOf(target: Target): Promise<string> {
  const { sandbox } = await target.ask('tools.catalog');
  return sandbox.kind as string;
}

async function isWell({ gateway, admin }: Target): Promise<boolean> {
  if (gateway.child.exitCode !== null || gateway.child.signalCode !== null) return false;
  const answer = await admin.request('health').catch(() => undefined);
  return answer?.payload?.ok === true;
}

async function inTime(running: Promise<Outcome>): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({ state: 'failed', evidence: `not over after ${LONGEST_MS / 1000} s` }), LONGEST_MS);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}
