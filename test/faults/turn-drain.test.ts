// SIGTERM with turns at work: what waits is left behind at once, a tool may finish, and the next start takes everything up.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Approval, Entry, EventPayload, Run } from '@tenon/protocol';
import { type ChaosWorld, openChaosWorld } from '../support/chaos.ts';
import { type Link, openLink } from '../support/chaos-link.ts';
import type { GatewayProcess } from '../support/gateway.ts';
import { type ModelServer, type RecordedRequest, type ServerAnswer, startModelServer } from '../support/model-server.ts';
import type { Frame } from '../support/raw-client.ts';
import { engines } from '../support/stores.ts';
import { checkTranscript } from '../support/turn-oracle.ts';
import { verifies } from '../support/verifies.ts';

const streamKey = 'agent:main:stream';
const toolKey = 'agent:main:tool';
const askKey = 'agent:main:ask';
const BUDGET_MS = 60_000;

interface Place extends AsyncDisposable {
  readonly world: ChaosWorld;
  readonly server: ModelServer;
  readonly workspace: string;
  /** The stream that hangs goes on from now on. */
  unhang(): void;
}

async function openPlace(engine: (typeof engines)[number], budgetMs: number): Promise<Place> {
  let hangs = true;
  const server = await startModelServer({ otherwise: (request) => answerTo(request, hangs) });
  const world = await openChaosWorld(engine, {
    settings: `
[gateway]
shutdownBudgetMs = ${budgetMs}
[agent]
permissions = "bypass"
[exec]
sandbox = "off"
unsandboxed = "policy"
[[models]]
id = "local"
provider = "openai-compatible"
baseUrl = "${server.url}"
`,
  });
  const workspace = join(world.home, 'workspaces', 'main');
  mkdirSync(workspace, { recursive: true });
  return {
    world,
    server,
    workspace,
    unhang() {
      hangs = false;
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

/** What the message asks for, then a last word. */
function answerTo({ body }: RecordedRequest, hangs: boolean): ServerAnswer {
  const last = body?.messages.at(-1);
  const text = JSON.stringify(last?.content ?? '');
  if (last?.role !== 'user') return { text: 'Done.' };
  if (text.includes('hang') && hangs) return { text: 'Half', after: 'hang' };
  if (text.includes('program'))
    return {
      calls: [{ id: 'call-p', name: 'exec', arguments: { command: 'echo ran >> log.txt; until test -e go; do sleep 0.01; done' } }],
    };
  if (text.includes('write')) return { calls: [{ id: 'call-w', name: 'write', arguments: { path: 'note.txt', content: 'noted' } }] };
  return { text: 'Whole.' };
}

interface Watched {
  readonly link: Link;
  readonly frames: Frame[];
  /** The first that fits, past or future. */
  seen(fits: (frame: Frame) => boolean): Promise<Frame>;
}

async function watch(gateway: GatewayProcess): Promise<Watched> {
  const frames: Frame[] = [];
  const waiting = new Set<{ fits: (frame: Frame) => boolean; resolve: (frame: Frame) => void }>();
  const link = await openLink(gateway, {
    onEvent(frame) {
      frames.push(frame);
      for (const each of waiting) if (each.fits(frame)) each.resolve(frame);
    },
  });
  return {
    link,
    frames,
    seen(fits) {
      const known = frames.find(fits);
      return known ? Promise.resolve(known) : new Promise((resolve) => waiting.add({ fits, resolve }));
    },
  };
}

async function send(link: Link, sessionKey: string, runId: string, message: string, more: object = {}): Promise<void> {
  const outcome = await link.request('chat.send', { sessionKey, message, idempotencyKey: runId, mode: 'followup', ...more });
  assert.equal(outcome.kind, 'answered', JSON.stringify(outcome));
}

async function ended(link: Link, runId: string): Promise<Run> {
  const outcome = await link.request('agent.wait', { runId, timeoutMs: 60_000 });
  assert.ok(outcome.kind === 'answered', JSON.stringify(outcome));
  const run = outcome.payload.run as Run;
  assert.equal(run.state, 'ended', `${runId} has not ended`);
  return run;
}

async function pathOf(link: Link, sessionKey: string): Promise<Entry[]> {
  const outcome = await link.request('chat.history', { sessionKey, limit: 100 });
  assert.ok(outcome.kind === 'answered', JSON.stringify(outcome));
  return outcome.payload.entries as Entry[];
}

function resultIn(path: readonly Entry[]): string {
  const entry = path.find((each) => each.type === 'message' && each.message.role === 'toolResult');
  return JSON.stringify(entry?.type === 'message' ? entry.message.content : undefined);
}

async function programRuns(workspace: string): Promise<void> {
  while (!existsSync(join(workspace, 'log.txt'))) await new Promise((resolve) => setImmediate(resolve));
}

const isEnd =
  (runId: string) =>
  ({ event, payload }: Frame) =>
    event === 'chat' && payload.kind === 'ended' && payload.runId === runId;

for (const engine of engines) {
  test(`${engine}: SIGTERM leaves turns in a stream, a tool and an approval behind, and each goes on and ends once`, async () => {
    verifies('R14', 'R14:running-turns', 'turns:park', 'turns:ends-once', 'S56');
    await using place = await openPlace(engine, BUDGET_MS);
    const { world, workspace } = place;
    const gateway = await world.start();
    const { link, frames, seen } = await watch(gateway);
    await link.request('sessions.create', { key: askKey, idempotencyKey: 'create', permissions: 'ask' });
    await send(link, streamKey, 'in-stream', 'hang, please');
    await send(link, streamKey, 'queued', 'and then this');
    await send(link, toolKey, 'in-tool', 'run the program');
    await send(link, askKey, 'in-approval', 'write a note');
    // A client that waits for a run does not hold the gateway up.
    const waiting = link.request('agent.wait', { runId: 'in-stream', timeoutMs: 60_000 });
    await seen(({ event, payload }) => event === 'agent' && payload.runId === 'in-stream' && payload.stream === 'assistant');
    const asked = await seen(({ event }) => event === 'approval.requested');
    const { id } = (asked.payload as EventPayload<'approval.requested'>).approval;
    await programRuns(workspace);

    const startedAt = performance.now();
    gateway.child.kill('SIGTERM');
    await seen(({ event }) => event === 'shutdown');
    const late = await link.request('chat.send', { sessionKey: streamKey, message: 'too late', idempotencyKey: 'late' });
    assert.equal(late.kind === 'refused' && late.error.code, 'UNAVAILABLE');
    writeFileSync(join(workspace, 'go'), '');
    const waited = await waiting;
    assert.equal(waited.kind === 'refused' && waited.error.code, 'UNAVAILABLE', JSON.stringify(waited));
    assert.deepEqual(await gateway.exited, { code: 0, signal: null }, gateway.stderr());
    assert.ok(performance.now() - startedAt < BUDGET_MS, 'the program was done, and nobody else was waited for');
    assert.equal((await link.closed).code, 1012);
    for (const runId of ['in-stream', 'queued', 'in-tool', 'in-approval']) assert.ok(!frames.some(isEnd(runId)), `${runId} has ended`);

    place.unhang();
    const again = await world.start();
    const next = await watch(again);
    const pending = await next.link.request('approvals.list', { state: 'pending' });
    assert.ok(pending.kind === 'answered');
    assert.deepEqual(
      (pending.payload.approvals as Approval[]).map((each) => each.id),
      [id],
      'the question is still there',
    );
    const allowed = await next.link.request('approvals.resolve', { id, decision: 'allow-once' });
    assert.equal(allowed.kind, 'answered', JSON.stringify(allowed));
    for (const runId of ['in-stream', 'queued', 'in-tool', 'in-approval'])
      assert.deepEqual((await ended(next.link, runId)).end, { kind: 'completed' }, runId);
    for (const key of [streamKey, toolKey, askKey]) checkTranscript(await pathOf(next.link, key), key);
    const tool = await pathOf(next.link, toolKey);
    assert.doesNotMatch(resultIn(tool), /stopped while this call ran/, 'it finished within the grace');
    assert.equal(readFileSync(join(workspace, 'log.txt'), 'utf8'), 'ran\n');
    assert.equal(readFileSync(join(workspace, 'note.txt'), 'utf8'), 'noted');
    const stream = await pathOf(next.link, streamKey);
    assert.deepEqual(
      stream.flatMap((entry) => (entry.type === 'message' ? [entry.message.role] : [])),
      ['user', 'assistant', 'user', 'assistant'],
    );
    await next.link.cut();
    assert.equal(await again.stop(), 0);
  });
}

for (const hurry of [false, true]) {
  const title = hurry ? 'a second SIGTERM does not wait for it' : 'it is ended when the grace is over';
  test(`a program that does not finish: ${title}, and the model is told that it was interrupted`, async () => {
    verifies('R14', 'R14:running-turns', 'turns:park', 'turns:ends-once');
    const budgetMs = hurry ? 120_000 : 1_500;
    await using place = await openPlace('sqlite', budgetMs);
    const { world, workspace } = place;
    const gateway = await world.start();
    const { link, seen } = await watch(gateway);
    await send(link, toolKey, 'in-tool', 'run the program');
    await programRuns(workspace);
    const startedAt = performance.now();
    gateway.child.kill('SIGTERM');
    await seen(({ event }) => event === 'shutdown');
    if (hurry) gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.exited, { code: 0, signal: null }, gateway.stderr());
    const took = performance.now() - startedAt;
    if (hurry) assert.ok(took < budgetMs, `it took ${took} ms`);
    assert.equal((await link.closed).code, 1012);

    const again = await world.start();
    const next = await watch(again);
    assert.deepEqual((await ended(next.link, 'in-tool')).end, { kind: 'completed' });
    const path = await pathOf(next.link, toolKey);
    checkTranscript(path, toolKey);
    assert.match(resultIn(path), /stopped while this call ran/);
    assert.equal(readFileSync(join(workspace, 'log.txt'), 'utf8'), 'ran\n', 'it was not run again');
    await next.link.cut();
    assert.equal(await again.stop(), 0);
  });
}
