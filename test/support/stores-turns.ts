// What a turn writes, in few words, for the tests of the store; and a script that has every operation of a turn in it.
import type { Approval, Decision, Entry, EntryDraft, JsonObject, RunEnd, Usage } from '@tenon/protocol';
import type { ApprovalRequest } from '../../packages/gateway/src/store/approvals.ts';
import { packEntries } from '../../packages/gateway/src/store/entry-copies.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import type { StoredEvent } from '../../packages/gateway/src/store/stream.ts';
import type { ReadArgs, ReadName, ReadResult, WriteArgs, WriteName, WriteResult } from '../../packages/gateway/src/store/operations.ts';
import type { AnswerSlot } from '../../packages/gateway/src/store/answers.ts';
import { keepAll } from './stores.ts';

export const at = 1_000_000;
const NUL = '\u0000';
export const key = 'agent:main:talk';
export const completed: RunEnd = { kind: 'completed' };
export const usage: Usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, costUsd: 0.25 };

export function message(runId: string, text = `say ${runId}`, more: { key?: string; at?: number } = {}): WriteArgs<'runs.accept'> {
  return {
    key,
    runId,
    content: [{ type: 'text', text }],
    mode: 'collect',
    defaultMode: 'followup',
    trigger: 'user',
    principal: 'token:asker',
    options: { thinking: 'low' },
    at,
    ...more,
  };
}

export function answer(text: string, calls: readonly string[] = []): EntryDraft {
  return {
    type: 'message',
    message: {
      role: 'assistant',
      content: [{ type: 'text', text }, ...calls.map((id) => ({ type: 'toolCall' as const, id, name: 'ls', arguments: { path: id } }))],
      provider: 'demo',
      model: 'demo',
      usage,
      stopReason: calls.length > 0 ? 'toolUse' : 'stop',
      timestamp: at,
    },
  };
}

export function result(callId: string, text = `result of ${callId}`): EntryDraft {
  return {
    type: 'message',
    message: { role: 'toolResult', toolCallId: callId, toolName: 'ls', content: [{ type: 'text', text }], isError: false, timestamp: at },
  };
}

export const note = (text: string): EntryDraft => ({
  type: 'custom_message',
  customType: 'note',
  content: [{ type: 'text', text }],
  display: true,
});

export const label = (targetId: string, text: string | null): EntryDraft => ({ type: 'label', targetId, label: text });
export const summary: EntryDraft = { type: 'branch_summary', fromId: 'gone', summary: 'what was left behind' };

export const call = (callId: string, args: JsonObject = { path: callId }) => ({ callId, name: 'ls', args });

/** A run that is under way. */
export async function begin(store: Store, runId: string, more: { key?: string } = {}): Promise<void> {
  await store.write('runs.accept', message(runId, undefined, more));
  await store.write('runs.begin', { key, leadRunId: runId, runIds: [runId], at, ...more });
}

export function question(runId: string, callId: string, more: Partial<ApprovalRequest> = {}): WriteArgs<'approvals.request'> {
  return {
    key,
    at,
    runId,
    callId,
    agentId: 'main',
    toolName: 'exec',
    title: 'Run git status?',
    reason: 'exec.policy is ask',
    risk: 'exec',
    argv: ['git', 'status'],
    args: { command: 'git status' },
    digest: `digest of ${callId.replaceAll(NUL, '')}`,
    principal: 'token:asker',
    allowed: ['allow-once', 'allow-always', 'deny'],
    expiresAt: at + 1_000,
    ...more,
  };
}

/** Entries in a row, each the parent of the next. */
export function chain(count: number, text = (n: number) => `message ${n}`): Entry[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `entry-${n}`,
    parentId: n === 0 ? null : `entry-${n - 1}`,
    at: at + n,
    type: 'message' as const,
    message: { role: 'user' as const, content: [{ type: 'text' as const, text: text(n) }], timestamp: at + n },
  }));
}

