// S69, S70, S77, S78: what is left to look at afterwards, and what it must not give away.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type ErrorCode, errorCodes, methodNames } from '@tenon/protocol';
import { editBackup } from '../support/backups.ts';
import { type GatewayProcess, startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { connectParams, connectRaw, type Frame, openRaw, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';
import {
  assertNoSecrets,
  assertUnharmed,
  bystander,
  connectDevice,
  createDevice,
  exchange,
  logFiles,
  mintToken,
  newAddress,
  openByHand,
  requestText,
  tenon,
  tryConnect,
  upgradeHeaders,
} from './harness.ts';

/** A home of its own that outlives several gateways, and is removed at the end. */
function openHome(): { home: string } & Disposable {
  const home = temporaryHome();
  return { home, [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true, maxRetries: 10 }) };
}

/** Runs a gateway on the home for as long as the work takes, and stops it in good order. */
async function withGateway<Result>(home: string, work: (admin: RawClient, gateway: GatewayProcess) => Promise<Result>): Promise<Result> {
  await using gateway = await startGatewayProcess({ home });
  await using admin = await bystander(gateway);
  const result = await work(admin, gateway);
  assertNoSecrets(gateway);
  await admin.close();
  assert.equal(await gateway.stop(), 0);
  return result;
}

async function audited(home: string, count: number): Promise<void> {
  await withGateway(home, async (admin) => {
    for (let index = 0; index < count; index++) await mintToken(admin, []);
  });
}

interface AuditRow {
  readonly seq: number;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly details: string;
}

/** What somebody does who knows how the chain is made: every hash is right again, and the chain ends where it says. */
function rehash(database: DatabaseSync): void {
  let hash = '';
  let last = 0;
  for (const row of database.prepare('select * from audit order by seq').all() as unknown as AuditRow[]) {
    const text = JSON.stringify([row.seq, row.at, row.actor, row.action, row.target, row.details]);
    hash = createHash('sha256').update(`${hash}\n${text}`).digest('hex');
    database.prepare('update audit set hash = ? where seq = ?').run(hash, row.seq);
    last = row.seq;
  }
  database.prepare('update audit_chain set anchor_seq = 0, anchor_hash = ?, head_seq = ?, head_hash = ?').run('', last, hash);
}

function change(home: string, statements: string, more: (database: DatabaseSync) => void = () => {}): void {
  using database = new DatabaseSync(join(home, 'tenon.db'));
  database.exec(statements);
  more(database);
}

interface Chain {
  readonly ok: boolean;
  readonly reason?: string;
}

async function assertFoundOffline(home: string, what: string): Promise<void> {
  const { code, stdout } = await tenon(home, 'doctor', '--json');
  assert.equal(code, 1, `${what}: ${stdout}`);
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: { check: string; severity: string }[] };
  assert.equal(ok, false, what);
  assert.equal(findings.find(({ check }) => check === 'audit chain')?.severity, 'error', what);
}

async function assertBrokenEverywhere(admin: RawClient, what: string): Promise<void> {
  const { chain } = (await admin.request('audit.list')).payload as { chain: Chain };
  assert.equal(chain.ok, false, `${what}: audit.list says that all is well`);
  assert.ok(chain.reason, what);
  const doctor = (await admin.request('doctor.run')).payload as {
    ok: boolean;
    findings: { check: string; severity: string; message: string }[];
  };
  assert.equal(doctor.ok, false, `${what}: doctor.run says that all is well`);
  const finding = doctor.findings.find(({ check }) => check === 'audit chain');
  assert.equal(finding?.severity, 'error', what);
  assert.match(finding?.message ?? '', /tampered with or lost records/);
}

