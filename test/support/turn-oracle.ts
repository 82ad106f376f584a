// What must hold of a transcript and of the ends of runs, whatever failed, was stopped or was killed.
import assert from 'node:assert/strict';
import type { Entry, Message } from '@tenon/protocol';
import { messagesOf } from '../../packages/gateway/src/agent/prompt.ts';

const NO_RESULT = /has no result/;

/** Every call has exactly one result, after it; every message of the user is there once. `open`: the last answer may still be at work. */
export function checkTranscript(path: readonly Entry[], why: string, { open = false }: { open?: boolean } = {}): void {
  const calls = new Map<string, number>();
  const said = new Set<string>();
  let lastAnswer = '';
  for (const [index, entry] of path.entries()) {
    assert.equal(entry.parentId, index === 0 ? null : path[index - 1]!.id, `${why}: the path is broken at ${entry.id}`);
    if (entry.type !== 'message') continue;
    const { message } = entry;
    if (message.role === 'assistant') {
      lastAnswer = entry.id;
      for (const block of message.content) if (block.type === 'toolCall') calls.set(`${entry.id} ${block.id}`, 0);
    } else if (message.role === 'toolResult') {
      const own = [...calls.keys()].findLast((name) => name.endsWith(` ${message.toolCallId}`));
      assert.ok(own, `${why}: the result of ${message.toolCallId} has no call before it`);
      calls.set(own, calls.get(own)! + 1);
    } else {
      assert.ok(entry.runId === undefined || !said.has(entry.runId), `${why}: the message of ${entry.runId} is there twice`);
      if (entry.runId !== undefined) said.add(entry.runId);
    }
  }
  for (const [name, results] of calls) {
    const mayWait = open && name.startsWith(`${lastAnswer} `);
    assert.ok(results === 1 || (mayWait && results === 0), `${why}: the call ${name} has ${results} results`);
  }
  if (!open) checkMessages(messagesOf(path), why);
}

/** As a provider takes them: every call is followed by its results, and none was made up. */
function checkMessages(messages: readonly Message[], why: string): void {
  for (const [index, message] of messages.entries()) {
    if (message.role === 'toolResult') assert.doesNotMatch(JSON.stringify(message.content), NO_RESULT, why);
    if (message.role !== 'assistant') continue;
    const calls = message.content.flatMap((block) => (block.type === 'toolCall' ? [block.id] : []));
    const results = messages.slice(index + 1, index + 1 + calls.length);
    assert.deepEqual(
      results.map((result) => (result.role === 'toolResult' ? result.toolCallId : result.role)),
      calls,
      why,
    );
  }
}

/** Each of the runs ended once; nothing else ended twice. */
export function checkEnds(ended: readonly { readonly runId: string }[], runIds: readonly string[], why: string): void {
  const counts = new Map<string, number>();
  for (const { runId } of ended) counts.set(runId, (counts.get(runId) ?? 0) + 1);
  for (const runId of runIds) assert.equal(counts.get(runId) ?? 0, 1, `${why}: ${runId} ended ${counts.get(runId) ?? 0} times`);
  for (const [runId, count] of counts) assert.equal(count, 1, `${why}: ${runId} ended ${count} times`);
}
