// S36, S52, S53, S57, S73, S79, S83: what the tools of an agent must not let happen. A model that has been talked into
// anything is played by calling the tools directly.
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { explain, type JsonObject } from '@tenon/protocol';
import { execVerdict } from '../../packages/gateway/src/agent/tools/exec-policy.ts';
import type { PreparedCall, ToolError, ToolOutput } from '../../packages/gateway/src/agent/tools/tool.ts';
import { openTools, type Tools, type ToolsDeps } from '../../packages/gateway/src/agent/tools/tools.ts';
import { systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { verifies } from '../support/verifies.ts';

const CANARY = 'canary-2f6c';
const PUBLIC = '93.184.216.34';

interface Agent extends AsyncDisposable {
  readonly tools: Tools;
  readonly base: string;
  readonly workspace: string;
  readonly home: string;
  prepare(name: string, args: JsonObject): Promise<PreparedCall>;
  call(name: string, args: JsonObject): Promise<ToolOutput>;
  text(name: string, args: JsonObject): Promise<string>;
}

interface AgentOptions extends Partial<Pick<ToolsDeps, 'network' | 'gatewayPort'>> {
  readonly settings?: Partial<ToolsDeps['settings']>;
  /** Tenon's home lies in the workspace instead of beside it. */
  readonly homeInside?: boolean;
}

function agent({ settings, homeInside, ...deps }: AgentOptions = {}): Agent {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tenon-attack-')));
  const workspace = join(base, 'workspace');
  const home = join(homeInside ? workspace : base, '.tenon');
  mkdirSync(home, { recursive: true });
  mkdirSync(workspace, { recursive: true });
  for (const name of ['token', 'tenon.toml', 'tenon.db', 'home.key']) writeFileSync(join(home, name), CANARY);
  const tools = openTools({
    clock: systemClock,
    settings: {
      'exec.sandbox': 'auto',
      'exec.network': false,
      'exec.env': [],
      'exec.timeoutMs': 60_000,
      'web.allowPrivate': [],
      ...settings,
    },
    env: { ...process.env, OPENAI_API_KEY: CANARY, TENON_TOKEN: CANARY, LD_AUDIT: CANARY },
    home,
    outputFolder: join(home, 'output'),
    gatewayPort: () => undefined,
    ...deps,
  });
  const prepare: Agent['prepare'] = async (name, args) => {
    const tool = tools.tools.find((each) => each.name === name)!;
    assert.equal(explain(tool.parameters, args, 'args'), undefined, JSON.stringify(args).slice(0, 200));
    return tool.prepare(args, { sessionKey: 'agent:main:a', agentId: 'main', runId: 'r', callId: 'c', workspace });
  };
  const call: Agent['call'] = async (name, args) =>
    (await prepare(name, args)).run({ signal: new AbortController().signal, onUpdate() {} });
  return {
    tools,
    base,
    workspace,
    home,
    prepare,
    call,
    async text(name, args) {
      const [first] = (await call(name, args)).content;
      return first?.type === 'text' ? first.text : '';
    },
    async [Symbol.asyncDispose]() {
      await tools.close();
      rmSync(base, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A server on this machine that must never be asked. */
async function canaryServer(): Promise<{ port: number; asked: () => number } & AsyncDisposable> {
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    response.end(CANARY);
  });
  server.on('connection', () => asked++);
  const port = await listen(server);
  return {
    port,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function refused(promise: Promise<unknown>, what: string): Promise<void> {
  return assert.rejects(promise, (error: ToolError) => error.name === 'ToolError' && !error.message.includes(CANARY), what);
}

test('S52 what runs is what was approved: nothing may change between the two', async () => {
  verifies('S52');
  await using victim = agent({ settings: { 'exec.sandbox': 'off' } });
  const { workspace } = victim;
  const io = { signal: new AbortController().signal, onUpdate() {} };
  const script = join(workspace, 'build.sh');
  writeFileSync(script, 'echo good > out');

  const approved = await victim.prepare('exec', { command: 'sh build.sh ' });
  const same = await victim.prepare('exec', { argv: ['sh', 'build.sh'] });
  assert.deepEqual(approved.exact, same.exact, 'a trailing space is no part of the words');
  assert.deepEqual(Object.keys(approved.exact.files as JsonObject), ['build.sh']);
  assert.deepEqual(approved.exec?.argv, approved.exact.argv);

  writeFileSync(script, `echo ${CANARY} > out`);
  await assert.rejects(approved.run(io), { code: 'CHANGED' });
  writeFileSync(script, 'echo good > out');
  rmSync(script);
  symlinkSync(join(victim.base, 'elsewhere.sh'), script);
  writeFileSync(join(victim.base, 'elsewhere.sh'), `echo ${CANARY} > out`);
  await assert.rejects(approved.run(io), { code: 'CHANGED' });
  assert.equal(existsSync(join(workspace, 'out')), false);

  // Every way of saying something else has other words, another folder or other variables, and so another digest.
  rmSync(script);
  writeFileSync(script, 'echo good > out');
  mkdirSync(join(workspace, 'sub'));
  const others: JsonObject[] = [
    { command: 'sh build.sh *' },
    { command: 'env -S "sh build.sh"' },
    { command: 'sh build.sh <<E\nE' },
    { command: 'sh build.sh', cwd: 'sub' },
    { command: 'X=1 sh build.sh' },
    { command: 'sh ./build.sh' },
    { command: 'sh "build.sh "' },
    { command: 'sh build.sh\n' },
    { command: 'sh build.sh', background: true },
  ];
  for (const args of others) assert.notDeepEqual((await victim.prepare('exec', args)).exact, approved.exact, JSON.stringify(args));

  const inSub = await victim.prepare('exec', { command: 'pwd', cwd: 'sub' });
  rmSync(join(workspace, 'sub'), { recursive: true });
  symlinkSync(victim.base, join(workspace, 'sub'));
  await assert.rejects(inSub.run(io), { code: 'CHANGED' });

  // A pattern is the shell's, and the shell is named; as a word it stays a word.
  assert.deepEqual((await victim.prepare('exec', { command: 'echo *' })).exec?.argv, ['sh', '-c', 'echo *']);
  assert.match(await victim.text('exec', { argv: ['echo', '*', '$(id)'] }), /^\* \$\(id\)\n/);

  for (const [name, args] of [
    ['edit', { path: 'build.sh', edits: [{ find: 'good', replace: 'better' }] }],
    ['apply_patch', { patch: '*** Begin Patch\n*** Update File: build.sh\n@@\n-echo good > out\n+echo better > out\n*** End Patch' }],
  ] as const) {
    const change = await victim.prepare(name, args as unknown as JsonObject);
    writeFileSync(script, 'echo good > out\n# somebody else was here');
    await assert.rejects(change.run(io), { code: 'CHANGED' }, name);
    writeFileSync(script, 'echo good > out');
  }
});

test('S53 a command that could not be shown whole is refused', async () => {
  verifies('S53');
  await using victim = agent({ settings: { 'exec.sandbox': 'off' } });
  await refused(victim.prepare('exec', { command: `echo ${' '.repeat(200_000)}; touch made` }), 'a payload at the end');
  await refused(victim.prepare('exec', { argv: ['echo', 'x'.repeat(10_000)] }), 'a long word');
  const bidi = await victim.prepare('exec', { argv: ['echo', 'a\u202eb\u0007'] });
  assert.match(bidi.question, /\\u\{202e\}/);
  for (const hidden of ['\u202e', '\u0007']) assert.ok(!(bidi.question + bidi.subject).includes(hidden));
});

test("S57 no tool reads or writes what is Tenon's own, wherever it lies", async () => {
  verifies('S57');
  for (const homeInside of [false, true]) {
    await using victim = agent({ homeInside });
    const paths = ['token', 'tenon.toml', 'tenon.db', 'new-file', 'output/x', '.'].map((name) => join(victim.home, name));
    symlinkSync(victim.home, join(victim.workspace, 'link'));
    paths.push('link/token', 'link/tenon.toml', 'link/new', 'x/../link/token', homeInside ? '.tenon/token' : '../.tenon/token');
    const before = readdirSync(victim.home).map((name) => (name === 'output' ? name : readFileSync(join(victim.home, name), 'utf8')));
    for (const path of paths) {
      await refused(victim.call('read', { path }), path);
      await refused(victim.call('ls', { path }), path);
      await refused(victim.call('grep', { pattern: 'canary', path }), path);
      await refused(victim.call('find', { glob: '*', path }), path);
      await refused(victim.call('write', { path, content: 'policy = "allow"' }), path);
      await refused(victim.call('edit', { path, edits: [{ find: CANARY, replace: 'x' }] }), path);
      for (const verb of [`Add File: ${path}\n+x`, `Delete File: ${path}`, `Update File: ${path}\n@@\n-${CANARY}\n+x`])
        await refused(victim.call('apply_patch', { patch: `*** Begin Patch\n*** ${verb}\n*** End Patch` }), `${verb} ${path}`);
      await refused(victim.prepare('exec', { command: 'ls', cwd: path }), path);
    }
    assert.doesNotMatch(await victim.text('grep', { pattern: 'canary' }), /canary/);
    assert.doesNotMatch(await victim.text('find', { glob: '**' }), /token/);
    assert.doesNotMatch(await victim.text('ls', {}), /\.tenon/);
    assert.deepEqual(
      readdirSync(victim.home).map((name) => (name === 'output' ? name : readFileSync(join(victim.home, name), 'utf8'))),
      before,
    );
    // A program that renames it, or a folder above it, does not bring it out of hiding.
    renameSync(victim.home, join(victim.workspace, 'moved'));
    await refused(victim.call('read', { path: 'moved/token' }), 'read what was renamed');
    await refused(victim.call('grep', { pattern: 'canary' }), 'search what was renamed');
    await refused(victim.prepare('exec', { command: 'cat moved/token' }), 'run with what was renamed');
  }
});

test('S73 S36 web_fetch reaches public addresses only, checked after resolving and pinned', async () => {
  verifies('S73', 'S36');
  await using canary = await canaryServer();
  const names = new Map<string, string[]>();
  const reached: string[] = [];
  let answer: (path: string) => { status?: number; location?: string } = () => ({});
  const site = createServer((request, response) => {
    const { status = 200, location } = answer(`http://${request.headers.host}${request.url}`);
    response.writeHead(status, { 'content-type': 'text/plain', ...(location === undefined ? {} : { location }) }).end('page');
  });
  const sitePort = await listen(site);
  try {
    await using victim = agent({
      gatewayPort: () => canary.port,
      settings: { 'web.allowPrivate': ['allowed.test', '127.0.0.1'] },
      network: {
        resolve: async (host) => names.get(host)?.splice(0, 9) ?? [PUBLIC],
        async connect(address, port) {
          reached.push(address);
          // The public web of this test; anything else would be a real connection into this machine.
          return address === PUBLIC ? connect(sitePort, '127.0.0.1') : connect(port, '127.0.0.1');
        },
        secure: (socket) => socket,
        ownAddresses: () => ['93.184.216.99'],
      },
    });
    const fetch = (url: string) => victim.call('web_fetch', { url });
    const { port } = canary;

    const literals = [
      '10.0.0.1',
      '2130706434',
      '0x7f.2',
      '127.1.2',
      '0177.0.0.2',
      '169.254.169.254',
      '192.168.0.1',
      '[::1]',
      '[::ffff:127.0.0.2]',
      '[::ffff:7f00:2]',
      '[::]',
      '0.0.0.0',
      '[fd00:ec2::254]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '100.100.100.200',
      '①②⑦.0.0.2',
      '127.0.0.2.',
    ];
    for (const host of literals) await refused(fetch(`http://${host}:${port}/`), host);
    for (const url of [
      `http://example.com@127.0.0.2:${port}/`,
      `http://user:pw@example.com/`,
      `file:///etc/passwd`,
      `gopher://127.0.0.1/`,
      `data:text/plain,x`,
    ])
      await refused(fetch(url), url);

    for (const addresses of [['127.0.0.1'], ['10.1.2.3'], [PUBLIC, '127.0.0.1'], ['::ffff:10.0.0.1'], ['169.254.169.254'], []]) {
      names.set('rebind.test', addresses.slice());
      await refused(fetch(`http://rebind.test:${port}/`), addresses.join());
    }
    assert.deepEqual(reached, []);
    // The backslash ends the host, as in browsers: what comes after it is a path.
    assert.equal((await fetch(`http://example.com\\@127.0.0.2:${port}/`)).provenance, 'web_fetch example.com');
    assert.deepEqual(reached.splice(0), [PUBLIC]);

    // Resolved once and pinned: the second answer, which a rebinding server would give, is never asked for.
    let resolved = 0;
    names.set(
      'twice.test',
      new Proxy([PUBLIC], {
        get: (list, key, self) => (key === 'splice' ? () => [resolved++ === 0 ? PUBLIC : '127.0.0.1'] : Reflect.get(list, key, self)),
      }),
    );
    assert.match(JSON.stringify(await fetch(`http://twice.test:${port}/`)), /page/);
    assert.equal(resolved, 1);
    assert.deepEqual(reached.splice(0), [PUBLIC]);

    names.set('inner.test', ['192.168.1.1', '192.168.1.1', '192.168.1.1']);
    for (const location of [
      `http://127.0.0.2:${port}/`,
      `http://[::1]:${port}/`,
      'file:///etc/passwd',
      'ftp://example.com/',
      `http://a@example.com/`,
      '//169.254.169.254/latest',
      'http://inner.test/',
      'javascript:alert(1)',
      'http://',
    ]) {
      answer = () => ({ status: 302, location });
      await refused(fetch('http://example.com/'), location);
    }
    answer = (url) => (url.endsWith('/start') ? { status: 302, location: 'http://example.com/plain' } : {});
    await assert.rejects(fetch('https://example.com/start'), /from https to http/);
    assert.match(JSON.stringify(await fetch('http://example.com/start')), /page/);
    answer = () => ({ status: 307, location: 'http://example.com/again' });
    await refused(fetch('http://example.com/'), 'without end');
    answer = (url) => (url.includes('start.test') ? { status: 301, location: 'https://other.test/' } : {});
    assert.deepEqual((await fetch('http://start.test/')).details?.redirected, ['http://start.test/']);
    assert.deepEqual([...new Set(reached.splice(0))], [PUBLIC]);

    // What an operator allows is reached, but never the gateway.
    names.set('allowed.test', ['10.0.0.9', '10.0.0.9']);
    await refused(fetch(`http://127.0.0.1:${port}/`), 'the gateway, although its host is allowed');
    names.set('own.test', ['93.184.216.99']);
    await refused(fetch(`http://own.test:${port}/`), 'the gateway by a public address of this machine');
    assert.deepEqual(reached, []);
    assert.equal(canary.asked(), 0);
  } finally {
    site.closeAllConnections();
    await new Promise((resolve) => site.close(resolve));
  }
});

test('S79 patterns from a model take time in proportion to the text, and leave the event loop to others', async () => {
  verifies('S79');
  await using victim = agent();
  writeFileSync(join(victim.workspace, 'trap.txt'), `${'a'.repeat(200_000)}!\n`.repeat(5) + `${'a'.repeat(60)}!\n`.repeat(500));
  mkdirSync(join(victim.workspace, 'a'.repeat(100)));
  const patterns = ['(a+)+$', '(a|aa)+$', '(a|a?)+$', '(.*a){20}$', '([a-zA-Z]+)*$', '^(a+)+b', '(?:a?){200}a{200}b', '(x+x+)+y', '(a*)*b'];
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  for (const pattern of patterns) {
    const output = await victim.call('grep', { pattern });
    assert.equal(output.details?.stopped, null, pattern);
  }
  clearInterval(timer);
  assert.ok(ticks > 5, `others had their turn ${ticks} times`);
  for (const pattern of ['(?=a)', '(a)\\1', '(a{1,1000}){1,1000}', '[', 'x'.repeat(5_000)])
    await refused(victim.call('grep', { pattern }), pattern.slice(0, 40));
  for (const glob of [`${'*a'.repeat(400)}b`, `${'**/'.repeat(300)}b`, `${'?*'.repeat(400)}`]) await victim.call('find', { glob });
  for (const glob of ['{a,b}'.repeat(20), '['.repeat(10), 'x'.repeat(5_000)])
    await refused(victim.call('find', { glob }), glob.slice(0, 40));
});

test('S83 a program in the sandbox finds no token, key, environment or way back; without one it always asks', async () => {
  verifies('S83');
  await using canary = await canaryServer();
  for (const homeInside of [false, true]) {
    await using victim = agent({ homeInside, gatewayPort: () => canary.port });
    const { kind, reason } = await victim.tools.sandbox();
    const prepared = await victim.prepare('exec', { command: 'true' });
    assert.equal(prepared.exec?.sandboxed, kind !== 'none');
    const open = { policy: 'allow-list', allow: ['true', 'cat *'], unsandboxed: 'ask' } as const;
    assert.equal(execVerdict(['true'], { ...open, sandboxed: false }).verdict, 'ask');
    if (kind === 'none') {
      assert.match(reason, /sandbox/);
      continue;
    }
    assert.equal(execVerdict(['true'], { ...open, sandboxed: true }).verdict, 'allow');
    const attack = [
      `cat '${victim.home}/token' '${victim.home}/tenon.toml' '${victim.home}/home.key'`,
      `cat ${victim.workspace}/.tenon/token ${victim.workspace}/link/token`,
      `ls -A '${homedir()}' && echo saw-the-home`,
      `cat /proc/${process.pid}/environ /proc/${process.ppid}/environ /proc/1/environ /proc/self/environ | tr '\\0' '\\n'`,
      `cat /proc/${process.pid}/mem /proc/kcore /dev/mem /dev/vda | head -c 100`,
      'env',
      'ls -l /proc/self/fd',
      `for p in ${canary.port}; do timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$p && echo reached && cat <&3"; done`,
      `find / -xdev -name token -type f 2>/dev/null | head`,
      `echo changed > '${victim.base}/outside'; echo changed > /etc/tenon-canary; echo changed > '${victim.home}/tenon.toml'`,
      `mount -t proc proc /mnt; umount -l /proc; nsenter -t 1 -a true && echo entered`,
      'echo done > proof',
    ].join('\n');
    symlinkSync(victim.home, join(victim.workspace, 'link'));
    writeFileSync(join(victim.workspace, 'attack.sh'), attack);
    const output = await victim.text('exec', { argv: ['sh', 'attack.sh'] });
    assert.doesNotMatch(output, new RegExp(`${CANARY}|saw-the-home|reached|entered`), output);
    assert.equal(readFileSync(join(victim.workspace, 'proof'), 'utf8'), 'done\n', output);
    assert.equal(existsSync(join(victim.base, 'outside')), false);
    assert.equal(existsSync('/etc/tenon-canary'), false);
    assert.equal(readFileSync(join(victim.home, 'tenon.toml'), 'utf8'), CANARY);
    assert.equal(canary.asked(), 0);
  }
});