/** Until the store has told its listener; the deadline of the test ends the wait otherwise. */
export async function settled(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** What was announced, in a few words each. */
export function spoken(events: readonly StoredEvent[]): string[] {
  return events.map(({ event, payload }) => {
    const said = JSON.parse(payload) as Record<string, unknown> & { session?: { status: string }; end?: RunEnd; approval?: Approval };
    const words = [said.kind, said.reason, said.state, said.runId, said.session?.status, said.end?.kind];
    return [event, ...words.filter((word) => word !== undefined)].join(' ');
  });
}

/** What an earlier step of the script was answered. */
type Last = <Name extends WriteName | ReadName>(
  name: Name,
) => Name extends WriteName ? WriteResult<Name> : Name extends ReadName ? ReadResult<Name> : never;
type Late<Args> = Args | ((last: Last) => Args);

export type Step =
  | { [Name in WriteName]: readonly ['write', Name, Late<WriteArgs<Name>>, AnswerSlot?] }[WriteName]
  | { [Name in ReadName]: readonly ['read', Name, Late<ReadArgs<Name>>] }[ReadName];

const asked = (last: Last) => last('approvals.request').approval.id;
const resolve = (last: Last, decision: Decision, when: number) => ({ id: asked(last), decision, by: 'token:admin', at: when });
const answered = (last: Last) => last('runs.append').entries.at(-1)?.id ?? '';
const ofCall = (last: Last) => ({ key, runId: 'r1', entryId: answered(last), callId: 'c\u00001', at });
const admin = { actor: 'token:admin', at, held: [] };

export const turnScript: readonly Step[] = [
  ['write', 'runs.accept', message('r1')],
  ['write', 'runs.accept', message('r1')],
  ['write', 'runs.accept', message('r2', 'hello\u0000 \ud800 wörld')],
  ['read', 'runs.get', { runId: 'r1' }],
  ['read', 'runs.get', { runId: 'none' }],
  ['read', 'runs.message', { runId: 'r2' }],
  ['read', 'runs.queued', { key }],
  ['write', 'runs.append', { key, runId: 'r1', drafts: [answer('too soon')], at }],
  ['write', 'runs.begin', { key, leadRunId: 'r1', runIds: ['r1'], at: at + 1 }],
  ['write', 'runs.begin', { key, leadRunId: 'r2', runIds: ['r2'], at: at + 1 }],
  ['write', 'runs.begin', { key, leadRunId: 'r1', runIds: ['r2'], at: at + 2 }],
  ['write', 'runs.begin', { key, leadRunId: 'none', runIds: [], at }],
  ['read', 'runs.openIn', { key }],
  [
    'write',
    'runs.append',
    {
      key,
      runId: 'r1',
      drafts: [answer('let me look', ['c\u00001', 'c2'])],
      calls: [call('c\u00001'), call('c2')],
      usage: { model: 'demo', usage },
      at,
    },
  ],
  ['write', 'runs.append', { key, runId: 'r1', drafts: [note('x')], calls: [call('c3')], at }],
  ['write', 'runs.append', { key, runId: 'r1', drafts: [answer('x')], calls: [call('c3'), call('c3')], at }],
  ['read', 'calls.open', { runId: 'r1' }],
  ['write', 'calls.start', (last) => ({ ...ofCall(last), args: { path: 'changed' } })],
  ['write', 'calls.start', (last) => ({ ...ofCall(last), args: { path: 'changed' } })],
  ['write', 'calls.start', (last) => ({ ...ofCall(last), callId: 'none', args: {} })],
  ['read', 'calls.open', { runId: 'r1' }],
  ['write', 'approvals.request', question('r1', 'c\u00001')],
  ['write', 'approvals.request', question('r1', 'c\u00001')],
  ['write', 'approvals.request', question('none', 'c1')],
  ['read', 'sessions.get', { key }],
  ['read', 'approvals.list', { limit: 10 }],
  ['read', 'approvals.list', { limit: 10, state: 'decided' }],
  ['read', 'approvals.get', { id: 'none' }],
  ['write', 'approvals.resolve', (last) => resolve(last, 'allow-always', at + 1_000)],
  ['write', 'approvals.resolve', (last) => resolve(last, 'allow-always', at + 3)],
  ['write', 'approvals.resolve', (last) => resolve(last, 'deny', at + 4)],
  ['write', 'approvals.resolve', { id: 'none', decision: 'deny', by: 'token:other', at }],
  ['read', 'approvals.get', (last) => ({ id: asked(last) })],
  ['read', 'approvals.list', { limit: 10, state: 'decided', sessionKey: key }],
  ['read', 'approvals.list', { limit: 10, cursor: 'nonsense' }],
  ['read', 'approvals.findRule', { agentId: 'main', toolName: 'exec', digest: question('r1', 'c\u00001').digest }],
  ['read', 'approvals.findRule', { agentId: 'main', toolName: 'exec', digest: 'other' }],
  ['read', 'approvals.rules', { limit: 10 }],
  ['write', 'approvals.removeRule', (last) => ({ id: last('approvals.rules').rules[0]?.id ?? '', by: 'token:admin', at })],
  ['write', 'approvals.removeRule', { id: 'none', by: 'token:admin', at }],
  ['write', 'calls.finish', (last) => ({ ...ofCall(last), draft: answer('not a result') })],
  ['write', 'calls.finish', (last) => ({ ...ofCall(last), draft: result('c\u00001') })],
  ['write', 'calls.finish', (last) => ({ ...ofCall(last), draft: result('c\u00001', 'again') })],
  ['write', 'calls.start', (last) => ({ ...ofCall(last), args: {} })],
  ['write', 'approvals.request', question('r1', 'c2', { allowed: ['deny'], expiresAt: at + 5 })],
  ['write', 'approvals.resolve', (last) => resolve(last, 'allow-once', at)],
  ['write', 'approvals.expire', { at: at + 4 }],
  ['write', 'approvals.expire', { at: at + 5 }],
  ['write', 'approvals.request', question('r1', 'c3')],
  ['write', 'approvals.voidFor', { principal: 'token:nobody', at }],
  ['write', 'approvals.voidFor', { principal: 'token:asker', at }],
  ['write', 'approvals.request', question('r1', 'c4')],
  ['write', 'approvals.voidFor', { runId: 'r1', at }],
  ['write', 'approvals.request', question('r1', 'c5', { principal: 'device:d' })],
  ['write', 'sessions.reset', { key, at }],
  ['write', 'sessions.delete', { key, at }],
  ['write', 'entries.move', { key, leafId: null, at }],
  ['read', 'runs.open', { limit: 1 }],
  ['read', 'runs.open', (last) => ({ limit: 10, after: last('runs.open').next ?? 0 })],
  ['write', 'runs.accept', message('r3')],
  ['write', 'runs.handle', { key, runId: 'r1', reply: answer('done'), end: completed, at }],
  [
    'write',
    'runs.handle',
    { key, runId: 'r3', reply: { type: 'custom', customType: 'reply', data: { text: 'done' } }, end: { kind: 'handled' }, at },
  ],
  ['write', 'runs.accept', message('r4')],
  ['write', 'runs.end', { key, runId: 'r1', end: { kind: 'failed', code: 'OVERLOADED' }, at: at + 9 }],
  ['write', 'runs.end', { key, runId: 'r1', end: completed, at: at + 10 }],
  ['write', 'runs.end', { key, runId: 'r2', end: completed, at: at + 10 }],
  ['write', 'runs.end', { key, runId: 'none', end: completed, at: at + 10 }],
  ['write', 'runs.append', { key, runId: 'r1', drafts: [answer('too late')], at }],
  ['read', 'calls.open', { runId: 'r1' }],
  ['write', 'runs.cancelQueued', { key, runIds: ['r9'], at }],
  ['write', 'runs.cancelQueued', { key, reason: 'stopped', at: at + 11 }],
  ['read', 'usage.sum', {}],
  ['read', 'usage.sum', { runId: 'r1' }],
  ['read', 'usage.sum', { runId: 'r1', sessionKey: 'agent:main:other' }],
  ['read', 'usage.sum', { sessionKey: key, since: at + 200_000_000 }],
  ['read', 'entries.path', { key, limit: 100 }],
  ['read', 'entries.path', { key, limit: 2 }],
  ['read', 'entries.path', (last) => ({ key, limit: 2, from: last('entries.path').more ?? '' })],
  ['read', 'entries.path', { key, limit: 100, maxBytes: 1 }],
  ['read', 'entries.path', { key, limit: 100, from: 'none' }],
  ['write', 'entries.append', { key, draft: note('noted'), at, ifLeaf: null }],
  ['write', 'entries.append', { key, draft: note('noted'), at }],
  ['write', 'entries.append', { key: 'agent:main:none', draft: note('noted'), at }],
  ['write', 'entries.append', { key, draft: { type: 'label', targetId: 'none', label: 'here' }, at }],
  ['write', 'entries.append', (last) => ({ key, draft: label(answered(last), 'here'), at })],
  ['write', 'entries.move', (last) => ({ key, leafId: answered(last), drafts: [summary], at })],
  ['write', 'entries.move', { key, leafId: 'none', at }],
  ['read', 'entries.get', (last) => ({ key, id: answered(last) })],
  ['read', 'entries.get', { key, id: 'none' }],
  ['read', 'entries.lastAnswer', (last) => ({ sessionId: last('sessions.get').session.sessionId, runId: 'r1' })],
  ['read', 'entries.lastAnswer', (last) => ({ sessionId: last('sessions.get').session.sessionId, runId: 'r2' })],
  ['read', 'entries.tree', { key, limit: 100 }],
  ['write', 'sessions.fork', { key, newKey: 'agent:main:fork', title: 'Forked', at }],
  ['write', 'sessions.fork', { key, newKey: 'agent:main:fork', at }],
  ['write', 'sessions.fork', { key, newKey: 'agent:main:fork2', entryId: 'none', at }],
  ['read', 'entries.path', { key: 'agent:main:fork', limit: 100 }],
  [
    'write',
    'entries.import',
    { key: 'agent:main:in', fields: { title: 'In', model: 'demo' }, entries: packEntries(chain(5)), leafId: 'entry-4', at },
  ],
  ['write', 'entries.import', { key: 'agent:main:in', fields: {}, entries: packEntries([]), leafId: null, at }],
  ['write', 'entries.import', { key: 'agent:main:in2', fields: {}, entries: packEntries([...chain(2), ...chain(1)]), leafId: null, at }],
  ['write', 'entries.import', { key: 'agent:main:in2', fields: {}, entries: packEntries(chain(2).toReversed()), leafId: null, at }],
  ['write', 'entries.import', { key: 'agent:main:in2', fields: {}, entries: packEntries(chain(2)), leafId: 'none', at }],
  ['read', 'entries.export', { key: 'agent:main:in', limit: 3 }],
  ['read', 'entries.export', { key: 'agent:main:in', limit: 100, maxBytes: 300 }],
  ['write', 'sessions.reset', { key: 'agent:main:in', at }],
  ['write', 'sessions.delete', { key: 'agent:main:fork', at }],
  ['write', 'tokens.revoke', { ...admin, id: 'none' }],
  ['read', 'stream.read', { after: 0, limit: 1_000 }],
  ['write', 'retention.sweep', { at: at + 100, keep: { ...keepAll, runMs: 50, approvalMs: 50, transcriptMs: 50, usageMs: 0 } }],
  ['read', 'tables.count', {}],
];
