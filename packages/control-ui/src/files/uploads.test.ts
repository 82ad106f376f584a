import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import type { Call } from '../state/page-methods.ts';
import { createUploads } from './uploads.ts';

const CHUNK = 4;

/** A gateway that keeps what it is sent; `onCall` is told of each call before it is answered, and may throw. */
function gateway() {
  const received = new Map<string, Buffer>();
  const calls: string[] = [];
  const state: { onCall?: (nth: number) => void } = {};
  let count = 0;
  const call = (async (method: string, params: Record<string, unknown>) => {
    calls.push(method);
    await Promise.resolve();
    state.onCall?.(calls.length);
    const id = String(params.uploadId ?? `u${++count}`);
    if (method === 'attachments.begin') {
      received.set(id, Buffer.alloc(0));
      return { uploadId: id, chunkBytes: CHUNK, expiresAt: 0 };
    }
    const have = received.get(id) ?? Buffer.alloc(0);
    if (method === 'attachments.chunk') {
      const piece = Buffer.from(String(params.data), 'base64');
      assert.ok(piece.length <= CHUNK);
      if (piece.length > 0) assert.equal(params.offset, have.length);
      received.set(id, Buffer.concat([have, piece]));
      return { uploadId: id, offset: have.length + piece.length, bytes: 0 };
    }
    if (method === 'attachments.commit')
      return {
        attachment: { handle: `h-${id}`, name: 'kept.txt', mime: 'text/plain', bytes: have.length, sha256: '', owner: '', createdAt: 0 },
      };
    return { uploadId: id, aborted: true };
  }) as unknown as Call;
  return { call, calls, received, state };
}

function open() {
  const world = gateway();
  const previews: string[] = [];
  let key = 0;
  const uploads = createUploads({
    call: world.call,
    newKey: () => `k${++key}`,
    preview: {
      make: () => {
        previews.push('blob:1');
        return 'blob:1';
      },
      forget: (address) => void previews.splice(previews.indexOf(address), 1),
    },
  });
  const states = (place = 'new') => uploads.of(place).map(({ state }) => state);
  const settled = async (place = 'new') => {
    for (let turn = 0; turn < 500 && states(place).some((state) => state === 'waiting' || state === 'uploading'); turn++)
      await new Promise((resolve) => setImmediate(resolve));
    return states(place);
  };
  return { ...world, uploads, previews, states, settled };
}

test('a file goes in pieces, in order, and is what was picked', async () => {
  const world = open();
  assert.deepEqual(world.uploads.add('new', [new File(['hello gateway'], 'a.txt', { type: 'text/plain' })]), []);
  assert.deepEqual(await world.settled(), ['done']);
  assert.equal(world.received.get('u1')?.toString(), 'hello gateway');
  assert.deepEqual(world.uploads.take('new'), [{ handle: 'h-u1', name: 'kept.txt', mime: 'text/plain', bytes: 13 }]);
  assert.deepEqual(world.uploads.of('new'), []);
  world.uploads.giveBack('new', [{ handle: 'h-u1', name: 'kept.txt', mime: 'text/plain', bytes: 13 }]);
  assert.deepEqual(world.states(), ['done'], 'a message that was not taken has its files again');
});

test('what broke off goes on where the gateway says, and says why meanwhile', async () => {
  const world = open();
  // Begun, and one piece of three has arrived.
  world.state.onCall = (nth) => {
    if (nth === 3) throw new Error('The line broke');
  };
  world.uploads.add('agent:main:a', [new File(['0123456789'], 'a.bin')]);
  assert.deepEqual(await world.settled('agent:main:a'), ['failed']);
  const [failed] = world.uploads.of('agent:main:a');
  assert.match(failed?.error ?? '', /line broke/);
  world.uploads.retry('agent:main:a', failed!.key);
  assert.deepEqual(await world.settled('agent:main:a'), ['done']);
  assert.equal(world.received.get('u1')?.toString(), '0123456789');
  assert.equal(world.calls.filter((each) => each === 'attachments.begin').length, 1);
});

test('one that is left out is given up at the gateway, and its picture is forgotten', async () => {
  const world = open();
  const removed = new Promise<void>((resolve) => {
    world.state.onCall = (nth) => {
      if (nth === 2) world.uploads.remove('new', world.uploads.of('new')[0]!.key);
      if (world.calls.at(-1) === 'attachments.abort') resolve();
    };
  });
  world.uploads.add('new', [new File(['0123456789'], 'a.png', { type: 'image/png' })]);
  assert.equal(world.previews.length, 1);
  await removed;
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([world.previews, world.uploads.of('new')], [[], []]);
  assert.deepEqual(world.calls, ['attachments.begin', 'attachments.chunk', 'attachments.abort']);
});

test('what is empty, too large or too many is refused in words, and the rest is taken', () => {
  const { uploads } = open();
  const large = { name: 'large.bin', size: limits.attachmentBytes.value + 1, type: '' } as File;
  const many = Array.from({ length: limits.messageAttachments.value + 1 }, (_, at) => new File(['x'], `${at}.txt`));
  const refused = uploads.add('new', [new File([], 'none.txt'), large, ...many]);
  assert.match(refused[0]!, /none\.txt is empty/);
  assert.match(refused[1]!, /large\.bin has 26 MB; a file may have 26 MB/);
  assert.match(refused[2]!, /10\.txt: a message has at most 10 files/);
  assert.equal(uploads.of('new').length, limits.messageAttachments.value);
});
