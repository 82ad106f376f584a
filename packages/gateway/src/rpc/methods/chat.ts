import { GatewayError, type ImageBlock, isCommandName, type JsonObject, parseCommand, type TextBlock } from '@tenon/protocol';
import { agentIdOf } from '../../agent/agents.ts';
import { readSaidFiles } from '../../agent/attachments.ts';
import { runCommand } from '../../agent/commands.ts';
import { type CommandCall, type CommandReply, findPluginCommand } from '../../agent/plugin-commands.ts';
import { checkImages } from '../../agent/images.ts';
import { withPluginFields } from '../../agent/plugin-sessions.ts';
import type { RunOptions } from '../../agent/service.ts';
import { cutText, shownEntry } from '../../agent/shown-entry.ts';
import { randomId } from '../../kernel/ids.ts';
import { unknownModel } from '../../model/models.ts';
import type { WriteResult } from '../../store/operations.ts';
import type { Committed, Handlers, PresentContext, RequestContext } from '../handler.ts';

const DEFAULT_PAGE = 50;
/** A page of history stays well inside one frame, and so does one entry that is larger than a page. */
const PAGE_BYTES = 600_000;
const ENTRY_CHARS = 300_000;
const DEFAULT_WAIT_MS = 30_000;
const TITLE_CHARS = 80;

interface Handled {
  readonly handled: { readonly reply: string; readonly sessionKey: string; readonly runId: string };
}

export const chatHandlers = {
  'chat.send': {
    commit(params, context): Promise<Committed<unknown>> {
      const { sessionKey, message, idempotencyKey: runId } = params;
      requireAgent(sessionKey, context);
      if (parseCommand(message) === undefined) return sayTo(sessionKey, params, 'user', {}, context);
      return context.commitAnswer(async (): Promise<Handled> => {
        const { store, clock, principal } = context;
        const answer = await runInSession({ sessionKey, text: message, principal }, context);
        const draft = { type: 'custom' as const, customType: 'command', data: { command: message, reply: answer.reply } };
        await makeSession(sessionKey, context);
        await store.write('entries.append', { key: sessionKey, draft, at: clock.now() });
        return { handled: { reply: answer.reply, sessionKey: answer.sessionKey, runId } };
      });
    },
    present(stored: Accepted | Handled, context) {
      if ('handled' in stored) return { ...stored.handled, status: 'handled' };
      return started(stored, context);
    },
  },

  agent: {
    commit(params, context) {
      const { idempotencyKey: _, extraSystemPrompt, trigger, ...message } = params;
      const agentId = params.agentId ?? (params.sessionKey === undefined ? undefined : agentIdOf(params.sessionKey)) ?? 'main';
      if (params.sessionKey !== undefined && agentIdOf(params.sessionKey) !== agentId)
        throw new GatewayError('INVALID_REQUEST', `params/sessionKey "${params.sessionKey}" is not under the agent "${agentId}"`);
      const key = params.sessionKey ?? `agent:${agentId}:run-${randomId()}`;
      requireAgent(key, context);
      const options = extraSystemPrompt === undefined ? {} : { extraSystemPrompt };
      return sayTo(key, { ...message, idempotencyKey: params.idempotencyKey }, trigger ?? 'api', options, context);
    },
    present: (stored: Accepted, context) => started(stored, context),
  },

  'agent.wait': async ({ runId, timeoutMs = DEFAULT_WAIT_MS }, { turns, principal, store }) => {
    // Before the waiting: how long it takes to be refused must not tell that the run is there.
    const { run: asked } = await store.read('runs.get', { runId });
    if (principal.sessionKey !== undefined && asked.sessionKey !== principal.sessionKey) throw noRun(runId);
    const waited = await turns.wait(runId, timeoutMs);
    if (!waited) throw noRun(runId);
    const { run, text } = waited;
    return { run, ...(run.end === undefined ? {} : { end: run.end }), ...(text === undefined ? {} : { text: cutText(text, PAGE_BYTES) }) };
  },

  'chat.history': async ({ sessionKey, limit = DEFAULT_PAGE, before }, context) => {
    const { store } = context;
    const page = await store.read('entries.path', {
      key: sessionKey,
      limit,
      maxBytes: PAGE_BYTES,
      ...(before === undefined ? {} : { from: before }),
    });
    const { runs } = await store.read('runs.openIn', { key: sessionKey });
    const open = runs.map(({ run, content }) => ({ run, ...(run.state === 'queued' ? { text: textOf(content) } : {}) }));
    const [session = page.session] = await withPluginFields([page.session], context, context.plugins());
    return { ...page, session, entries: page.entries.map((entry) => shownEntry(entry, ENTRY_CHARS)), runs: open };
  },

  'chat.abort': ({ sessionKey, runId }, { commitAnswer, turns, store }) =>
    commitAnswer(async () => {
      await store.read('sessions.expect', { key: sessionKey });
      return { aborted: await turns.abort(sessionKey, runId) };
    }),

  'chat.inject': ({ sessionKey, message, label }, { commit, clock, principal }) =>
    commit('entries.append', {
      key: sessionKey,
      draft: {
        type: 'custom_message',
        customType: 'note',
        content: [{ type: 'text', text: message }],
        display: true,
        details: { by: principal.id, ...(label === undefined ? {} : { label }) },
      },
      at: clock.now(),
    }),
} satisfies Partial<Handlers>;

