// Params that each method accepts. The one place where a new row of the method table needs an example: it does not
// compile without, and the contract and authority tests take it from here.
import type { MethodName, Params } from '@tenon/protocol';
import { askToPair, createDevice, mintToken } from '../security/harness.ts';
import type { GatewayProcess } from './gateway.ts';
import { connectRaw, type RawClient } from './raw-client.ts';

export interface World {
  readonly gateway: GatewayProcess;
  readonly admin: RawClient;
  /** A number that was not given before. */
  next(): number;
}

/** Params that the method accepts now; asked again, it gives others. */
type Examples = { readonly [Method in MethodName]: (world: World) => Params<Method> | Promise<Params<Method>> };

export const examples: Examples = {
  health: () => ({}),
  status: () => ({}),
  'system.echo': ({ next }) => ({ text: `text ${next()}` }),
  'presence.list': () => ({}),
  'events.subscribe': () => ({ events: ['tick'] }),
  'events.unsubscribe': () => ({ events: ['tick'] }),
  'config.get': () => ({}),
  'config.patch': ({ next }) => ({ set: { 'gateway.shutdownBudgetMs': 20_000 + next() } }),
  'logs.tail': () => ({ limit: 5 }),
  'audit.list': () => ({ limit: 5 }),
  'doctor.run': ({ next }) => ({ fix: next() % 2 === 0 }),
  'gateway.shutdown': ({ next }) => ({ reason: `test ${next()}` }),
  'sessions.list': () => ({ limit: 5, search: 'title' }),
  'sessions.get': async (world) => ({ key: await newSession(world) }),
  'sessions.create': ({ next }) => ({ key: `agent:main:made-${next()}`, title: 'Title', label: 'label', pinned: true }),
  'sessions.patch': async (world) => ({ key: await newSession(world), title: 'Other title', label: null, archived: true, ifRevision: 1 }),
  'sessions.reset': async (world) => ({ key: await newSession(world) }),
  'sessions.delete': async (world) => ({ key: await newSession(world) }),
  'sessions.tree': async (world) => ({ key: (await newTranscript(world)).key, limit: 5 }),
  'sessions.branch': async (world) => {
    const { key, entryId } = await newTranscript(world);
    return { key, entryId };
  },
  'sessions.rewind': async (world) => ({ key: await newConversation(world), turns: 1 }),
  'sessions.fork': async (world) => ({ key: (await newTranscript(world)).key, newKey: `agent:main:forked-${world.next()}` }),
  'sessions.label': async (world) => ({ ...(await newTranscript(world)), label: 'label' }),
  'sessions.contextEdit': async (world) => ({ ...(await newTranscript(world)), replacement: null }),
  'sessions.compact': async (world) => ({ key: (await newTranscript(world)).key }),
  'sessions.export': async (world) => ({ key: (await newTranscript(world)).key }),
  'sessions.import': ({ next }) => ({ key: `agent:main:imported-${next()}`, jsonl: transcriptFile, title: 'Imported' }),
  'chat.send': ({ next }) => ({ sessionKey: `agent:main:chat-${next()}`, message: 'What are you?', idempotencyKey: `chat-${next()}` }),
  'chat.history': async (world) => ({ sessionKey: (await newTranscript(world)).key, limit: 5 }),
  'chat.abort': async (world) => ({ sessionKey: (await newTranscript(world)).key }),
  'chat.inject': async (world) => ({ sessionKey: (await newTranscript(world)).key, message: 'A note' }),
  agent: ({ next }) => ({ message: `What are you? (${next()})`, idempotencyKey: `run-${next()}` }),
  'agent.wait': async (world) => ({ runId: await newRun(world, 'What are you?'), timeoutMs: 10_000 }),
  'agents.list': () => ({}),
  'models.list': () => ({}),
  'models.probe': () => ({ id: 'demo' }),
  'models.signIn': async (world) => {
    await enablePlugin(world);
    await world.admin.request('plugins.grant', { id: 'everything', grants: ['models.serve'] });
    return { provider: world.next() % 2 === 0 ? 'everything' : 'everything.second' };
  },
  'models.signOut': ({ next }) => ({ provider: `everything.${next()}` }),
  'tools.catalog': () => ({}),
  'tools.effective': async (world) => ({ sessionKey: (await newTranscript(world)).key }),
  'commands.list': () => ({}),
  'commands.complete': () => ({ sessionKey: 'agent:main:main', text: '/mod' }),
  'commands.invoke': async (world) => ({ sessionKey: (await newTranscript(world)).key, text: '/help' }),
  'usage.get': () => ({}),
  'approvals.list': () => ({ state: 'pending', limit: 5 }),
  'approvals.resolve': async (world) => ({ id: await newApproval(world), decision: 'deny' }),
  'approvals.rules': () => ({ limit: 5 }),
  'approvals.forget': async (world) => ({ id: await newRule(world) }),
  'tokens.create': ({ next }) => ({ name: `token ${next()}`, scopes: ['operator.read'] }),
  'signin.create': ({ next }) => ({ scopes: next() % 2 === 0 ? ['operator.read'] : ['operator.write'] }),
  'tokens.rotate': async ({ admin }) => ({ id: (await mintToken(admin, ['operator.read'])).id }),
  'tokens.revoke': async ({ admin }) => ({ id: (await mintToken(admin, ['operator.read'])).id }),
  'tokens.list': () => ({}),
  'device.pair.list': () => ({}),
  'device.pair.approve': async (world) => ({ requestId: await newPairing(world) }),
  'device.pair.reject': async (world) => ({ requestId: await newPairing(world) }),
  'device.list': () => ({}),
  'device.rename': async (world) => ({ id: await newDevice(world), name: 'another name' }),
  'device.revoke': async (world) => ({ id: await newDevice(world) }),
  'plugins.list': () => ({}),
  'plugins.get': () => ({ id: 'everything' }),
  'plugins.changes': () => ({ id: 'everything' }),
  'plugins.logs': () => ({ id: 'everything', limit: 5 }),
  'plugins.enable': async (world) => ({ id: 'everything', ...(world.next() % 2 === 0 ? {} : { grants: ['gateway.methods'] }) }),
  'plugins.disable': ({ next }) => ({ id: next() % 2 === 0 ? 'everything' : 'second' }),
  'plugins.reload': ({ next }) => (next() % 2 === 0 ? {} : { id: 'everything' }),
  'plugins.grant': ({ next }) => ({ id: 'everything', grants: [next() % 2 === 0 ? 'turns.start' : 'ui.descriptors'] }),
  'plugins.revoke': ({ next }) => ({ id: 'everything', grants: [next() % 2 === 0 ? 'turns.start' : 'ui.descriptors'] }),
  'plugins.config': ({ next }) => ({ id: 'everything', config: { greeting: `hello ${next()}` } }),
  'plugins.uiDescriptors': () => ({}),
  'plugins.sessionAction': async (world) => {
    await enablePlugin(world);
    return { pluginId: 'everything', actionId: 'press', sessionKey: await newSession(world), payload: { how: 'reply' } };
  },
  'plugins.interact': async (world) => {
    await enablePlugin(world);
    return { sessionKey: await newSession(world), data: `everything:press ${world.next()}` };
  },
  'sessions.injections': async (world) => ({ key: await newSession(world) }),
  'sessions.pluginPatch': async (world) => {
    await enablePlugin(world);
    return { key: await newSession(world), pluginId: 'everything', namespace: 'box', value: world.next() };
  },
  'hooks.status': () => ({}),
  'cron.list': () => ({ limit: 5, state: 'all' }),
  'cron.get': async (world) => ({ id: await newJob(world) }),
  'cron.preview': () => ({ schedule: { kind: 'cron', cron: '0 9 * * *', tz: 'UTC' }, count: 2 }),
  'cron.add': ({ next }) => ({
    session: { key: `agent:main:job-${next()}` },
    schedule: { kind: 'in', delayMs: 86_400_000 },
    message: 'Look',
  }),
  'cron.update': async (world) => ({ id: await newJob(world), message: 'Look again', tag: null }),
  'cron.remove': async (world) => ({ id: await newJob(world) }),
  'cron.run': async (world) => ({ id: await newJob(world) }),
  'cron.pause': async (world) => ({ id: await newJob(world) }),
  'cron.resume': async (world) => ({ id: await newJob(world) }),
  'heartbeat.wake': ({ next }) => (next() % 2 === 0 ? { agentId: 'main' } : {}),
  'cron.history': () => ({ limit: 5 }),
  'attachments.begin': ({ next }) => ({ name: `note-${next()}.txt`, bytes: 5 }),
  'attachments.chunk': async (world) => ({ uploadId: await newUpload(world), offset: 0, data: 'aGVs' }),
  'attachments.commit': async (world) => ({ uploadId: await newUpload(world, 'aGVsbG8=') }),
  'attachments.abort': async (world) => ({ uploadId: await newUpload(world) }),
  'attachments.list': () => ({ limit: 5 }),
  'attachments.remove': async (world) => ({ handle: await newAttachment(world) }),
  'deliveries.list': () => ({ limit: 5 }),
  'deliveries.press': async (world) => {
    await enablePlugin(world);
    const sessionKey = await newSession(world);
    const buttons = [{ id: 'yes', label: 'Yes', action: { actionId: 'press', payload: { how: 'reply' } } }];
    const { payload } = await world.admin.request('plugin.everything.late', {
      call: 'send',
      with: { sessionKey, presentation: { title: 'Shall it?', buttons } },
    });
    return { sessionKey, entryId: payload.entryId, buttonId: 'yes' };
  },
  'actions.pending': () => ({}),
  'actions.dismiss': async (world) => {
    await enablePlugin(world);
    const sessionKey = await newSession(world);
    const { payload } = await world.admin.request('plugin.everything.late', { call: 'notify', with: { sessionKey, title: 'Look' } });
    return { id: payload.id };
  },
  'ui.pending': () => ({}),
  'ui.answer': async (world) => ({ id: await newQuestion(world), reply: { confirmed: true } }),
  'hooks.trace.record': async (world) => ({ sessionKey: await newSession(world), turns: 1 }),
  'hooks.trace': async (world) => ({ sessionKey: await newSession(world) }),
};