test('S69 a changed, removed or forged audit record is noticed, and stays noticed', async () => {
  verifies('S69');
  const tampering: Record<string, string> = {
    'another actor': "update audit set actor = 'somebody else' where seq = 3",
    'another action': "update audit set action = 'nothing' where seq = 3",
    'another time': 'update audit set at = at + 1 where seq = 3',
    'other details': "update audit set details = '{}' where seq = 3",
    'another hash': "update audit set hash = 'x' where seq = 3",
    'a record removed': 'delete from audit where seq = 3',
    'the last record removed': 'delete from audit where seq = (select max(seq) from audit)',
    'every record removed': 'delete from audit',
    'a record added': "insert into audit select seq + 1, at, 'forged', action, target, details, hash from audit order by seq desc limit 1",
    'two records swapped':
      'update audit set seq = -3 where seq = 3; update audit set seq = 3 where seq = 4; update audit set seq = 4 where seq = -3',
    'the chain record removed': 'delete from audit_chain',
  };
  using original = openHome();
  await audited(original.home, 5);
  for (const [what, statements] of Object.entries(tampering)) {
    using place = openHome();
    cpSync(original.home, place.home, { recursive: true });
    change(place.home, statements);
    await assertFoundOffline(place.home, what);
    await withGateway(place.home, async (admin) => {
      await assertBrokenEverywhere(admin, what);
      // To add to a log that was tampered with does not heal it.
      if (what !== 'a record added' && what !== 'the chain record removed') await mintToken(admin, []);
      await assertBrokenEverywhere(admin, `${what}, and one more`);
    });
    await assertFoundOffline(place.home, `${what}, and started since`);
  }
});

test('S77 a tail cut off, a history rewritten and an older copy are noticed, although the chain itself is whole', async () => {
  verifies('S77');
  const tampering: Record<string, (home: string, older: string) => void> = {
    'the tail cut off': (home) => change(home, 'delete from audit where seq > 4', rehash),
    'all cut off': (home) => change(home, 'delete from audit', rehash),
    'a history rewritten': (home) => change(home, "update audit set actor = 'somebody else' where seq = 3", rehash),
    'an older copy': (home, older) => copyFileSync(older, join(home, 'tenon.db')),
    'the head kept apart removed': (home) => rmSync(join(home, 'audit-head.json')),
    'the tail cut off, and the head kept apart removed': (home) => {
      change(home, 'delete from audit where seq > 4', rehash);
      rmSync(join(home, 'audit-head.json'));
    },
    'the head kept apart made unreadable': (home) => writeFileSync(join(home, 'audit-head.json'), 'nonsense'),
    'another head kept apart': (home) => writeFileSync(join(home, 'audit-head.json'), JSON.stringify({ seq: 3, hash: 'f'.repeat(64) })),
  };
  using original = openHome();
  await audited(original.home, 2);
  const older = join(original.home, 'older.db');
  copyFileSync(join(original.home, 'tenon.db'), older);
  await audited(original.home, 5);
  for (const [what, tamper] of Object.entries(tampering)) {
    using place = openHome();
    cpSync(original.home, place.home, { recursive: true });
    tamper(place.home, older);
    await assertFoundOffline(place.home, what);
    // What the gateway adds on top, and the head that it keeps of that, must not cover the traces.
    for (const when of ['started', 'started again'])
      await withGateway(place.home, async (admin) => {
        await assertBrokenEverywhere(admin, `${what}, ${when}`);
        for (let count = 0; count < 6; count++) await mintToken(admin, []);
        await assertBrokenEverywhere(admin, `${what}, ${when} and used`);
      });
    await assertFoundOffline(place.home, `${what}, and started since`);
  }
});

test('S69 the audit log has no way in: no method writes it, and only an admin reads it', async () => {
  verifies('S69');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  assert.deepEqual(
    methodNames.filter((name) => name.startsWith('audit')),
    ['audit.list'],
  );
  for (const method of [
    'audit.append',
    'audit.write',
    'audit.delete',
    'audit.clear',
    'audit.patch',
    'audit.trim',
    'audit.verifyPage',
    'retention.sweep',
    'answer.record',
  ])
    assert.equal((await admin.request(method, { seq: 1 })).error?.code, 'UNKNOWN_METHOD', method);
  await using writer = await connectRaw(
    gateway.socketUrl,
    (await mintToken(admin, ['operator.write', 'operator.pairing', 'operator.approvals'])).token,
  );
  assert.equal((await writer.request('audit.list')).error?.code, 'SCOPE');
  assert.equal((await writer.request('logs.tail')).error?.code, 'SCOPE');

  // Nobody chooses the name that stands in the record, nor puts a record of their own into it.
  const { payload } = await admin.request('tokens.create', { name: '","actor":"somebody else', scopes: [] });
  const { records } = (await admin.request('audit.list', { limit: 1 })).payload;
  assert.equal(records[0].actor, admin.hello.payload.auth.principal);
  assert.equal(records[0].target, payload.record.id);
  for (const idempotencyKey of ['once', 'once']) await admin.request('tokens.revoke', { id: payload.record.id, idempotencyKey });
  const revocations = (await admin.request('audit.list')).payload.records.filter(
    (record: { action: string }) => record.action === 'tokens.revoke',
  );
  assert.equal(revocations.length, 1, 'a repeat is not a second deed');
  await assertUnharmed(gateway);
});

