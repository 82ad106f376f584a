// The program as people and scripts use it: the real bundle, a real gateway, a temporary home, no terminal.
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { createClient, createDeviceIdentity } from '../../packages/client/src/index.ts';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { cleanEnv, startGatewayProcess, temporaryHome, tenonBin, type GatewayProcess } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `tenon` to its end. */
function tenon(home: string, words: readonly string[], more: { env?: Record<string, string>; input?: string } = {}): Promise<Run> {
  return new Promise((resolve) => {
    const options = { env: cleanEnv({ TENON_HOME: home, ...more.env }), encoding: 'utf8', timeout: 60_000 } as const;
    const child = execFile(process.execPath, [tenonBin, ...words], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
    });
    child.stdin?.end(more.input ?? '');
  });
}

/** The same with --json, which must work. */
async function data<Result = Record<string, never>>(home: string, ...words: string[]): Promise<Result> {
  const { code, stdout, stderr } = await tenon(home, ['--json', ...words]);
  assert.equal(code, 0, `tenon ${words.join(' ')}: ${stderr}`);
  assert.match(stdout, /^[^\n]+\n$/, 'data is one line');
  assert.equal(stderr, '');
  return JSON.parse(stdout) as Result;
}

async function refused(home: string, exitCode: number, ...words: string[]): Promise<{ code: string; message: string; hint?: string }> {
  const { code, stdout, stderr } = await tenon(home, [...words, '--json']);
  assert.equal(code, exitCode, `tenon ${words.join(' ')}: ${stdout}${stderr}`);
  assert.equal(stdout, '');
  assert.match(stderr, /^[^\n]+\n$/);
  return JSON.parse(stderr) as { code: string; message: string };
}

