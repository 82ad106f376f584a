// The OpenAI-compatible endpoint: a request becomes a run of an agent, as durable as any other, and the client is told
// what the run says. A client that goes away takes its run with it, unless it named the run and can come back for it.
import { GatewayError, limits, type Run, type RunStream, SessionKey, matches } from '@tenon/protocol';
import { agentIdOf } from '../../agent/agents.ts';
import {
  chunkOf,
  type Completion,
  completionOf,
  type Delta,
  modelList,
  outcomeOf,
  parseCompletion,
  resolveTarget,
  type Target,
  toMessage,
  usageChunkOf,
} from '../../agent/completions.ts';
import { randomId, sha256 } from '../../kernel/ids.ts';
import { titleOf } from '../../rpc/methods/chat.ts';
import type { Principal } from '../../rpc/principal.ts';
import type { AnswerSlot } from '../../store/answers.ts';
import { packEntries } from '../../store/entry-copies.ts';
import { type Answer, HttpError, json, openAiError } from '../answer.ts';
import { jsonOf } from '../body.ts';
import { createCrowd, type Crowd } from '../crowd.ts';
import { createEventStream } from '../event-stream.ts';
import { joinConnections } from '../join-connections.ts';
import { type GuardedCall, type HttpDeps, JSON_TYPES, type Routes } from '../route.ts';

export function createCompletionRoutes(): Routes {
  const underWay = createCrowd();
  return {
    '/v1/models': {
      method: 'GET',
      scope: 'operator.read',
      bound: 'own-session',
      handle: ({ principal }, deps) => json(200, modelList(visibleTo(principal, deps), deps.clock.now())),
    },
    '/v1/chat/completions': {
      method: 'POST',
      scope: 'operator.write',
      bound: 'own-session',
      body: { maxBytes: limits.httpBodyBytes.value, types: JSON_TYPES },
      async handle(call, deps) {
        const leave = enter(underWay, call, deps);
        try {
          return await complete(call, deps);
        } finally {
          leave();
        }
      },
    },
  };
}

/** A credential that is bound to one session sees the agent of that session and no other. */
function visibleTo({ sessionKey }: Principal, { agents, models }: HttpDeps) {
  if (sessionKey === undefined) return { agents: agents.list(), models: models.list() };
  return { agents: agents.list().filter(({ id }) => id === agentIdOf(sessionKey)), models: [] };
}

function enter(underWay: Crowd, { principal, address }: GuardedCall, { incidents }: HttpDeps): () => void {
  if (underWay.total < limits.completionsInFlight.value && underWay.of(principal.id) < limits.completionsPerCredential.value)
    return underWay.enter(principal.id);
  incidents.record('http.in-flight', address);
  throw new HttpError(429, 'RATE_LIMITED', 'Too many completions are under way; wait for one to end', {
    retryAfterMs: 1000,
    details: { code: 'TOO_MANY_IN_FLIGHT' },
  });
}

async function complete(call: GuardedCall, deps: HttpDeps): Promise<Answer | undefined> {
  const completion = parseCompletion(jsonOf(call.body));
  const place = findPlace(call, deps, resolveTarget(completion.model, { agents: deps.agents.list(), models: deps.models.list() }));
  const at = deps.clock.now();
  const { runId, sessionKey, createdAt } = await accept(call, deps, completion, place, at);
  return follow(call, deps, completion, { runId, sessionKey, named: place.key !== undefined, repeated: createdAt !== at });
}

interface Place {
  readonly sessionKey: string;
  /** Whether the session is made for this request, with what the request says was said before. */
  readonly isFresh: boolean;
  readonly model: string | undefined;
  /** Of the header Idempotency-Key: the id of the run. */
  readonly key: string | undefined;
}

function findPlace({ request, principal }: GuardedCall, { agents }: HttpDeps, { agentId, model }: Target): Place {
  const key = headerOf(request.headers['idempotency-key']);
  if (key !== undefined && !/^[\x21-\x7e]{1,128}$/.test(key))
    throw new GatewayError('INVALID_REQUEST', 'Idempotency-Key must be up to 128 visible ASCII characters');
  const given = headerOf(request.headers['x-tenon-session-key']) ?? principal.sessionKey;
  if (given === undefined) {
    const agent = agentId ?? agents.list().find(({ isDefault }) => isDefault)?.id ?? 'main';
    // The same key finds the same session: a repeat must not begin another one.
    const name = key === undefined ? randomId() : sha256(`v1\n${principal.id}\n${key}`).slice(0, 32);
    return { sessionKey: `agent:${agent}:v1-${name}`, isFresh: true, model, key };
  }
  if (!matches(SessionKey, given))
    throw new GatewayError('INVALID_REQUEST', 'x-tenon-session-key must be agent:<agentId>:<name>, such as agent:main:notes');
  if (principal.sessionKey !== undefined && given !== principal.sessionKey)
    throw new GatewayError('NOT_FOUND', `Cannot find session "${given}"`);
  if (agents.get(agentIdOf(given)) === undefined) throw new GatewayError('NOT_FOUND', `There is no agent "${agentIdOf(given)}"`);
  if (agentId !== undefined && agentId !== agentIdOf(given))
    throw new GatewayError('INVALID_REQUEST', `The session "${given}" is not one of the agent "${agentId}"`);
  return { sessionKey: given, isFresh: false, model, key };
}

