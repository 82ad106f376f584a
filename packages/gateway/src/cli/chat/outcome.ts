// How a turn ended, as an exit code.
import type { RunEnd } from '@tenon/protocol';
import { exitCodes } from '../failure.ts';

const byKind: Readonly<Record<RunEnd['kind'], number>> = {
  completed: exitCodes.ok,
  handled: exitCodes.ok,
  aborted: exitCodes.failed,
  refused: exitCodes.denied,
  failed: exitCodes.failed,
  step_limit: exitCodes.failed,
  cost_limit: exitCodes.failed,
  internal_error: exitCodes.failed,
};

/** What the agent is told when the operator says no. It is meant for the model: a person is told `denied`. */
export function isOperatorDenial(text: string): boolean {
  return text.startsWith('The operator denied this call');
}

/** `interrupted`: whether it was stopped from here, with Ctrl-C. */
export function exitOfEnd(end: RunEnd | undefined, interrupted: boolean): number {
  if (end === undefined) return exitCodes.failed;
  return end.kind === 'aborted' && interrupted ? exitCodes.interrupted : byKind[end.kind];
}