/** A `tenon` that goes on until told: its lines one by one. */
function follow(home: string, words: readonly string[]) {
  const child = spawn(process.execPath, [tenonBin, ...words], { env: cleanEnv({ TENON_HOME: home }), stdio: ['ignore', 'pipe', 'pipe'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  return {
    child,
    exit,
    async next(): Promise<string> {
      const { value, done } = await lines.next();
      if (done) assert.fail(`tenon ${words.join(' ')} ended: ${await exit}`);
      return value as string;
    },
  };
}

function end(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
}

interface Session {
  readonly key: string;
  readonly title: string;
  readonly label: string | null;
  readonly revision: number;
  readonly pinned: boolean;
}

describe('the command line against a running gateway', () => {
  let gateway: GatewayProcess;
  let home: string;
  before(async () => {
    gateway = await startGatewayProcess();
    home = gateway.home;
  });
  after(() => gateway.remove());

  test('health, status and tenon alone say how the gateway does', async () => {
    verifies('foundation:cli-commands');
    assert.equal((await tenon(home, ['health'])).stdout, 'ok\n');
    assert.equal((await data<{ ok: boolean }>(home, 'health')).ok, true);
    assert.equal((await data<{ pid: number }>(home, 'status')).pid, gateway.pid);
    assert.match((await tenon(home, ['status'])).stdout, new RegExp(`process ${gateway.pid}\n`));
    const alone = await data<{ running: boolean; url: string; next: string }>(home);
    assert.deepEqual([alone.running, alone.url], [true, gateway.url]);
    assert.ok((await tenon(home, [])).stdout.includes(` runs at ${gateway.url},`));
    assert.ok((await tenon(home, ['status'])).stdout.includes(` ${gateway.url},`));
    assert.equal(alone.next, 'tenon chat');
  });

  test('flags and variables of the same names choose the gateway and the token', async () => {
    verifies('foundation:cli-commands');
    const elsewhere = temporaryHome();
    try {
      const tokenFile = join(home, 'token');
      assert.equal((await tenon(elsewhere, ['health', '--port', String(gateway.port), '--token', `@${tokenFile}`])).code, 0);
      assert.equal((await tenon(elsewhere, ['health', '--url', gateway.url, '--token', '-'], { input: `${gateway.token}\n` })).code, 0);
      assert.equal((await tenon(elsewhere, ['health', '--home', home])).code, 0);
      assert.equal((await tenon(elsewhere, ['health'], { env: { TENON_PORT: String(gateway.port), TENON_TOKEN: gateway.token } })).code, 0);
      assert.equal((await tenon(elsewhere, ['health'], { env: { TENON_URL: gateway.socketUrl, TENON_TOKEN: gateway.token } })).code, 0);
      const denied = await refused(elsewhere, 4, 'health', '--port', String(gateway.port));
      assert.equal(denied.code, 'UNAUTHORIZED');
    } finally {
      removeFolder(elsewhere);
    }
  });

  test('a tenon.toml that somebody has broken keeps no command from the gateway that runs', async () => {
    verifies('foundation:cli-errors');
    const file = join(home, 'tenon.toml');
    const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    writeFileSync(file, '[gateway\n');
    try {
      const status = await tenon(home, ['status', '--json']);
      assert.equal(status.code, 0, status.stderr);
      assert.match(status.stderr, /^tenon\.toml cannot be read: .*tenon\.toml:1: not valid TOML.*; talking to the running gateway\n$/);
      assert.equal((JSON.parse(status.stdout) as { pid: number }).pid, gateway.pid);
      assert.match((await refused(home, 1, 'start')).hint ?? '', /edit line 1 of that file/);
    } finally {
      if (before === undefined) rmSync(file);
      else writeFileSync(file, before);
    }
  });

  test('a session is made, listed, shown, changed, reset and deleted', async () => {
    verifies('foundation:cli-commands');
    const made = await data<{ session: Session }>(home, 'session', 'new', 'notes', '--title', 'Notes', '--label', 'work');
    assert.deepEqual([made.session.key, made.session.title, made.session.label], ['agent:main:notes', 'Notes', 'work']);
    assert.equal((await refused(home, 1, 'session', 'new', 'notes')).code, 'CONFLICT');

    const listed = await data<{ sessions: Session[] }>(home, 'session', 'ls', '--label', 'work');
    assert.deepEqual(
      listed.sessions.map(({ key }) => key),
      ['agent:main:notes'],
    );
    assert.match((await tenon(home, ['session', 'ls'])).stdout, /^KEY +TITLE +LABEL +STATE +CHANGED\nagent:main:notes +Notes +work/);

    const dry = await data<{ dryRun: boolean; after: Session }>(home, 'session', 'patch', 'notes', '--title', 'Other', '--dry-run');
    assert.deepEqual([dry.dryRun, dry.after.title], [true, 'Other']);
    assert.equal((await data<{ session: Session }>(home, 'session', 'show', 'notes')).session.title, 'Notes');
    const { session } = await data<{ session: Session }>(
      home,
      'session',
      'patch',
      'notes',
      '--title',
      'Other',
      '--pin',
      '--clear-label',
      '--if-revision',
      '1',
    );
    assert.deepEqual([session.title, session.pinned, session.label, session.revision], ['Other', true, null, 2]);
    assert.equal((await refused(home, 1, 'session', 'patch', 'notes', '--unpin', '--if-revision', '1')).code, 'CONFLICT');
    assert.equal((await refused(home, 1, 'session', 'patch', 'notes', '--unpin', '--if-revision', '1', '--dry-run')).code, 'CONFLICT');

    assert.match((await refused(home, 6, 'session', 'reset', 'notes')).hint ?? '', /--yes/);
    await data(home, 'session', 'reset', 'notes', '--yes');

    const would = await data<{ deleted: string[] }>(home, 'session', 'rm', 'notes', '--dry-run');
    assert.deepEqual(would.deleted, ['agent:main:notes']);
    assert.match((await refused(home, 6, 'session', 'rm', 'notes')).hint ?? '', /--yes/);
    assert.equal((await tenon(home, ['session', 'show', 'notes'])).code, 0);
    await data(home, 'session', 'rm', 'notes', '--yes');
    assert.equal((await refused(home, 1, 'session', 'show', 'notes')).code, 'NOT_FOUND');
  });

  test('what others wrote cannot act upon the terminal', async () => {
    await data(home, 'session', 'new', 'odd', '--title', 'a\u001b[2J\u202eb\nc');
    const shown = await tenon(home, ['session', 'show', 'odd']);
    assert.match(shown.stdout, /title +a\\u\{1b\}\[2J\\u\{202e\}b\\u\{a\}c\n/);
    const listed = await tenon(home, ['session', 'ls', '--json']);
    assert.match(listed.stdout, /^[\x20-\x7e]+\n$/);
    await data(home, 'session', 'rm', 'odd', '--yes');
  });

  test('lists go on page by page, or all at once', async () => {
    for (const name of ['p1', 'p2', 'p3']) await data(home, 'session', 'new', name, '--label', 'pages');
    const first = await data<{ sessions: Session[]; nextCursor: string }>(home, 'session', 'ls', '--label', 'pages', '-n', '2');
    assert.equal(first.sessions.length, 2);
    const rest = await data<{ sessions: Session[] }>(home, 'session', 'ls', '--label', 'pages', '-n', '2', '--cursor', first.nextCursor);
    const all = await data<{ sessions: Session[] }>(home, 'session', 'ls', '--label', 'pages', '-n', '2', '--all');
    assert.deepEqual(all.sessions, [...first.sessions, ...rest.sessions]);
    await data(home, 'session', 'rm', 'p1', 'p2', 'p3', '--yes');
    const none = await tenon(home, ['session', 'ls', '--label', 'pages']);
    assert.deepEqual([none.code, none.stdout], [0, '']);
    assert.match(none.stderr, /No sessions.*tenon session new/);
  });

  test('call takes params as an argument or on stdin, and repeats under the same key', async () => {
    verifies('foundation:cli-commands');
    const echo = await tenon(home, ['call', 'system.echo', '-', '--json'], { input: '{"text":"hello"}' });
    assert.deepEqual(JSON.parse(echo.stdout), { ok: true, text: 'hello' });
    const create = () =>
      data<{ session: { sessionId: string } }>(home, 'call', 'sessions.create', '{"key":"agent:main:keyed"}', '--key', 'once');
    assert.deepEqual(await create(), await create());
    await data(home, 'session', 'rm', 'keyed', '--yes');
    assert.match((await tenon(home, ['call'])).stdout, /sessions\.patch +operator\.write/);
  });

  test('a token can do what it was made for, until it is revoked', async () => {
    verifies('foundation:cli-commands');
    const file = join(home, 'phone.token');
    const { record } = await data<{ record: { id: string } }>(
      home,
      'token',
      'new',
      '--name',
      'phone',
      '--scope',
      'operator.read',
      '--expires',
      '1h',
      '--out',
      file,
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(
      (await refused(home, 2, 'token', 'new', '--name', 'x', '--scope', 'operator.read', '--out', file)).message,
      /--out .*exists/,
    );
    assert.equal((await tenon(home, ['session', 'ls', '--token', `@${file}`])).code, 0);
    const denied = await refused(home, 4, 'session', 'new', 'no', '--token', `@${file}`);
    assert.equal(denied.code, 'SCOPE');
    assert.match(`${denied.message} ${denied.hint}`, /needs the scope operator\.write .*--scope operator\.write/);

    const plain = await tenon(home, ['token', 'new', '--name', 'second', '--scope', 'operator.read']);
    assert.match(plain.stdout, /^\S{20,}\n$/);
    assert.ok(!plain.stderr.includes(plain.stdout.trim()));
    const listed = await tenon(home, ['token', 'ls']);
    assert.match(listed.stdout, /phone +operator\.read +ends in 59m/);
    assert.ok(!listed.stdout.includes(plain.stdout.trim()));

    const rotated = await data<{ token: string }>(home, 'token', 'rotate', 'phone', '--yes');
    assert.equal((await refused(home, 4, 'health', '--token', `@${file}`)).code, 'UNAUTHORIZED');
    assert.equal((await tenon(home, ['health', '--token', rotated.token])).code, 0);

    assert.match((await refused(home, 6, 'token', 'revoke', 'phone')).hint ?? '', /--yes/);
    assert.equal((await data<{ dryRun: boolean }>(home, 'token', 'revoke', 'phone', '--dry-run')).dryRun, true);
    assert.equal((await tenon(home, ['health', '--token', rotated.token])).code, 0);
    await data(home, 'token', 'revoke', '--yes', '--', record.id.slice(0, 8));
    assert.equal((await refused(home, 4, 'health', '--token', rotated.token)).code, 'UNAUTHORIZED');
    assert.equal((await refused(home, 1, 'token', 'revoke', 'phone', '--yes')).code, 'NOT_FOUND');
  });

  test('a device asks, is let in under a name, and is put out again', async () => {
    verifies('foundation:cli-commands');
    const device = await createDeviceIdentity();
    const connect = async () => {
      const client = createClient({
        url: gateway.socketUrl,
        device,
        scopes: ['operator.read', 'operator.write'],
        reconnect: false,
        client: { displayName: 'tablet' },
      });
      try {
        return (await client.connect()).auth?.scopes;
      } finally {
        await client.close();
      }
    };
    await assert.rejects(connect(), { code: 'NOT_PAIRED' });
    const { requests } = await data<{ requests: { requestId: string; deviceId: string }[] }>(home, 'device', 'ls');
    assert.deepEqual(
      requests.map(({ deviceId }) => deviceId),
      [device.id],
    );
    const asked = await tenon(home, ['device', 'ls']);
    assert.match(asked.stdout, /Waiting for an answer:/);
    assert.match(asked.stderr, /tenon device approve/);

    // After `--` an id may begin with a dash, as one in 64 does.
    await data(home, 'device', 'approve', '--scope', 'operator.read', '--name', 'kitchen', '--', requests[0]!.requestId.slice(0, 6));
    assert.deepEqual(await connect(), ['operator.read']);
    await data(home, 'device', 'rename', device.id.slice(0, 8), 'hall');
    assert.match((await refused(home, 6, 'device', 'revoke', 'hall')).hint ?? '', /--yes/);
    await data(home, 'device', 'revoke', 'hall', '--yes');
    await assert.rejects(connect());

    const other = await createDeviceIdentity();
    const client = createClient({ url: gateway.socketUrl, device: other, scopes: ['operator.read'], reconnect: false });
    await assert.rejects(client.connect(), { code: 'NOT_PAIRED' });
    const waiting = async () => (await data<{ requests: { requestId: string; deviceId: string }[] }>(home, 'device', 'ls')).requests;
    const request = (await waiting()).find(({ deviceId }) => deviceId === other.id);
    await data(home, 'device', 'reject', '--', request!.requestId);
    assert.ok((await waiting()).every(({ deviceId }) => deviceId !== other.id));
  });

  test('events are replayed from a position and go on live; a reader that leaves ends them', async (t) => {
    verifies('foundation:cli-commands');
    await data(home, 'session', 'new', 'ev1', '--label', 'ev');
    const past = await tenon(home, ['events', '--from', '0', '--until-live', '--json']);
    const frames = past.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; seq: number; payload: { key: string } });
    const positions = frames.map(({ seq }) => seq);
    assert.deepEqual(
      positions,
      positions.toSorted((a, b) => a - b),
    );
    assert.equal(positions[0], 1);
    assert.equal(frames.at(-1)?.payload.key, 'agent:main:ev1');

    const last = positions.at(-1)!;
    const live = follow(home, ['events', '--from', String(last - 1), '--only', 'sessions.changed', '--count', '2']);
    cleanUp(t, () => end(live.child));
    assert.match(await live.next(), new RegExp(`^#${last} +sessions\\.changed .*agent:main:ev1`));
    await data(home, 'session', 'rm', 'ev1', '--yes');
    assert.match(await live.next(), /sessions\.changed .*"reason":"delete"/);
    assert.deepEqual(await live.exit, [0, null]);

    const left = follow(home, ['events', '--from', '0']);
    cleanUp(t, () => end(left.child));
    await left.next();
    left.child.stdout?.destroy();
    await data(home, 'session', 'new', 'ev2');
    assert.deepEqual(await left.exit, [0, null]);
    await data(home, 'session', 'rm', 'ev2', '--yes');

    const interrupted = follow(home, ['events', '--from', '0']);
    cleanUp(t, () => end(interrupted.child));
    await interrupted.next();
    interrupted.child.kill('SIGINT');
    assert.deepEqual(await interrupted.exit, [0, null]);
  });

  test('settings are changed through the gateway, and take effect as their rows say', async () => {
    verifies('foundation:config');
    const set = await tenon(home, ['config', 'set', 'log.level=debug', 'log.files=7']);
    assert.equal(set.code, 0, set.stderr);
    assert.match(set.stderr, /log\.files takes effect when the gateway is restarted/);
    assert.match(readFileSync(join(home, 'tenon.toml'), 'utf8'), /\[log\]\nlevel = "debug"\nfiles = 7\n/);
    const shown = await data<{ settings: Record<string, { value: unknown; source: string }>; restartNeeded: string[] }>(
      home,
      'config',
      'get',
    );
    assert.deepEqual(shown.settings['log.level'], { ...shown.settings['log.level'], value: 'debug', source: 'file' });
    assert.deepEqual([shown.settings['gateway.port']?.value, shown.settings['gateway.port']?.source], [0, 'flag']);
    assert.deepEqual(shown.restartNeeded, ['log.files']);
    assert.match((await tenon(home, ['config', 'set', 'gateway.port=4000', '--dry-run'])).stderr, /gateway\.port is set by a flag/);
    await data(home, 'config', 'unset', 'log.level', 'log.files');
    assert.equal((await tenon(home, ['config', 'get', 'log.level'])).stdout, 'info\n');
  });

  test('audit and doctor report, and exit by what they found', async () => {
    verifies('foundation:cli-commands');
    const { records, chain } = await data<{ records: { action: string }[]; chain: { ok: boolean } }>(home, 'audit', '-n', '200');
    assert.equal(chain.ok, true);
    assert.ok(records.some(({ action }) => action === 'tokens.revoke'));
    assert.match((await tenon(home, ['audit'])).stderr, /The chain is whole/);
    const { code, stdout } = await tenon(home, ['doctor']);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^ok +store: /m);
  });

  test('a second gateway in the same home is refused with exit code 3', async () => {
    const { code, stdout, stderr } = await tenon(home, ['start', '--port', '0', '--json']);
    assert.equal(code, 3, stderr);
    assert.equal(stdout, '');
    assert.equal((JSON.parse(stderr) as { code: string }).code, 'LOCKED');
  });
});

test('logs are printed, and followed until interrupted', async (t) => {
  verifies('foundation:cli-commands');
  const gateway = await startGatewayProcess();
  cleanUp(t, () => gateway.remove());
  assert.match((await tenon(gateway.home, ['logs'])).stdout, /info +ready .*\n$/);
  // As root there is a warning about that.
  const warned = (await tenon(gateway.home, ['logs', '--level', 'warn'])).stdout;
  assert.equal(warned.replace(/^.* warn +Tenon runs as root.*\n$/, ''), '');
  const live = follow(gateway.home, ['logs', '-f', '--json', '-n', '1']);
  cleanUp(t, () => end(live.child));
  const ready = JSON.parse(await live.next()) as { cursor: number; message: string };
  assert.equal(ready.message, 'ready');
  // A wrong token is refused, and the refusal is on record.
  await refused(gateway.home, 4, 'health', '--token', 'wrong-token-wrong-token');
  const next = JSON.parse(await live.next()) as { cursor: number; message: string };
  assert.deepEqual([next.cursor, next.message], [ready.cursor + 1, 'refused']);
  live.child.kill('SIGINT');
  assert.deepEqual(await live.exit, [0, null]);
});

test('start tells a person the address to open, with a code and without the token', async (t) => {
  const home = temporaryHome();
  cleanUp(t, () => removeFolder(home));
  const started = follow(home, ['start', '--port', '0']);
  cleanUp(t, () => end(started.child));
  assert.match(await started.next(), /^Tenon \S+ is running at http:\/\/127\.0\.0\.1:\d+$/);
  const address = /^Open (\S+)$/.exec(await started.next())?.[1] ?? '';
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/#code=/);
  assert.ok(!address.includes(readFileSync(join(home, 'token'), 'utf8').trim()));
  started.child.kill('SIGTERM');
  assert.deepEqual(await started.exit, [0, null]);
});

test('start --json prints one line when it is ready, and nothing else on stdout', async (t) => {
  verifies('foundation:cli-ready-line');
  const home = temporaryHome();
  const child = spawn(process.execPath, [tenonBin, 'start', '--json'], {
    env: cleanEnv({ TENON_HOME: home, TENON_PORT: '0', TENON_TOKEN: 'a-token-of-our-own-0123' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  cleanUp(t, () => {
    end(child);
    removeFolder(home);
  });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  await once(child.stdout, 'data');
  const ready = JSON.parse(stdout) as { url: string; port: number; pid: number; tokenFile: string; signInUrl: string };
  assert.deepEqual(Object.keys(ready), ['url', 'port', 'pid', 'tokenFile', 'signInUrl']);
  assert.ok(ready.signInUrl.startsWith(ready.url));
  assert.equal(ready.pid, child.pid);
  assert.equal(ready.tokenFile, join(home, 'token'));
  assert.equal((await fetch(new URL('/healthz', ready.url))).status, 200);
  // TENON_PORT=0 stands in the same environment: the port that it got is what counts.
  const env = { TENON_PORT: '0', TENON_TOKEN: 'a-token-of-our-own-0123' };
  assert.equal((await tenon(home, ['health'], { env })).code, 0);
  const exit = once(child, 'exit');
  const stopped = await tenon(home, ['stop', '--json'], { env });
  assert.deepEqual(JSON.parse(stopped.stdout), { stopped: true, url: `ws://127.0.0.1:${ready.port}` });
  assert.deepEqual(await exit, [0, null]);
  assert.equal(stdout.split('\n').length, 2);
  assert.deepEqual(JSON.parse((await tenon(home, ['stop', '--json'])).stdout), { stopped: false });
  assert.equal((await tenon(home, ['health'], { env: { TENON_PORT: '0' } })).code, 5);
});

test('a start that cannot succeed says why in one line and exits with the right code', async (t) => {
  verifies('foundation:cli-errors');
  const home = temporaryHome();
  cleanUp(t, () => removeFolder(home));
  const cases: readonly [words: readonly string[], env: Record<string, string>, code: number, message: RegExp][] = [
    [['--port', '99999'], {}, 2, /--port cannot be "99999"/],
    [['--bind', 'nowhere'], {}, 2, /--bind: gateway\.bind cannot be "nowhere"/],
    [['--auth', 'maybe'], {}, 2, /--auth: gateway\.auth cannot be "maybe"; it must be token or none/],
    [['--log-level', 'loud'], {}, 2, /--log-level: log\.level cannot be "loud"/],
    [['--insecure', 'perhaps'], {}, 2, /--insecure: gateway\.insecure cannot be "perhaps"/],
    [[], { TENON_PORT: '-1' }, 2, /TENON_PORT: gateway\.port cannot be -1/],
    [['--bind', '0.0.0.0', '--port', '0'], {}, 2, /--insecure/],
    [['--auth', 'none', '--bind', '0.0.0.0', '--insecure', '--port', '0'], {}, 2, /loopback only/],
    [['--prot', '1'], {}, 2, /unknown option '--prot' \(did you mean "--port"\?\)/],
  ];
  for (const [words, env, code, message] of cases) {
    const run = await tenon(home, ['start', ...words], { env });
    assert.match(run.stderr, /^tenon: [^\n]+\n$/, words.join(' '));
    assert.match(run.stderr, message);
    assert.deepEqual([run.code, run.stdout], [code, ''], words.join(' '));
  }
  writeFileSync(join(home, 'tenon.toml'), '[gateway]\nport = 0\nauht = "none"\n');
  const run = await tenon(home, ['start']);
  assert.match(run.stderr, /tenon\.toml:3: unknown setting "gateway\.auht" \(did you mean "gateway\.auth"\?\)\n$/);
  assert.equal(run.code, 1);
});

test('backup while it runs, restore only when it is stopped', async (t) => {
  verifies('foundation:cli-commands');
  const home = temporaryHome();
  cleanUp(t, () => removeFolder(home));
  const first = await startGatewayProcess({ home });
  cleanUp(t, () => first.remove());
  await data(home, 'session', 'new', 'kept');
  const file = join(home, '..', `${home.split('/').at(-1)}.backup`);
  cleanUp(t, () => rmSync(file, { force: true }));
  const saved = await data<{ file: string; sessions: number }>(home, 'backup', file);
  assert.deepEqual([saved.file, saved.sessions], [file, 1]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await data(home, 'session', 'rm', 'kept', '--yes');

  assert.equal((await refused(home, 3, 'restore', file, '--yes')).code, 'LOCKED');
  await data(home, 'stop');
  const logs = await tenon(home, ['logs']);
  assert.match(logs.stdout, /info +stopping: closing\n$/);
  assert.match(logs.stderr, /No gateway is running/);
  assert.match((await refused(home, 6, 'restore', file)).hint ?? '', /--yes/);
  assert.equal((await refused(home, 1, 'restore', join(home, 'none'), '--yes')).code, 'FAILED');
  await data(home, 'restore', file, '--dry-run');
  const offline = await tenon(home, ['doctor']);
  assert.equal(offline.code, 0, offline.stdout + offline.stderr);
  const restored = await tenon(home, ['restore', file, '--yes']);
  assert.equal(restored.code, 0, restored.stderr);
  const [, kept] = /^The old store is kept as (.*)$/m.exec(restored.stderr) ?? [];
  assert.ok(kept !== undefined && existsSync(kept), restored.stderr);

  const second = await startGatewayProcess({ home });
  cleanUp(t, () => second.remove());
  const { sessions } = await data<{ sessions: Session[] }>(home, 'session', 'ls');
  assert.deepEqual(
    sessions.map(({ key }) => key),
    ['agent:main:kept'],
  );
});

describe('the entry file where Node is too old', () => {
  const handOver = (bin: string) => ['-e', `require(${JSON.stringify(join(bin, 'hand-over.cjs'))}).handOver(24)`, '--', 'tenon'];
  const bin = join(tenonBin, '..');

  test('it hands over to the Node of the repository, with arguments, exit code and signals', async (t) => {
    verifies('foundation:cli-node');
    const home = temporaryHome();
    cleanUp(t, () => removeFolder(home));
    const run = (...words: string[]) =>
      new Promise<Run>((resolve) => {
        execFile(
          process.execPath,
          [...handOver(bin), ...words],
          { env: cleanEnv({ TENON_HOME: home }), encoding: 'utf8' },
          (error, stdout, stderr) => resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
        );
      });
    assert.match((await run('--version')).stdout, /^\d+\.\d+\.\d+\n$/);
    assert.equal((await run('strat')).code, 2);

    const child = spawn(process.execPath, [...handOver(bin), 'start', '--port', '0', '--json'], {
      env: cleanEnv({ TENON_HOME: home }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    cleanUp(t, () => end(child));
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { pid } = JSON.parse(line) as { pid: number };
    cleanUp(t, () => existsSync(`/proc/${pid}`) && process.kill(pid, 'SIGKILL'));
    assert.notEqual(pid, child.pid);
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    assert.deepEqual(await exit, [0, null]);
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });

  test('outside a clone it says in one line what to do', async (t) => {
    verifies('foundation:cli-node');
    const folder = temporaryHome();
    cleanUp(t, () => removeFolder(folder));
    const elsewhere = join(folder, 'packages', 'gateway', 'bin');
    mkdirSync(elsewhere, { recursive: true });
    for (const name of ['hand-over.cjs', 'load-bundle.cjs', 'tenon.js'])
      writeFileSync(join(elsewhere, name), readFileSync(join(bin, name)));
    writeFileSync(join(elsewhere, '..', 'package.json'), '{"type":"module"}');
    const run = (words: readonly string[]) =>
      new Promise<Run>((resolve) => {
        execFile(process.execPath, words, { env: cleanEnv(), encoding: 'utf8' }, (error, stdout, stderr) =>
          resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
        );
      });
    const old = await run([...handOver(elsewhere), 'health']);
    assert.match(old.stderr, /^tenon: Node 24 or later is needed, this is [\d.]+: install it from https:\/\/nodejs\.org\n$/);
    assert.deepEqual([old.code, old.stdout], [1, '']);
    const unbuilt = await run([join(elsewhere, 'tenon.js'), 'health']);
    assert.match(unbuilt.stderr, /^tenon: the program is not built yet: run `npm install` \(or `npm run build`\)[^\n]*\n$/);
    assert.equal(unbuilt.code, 1);
  });

  test('the two files that meet an old Node use nothing that is newer than Node 14', () => {
    verifies('foundation:cli-node');
    for (const name of ['tenon.js', 'hand-over.cjs']) {
      const source = readFileSync(join(bin, name), 'utf8');
      for (const newer of [/\?\?=|\|\|=|&&=/, /#\w+\s*[(=;]/, /\bawait\b/, /['"]node:/, /\.at\(/, /\.replaceAll\(/, /Object\.hasOwn/]) {
        assert.doesNotMatch(source, newer, name);
      }
    }
  });
});