function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value;
}

/** Makes the message durable. With a key, a repeat finds the run that the first one began. */
async function accept(call: GuardedCall, { store, composer }: HttpDeps, completion: Completion, place: Place, at: number): Promise<Run> {
  const { sessionKey, key } = place;
  const principal = call.principal.id;
  const digest = sha256(`v1\n${sessionKey}\n${sha256(call.body.toString('latin1'))}`);
  const slot = (step: string): AnswerSlot | undefined =>
    key === undefined ? undefined : { principal, key: `v1.${step}:${key}`, method: `v1.${step}`, digest, at };
  const mayBeSaid = place.isFresh || headerOf(call.request.headers['x-tenon-override']) === 'true' || !composer.mayBeClosed();
  const repeated = slot('run');
  if (!mayBeSaid && !(repeated && (await store.read('answer.find', repeated)))) await composer.requireOpen(sessionKey);
  if (place.isFresh && completion.history.length > 0) {
    const entries = completion.history.map((said, index, all) => ({
      id: entryId(index),
      parentId: index === 0 ? null : entryId(index - 1),
      at: at - all.length + index,
      type: 'message' as const,
      message: toMessage(said, at),
    }));
    const leafId = entryId(entries.length - 1);
    await store.write('entries.import', { key: sessionKey, fields: {}, entries: packEntries(entries), leafId, at }, slot('history'));
  }
  const options = {
    ...(place.model === undefined ? {} : { model: place.model }),
    ...(completion.thinking === undefined ? {} : { thinking: completion.thinking }),
    ...(completion.system === undefined ? {} : { extraSystemPrompt: completion.system }),
  };
  const { run } = await store.write(
    'runs.accept',
    {
      key: sessionKey,
      runId: key ?? randomId(),
      content: completion.content,
      // A turn of its own: its answer goes to one client.
      mode: 'followup',
      defaultMode: 'followup',
      trigger: 'api',
      principal,
      options,
      title: titleOf(completion.content.map((block) => (block.type === 'text' ? block.text : '')).join(' ')),
      at,
    },
    slot('run'),
  );
  return run;
}

/** Ids are unique in their session, and this one is new. */
function entryId(index: number): string {
  return `v1-${String(index).padStart(6, '0')}`;
}

interface Followed {
  readonly runId: string;
  readonly sessionKey: string;
  readonly named: boolean;
  /** It began earlier: what it has said so far is not heard any more, so all of it is told at its end. */
  readonly repeated: boolean;
}

