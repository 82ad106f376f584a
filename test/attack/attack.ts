// One attack is one row: an id of the requirements, what is tried, and a function that tries it on a real gateway and says what came
// of it. `npm run attack` runs all rows; a new one is added to the file of its subject in rows/.
import type { Target, TargetOptions } from './target.ts';

export type State =
  /** Nothing that must not happen has happened. */
  | 'held'
  | 'broke'
  /** This machine lacks what it takes; the evidence says what. */
  | 'untried'
  /** The attack itself failed, so nothing is known. */
  | 'failed';

export interface Outcome {
  readonly state: State;
  readonly evidence: string;
}

export interface World {
  readonly isRoot: boolean;
  /** Of this gateway: what it says itself. */
  readonly sandbox: string;
  readonly seed: number;
  /** A gateway that attacks share. Whoever ends or spoils one starts its own. */
  shared(): Promise<Target>;
  /** A gateway of its own, ended after the attack. */
  own(options?: TargetOptions): Promise<Target>;
  /** An empty folder, removed after the attack. */
  folder(): string;
  /** Runs after the attack, the last one first. */
  after(step: () => unknown): void;
}

export interface Attack {
  /** A row of test/requirements. */
  readonly id: string;
  readonly tried: string;
  /** Its outcome depends on the sandbox, so it is tried with each kind. */
  readonly sandboxed?: true;
  /** Cheap, and with the shared gateway only: `npm test` runs it too. */
  readonly quick?: true;
  run(world: World): Promise<Outcome>;
}

export const held = (evidence: string): Outcome => ({ state: 'held', evidence });
export const broke = (evidence: string): Outcome => ({ state: 'broke', evidence });
export const untried = (why: string): Outcome => ({ state: 'untried', evidence: why });

/** Broke if there is one. */
export function noneOf(found: readonly string[], otherwise: string): Outcome {
  return found.length === 0 ? held(otherwise) : broke(found.join('; '));
}
