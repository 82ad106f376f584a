// A tool whose arguments have the type of its schema. The turn has checked them when `prepare` is called.
import type { JsonObject } from '@tenon/protocol';
import type { Static, TObject } from 'typebox';
import { type CallFacts, type PreparedCall, type Tool, ToolError, type ToolIo, type ToolOutput, type ToolPlace } from './tool.ts';

interface ToolDraft<Parameters extends TObject> extends Omit<Tool, 'parameters' | 'prepare' | 'facts'> {
  readonly parameters: Parameters;
  facts?(args: Static<Parameters>, place: ToolPlace): Promise<CallFacts> | CallFacts;
  prepare(args: Static<Parameters>, place: ToolPlace): Promise<PreparedCall> | PreparedCall;
}

/** What the system says no to, such as a folder that may not be read, becomes a ToolError; a fault of ours stays one. */
export function defineTool<Parameters extends TObject>(draft: ToolDraft<Parameters>): Tool {
  const { facts, ...tool } = draft;
  return {
    ...tool,
    ...(facts ? { facts: (args: JsonObject, place: ToolPlace) => told(async () => facts(args as Static<Parameters>, place)) } : {}),
    prepare: (args: JsonObject, place: ToolPlace) =>
      told(async () => {
        const call = await draft.prepare(args as Static<Parameters>, place);
        return { ...call, run: (io: ToolIo) => told(() => call.run(io)) };
      }),
  };
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (error instanceof ToolError || code === undefined || syscall === undefined) throw error;
    throw new ToolError('SYSTEM', `The system refuses it: ${syscall} ${code}`);
  }
}

export function said(text: string, more: Omit<ToolOutput, 'content'> = {}): ToolOutput {
  return { content: [{ type: 'text', text }], ...more };
}

/** Closed, so that a field that a model made up is named instead of ignored. */
export const closed = { additionalProperties: false } as const;
