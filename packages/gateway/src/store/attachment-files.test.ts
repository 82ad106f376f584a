import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createManualClock } from '../testing/manual-clock.ts';
import { openAttachmentFiles } from './attachment-files.ts';
import { openMemoryStore } from './memory.ts';
import { createMemoryDatabase } from './sqlite-file.ts';

const quotas = { sessionBytes: 1_000, totalBytes: 1_000 };
const HOUR = 3_600_000;
const log = { debug() {}, info() {}, warn: assert.fail, error: assert.fail } as never;

test('an upload that nobody goes on with, a file that is said nowhere, and one of a deleted session go by themselves', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tenon-files-'));
  const clock = createManualClock();
  const database = createMemoryDatabase(clock.now());
  const store = openMemoryStore(database, { events() {}, auditHead() {}, health() {} });
  const files = openAttachmentFiles({ home, store, clock, log, quotas, unusedMs: 2 * HOUR });
  const names = () =>
    readdirSync(join(home, 'attachments'), { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => each.name)
      .sort();
  /** The one that the clock began may have looked before it was moved. */
  const sweep = async () => {
    clock.advance(60_000);
    await files.sweepSoon();
    await files.sweepSoon();
  };
  try {
    const key = 'agent:main:x';
    await store.write('sessions.create', { key, fields: {}, at: clock.now() });
    const begin = async (uploadId: string, content: string, more: object = {}) => {
      const upload = { uploadId, name: 'x', bytes: content.length, owner: 'token:a', expiresAt: clock.now() + HOUR, ...more };
      await store.write('attachments.begin', { ...upload, bounds: { open: 9, openPerOwner: 9 }, quotas, at: clock.now() });
      await files.append(uploadId, 0, Buffer.from(content));
    };
    const keep = (uploadId: string) =>
      files.keepUpload(
        uploadId,
        () => {},
        (file) =>
          store.write('attachments.commit', { ...file, handle: `h-${uploadId}`, uploadId, name: 'x', owner: 'a', quotas, at: clock.now() }),
      );
    await begin('left-alone-0123456789', 'half of it');
    await begin('said-nowhere-0123456789', 'nowhere');
    await begin('of-a-session-0123456789', 'in a session', { sessionKey: key });
    await begin('twice-0123456789', 'in a session', {});
    await begin('no-session-yet-0123456789', 'of nobody', { sessionKey: 'agent:main:later' });
    await keep('no-session-yet-0123456789');
    assert.deepEqual((await store.read('attachments.list', { sessionKey: 'agent:main:later', limit: 5 })).attachments, []);
    await keep('said-nowhere-0123456789');
    await keep('of-a-session-0123456789');
    await keep('twice-0123456789');
    assert.equal(names().length, 4, 'the same bytes are one file');
    await sweep();
    assert.equal(names().length, 4);
    clock.advance(HOUR);
    await sweep();
    assert.ok(!names().includes('left-alone-0123456789'));
    await begin('of-the-session-too-0123', 'half', { sessionKey: key });
    await store.write('sessions.delete', { key, at: clock.now() });
    await assert.rejects(keep('of-the-session-too-0123'), { code: 'NOT_FOUND' });
    await store.write('sessions.create', { key, fields: {}, at: clock.now() });
    await begin('of-the-session-as-well-0123', 'half', { sessionKey: key });
    await store.write('sessions.delete', { key, at: clock.now() });
    assert.ok(names().includes('of-the-session-as-well-0123'));
    await sweep();
    assert.equal(names().length, 3, 'somebody else needs these bytes still');
    clock.advance(HOUR);
    await sweep();
    assert.deepEqual(names(), []);
    await assert.rejects(begin('too-much-0123456789', 'x'.repeat(1_001)), { code: 'TOO_LARGE' });
    assert.deepEqual((await store.read('attachments.list', { limit: 5 })).used, { count: 0, bytes: 0 });
  } finally {
    await files.close();
    database.close();
    rmSync(home, { recursive: true, force: true });
  }
});

test('a file whose row is refused does not stay, but for one that another row needs', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tenon-files-'));
  const clock = createManualClock();
  const database = createMemoryDatabase(clock.now());
  const store = openMemoryStore(database, { events() {}, auditHead() {}, health() {} });
  const files = openAttachmentFiles({ home, store, clock, log, quotas, unusedMs: HOUR });
  try {
    const refused = files.keepAll([Buffer.from('not wanted')], () => Promise.reject(new Error('no')));
    await assert.rejects(refused, /no/);
    const left = readdirSync(join(home, 'attachments'), { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    assert.deepEqual(left, []);
  } finally {
    await files.close();
    database.close();
    rmSync(home, { recursive: true, force: true });
  }
});