/** Stays with the run until it has ended, or the client, its credential or the gateway goes. */
async function follow(call: GuardedCall, deps: HttpDeps, completion: Completion, followed: Followed): Promise<Answer | undefined> {
  const { runId, sessionKey } = followed;
  const { turns, clock } = deps;
  const headers = { 'x-tenon-session-key': sessionKey, 'x-tenon-run-id': runId };
  const head = { id: `chatcmpl-${runId}`, createdMs: clock.now(), model: completion.model };
  const stream = completion.stream ? openStream(call, deps, headers) : undefined;
  const speech = createSpeech((delta) => stream?.event(JSON.stringify(chunkOf(head, delta))));
  const cut = Promise.withResolvers<GatewayError>();
  const connection = joinConnections(call, deps, cut.resolve);
  const clientGone = new Promise<'gone'>((resolve) => {
    if (call.gone.aborted) resolve('gone');
    else call.gone.addEventListener('abort', () => resolve('gone'), { once: true });
  });
  const unwatch = turns.watch(runId, (said) => {
    if (stream && !followed.repeated) tell(said, speech, stream.comment);
  });
  // Only now: nothing that the run says is missed.
  turns.accepted(sessionKey);
  try {
    const outcome = await Promise.race([untilEnded(runId, deps), clientGone, cut.promise]);
    if (outcome === 'gone') return void stopFor(followed, deps);
    if (outcome instanceof GatewayError) {
      if (outcome.code === 'UNAUTHORIZED') stopFor(followed, deps);
      return refuse(outcome, outcome.code === 'UNAUTHORIZED' ? 401 : 503, followed.named ? {} : NO_RETRY);
    }
    const { run, text = '' } = outcome;
    const end = outcomeOf(run.end ?? { kind: 'internal_error' });
    if (end.kind === 'failed') return refuse(end.error, end.status, NO_RETRY);
    if (!stream) return json(200, completionOf(head, text, end.reason, run.usage), headers);
    speech.complete(text);
    stream.event(JSON.stringify(chunkOf(head, {}, end.reason)));
    if (completion.includeUsage) stream.event(JSON.stringify(usageChunkOf(head, run.usage)));
    stream.event('[DONE]');
    return undefined;
  } catch (error) {
    // Too late for a status: it is the last that the client hears.
    if (!stream?.opened) throw error;
    return refuse(asRefusal(error, deps), 500);
  } finally {
    unwatch();
    deps.connections.remove(connection);
    stream?.end();
  }

  function refuse(error: GatewayError, status: number, more: Readonly<Record<string, string>> = {}): Answer | undefined {
    if (!stream?.opened) return json(status, openAiError(error, status), { ...headers, ...more });
    stream.event(JSON.stringify(openAiError(error, status)));
    return undefined;
  }
}

function asRefusal(error: unknown, { log }: HttpDeps): GatewayError {
  if (error instanceof GatewayError) return error;
  const reference = randomId(6);
  log.error({ error, reference }, 'a streamed answer failed');
  return new GatewayError('INTERNAL', 'A fault of the gateway', { details: { reference } });
}

/** Another attempt would be another run, and tools that ran would run again: OpenAI's clients do not try by themselves. */
const NO_RETRY = { 'x-should-retry': 'false' };

function openStream({ response, address }: GuardedCall, { clock, incidents }: HttpDeps, headers: Readonly<Record<string, string>>) {
  return createEventStream(response, { clock, headers, onSlow: () => incidents.record('http.unread', address) });
}

async function untilEnded(runId: string, { turns }: HttpDeps): Promise<{ run: Run; text?: string }> {
  for (;;) {
    const waited = await turns.wait(runId, limits.waitMs.value);
    if (!waited) throw new GatewayError('NOT_FOUND', `Cannot find run "${runId}"; its session may have been deleted`);
    if (waited.run.state === 'ended') return waited;
  }
}

/** Nobody waits for the answer any more. A run that the client named goes on: it can ask again under the same key. */
function stopFor({ runId, sessionKey, named }: Followed, { turns, log }: HttpDeps): void {
  if (named) return;
  turns.abort(sessionKey, runId).catch((error: unknown) => log.error({ error, runId }, 'cannot stop the run of a client that has gone'));
}

interface Speech {
  text(delta: string): void;
  thinking(delta: string): void;
  /** What comes next is not the same sentence. */
  pause(): void;
  /** The run has ended and this is what it said last: said now, where nothing was. */
  complete(text: string): void;
}

/** Puts the role before the first words, and a blank line between what is said before and after a tool. */
function createSpeech(emit: (delta: Delta) => void): Speech {
  let begun = false;
  let spoke = false;
  let paused = false;
  const begin = () => {
    if (!begun) emit({ role: 'assistant', content: '' });
    begun = true;
  };
  function text(delta: string): void {
    if (delta === '') return;
    begin();
    emit({ content: paused ? `\n\n${delta}` : delta });
    spoke = true;
    paused = false;
  }
  return {
    text,
    thinking(delta) {
      if (delta === '') return;
      begin();
      emit({ reasoning_content: delta });
    },
    pause() {
      paused = spoke;
    },
    complete(last) {
      begin();
      if (!spoke) text(last);
    },
  };
}

/** Tools and approvals are told as comments: people who look see why it takes a while, clients skip them. */
function tell(said: RunStream, speech: Speech, comment: (text: string) => void): void {
  if (said.stream === 'assistant') speech.text(said.delta);
  else if (said.stream === 'thinking') speech.thinking(said.delta);
  else if (said.stream === 'tool') {
    speech.pause();
    if (said.phase === 'started' || said.phase === 'ended') comment(`tool ${said.name} ${said.phase}`);
  } else if (said.stream !== 'lifecycle') return;
  else if (said.phase === 'discarded') speech.pause();
  else if (said.phase === 'waiting') comment('waiting for an approval');
}
