import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifies } from '../../../../test/support/verifies.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLobby, type Guest } from './lobby.ts';
import type { Peer } from './peer.ts';

/** Somebody whose user is known after it was asked for. */
function peer(user: string, known: string = user): Peer {
  let account = known;
  return {
    address: '127.0.0.1',
    isForwarded: false,
    get account() {
      return account;
    },
    findAccount: async () => (account = user),
  };
}

function open(options: { places: number; placesPerAccount: number; atOnce?: number }) {
  let now = 0;
  // A second between any two looks at it.
  const clock = { ...systemClock, monotonic: () => (now += 1_000) };
  const lobby = createLobby({ clock, ...options, places: () => options.places });
  const cut: string[] = [];
  const enter = (name: string, who: Peer): Guest => lobby.enter(who, () => cut.push(name));
  return { lobby, cut, enter };
}

test('whoever comes is let in: of the largest group the one that waited longest goes', () => {
  verifies('S14');
  const { lobby, cut, enter } = open({ places: 6, placesPerAccount: 4 });
  for (const name of ['a1', 'a2', 'a3', 'a4']) enter(name, peer('a'));
  enter('b1', peer('b'));
  assert.deepEqual(cut, []);
  enter('a5', peer('a'));
  assert.deepEqual(cut, ['a1'], 'one account has its number');
  enter('b2', peer('b'));
  assert.equal(lobby.size, 6);
  enter('c1', peer('c'));
  assert.deepEqual(cut, ['a1', 'a2'], 'the room has its number');
  assert.equal(lobby.size, 6);
});

test('who has been refused goes first, who is being looked at last, and who has left is not cut', () => {
  verifies('S14');
  const { cut, enter } = open({ places: 4, placesPerAccount: 4 });
  enter('heard', peer('a')).state = 'heard';
  enter('silent', peer('a'));
  enter('answered', peer('a')).state = 'answered';
  enter('gone', peer('a')).leave();
  for (const name of ['n1', 'n2', 'n3', 'n4', 'n5']) enter(name, peer('a'));
  assert.deepEqual(cut, ['answered', 'silent', 'n1', 'n2']);
});

test('as long as the users are not known all are one group, and then the crowd is told from the others', async () => {
  verifies('S14');
  const { lobby, cut, enter } = open({ places: 8, placesPerAccount: 4 });
  enter('operator', peer('op', 'local'));
  for (const name of ['a1', 'a2', 'a3']) enter(name, peer('a', 'local'));
  await new Promise(setImmediate);
  for (const name of ['a4', 'a5', 'a6', 'a7']) {
    enter(name, peer('a', 'local'));
    await new Promise(setImmediate);
  }
  assert.deepEqual(cut, ['a1', 'a2', 'a3']);
  assert.equal(lobby.size, 5);
});

test('several go at once where that is asked for', () => {
  const { lobby, cut, enter } = open({ places: 10, placesPerAccount: 10, atOnce: 4 });
  for (let index = 0; index < 11; index++) enter(`a${index}`, peer('a'));
  assert.deepEqual(cut, ['a0', 'a1', 'a2', 'a3']);
  assert.equal(lobby.size, 7);
});
