import assert from 'node:assert/strict';
import { createServer, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { verifies } from '../../../../test/support/verifies.ts';
import { systemClock } from '../kernel/clock.ts';
import { createPeers } from './peer.ts';
import { createUidFinder } from './peer-uid.ts';

/** As much of a socket as is looked at. */
function socketFrom(remoteAddress: string, localAddress = '192.0.2.1'): Socket {
  return { remoteAddress, remotePort: 4711, localAddress, localPort: 18789 } as Socket;
}

const nobodyKnows = async () => undefined;
const forwarded = (value: string) => ({ 'x-forwarded-for': value });

test('a forwarded address is believed of a trusted proxy only, and only its last hop that no proxy stands for', () => {
  verifies('S09:proxy');
  const peers = createPeers({ trustedProxies: ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'], findUid: nobodyKnows });
  const cases: [from: string, header: string | undefined, address: string, isForwarded: boolean][] = [
    ['127.0.0.1', '203.0.113.7', '203.0.113.7', true],
    ['::ffff:127.0.0.1', '203.0.113.7', '203.0.113.7', true],
    ['127.0.0.1', '198.51.100.1, 203.0.113.7', '203.0.113.7', true],
    ['127.0.0.1', '198.51.100.1, 203.0.113.7, 10.1.2.3', '203.0.113.7', true],
    ['127.0.0.1', '203.0.113.7:4711', '203.0.113.7', true],
    ['10.9.9.9', '[2a00:1:2:3::4]:4711', '2a00:1:2:3::/64', true],
    ['2001:db8::5', '2a00:1:2:3::4', '2a00:1:2:3::/64', true],
    ['127.0.0.1', '10.1.2.3, 10.4.5.6', '10.1.2.3', true],
    ['127.0.0.1', '203.0.113.7, nonsense', 'unknown', true],
    ['127.0.0.1', 'nonsense, 203.0.113.7', '203.0.113.7', true],
    ['127.0.0.1', '', 'unknown', true],
    ['127.0.0.1', undefined, '127.0.0.1', false],
    ['127.0.0.2', '203.0.113.7', '127.0.0.2', false],
    ['203.0.113.9', '127.0.0.1', '203.0.113.9', false],
    ['2001:db9::5', '203.0.113.7', '2001:db9:0:0::/64', false],
  ];
  for (const [from, header, address, isForwarded] of cases) {
    const peer = peers.of(socketFrom(from), header === undefined ? {} : forwarded(header));
    assert.deepEqual([peer.address, peer.isForwarded, peer.account], [address, isForwarded, address], `${from} ${header}`);
  }
  const alone = createPeers({ trustedProxies: [], findUid: nobodyKnows });
  assert.equal(alone.of(socketFrom('127.0.0.1'), forwarded('203.0.113.7')).address, '127.0.0.1');
  for (const wrong of ['10.0.0.0/33', ':::', '::/129'])
    assert.throws(() => createPeers({ trustedProxies: [wrong], findUid: nobodyKnows }), /gateway\.trustedProxies cannot be "/);
});

test('on this machine the account is the user, and who only says what a proxy says has not the account of the proxy', async () => {
  verifies('S09', 'S09:proxy');
  const uids: Record<string, number | undefined> = { '127.0.0.1': 33, '127.0.0.2': 1000, '127.0.0.3': undefined, '192.0.2.1': 1001 };
  let asked = 0;
  const findUid = async ({ remoteAddress = '' }) => {
    asked++;
    return uids[remoteAddress];
  };
  const peers = createPeers({ trustedProxies: ['127.0.0.0/8'], findUid });
  const account = (from: string, header?: string) => peers.of(socketFrom(from), header ? forwarded(header) : {}).findAccount();
  assert.equal(await account('127.0.0.2'), 'uid:1000');
  assert.equal(await account('127.0.0.3'), '127.0.0.3', 'where nobody knows the user');
  assert.equal(await account('192.0.2.1'), 'uid:1001', 'by another address of this machine');
  assert.equal(await account('127.0.0.1', '203.0.113.7'), '203.0.113.7 via uid:33');
  assert.equal(await account('127.0.0.2', '203.0.113.7'), '203.0.113.7 via uid:1000');
  const before = asked;
  assert.equal(await account('203.0.113.7'), '203.0.113.7');
  assert.equal(asked, before, 'nobody is asked about other machines');
  const socket = socketFrom('127.0.0.2');
  await Promise.all([peers.of(socket).findAccount(), peers.of(socket).findAccount()]);
  assert.equal(asked, before + 1, 'and once for a connection');
});

const LISTS = [
  `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:4965 00000000:0000 0A 00000000:00000000 00:00000000 00000000     7        0 11 1 0 100 0 0 10 0
   1: 0100007F:9C40 0100007F:4965 01 00000000:00000000 00:00000000 00000000  1000        0 12 1 0 20 4 30 10 -1
   2: 0100007F:4965 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     7        0 13 1 0 20 4 30 10 -1
   3: 0100007F:9C41 0100007F:4965 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1
   4: 0100007F:9C42 0100007F:4965 06 00000000:00000000 03:00000AEC 00000000     0        0 0 3 0
   5: 0100007F:9C43 0100007F:4965 05 00000000:00000000 03:00000AEC 00000000  1002        0 14 3 0\n`,
  `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0000000000000000FFFF00000100007F:9C44 0000000000000000FFFF00000100007F:4965 01 00000000:00000000 00:00000000 00000000  1003        0 15 1 0 20 4 30 10 -1
   1: 00000000000000000000000001000000:9C45 00000000000000000000000001000000:4965 01 00000000:00000000 00:00000000 00000000  1004        0 16 1 0 20 4 30 10 -1\n`,
];

test('the user is found by both ends, in either list, and a socket that its program has left belongs to nobody', async (t) => {
  verifies('S09');
  if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) return t.skip('the sample is of a machine with the other order of bytes');
  const folder = mkdtempSync(join(tmpdir(), 'tenon-lists-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const files = LISTS.map((text, index) => {
    const file = join(folder, String(index));
    // Longer than what is read at once, in lines of others.
    const others = '   9: 0100007F:0001 0100007F:0002 06 00000000:00000000 03:00000AEC 00000000     0        0 0 3 0\n'.repeat(3_000);
    writeFileSync(file, text.replace('\n', `\n${others}`));
    return file;
  });
  const findUid = createUidFinder(systemClock, files);
  const uidOf = (remotePort: number, address = '127.0.0.1', ours = address) =>
    findUid({ remoteAddress: address, remotePort, localAddress: ours, localPort: 0x4965 });
  assert.deepEqual(await Promise.all([0x9c40, 0x9c41, 0x9c42, 0x9c43, 0x9c44, 1].map((port) => uidOf(port))), [
    1000,
    undefined,
    undefined,
    1002,
    1003,
    undefined,
  ]);
  assert.equal(await uidOf(0x9c40, '::ffff:127.0.0.1'), 1000, 'as a socket for both families sees it');
  assert.equal(await uidOf(0x9c45, '::1'), 1004);
  assert.equal(await findUid({}), undefined);
  const blind = createUidFinder(systemClock, [join(folder, 'none')]);
  assert.equal(await blind({ remoteAddress: '127.0.0.1', remotePort: 1, localAddress: '127.0.0.1', localPort: 2 }), undefined);
});

test('the system tells the user of a real connection', { skip: process.platform !== 'linux' && 'only Linux tells' }, async () => {
  verifies('S09');
  const findUid = createUidFinder(systemClock);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [accepted] = (await once(server, 'connection')) as [Socket];
  const { remoteAddress, remotePort, localAddress, localPort } = accepted;
  assert.equal(await findUid({ remoteAddress, remotePort, localAddress, localPort }), process.getuid?.());
  client.destroy();
  accepted.destroy();
  server.close();
});
