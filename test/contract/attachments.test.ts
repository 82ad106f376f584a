// Files in and out of a real gateway, on each engine: uploads in pieces, messages that carry them, downloads, quotas and clean-up.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { mintToken } from '../security/harness.ts';
import { cleanUp } from '../support/clean-up.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { createDatabase } from '../support/postgres.ts';
import { connectRaw, type Frame, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

const SMALL = '[attachments]\nmaxBytes = 3145728\nmaxSessionBytes = 1048576\n';
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');
const digest = (content: Buffer) => createHash('sha256').update(content).digest('hex');

// biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
async function ask(client: RawClient, method: string, params: object = {}): Promise<any> {
  const { ok, payload, error } = await client.request(method, params);
  assert.equal(ok, true, `${method}: ${JSON.stringify(error)}`);
  return payload;
}

async function refused(client: RawClient, method: string, params: object = {}): Promise<NonNullable<Frame['error']>> {
  const { ok, error } = await client.request(method, params);
  assert.equal(ok, false, `${method} was not refused`);
  return error!;
}

/** All of it, in pieces of this size. */
async function upload(client: RawClient, content: Buffer, more: object = {}, piece = 262_144): Promise<string> {
  const { uploadId } = await ask(client, 'attachments.begin', { name: 'file.txt', bytes: content.length, ...more });
  for (let offset = 0; offset < content.length; offset += piece) {
    await ask(client, 'attachments.chunk', { uploadId, offset, data: content.subarray(offset, offset + piece).toString('base64') });
  }
  const { attachment } = await ask(client, 'attachments.commit', { uploadId, sha256: digest(content) });
  assert.equal(attachment.bytes, content.length);
  return attachment.handle;
}

function filesIn(home: string): string[] {
  const folder = join(home, 'attachments');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => each.name);
}

