// What a tool call is about and how it ended, in the few words that one line has.
import type { JsonObject, ToolResultMessage } from '@tenon/protocol';
import type { ToolItem } from '../chat/types.ts';

const SUBJECT_FIELDS = ['command', 'argv', 'path', 'file', 'url', 'pattern', 'query', 'id'] as const;
const LONGEST_SUBJECT = 200;

export function subjectOf(args: JsonObject): string | undefined {
  for (const field of SUBJECT_FIELDS) {
    const value = args[field];
    const text = Array.isArray(value) ? value.filter((word) => typeof word === 'string').join(' ') : value;
    if (typeof text === 'string' && text.trim() !== '') return oneLine(text);
  }
  const first = Object.values(args).find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof first === 'string' ? oneLine(first) : undefined;
}

function oneLine(text: string): string {
  const flat = text.trim().replace(/\s+/g, ' ');
  return flat.length > LONGEST_SUBJECT ? `${flat.slice(0, LONGEST_SUBJECT)}…` : flat;
}

const REFUSALS: Readonly<Record<string, ToolItem['state']>> = {
  denied: 'denied',
  expired: 'denied',
  voided: 'denied',
  blocked: 'blocked',
  refused: 'blocked',
  interrupted: 'interrupted',
  aborted: 'interrupted',
};

export function toolOutcome({ isError, details }: ToolResultMessage): Pick<ToolItem, 'state' | 'exitCode' | 'outputLines' | 'outputBytes'> {
  const outcome = typeof details?.outcome === 'string' ? details.outcome : undefined;
  return {
    state: (outcome === undefined ? undefined : REFUSALS[outcome]) ?? (isError ? 'failed' : 'done'),
    exitCode: numberOf(details?.exitCode),
    outputLines: numberOf(details?.lines ?? details?.totalLines),
    outputBytes: numberOf(details?.bytes ?? details?.totalBytes),
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** What a run does beside text and tools, where a person should be told. */
export function phaseWords(phase: string, detail: string | undefined): string | undefined {
  const because = detail ? `: ${detail}` : '';
  switch (phase) {
    case 'resumed':
      return 'Going on after the gateway came back';
    case 'retry':
      return `Asking the model again${because}`;
    case 'fallback':
      return `Asking another model${because}`;
    case 'compacting':
      return 'Summing up older messages to make room';
    default:
      return undefined;
  }
}