async function enablePlugin({ admin }: World): Promise<void> {
  await admin.request('plugins.enable', { id: 'everything' });
}

/** Under way, with these bytes of it. */
async function newUpload({ admin, next }: World, data?: string): Promise<string> {
  const { payload } = await admin.request('attachments.begin', { name: `note-${next()}.txt`, bytes: 5 });
  if (data !== undefined) await admin.request('attachments.chunk', { uploadId: payload.uploadId, offset: 0, data });
  return payload.uploadId;
}

async function newAttachment(world: World): Promise<string> {
  const uploadId = await newUpload(world, 'aGVsbG8=');
  const { payload } = await world.admin.request('attachments.commit', { uploadId });
  return payload.attachment.handle;
}

async function newJob({ admin, next }: World): Promise<string> {
  const { payload } = await admin.request('cron.add', {
    session: { agentId: 'main', fresh: true },
    schedule: { kind: 'in', delayMs: 86_400_000 },
    message: `job ${next()}`,
  });
  return payload.job.id;
}

async function newSession({ admin, next }: World): Promise<string> {
  const { payload } = await admin.request('sessions.create', { key: `agent:main:session-${next()}`, title: 'Title' });
  return payload.session.key;
}

async function newTranscript(world: World): Promise<{ key: string; entryId: string }> {
  const key = await newSession(world);
  const { payload } = await world.admin.request('chat.inject', { sessionKey: key, message: 'A note' });
  return { key, entryId: payload.entry.id };
}