/** What an answer must not contain: stacks, places in our code, places on the disk, queries, secrets. */
function assertSafe(text: string, what: string, secrets: readonly string[]): void {
  for (const secret of secrets) assert.ok(!text.includes(secret), `${what} gives away ${JSON.stringify(secret)}: ${text}`);
  assert.doesNotMatch(text, /\n\s*at |\\n\s*at |\bat \S+ \(|node:|\.(ts|cjs|js):\d|file:\/\//, what);
  assert.doesNotMatch(
    text,
    /SQLITE_|sqlite|\bselect\b.*\bfrom\b|\binsert into\b|\bupdate\b.*\bset\b|\bno such (table|column)|syntax error|tenon\.db/i,
    what,
  );
  assert.doesNotMatch(text, /(^|[\s"'(])\/(tmp|home|root|work|usr|var|etc)\//, what);
  assert.doesNotMatch(text, /tenon_[A-Za-z0-9_-]{43}|TypeError|RangeError|Error:/, what);
}

test('S70 no refusal carries a stack, a path, a token or a query', async (t) => {
  verifies('S70');
  await using gateway = await startGatewayProcess({ args: ['--log-level', 'trace'] });
  await using admin = await bystander(gateway);
  const { token } = await mintToken(admin, ['operator.read', 'operator.pairing']);
  const secrets = [gateway.token, token, gateway.home];
  const provoked = new Map<ErrorCode, number>();
  const note = (frame: Frame) => {
    assert.equal(frame.ok, false, JSON.stringify(frame));
    const code = frame.error?.code as ErrorCode;
    provoked.set(code, (provoked.get(code) ?? 0) + 1);
    assertSafe(JSON.stringify(frame), code, secrets);
    return code;
  };

  // At the door.
  const doors: Record<string, unknown>[] = [
    connectParams('wrong-token'),
    connectParams(),
    connectParams(token, { minProtocol: 9, maxProtocol: 9 }),
    connectParams(token, { extra: token }),
    connectParams(token, { auth: { token: [token] } }),
    { token },
  ];
  for (const params of doors) {
    await using stranger = await openRaw(gateway.socketUrl, { localAddress: newAddress() });
    note(await stranger.request('connect', params));
  }
  const guesser = newAddress();
  for (let guess = 0; guess < 11; guess++) note(await tryConnect(gateway, { token: `${token}${guess}`, from: guesser }));
  const { client: unpaired, answer } = await connectDevice(gateway, createDevice());
  note(answer);
  await unpaired.close();

  // Inside.
  await using client = await connectRaw(gateway.socketUrl, token, { events: [] });
  const odd: [method: string, params?: unknown][] = [
    ['no.such.method', {}],
    ['../../etc/passwd', {}],
    ['sessions.create', {}],
    ['sessions.get', { key: 'agent:main:missing' }],
    ['sessions.get', { key: token }],
    ['sessions.get', { key: "agent:main:' or 1=1; drop table sessions --" }],
    ['sessions.get', []],
    ['sessions.get', 'x'],
    ['sessions.list', { cursor: "' or 1=1" }],
    ['sessions.list', { cursor: Buffer.from("1.1' or '1'='1").toString('base64url') }],
    ['sessions.list', { limit: 1e9 }],
    ['tokens.revoke', { id: 'shared-token-file' }],
    ['tokens.rotate', { id: 'x'.repeat(22) }],
    ['tokens.create', { name: 'n', scopes: ['operator.admin'] }],
    ['device.pair.approve', { requestId: '../../../../etc' }],
    ['device.revoke', { id: 'f'.repeat(64) }],
  ];
  for (const [method, params] of odd) note(await client.request(method, params));
  for (const text of [
    `{"token":"${token}"`,
    `{"a":"${token}","a":"${token}"}`,
    `{"type":"req","id":"p","method":"x","params":{"__proto__":"${token}"}}`,
  ]) {
    client.send(text);
    client.frames.length = 0;
    note(await client.find((frame) => frame.type === 'res'));
  }
  await admin.request('sessions.create', { key: 'agent:main:there', idempotencyKey: 'k' });
  note(await admin.request('sessions.create', { key: 'agent:main:there' }));
  note(await admin.request('sessions.create', { key: 'agent:main:elsewhere', idempotencyKey: 'k' }));
  note(await admin.request('sessions.patch', { key: 'agent:main:there', ifRevision: 99 }));
  await admin.request('chat.send', { sessionKey: 'agent:main:there', message: 'Write a note: S70', idempotencyKey: 'asks' });
  const asked = await admin.find((frame) => frame.event === 'approval.requested');
  const answerIt = () => admin.request('approvals.resolve', { id: asked.payload.approval.id, decision: 'deny' });
  assert.equal((await answerIt()).ok, true);
  note(await answerIt());
  note(await admin.request('config.patch', { set: { 'log.level': 'loud' } }));
  note(await admin.request('config.patch', { set: { 'store.url': 'mysql://root:hunter2@db/x' } }));
  assert.ok(!JSON.stringify(admin.frames).includes('hunter2'), 'a wrong value of a secret setting is not quoted');
  writeFileSync(join(gateway.home, 'tenon.toml'), `broken = "${token}`);
  note(await admin.request('config.patch', { set: { 'log.level': 'debug' } }));
  rmSync(join(gateway.home, 'tenon.toml'));

  // While the store is busy with something else.
  {
    using database = new DatabaseSync(join(gateway.home, 'tenon.db'), { timeout: 5_000 });
    database.exec('begin immediate');
    const many = Array.from({ length: 260 }, (_, index) => admin.request('sessions.create', { key: `agent:main:busy${index}` }));
    note(await Promise.race(many));
    database.exec('rollback');
    await Promise.all(many);
  }

  // When the store is not what it should be: the answer says that it is our fault, the log says which.
  change(gateway.home, 'alter table sessions rename to hidden_sessions');
  const internal = [await admin.request('sessions.list', {}), await admin.request('sessions.create', {})];
  for (const frame of internal) note(frame);
  const reference = internal.find(({ error }) => error?.code === 'INTERNAL')?.error?.details?.reference;
  assert.equal(typeof reference, 'string');
  assert.ok(
    logFiles(gateway.home).some(([, text]) => text.includes(reference as string) && /no such table/.test(text)),
    'the log has what the answer leaves out',
  );
  change(gateway.home, 'alter table hidden_sessions rename to sessions');

  // Over HTTP.
  const http = [
    requestText(gateway, '/', { headers: { Host: `${token}.example` } }),
    requestText(gateway, '/', { headers: { Origin: `http://${token}.example` } }),
    requestText(gateway, '/nothing'),
    requestText(gateway, '/../../etc/passwd'),
    requestText(gateway, '/', { method: 'POST' }),
    requestText(gateway, '/', { method: 'POST', headers: { 'Content-Length': '9' } }),
    requestText(gateway, '/', { headers: { ...upgradeHeaders, 'Sec-WebSocket-Version': 'x' } }),
    'NONSENSE\r\n\r\n',
  ];
  for (const text of http) {
    const { status, headers, body } = await exchange(gateway, text, newAddress());
    assert.ok(status >= 400);
    assertSafe(`${JSON.stringify(headers)} ${body}`.replace(/https?:\/\//g, ''), `HTTP ${status}`, secrets);
    if (body === '') continue;
    const { code } = JSON.parse(body) as { code: ErrorCode };
    provoked.set(code, (provoked.get(code) ?? 0) + 1);
  }
  t.diagnostic([...provoked].map(([code, count]) => `${code} ${count}`).join(', '));
  // A full disk has a test of its own below, a plugin that fails those of test/contract/plugins-rpc.test.ts.
  assert.deepEqual(
    errorCodes.filter((code) => !provoked.has(code)),
    ['PLUGIN', 'STORAGE'],
  );
  assertNoSecrets(gateway);
  await assertUnharmed(gateway, { from: guesser, incidents: ['auth.failed', 'auth.rate-limited'] });
});

test('S70 a store that is full says so without saying where it is', async () => {
  verifies('S70');
  await using gateway = await startGatewayProcess({ args: ['--store-max-bytes', '200000'] });
  await using admin = await connectRaw(gateway.socketUrl, gateway.token);
  let refused: Frame | undefined;
  for (let index = 0; index < 2_000 && !refused; index++) {
    const answer = await admin.request('sessions.create', { title: 'x'.repeat(500) });
    if (!answer.ok) refused = answer;
  }
  assert.equal(refused?.error?.code, 'STORAGE');
  assertSafe(JSON.stringify(refused), 'STORAGE', [gateway.home, gateway.token]);
  const health = await admin.request('health');
  assertSafe(JSON.stringify(health), 'health', [gateway.home]);
  const page = await exchange(gateway, requestText(gateway, '/'));
  assert.ok(!page.body.includes(gateway.home), 'the page of a stranger names no folder');
  assert.equal(gateway.child.exitCode, null);
  assertNoSecrets(gateway);
});

test('S70 a close frame gives its reason in a few words', async () => {
  verifies('S70');
  await using gateway = await startGatewayProcess();
  const from = newAddress();
  await using hand = await openByHand(gateway, from);
  hand.socket.write(Buffer.from('not a frame at all, but more than enough bytes for one'));
  await hand.ended;
  assertSafe(hand.received().toString('latin1').slice(hand.received().indexOf('\r\n\r\n')), 'the close frame', [gateway.home]);
  await assertUnharmed(gateway, { from, incidents: ['frame.invalid'] });
});

function modeOf(file: string): string {
  return (statSync(file).mode & 0o777).toString(8);
}

/** Everything in the home that a restore could touch, as bytes. */
function contentsOf(home: string): Record<string, string> {
  const names = readdirSync(home).filter((name) => /^(tenon\.(db|toml)|token|home\.key|audit-head\.json)$/.test(name));
  return Object.fromEntries(
    names.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(home, name)))
        .digest('hex'),
    ]),
  );
}

test('S78 a backup is readable by its owner only, whatever the umask, and so is what is restored from it', async () => {
  verifies('S78');
  using place = openHome();
  using target = openHome();
  const backup = join(place.home, 'copy.backup');
  const before = process.umask(0);
  try {
    await withGateway(place.home, async (admin) => {
      await admin.request('sessions.create', { key: 'agent:main:kept', title: 'kept' });
      const made = await tenon(place.home, 'backup', backup);
      assert.equal(made.code, 0, made.stderr);
    });
    assert.equal(modeOf(backup), '600');
    assert.deepEqual(
      readdirSync(place.home).filter((name) => name.startsWith('copy.backup')),
      ['copy.backup'],
      'nothing lies beside it',
    );
    const again = await tenon(place.home, 'backup', backup);
    assert.notEqual(again.code, 0, 'a backup does not replace another file');

    const restored = await tenon(target.home, 'restore', backup, '--yes');
    assert.equal(restored.code, 0, restored.stderr);
    for (const name of readdirSync(target.home)) {
      const mode = statSync(join(target.home, name)).mode & 0o077;
      assert.equal(mode, 0, `${name} can be read by others (mode ${modeOf(join(target.home, name))})`);
    }
  } finally {
    process.umask(before);
  }
  await withGateway(target.home, async (admin) => {
    assert.equal((await admin.request('sessions.get', { key: 'agent:main:kept' })).payload.session.title, 'kept');
    assert.equal((await admin.request('audit.list')).payload.chain.ok, true, 'the audit chain came along whole');
  });
});

test('S78 a restore under a running gateway is locked out, even if the gateway is hard to see', async () => {
  verifies('S78');
  using place = openHome();
  const backup = join(place.home, 'copy.backup');
  await using gateway = await startGatewayProcess({ home: place.home });
  await using admin = await bystander(gateway);
  await admin.request('sessions.create', { key: 'agent:main:first' });
  assert.equal((await tenon(place.home, 'backup', backup)).code, 0);
  await admin.request('sessions.create', { key: 'agent:main:second' });
  for (const hidden of [false, true]) {
    // Without the note that says where it runs, the lock itself has to hold.
    if (hidden) for (const name of ['gateway.json', 'gateway.pid']) rmSync(join(place.home, name), { force: true });
    for (const flags of [['--yes'], ['--dry-run']]) {
      const { code, stderr } = await tenon(place.home, 'restore', backup, ...flags);
      assert.equal(code, 3, stderr);
      assert.match(stderr, /gateway.*(runs|running)/i);
    }
  }
  assert.equal((await admin.request('sessions.get', { key: 'agent:main:second' })).ok, true, 'nothing was replaced');
  await assertUnharmed(gateway);
});

test('S78 a backup that was tampered with is refused whole', async () => {
  verifies('S78');
  using place = openHome();
  const good = join(place.home, 'good.backup');
  await withGateway(place.home, async (admin) => {
    for (let index = 0; index < 50; index++) await admin.request('sessions.create', { title: 'x'.repeat(500) });
    assert.equal((await tenon(place.home, 'backup', good)).code, 0);
    await admin.request('sessions.create', { key: 'agent:main:later' });
  });
  const outside = join(place.home, 'outside');
  mkdirSync(outside);
  const edit = (statements: string) => (file: string) => editBackup(file, statements);
  const carry = (name: string) => edit(`insert into backup_files values ('${name}', x'6f776e6564')`);
  const tampering: Record<string, (file: string) => void> = {
    'a file above the home': carry('../outside/owned'),
    'a file by its whole path': carry(`${outside}/owned`),
    'a file in a folder': carry('logs/gateway.log'),
    'a file of another program': carry('.bashrc'),
    'a name with a drive': carry('C:owned'),
    'an empty name': carry(''),
    'a name with NUL': edit(`insert into backup_files values ('token' || char(0) || '.x', x'00')`),
    'the store itself as a file': carry('tenon.db'),
    'a file of 2 MB': edit(`insert or replace into backup_files values ('tenon.toml', zeroblob(2000000))`),
    'no table of files': edit('drop table backup_files'),
    'a newer schema': edit('pragma user_version = 999'),
    'another program': edit('pragma application_id = 1'),
    'half of it': (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
    'nothing of it': (file) => truncateSync(file, 0),
    'bytes in the middle': (file) => {
      const bytes = readFileSync(file);
      bytes.fill(0xa5, 4_096, bytes.length - 4_096);
      writeFileSync(file, bytes);
    },
    text: (file) => writeFileSync(file, 'not a backup'),
    'a folder': (file) => {
      rmSync(file);
      mkdirSync(file);
    },
    'a link to nowhere': (file) => {
      rmSync(file);
      symlinkSync(join(place.home, 'nowhere'), file);
    },
    'a device': (file) => {
      rmSync(file);
      symlinkSync('/dev/null', file);
    },
  };
  const before = contentsOf(place.home);
  for (const [what, tamper] of Object.entries(tampering)) {
    const file = join(place.home, 'bad.backup');
    rmSync(file, { recursive: true, force: true, maxRetries: 10 });
    copyFileSync(good, file);
    chmodSync(file, 0o600);
    tamper(file);
    for (const flags of [['--dry-run'], ['--yes']]) {
      const { code, stderr } = await tenon(place.home, 'restore', file, ...flags);
      assert.equal(code, 1, `${what}: exit code ${code}, ${stderr}`);
      assert.equal(stderr.trim().split('\n').length, 1, `${what}: ${stderr}`);
    }
    assert.deepEqual(contentsOf(place.home), before, `${what}: the home was changed`);
    assert.deepEqual(readdirSync(outside), [], `${what}: something was written elsewhere`);
    assert.ok(!readdirSync(place.home).some((name) => name.includes('restore')), `${what}: a draft was left`);
  }
  await withGateway(place.home, async (admin) => {
    assert.equal((await admin.request('sessions.get', { key: 'agent:main:later' })).ok, true, 'the store is the one from before');
  });
  const restored = await tenon(place.home, 'restore', good, '--yes');
  assert.equal(restored.code, 0, 'the good one still works');
  await withGateway(place.home, async (admin) => {
    assert.equal((await admin.request('sessions.get', { key: 'agent:main:later' })).error?.code, 'NOT_FOUND');
  });
});

test('S78 what is restored is written into the home, not through links in it', async () => {
  verifies('S78');
  using place = openHome();
  using target = openHome();
  const backup = join(place.home, 'copy.backup');
  await withGateway(place.home, async () => {
    assert.equal((await tenon(place.home, 'backup', backup)).code, 0);
  });
  const victim = join(place.home, 'victim');
  writeFileSync(victim, 'untouched');
  for (const name of ['token', 'home.key', 'audit-head.json', 'tenon.db', 'tenon.db.restore']) symlinkSync(victim, join(target.home, name));
  await tenon(target.home, 'restore', backup, '--yes');
  assert.equal(readFileSync(victim, 'utf8'), 'untouched');
  assert.ok(existsSync(backup));
});
