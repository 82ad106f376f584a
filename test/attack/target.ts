// A gateway under attack: the bundle that users start, with a model that has been talked into anything. The model is a server on this
// machine that says what the attack tells it to.
import { realpathSync, rmSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Approval } from '@tenon/protocol';
import { call, type Conversation, type ConversationOptions, openConversation } from '../support/conversation.ts';
import { removeHome } from '../support/extensions.ts';
import { temporaryHome } from '../support/gateway.ts';
import type { ModelServer } from '../support/model-server.ts';

/** In the environment of every gateway: none of it may be seen anywhere. */
export const CANARY = 'canary-5e1f0c77';

export type TargetOptions = Omit<ConversationOptions, 'script'>;

export interface Target extends Conversation {
  readonly home: string;
  /** A session in which nothing asks. */
  readonly unasked: string;
  /** One call of a tool in it, by the model. */
  use(tool: string, args: object): Promise<ToolResult>;
  /** A program of the agent in it, by a shell; what it printed. Throws where it did not run to its end. */
  shell(script: string): Promise<string>;
  /** A call that asks first, in a session of its own. `meanwhile` comes between the question and the answer. */
  approve(
    tool: string,
    args: object,
    meanwhile: (question: Approval) => unknown,
    decision?: Approval['allowed'][number],
  ): Promise<{ question: Approval | undefined; result: ToolResult }>;
  emptyWorkspace(): string;
}

export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
}

const THE_END = 'it-ran-to-its-end';
let sessions = 0;

export async function openTarget(options: TargetOptions = {}): Promise<Target> {
  const home = options.home ?? realpathSync(temporaryHome());
  const remove = () => options.home === undefined && removeHome(home);
  const talk = await openConversation({
    ...options,
    home,
    env: { ATTACK_API_KEY: CANARY, ...options.env },
  }).catch((error: unknown) => {
    remove();
    throw error;
  });
  const unasked = `agent:main:unasked-${++sessions}`;
  await talk.ask('sessions.create', { key: unasked });
  await talk.ask('sessions.patch', { key: unasked, permissions: 'bypass' });

  async function lastResult(sessionKey: string): Promise<ToolResult> {
    const result = (await talk.results(sessionKey)).at(-1);
    if (!result) throw new Error('the tool has no result');
    return result;
  }

  async function use(tool: string, args: object): Promise<ToolResult> {
    nextIn(talk.server, call(tool, args));
    const { end } = await talk.say('go', { sessionKey: unasked });
    if (end.kind !== 'completed') throw new Error(`the turn ended with ${JSON.stringify(end)}`);
    return lastResult(unasked);
  }

  return {
    ...talk,
    home,
    unasked,
    use,
    async shell(script) {
      const { text } = await use('exec', { argv: ['sh', '-c', `${script}\necho ${THE_END}`] });
      if (!text.includes(THE_END)) throw new Error(`the program did not run to its end: ${text.slice(0, 400)}`);
      return text.slice(0, text.lastIndexOf(THE_END));
    },
    async approve(tool, args, meanwhile, decision = 'allow-once') {
      const sessionKey = `agent:main:asked-${++sessions}`;
      nextIn(talk.server, call(tool, args));
      const runId = await talk.send('go', { sessionKey });
      const asked = talk.question(runId).then((question) => ({ question }));
      const { question } = await Promise.race([asked, talk.ended(runId).then(() => ({ question: undefined }))]);
      if (question) {
        await meanwhile(question);
        await talk.answer(question, question.allowed.includes(decision) ? decision : 'allow-once');
      }
      await talk.ended(runId);
      return { question, result: await lastResult(sessionKey) };
    },
    emptyWorkspace() {
      const folder = talk.workspace();
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
      return folder;
    },
    async [Symbol.asyncDispose]() {
      await talk[Symbol.asyncDispose]();
      remove();
    },
  };
}

/** The call, and a word after its result. */
function nextIn(server: ModelServer, step: ReturnType<typeof call>): void {
  server.next(step, { text: 'done' });
}