async function newRun({ admin, next }: World, message: string, sessionKey = `agent:main:run-${next()}`): Promise<string> {
  const { payload } = await admin.request('chat.send', { sessionKey, message, idempotencyKey: `example-${next()}` });
  return payload.runId;
}

/** A session with one message and its answer. */
async function newConversation(world: World): Promise<string> {
  const sessionKey = `agent:main:talk-${world.next()}`;
  const runId = await newRun(world, 'What are you?', sessionKey);
  await world.admin.request('agent.wait', { runId, timeoutMs: 10_000 });
  return sessionKey;
}

/** A question that waits: the demo model writes a note when it is asked to. */
async function newApproval(world: World): Promise<string> {
  const sessionKey = `agent:main:ask-${world.next()}`;
  await newRun(world, `Write a note: example ${world.next()}`, sessionKey);
  const { payload } = await world.admin.find((frame) => frame.event === 'approval.requested' && frame.payload.sessionKey === sessionKey);
  return payload.approval.id;
}

/** A question of an extension that runs elsewhere, to somebody who is there. */
async function newQuestion(world: World): Promise<string> {
  const { gateway } = world;
  const session_key = await newSession(world);
  const watcher = await connectRaw(gateway.url, gateway.token, { caps: ['ui'] });
  try {
    const asked = fetch(`${gateway.url}/api/ui/request`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ext: 'example', kind: 'confirm', params: { prompt: 'Go on?' }, session_key }),
    });
    asked.catch(() => undefined);
    const { payload } = await watcher.find((frame) => frame.event === 'ui.requested' && frame.payload.sessionKey === session_key);
    return payload.id;
  } finally {
    await watcher.close();
  }
}

async function newRule(world: World): Promise<string> {
  await world.admin.request('approvals.resolve', { id: await newApproval(world), decision: 'allow-always' });
  const { payload } = await world.admin.request('approvals.rules', { limit: 1 });
  return payload.rules[0].id;
}

/** Two entries as pi writes them. */
const transcriptFile = [
  { type: 'session', version: 3, id: 'example', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/' },
  {
    type: 'message',
    id: 'a1b2c3d4',
    parentId: null,
    timestamp: '2026-01-01T00:00:01.000Z',
    message: { role: 'user', content: 'Hello', timestamp: 1767225601000 },
  },
]
  .map((line) => JSON.stringify(line))
  .join('\n');

function newPairing({ gateway, next }: World): Promise<string> {
  return askToPair(gateway, createDevice(), ['operator.read'], `127.2.${next() % 250}.${next() % 250}`);
}

async function newDevice(world: World): Promise<string> {
  const { payload } = await world.admin.request('device.pair.approve', { requestId: await newPairing(world) });
  return payload.device.id;
}