function download({ gateway }: Conversation, path: string, token = gateway.token): Promise<Response> {
  return fetch(`${gateway.url}/attachments/${path}`, { headers: { authorization: `Bearer ${token}` } });
}

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`attachments on ${engine}`, async (t) => {
    const database = engine === 'postgres' ? await createDatabase() : undefined;
    const config = `${SMALL}${database ? `[store]\nengine = "postgres"\nurl = "${database.url}"\n` : ''}`;
    const world = await openConversation({ config, model: 'images = true' });
    const { admin, gateway } = world;
    cleanUp(t, async () => {
      await world[Symbol.asyncDispose]();
      await database?.drop();
    });
    let count = 0;
    const newSession = async () => (await ask(admin, 'sessions.create', { key: `agent:main:files-${++count}` })).session.key as string;

    await t.test('an upload goes on where it was, a repeat does no harm, and a gap is refused with the place to go on', async () => {
      const content = Buffer.from('hello, attachments');
      const begin = { name: '../../etc/\u202epasswd', bytes: content.length, mime: 'image/png', idempotencyKey: 'begin-1' };
      const { uploadId, chunkBytes } = await ask(admin, 'attachments.begin', begin);
      assert.equal((await ask(admin, 'attachments.begin', begin)).uploadId, uploadId);
      assert.equal(chunkBytes, limits.attachmentChunkBytes.value);
      const piece = (from: number, to: number) => ({ uploadId, offset: from, data: content.subarray(from, to).toString('base64') });
      assert.equal((await ask(admin, 'attachments.chunk', piece(0, 6))).offset, 6);
      assert.equal((await ask(admin, 'attachments.chunk', piece(0, 6))).offset, 6, 'a repeat');
      assert.equal((await ask(admin, 'attachments.chunk', piece(3, 9))).offset, 9, 'one that overlaps');
      const gap = await refused(admin, 'attachments.chunk', piece(12, 15));
      assert.deepEqual([gap.code, gap.details], ['CONFLICT', { code: 'WRONG_OFFSET', offset: 9 }]);
      assert.equal((await refused(admin, 'attachments.commit', { uploadId })).details?.code, 'INCOMPLETE');
      await ask(admin, 'attachments.chunk', piece(9, content.length));
      assert.equal((await refused(admin, 'attachments.commit', { uploadId, sha256: '0'.repeat(64) })).details?.code, 'WRONG_DIGEST');
      const { attachment } = await ask(admin, 'attachments.commit', { uploadId, sha256: digest(content) });
      assert.deepEqual([attachment.name, attachment.mime], ['passwd', 'text/plain'], 'neither the folder nor the type is believed');
      assert.deepEqual((await ask(admin, 'attachments.commit', { uploadId })).attachment, attachment, 'asked again');
      const file = join(gateway.home, 'attachments', attachment.sha256.slice(0, 2), attachment.sha256);
      assert.equal(statSync(file).mode & 0o777, 0o600);
    });

    await t.test('sizes are checked on the encoded length, and what is declared is not believed', async () => {
      verifies('S28:attachments');
      const { uploadId } = await ask(admin, 'attachments.begin', { name: 'x', bytes: 4 });
      const lies = await refused(admin, 'attachments.chunk', { uploadId, offset: 0, data: Buffer.alloc(300_000).toString('base64') });
      assert.deepEqual([lies.code, lies.details?.code], ['TOO_LARGE', 'MORE_THAN_DECLARED']);
      assert.equal((await refused(admin, 'attachments.chunk', { uploadId, offset: 0, data: 'a$b=' })).code, 'INVALID_REQUEST');
      const long = 'A'.repeat(limits.attachmentChunkChars.value + 4);
      assert.equal((await refused(admin, 'attachments.chunk', { uploadId, offset: 0, data: long })).code, 'INVALID_REQUEST');
      const huge = { name: 'x', bytes: limits.attachmentBytes.value + 1 };
      assert.equal((await refused(admin, 'attachments.begin', huge)).code, 'INVALID_REQUEST');
      await ask(admin, 'attachments.chunk', { uploadId, offset: 0, data: Buffer.from('ab').toString('base64') });
      assert.ok(filesIn(gateway.home).includes(uploadId));
      assert.equal((await ask(admin, 'attachments.abort', { uploadId })).aborted, true);
      assert.ok(!filesIn(gateway.home).includes(uploadId), 'nothing of it stays');
      assert.equal((await refused(admin, 'attachments.chunk', { uploadId, offset: 0, data: '' })).details?.code, 'NO_UPLOAD');
    });

    await t.test('uploads under way are bounded, and nobody goes on with those of another', async () => {
      const { token } = await mintToken(admin, ['operator.write']);
      await using other = await connectRaw(gateway.socketUrl, token);
      const ids: string[] = [];
      for (let n = 0; n < limits.openUploadsPerCredential.value; n++)
        ids.push((await ask(other, 'attachments.begin', { name: 'x', bytes: 1 })).uploadId);
      assert.equal((await refused(other, 'attachments.begin', { name: 'x', bytes: 1 })).details?.code, 'TOO_MANY_UPLOADS');
      assert.equal((await refused(admin, 'attachments.chunk', { uploadId: ids[0], offset: 0, data: '' })).code, 'NOT_FOUND');
      for (const uploadId of ids) await ask(other, 'attachments.abort', { uploadId });
    });

    await t.test('a download names a handle, is saved and never shown, and whoever is bound sees their session only', async () => {
      verifies('S71');
      const page = Buffer.from('<!doctype html><script>alert(1)</script>');
      const own = await newSession();
      const handle = await upload(admin, page, { name: 'a "page"; ünï.html', sessionKey: own });
      const response = await download(world, handle);
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), page);
      assert.equal(response.headers.get('content-type'), 'application/octet-stream');
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.match(response.headers.get('content-security-policy') ?? '', /sandbox/);
      const disposition = response.headers.get('content-disposition') ?? '';
      assert.match(disposition, /^attachment; filename="a _page__ _n_.html"; filename\*=UTF-8''a%20%22page%22%3B%20%C3%BCn%C3%AF\.html$/);
      for (const path of [
        '..%2f..%2ftoken',
        '../../token',
        '%2fetc%2fpasswd',
        '/etc/passwd',
        join(gateway.home, 'token'),
        '',
        'x',
        `${handle}/..`,
        `${handle}%00`,
      ]) {
        const { status } = await download(world, path);
        assert.ok([401, 404].includes(status), `${path}: ${status}`);
      }
      assert.equal((await fetch(`${gateway.url}/attachments/${handle}`)).status, 401);
      const { token: inside } = await mintToken(admin, ['operator.read'], { sessionKey: own });
      const { token: outside } = await mintToken(admin, ['operator.read'], { sessionKey: await newSession() });
      assert.equal((await download(world, handle, inside)).status, 200);
      assert.equal((await download(world, handle, outside)).status, 404);
      await using stranger = await connectRaw(gateway.socketUrl, outside);
      assert.deepEqual((await ask(stranger, 'attachments.list')).attachments, []);
      // Somebody puts a link where the file was: it is not followed.
      const { attachments } = await ask(admin, 'attachments.list', { sessionKey: own });
      const file = join(gateway.home, 'attachments', attachments[0].sha256.slice(0, 2), attachments[0].sha256);
      rmSync(file);
      symlinkSync(join(gateway.home, 'token'), file);
      assert.equal((await download(world, handle)).status, 503);
      await ask(admin, 'attachments.remove', { handle });
    });

    await t.test('a message carries files: images are shown to the model, others are named and read by their handle', async () => {
      const image = await upload(admin, PNG, { name: 'dot.png' });
      const notes = await upload(admin, Buffer.from('the milk is sour'), { name: 'notes.txt' });
      const sessionKey = await newSession();
      world.server.next({ calls: [{ id: 'call-1', name: 'attachment_read', arguments: { handle: notes } }] }, { text: 'Sour.' });
      const { end } = await world.say('Look', { sessionKey, attachments: [image, notes] });
      assert.equal(end.kind, 'completed', JSON.stringify(end));
      const told = JSON.stringify(world.server.requests.at(-1));
      assert.ok(told.includes(PNG.toString('base64')), 'the image');
      assert.ok(told.includes('notes.txt') && told.includes(notes), 'the name and the handle');
      assert.match((await world.results(sessionKey)).at(-1)?.text ?? '', /the milk is sour/);
      const [said] = await world.history(sessionKey);
      assert.deepEqual(
        said?.type === 'message' && said.message.role === 'user' ? said.message.attachments?.map(({ name, mime }) => [name, mime]) : [],
        [
          ['dot.png', 'image/png'],
          ['notes.txt', 'text/plain'],
        ],
      );
      const elsewhere = await refused(admin, 'chat.send', {
        sessionKey: await newSession(),
        message: 'x',
        attachments: [notes],
        idempotencyKey: 'elsewhere',
      });
      assert.equal(elsewhere.details?.code, 'NO_ATTACHMENT', 'what belongs to a session is said in no other');
    });

    await t.test('an image that claims too many pixels is kept and named, and shown to nobody', async () => {
      verifies('S28:attachments');
      const header = Buffer.from(PNG);
      header.writeUInt32BE(50_000, 16);
      header.writeUInt32BE(50_000, 20);
      const bomb = await upload(admin, header, { name: 'bomb.png' });
      const sessionKey = await newSession();
      world.server.next({ text: 'I do not see it.' });
      const { end } = await world.say('Look', { sessionKey, attachments: [bomb, await upload(admin, PNG, { name: 'dot.png' })] });
      assert.equal(end.kind, 'completed', JSON.stringify(end));
      const told = JSON.stringify(world.server.requests.at(-1));
      assert.ok(!told.includes(header.toString('base64')) && told.includes(PNG.toString('base64')));
      assert.match(told, /bomb\.png[^\n]*not shown: it has too many pixels/);
      const [said] = await world.history(sessionKey);
      const refs = said?.type === 'message' && said.message.role === 'user' ? (said.message.attachments ?? []) : [];
      assert.deepEqual(
        refs.map(({ name, unseen }) => [name, unseen]),
        [
          ['bomb.png', 'pixels'],
          ['dot.png', undefined],
        ],
      );
    });

    await t.test('a session and all together have room for so much, and it comes back when a session is deleted', async () => {
      const sessionKey = await newSession();
      const part = Buffer.alloc(600_000, 'x');
      const handle = await upload(admin, part, { sessionKey });
      const full = await refused(admin, 'attachments.begin', { name: 'x', bytes: 600_000, sessionKey });
      assert.deepEqual([full.code, full.details?.code, full.details?.usedBytes], ['TOO_LARGE', 'QUOTA', 600_000]);
      const { usage } = await ask(admin, 'attachments.list', { sessionKey });
      assert.deepEqual(usage, { count: 1, bytes: 600_000, maxBytes: 1_048_576 });
      assert.ok(filesIn(gateway.home).includes(digest(part)));
      await ask(admin, 'sessions.delete', { key: sessionKey });
      assert.equal((await download(world, handle)).status, 404);
      // One more is removed by hand: it takes along what the session left.
      const other = await upload(admin, Buffer.from('other'));
      await ask(admin, 'attachments.remove', { handle: other });
      const gone = [digest(part), digest(Buffer.from('other'))];
      while (filesIn(gateway.home).some((name) => gone.includes(name)));
    });

    await t.test('files without a row, and drafts without an upload, are gone after a start; an upload that is open stays', async () => {
      const { uploadId } = await ask(admin, 'attachments.begin', { name: 'later.txt', bytes: 10 });
      await ask(admin, 'attachments.chunk', { uploadId, offset: 0, data: Buffer.from('first').toString('base64') });
      const stray = 'ab'.repeat(32);
      mkdirSync(join(gateway.home, 'attachments', 'ab'), { recursive: true });
      writeFileSync(join(gateway.home, 'attachments', 'ab', stray), 'stray');
      writeFileSync(join(gateway.home, 'attachments', 'uploads', 'no-such-upload-there'), 'stray');
      const kept = filesIn(gateway.home).filter((name) => name !== stray && name !== 'no-such-upload-there');
      await gateway.kill();
      await using again = await openConversation({ home: gateway.home, config, server: world.server });
      assert.deepEqual(filesIn(gateway.home).sort(), kept.sort());
      const { offset } = await ask(again.admin, 'attachments.chunk', {
        uploadId,
        offset: 5,
        data: Buffer.from('again').toString('base64'),
      });
      assert.equal(offset, 10);
      const { attachment } = await ask(again.admin, 'attachments.commit', { uploadId, sha256: digest(Buffer.from('firstagain')) });
      assert.equal(await (await download(again, attachment.handle)).text(), 'firstagain');
    });
  });
}
