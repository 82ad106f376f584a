// A tool whose arguments have the type of its schema. The turn has checked them when `prepare` is called.
import type { JsonObject } from '@tenon/protocol';
import type { Static, TObject } from 'typebox';
import type { PreparedCall, Tool, ToolOutput, ToolPlace } from './tool.ts';

interface ToolDraft<Parameters extends TObject> extends Omit<Tool, 'parameters' | 'prepare'> {
  readonly parameters: Parameters;
  prepare(args: Static<Parameters>, place: ToolPlace): Promise<PreparedCall> | PreparedCall;
}

export function defineTool<Parameters extends TObject>(draft: ToolDraft<Parameters>): Tool {
  return { ...draft, prepare: (args: JsonObject, place: ToolPlace) => draft.prepare(args as Static<Parameters>, place) };
}

export function said(text: string, more: Omit<ToolOutput, 'content'> = {}): ToolOutput {
  return { content: [{ type: 'text', text }], ...more };
}

/** Closed, so that a field that a model made up is named instead of ignored. */
export const closed = { additionalProperties: false } as const;
