import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Entry, Entry as EntrySchema, explain } from '@tenon/protocol';
import { cutText, shownEntry } from './shown-entry.ts';

const MAX = 10_000;
const common = { id: 'entry-1', parentId: null, at: 1 };
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
const long = 'x'.repeat(1_000_000);
const text = (value: string) => ({ type: 'text' as const, text: value });
const picture = { type: 'image' as const, mimeType: 'image/png' as const, data: long };
const said = { role: 'assistant' as const, provider: 'p', model: 'm', usage, stopReason: 'stop' as const, timestamp: 1 };
const result = { role: 'toolResult' as const, toolCallId: 'c', toolName: 't', isError: false, timestamp: 1 };
const call = { type: 'toolCall' as const, id: 'c', name: 'write', arguments: { content: long } };

const large: Entry[] = [
  { ...common, type: 'message', message: { role: 'user', content: [text(long), picture], timestamp: 1 } },
  { ...common, type: 'message', message: { ...said, content: [{ type: 'thinking', thinking: long, thinkingSignature: long }] } },
  { ...common, type: 'message', message: { ...said, content: [text('before'), call] } },
  { ...common, type: 'message', message: { ...said, content: Array.from({ length: 4_000 }, () => text('x'.repeat(100))) } },
  { ...common, type: 'message', message: { ...result, content: [picture], details: { all: long } } },
  { ...common, type: 'message', message: { ...result, content: [text('\u0001'.repeat(100_000))] } },
  { ...common, type: 'custom_message', customType: 'bash', content: [text(long)], display: true, details: { output: long } },
  { ...common, type: 'compaction', summary: long, firstKeptEntryId: 'entry-0', tokensBefore: 1, details: { all: long } },
  { ...common, type: 'branch_summary', fromId: 'entry-0', summary: long },
  { ...common, type: 'context_edit', targetId: 'entry-0', replacement: [text(long)] },
  { ...common, type: 'custom', customType: 'bash', data: { output: long } },
];

test('an entry that is too large is shown in part, is still an entry, and says what is left out', () => {
  for (const entry of large) {
    const shown = shownEntry(entry, MAX);
    const what = JSON.stringify(shown);
    assert.ok(what.length <= MAX + 1_000, `${entry.type}: ${what.length} characters`);
    assert.equal(explain(EntrySchema, JSON.parse(what), 'entry'), undefined, entry.type);
    assert.match(what, /not shown here/, entry.type);
    assert.deepEqual([shown.id, shown.type], [entry.id, entry.type]);
  }
});

test('an entry that fits is the entry itself', () => {
  const entry: Entry = { ...common, type: 'message', message: { role: 'user', content: [text('short')], timestamp: 1 } };
  assert.equal(shownEntry(entry, MAX), entry);
  assert.equal(cutText('short', MAX), 'short');
});
