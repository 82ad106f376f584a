// Conversations with a real gateway whose model is a real server that says what a test tells it to: everything between the
// socket of a client and the bytes that reach the provider is what users run.
import assert from 'node:assert/strict';
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Approval, Entry, Run, RunEnd } from '@tenon/protocol';
import { type GatewayProcess, startGatewayProcess, type StartOptions } from './gateway.ts';
import { type ChatMessage, type ModelServer, type ServerStep, startModelServer } from './model-server.ts';
import { connectRaw, type Frame, type RawClient } from './raw-client.ts';

export const MODEL_KEY = 'sk-canary-41d7a9c05b';

export interface ConversationOptions extends Pick<StartOptions, 'home' | 'env' | 'plugins' | 'descriptors' | 'through'> {
  readonly script?: readonly ServerStep[];
  /** Lines of tenon.toml before its tables. */
  readonly config?: string;
  /** Further fields of `[[models]]`, and whatever follows it. */
  readonly model?: string | ((server: ModelServer) => string);
  readonly server?: ModelServer;
}

export interface Ended {
  readonly run: Run;
  readonly end: RunEnd;
  readonly text: string | undefined;
}

export interface Conversation extends AsyncDisposable {
  readonly gateway: GatewayProcess;
  readonly server: ModelServer;
  readonly admin: RawClient;
  /** The real path of the workspace of an agent. */
  workspace(agentId?: string): string;
  /** What a method answers the operator. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
  ask(method: string, params?: object): Promise<any>;
  /** The error of a method that must refuse the operator. */
  refused(method: string, params?: object): Promise<NonNullable<Frame['error']>>;
  /** Sends a message; gives the id of its run. */
  send(message: string, more?: Record<string, unknown>): Promise<string>;
  ended(runId: string): Promise<Ended>;
  /** Sends, waits, and gives how it ended. */
  say(message: string, more?: Record<string, unknown>): Promise<Ended>;
  /** The question that a run asks; the nth of it, from 0. */
  question(runId: string, nth?: number): Promise<Approval>;
  answer(approval: Approval, decision: Approval['allowed'][number]): Promise<void>;
  history(sessionKey?: string): Promise<Entry[]>;
  /** The results of the tools in the session, in order. */
  results(sessionKey?: string): Promise<{ text: string; isError: boolean; provenance: string | undefined }[]>;
}

export const SESSION = 'agent:main:talk';

let count = 0;

/** The text of tenon.toml with the model server as the model `local`. */
export function modelConfig(server: ModelServer, fields = ''): string {
  return `[[models]]\nid = "local"\nprovider = "openai-compatible"\nname = "test"\nbaseUrl = "${server.url}"\nkeyEnv = "TEST_MODEL_KEY"\n${fields}\n`;
}

export async function openConversation(options: ConversationOptions = {}): Promise<Conversation> {
  const server = options.server ?? (await startModelServer());
  server.next(...(options.script ?? []));
  const gateway = await startGatewayProcess({
    ...(options.home === undefined ? {} : { home: options.home }),
    ...(options.plugins ? { plugins: true } : {}),
    ...(options.descriptors ? { descriptors: options.descriptors } : {}),
    ...(options.through ? { through: options.through } : {}),
    config: `${options.config ?? ''}\n${modelConfig(server, typeof options.model === 'function' ? options.model(server) : options.model)}`,
    env: { TEST_MODEL_KEY: MODEL_KEY, ...options.env },
  }).catch(async (error: unknown) => {
    // A server that listens on would keep the tests from ending.
    if (options.server === undefined) await server.close();
    throw error;
  });
  const admin = await connectRaw(gateway.socketUrl, gateway.token);

  const send: Conversation['send'] = async (message, more = {}) => {
    const idempotencyKey = `run-${++count}`;
    const answer = await admin.request('chat.send', { sessionKey: SESSION, message, idempotencyKey, ...more });
    assert.equal(answer.ok, true, JSON.stringify(answer.error));
    return answer.payload.runId as string;
  };
  const ended: Conversation['ended'] = async (runId) => {
    const { payload, error } = await admin.request('agent.wait', { runId, timeoutMs: 60_000 });
    assert.equal(error, undefined, JSON.stringify(error));
    assert.equal(payload.run.state, 'ended', `run ${runId} has not ended`);
    return { run: payload.run, end: payload.end, text: payload.text };
  };
  const history: Conversation['history'] = async (sessionKey = SESSION) => {
    const { payload, error } = await admin.request('chat.history', { sessionKey, limit: 200 });
    assert.equal(error, undefined, JSON.stringify(error));
    return payload.entries as Entry[];
  };

  return {
    gateway,
    server,
    admin,
    workspace(agentId = 'main') {
      const folder = join(gateway.home, 'workspaces', agentId);
      mkdirSync(folder, { recursive: true });
      return realpathSync(folder);
    },
    async ask(method, params = {}) {
      const { ok, payload, error } = await admin.request(method, params);
      assert.equal(ok, true, `${method}: ${JSON.stringify(error)}`);
      return payload;
    },
    async refused(method, params = {}) {
      const { ok, error } = await admin.request(method, params);
      assert.equal(ok, false, `${method} was not refused`);
      return error!;
    },
    send,
    ended,
    say: async (message, more) => ended(await send(message, more)),
    async question(runId, nth = 0) {
      let seen = 0;
      const isIt = (approval: Approval) => approval.runId === runId && seen++ === nth;
      const frame = await admin.find(({ event, payload }) => event === 'approval.requested' && isIt(payload.approval));
      return frame.payload.approval as Approval;
    },
    async answer({ id }, decision) {
      const { ok, error } = await admin.request('approvals.resolve', { id, decision });
      assert.equal(ok, true, JSON.stringify(error));
    },
    history,
    async results(sessionKey) {
      return (await history(sessionKey)).flatMap((entry) => {
        if (entry.type !== 'message' || entry.message.role !== 'toolResult') return [];
        const { content, isError, provenance } = entry.message;
        return [{ text: content.map((block) => (block.type === 'text' ? block.text : '[image]')).join('\n'), isError, provenance }];
      });
    },
    async [Symbol.asyncDispose]() {
      await admin.close();
      await gateway.remove();
      if (options.server === undefined) await server.close();
    },
  };
}

/** A step of the server: one tool call. */
export function call(name: string, args: object | string): ServerStep {
  return { calls: [{ name, arguments: args }] };
}

/** What the model was told last, of one role. */
export function told(server: ModelServer, role: ChatMessage['role']): string[] {
  const messages = server.requests.at(-1)?.body?.messages ?? [];
  return messages.filter((message) => message.role === role).map(({ content }) => textOf(content));
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : '';
}
