// What stands in for the world in a test host: a model that says what the test wrote, and tools that do what the test says.
import type { JsonObject, Message } from '@tenon/protocol';
import type { ModelRequest, ModelStep, StandInTool, TestHostOptions } from '@tenon/plugin-sdk/testing';
import { Type } from 'typebox';
import type { Tool } from '../agent/tools/tool.ts';
import type { Tools } from '../agent/tools/tools.ts';
import type { Clock } from '../kernel/clock.ts';
import { createScriptedModel, type ScriptedAnswer } from '../model/scripted.ts';
import type { Models, ModelRequest as RealRequest } from '../model/types.ts';

export interface StandInModel {
  readonly models: Models;
  readonly requests: readonly ModelRequest[];
}

/** The steps that are left are kept over a restart. */
export function createStandInModel(script: TestHostOptions['model'], clock: Clock): StandInModel {
  const requests: ModelRequest[] = [];
  const steps = typeof script === 'function' ? undefined : script && [...script];
  const model = createScriptedModel([], {
    clock,
    info: { id: 'test', name: 'Test' },
    async otherwise(real) {
      const request = requestOf(real);
      requests.push(request);
      if (typeof script === 'function') return answerOf(await script(request));
      if (!steps) return answerOf('ok');
      const step = steps.shift();
      if (step === undefined) throw new Error(`the test has no step for request ${requests.length} of the model`);
      return answerOf(step);
    },
  });
  return {
    models: { list: () => [model.info], defaultId: model.info.id, get: (id) => (id === model.info.id ? model : undefined) },
    requests,
  };
}

function answerOf(step: ModelStep): ScriptedAnswer {
  if (typeof step === 'string') return { text: step };
  const { failure, ...answer } = step;
  return { ...answer, ...(failure === undefined ? {} : { failure: { kind: 'invalid_request', message: failure } }) };
}

function requestOf({ system, messages, tools }: RealRequest): ModelRequest {
  return { system, messages: messages.map((each) => ({ role: each.role, text: textOf(each) })), tools: tools.map(({ name }) => name) };
}

function textOf({ content }: Message): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

export function createStandInTools(given: TestHostOptions['tools'] = {}): Tools {
  return {
    tools: Object.entries(given).map(([name, tool]) => standIn(name, tool)),
    sandbox: async () => ({ kind: 'none', reason: 'a test host runs no programs' }),
    endJobs: () => {},
    close: async () => {},
  };
}

function standIn(name: string, { risk = 'read', run }: StandInTool): Tool {
  return {
    name,
    label: name,
    description: `Stands in for ${name}`,
    parameters: Type.Object({}, { additionalProperties: true }),
    risk,
    tags: [],
    idempotent: false,
    parallelSafe: false,
    prepare: (args: JsonObject) => ({
      subject: name,
      question: `${name}?`,
      risk,
      exact: args,
      run: async () => ({ content: [{ type: 'text', text: await run(args) }] }),
    }),
  };
}