type Accepted = WriteResult<'runs.accept'>;

interface Sent {
  readonly idempotencyKey: string;
  readonly message: string;
  readonly images?: ImageBlock[];
  readonly attachments?: readonly string[];
  readonly model?: string;
  readonly thinking?: RunOptions['thinking'];
  readonly mode?: Accepted['run']['mode'];
  readonly override?: boolean;
}

type Said = [key: string, sent: Sent, trigger: 'user' | 'api' | 'heartbeat', more: RunOptions];

/** At once, so that requests keep their order; where something must be looked at first, one after another once that is known. */
function sayTo(...[key, sent, trigger, more, context]: [...Said, RequestContext]): Promise<Committed<Accepted>> {
  const { composer, lanes, store, files, principal } = context;
  const { attachments = [] } = sent;
  const mustLook = !sent.override && composer.mayBeClosed();
  if (!mustLook && attachments.length === 0) return accept(key, sent, trigger, more, context);
  return context.commitAfter(() =>
    lanes.run(`say\n${key}`, async () => {
      if (mustLook) await composer.requireOpen(key);
      if (attachments.length === 0) return accept(key, sent, trigger, more, context);
      const said = await readSaidFiles(attachments, key, principal, { store, files });
      return accept(key, sent, trigger, { ...more, attachments: said.refs }, context, said.images);
    }),
  );
}

function accept(
  key: string,
  { idempotencyKey: runId, message, images = [], attachments = [], model, thinking, mode }: Sent,
  trigger: 'user' | 'api' | 'heartbeat',
  more: RunOptions,
  { commit, clock, principal, agents, models, files }: RequestContext,
  shown: readonly ImageBlock[] = [],
): Promise<Committed<Accepted>> {
  if (message.trim() === '' && images.length + attachments.length === 0)
    throw new GatewayError('INVALID_REQUEST', 'params/message is empty');
  checkImages(images);
  if (model !== undefined && !models.get(model))
    throw new GatewayError('NOT_FOUND', unknownModel(model, models).message, { details: { code: 'UNKNOWN_MODEL' } });
  const text: TextBlock[] = message === '' ? [] : [{ type: 'text', text: message }];
  return commit('runs.accept', {
    key,
    runId,
    content: [...text, ...images, ...shown],
    ...(mode === undefined ? {} : { mode }),
    defaultMode: agents.get(agentIdOf(key))?.queue ?? 'collect',
    trigger,
    principal: principal.id,
    options: { ...more, ...(model === undefined ? {} : { model }), ...(thinking === undefined ? {} : { thinking }) } as JsonObject,
    title: titleOf(message),
    ...(attachments.length === 0 ? {} : { attachments: { handles: attachments, quotas: files.quotas } }),
    at: clock.now(),
  });
}

/** After the commit, and again for a repeat: the store decides what there is to do. */
function started({ run, busy }: Accepted, { turns }: PresentContext) {
  turns.accepted(run.sessionKey);
  return { runId: run.runId, sessionKey: run.sessionKey, status: busy ? ('queued' as const) : ('started' as const) };
}

function requireAgent(key: string, { agents }: RequestContext): void {
  const id = agentIdOf(key);
  if (!agents.get(id))
    throw new GatewayError(
      'NOT_FOUND',
      `There is no agent "${id}"; the agents are: ${agents
        .list()
        .map((each) => each.id)
        .join(', ')}`,
      {
        details: { code: 'UNKNOWN_AGENT' },
      },
    );
}

/** The first line of the first message stands for the session until somebody names it. */
export function titleOf(message: string): string {
  const line = message.trim().split('\n', 1)[0] ?? '';
  return line.length <= TITLE_CHARS
    ? line
    : `${[...line]
        .slice(0, TITLE_CHARS - 1)
        .join('')
        .trimEnd()}…`;
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map((block) => (block.type === 'text' ? (block.text ?? '') : '[image]')).join('\n');
}

/** As the store says it of a run that is not there. */
function noRun(runId: string): GatewayError {
  return new GatewayError('NOT_FOUND', `Cannot find run "${runId}"`, { details: { code: 'NO_RUN' } });
}

/** The first word in a session may be a command: the session is made for it, unless the command makes no sense. */
async function runInSession(call: CommandCall, context: RequestContext): Promise<CommandReply> {
  const name = parseCommand(call.text)?.name ?? '';
  // A plugin keeps what it is told in the session, and its failure to do so is an answer like any other.
  if (findPluginCommand(name, context.commands.plugins())) await makeSession(call.sessionKey, context);
  try {
    return await runCommand(call, context.commands);
  } catch (error) {
    const isMissing = error instanceof GatewayError && error.code === 'NOT_FOUND' && /^Cannot find session/.test(error.message);
    if (!isMissing || !isCommandName(name)) throw error;
    await makeSession(call.sessionKey, context);
    return runCommand(call, context.commands);
  }
}

/** Looked for first: most commands are said in a session that is there, and need no commit for it. */
async function makeSession(key: string, { store, clock }: RequestContext): Promise<void> {
  try {
    await store.read('sessions.expect', { key });
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'NOT_FOUND') throw error;
    await store.write('sessions.create', { key, fields: {}, at: clock.now() }).catch(ignoreExisting);
  }
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof GatewayError) || error.code !== 'CONFLICT') throw error;
}
