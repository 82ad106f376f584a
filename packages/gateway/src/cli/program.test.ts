import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { verifies } from '../../../../test/support/verifies.ts';
import { version } from '../version.ts';
import { commands, groups } from './commands.ts';
import { exitCodes } from './failure.ts';
import { globalOptions } from './globals.ts';
import type { Io } from './io.ts';
import { runCli } from './program.ts';
import { kebab, type OptionTable } from './spec.ts';

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function makeHome(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'tenon-cli-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

async function run(home: string, words: readonly string[], more: Partial<Io> & { input?: string } = {}): Promise<Run> {
  const written = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const code = await runCli(words, {
    stdout: into('stdout'),
    stderr: into('stderr'),
    stdin: Readable.from([Buffer.from(more.input ?? '')]),
    env: { TENON_HOME: home, TENON_PORT: '', ...more.env },
    now: Date.now,
    interrupted: () => new AbortController().signal,
    ...(more.stderr ? { stderr: more.stderr } : {}),
    ...(more.stdin ? { stdin: more.stdin } : {}),
  });
  return { code, ...written };
}

function assertOneLine(text: string): void {
  assert.match(text, /^[^\n]+\n$/);
}

/** A port where nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function optionsOf(spec: (typeof commands)[number]): Promise<OptionTable> {
  return typeof spec.options === 'function' ? spec.options() : (spec.options ?? {});
}

/** Arguments that let a command get as far as its options. */
const goodArgs: Readonly<Record<string, readonly string[]>> = {
  'attach get': ['2Yp4u0m9Qk3xV7cA1bZsTg'],
  'attach rm': ['2Yp4u0m9Qk3xV7cA1bZsTg'],
  'config set': ['log.files=3'],
  'config unset': ['log.files'],
  call: ['tokens.revoke', '{"id":"0123456789abcdef"}'],
  completion: ['bash'],
  'session branch': ['x', 'abcd'],
  'session import': ['x', 'no-such-file'],
};

/** Options that a command needs besides the one in question. */
const goodOptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'token new': { name: 'x', scope: 'operator.read' },
  'cron add': { in: '1h' },
};

/** What people say to an agent may be as long as this, and of any signs. */
const takesAnyText: ReadonlySet<string> = new Set(['cron edit --message']);

test('a bad value of every option of every command gets one line that names it, and exit code 2', async (t) => {
  verifies('foundation:cli-errors');
  const home = makeHome(t);
  let tried = 0;
  for (const spec of commands) {
    for (const [name, option] of Object.entries(await optionsOf(spec))) {
      if (option.value === undefined) continue;
      const flag = `--${kebab(name)}`;
      if (takesAnyText.has(`${spec.path} ${flag}`)) continue;
      const args = goodArgs[spec.path] ?? Object.values(spec.args ?? {}).map(() => 'x');
      const others = Object.entries(goodOptions[spec.path] ?? {}).flatMap(([other, value]) =>
        other === name ? [] : [`--${other}`, value],
      );
      const words = [...spec.path.split(' '), ...args, ...others, flag, '*'.repeat(20_000)];
      const { code, stdout, stderr } = await run(home, words);
      const where = `tenon ${spec.path} ${flag}: ${stderr}`;
      assert.ok(stderr.length < 600, where.slice(0, 600));
      assert.equal(code, exitCodes.usage, where);
      assertOneLine(stderr);
      assert.ok(stderr.startsWith(`tenon: ${flag}`), where);
      assert.equal(stdout, '', where);
      tried++;
    }
  }
  assert.ok(tried > 30, `only ${tried} options`);
  assert.deepEqual(readdirSync(home), []);
});

test('a bad value of every flag that all commands share gets one line that names it, and exit code 2', async (t) => {
  verifies('foundation:cli-errors');
  const home = makeHome(t);
  const bad: Readonly<Record<string, string>> = { home: '', url: 'nowhere', port: '70000', token: 'two words', timeout: 'soon' };
  for (const [name, option] of Object.entries(globalOptions)) {
    if (option.value === undefined) continue;
    const { code, stderr } = await run(home, ['health', `--${name}`, bad[name]!]);
    assert.equal(code, exitCodes.usage, stderr);
    assertOneLine(stderr);
    assert.ok(stderr.startsWith(`tenon: --${name} `), stderr);
  }
});

test('a bad argument is named, with exit code 2', async (t) => {
  verifies('foundation:cli-errors');
  const home = makeHome(t);
  const cases: readonly [words: readonly string[], message: RegExp][] = [
    [['session', 'show', '../etc'], /<key> cannot be "agent:main:\.\.\/etc"; it must be/],
    [['session', 'new', 'agent:x:__proto__'], /<key> cannot be/],
    [['session', 'rm', 'ok', '-x'], /unknown option '-x' \(an argument that begins with - goes behind --\)/],
    [['session', 'rm', 'good', 'b a d'], /<keys\.\.\.> cannot be "agent:main:b a d"/],
    [['session', 'show'], /missing required argument 'key' \(see: tenon session show -h\)/],
    [['session', 'show', 'a', 'b'], /too many arguments.* \(see: tenon session show -h\)/],
    [['session', 'patch', 'a'], /Nothing to change/],
    [['session', 'patch', 'a', '--pin', '--unpin'], /--pin and --unpin/],
    [['session', 'patch', 'a', '--label', 'x', '--clear-label'], /--label and --clear-label/],
    [['token', 'new', '--name', 'x'], /--scope is missing \(see: tenon token new -h\)/],
    [['token', 'new', '--name', 'x', '--scope', ','], /--scope is empty/],
    [
      ['token', 'new', '--name', 'x', '--scope', 'operator.read,operator.root'],
      /--scope cannot be \["operator\.read","operator\.root"\]; it must be/,
    ],
    [['device', 'rename', 'x', 'n'.repeat(513)], /<name> cannot be/],
    [['completion', 'tcsh'], /<shell> cannot be "tcsh"; it must be one of bash, zsh, fish/],
    [['config', 'get', 'gateway.prot'], /Unknown setting "gateway\.prot" \(did you mean "gateway\.port"\?\)/],
    [['config', 'set', 'gateway.port=99999'], /gateway\.port cannot be 99999; it must be a whole number/],
    [['config', 'set', 'gateway.port'], /"gateway\.port" must be name=value/],
    [['config', 'set', 'store.url=postgres://me:secret@db/x'], /store\.url must be given as @file or -/],
    [['config', 'unset', 'nothing.here'], /Unknown setting/],
    [['call', 'sesions.list'], /Unknown method "sesions\.list" \(did you mean "sessions\.list"\?\)/],
    [['call', 'sessions.list', '{"limit": 0}'], /sessions\.list: params\/limit must be/],
    [['call', 'sessions.list', '{"limt": 1}'], /sessions\.list: params has an unknown field "limt"/],
    [['call', 'sessions.list', '{"a":1,"a":2}'], /duplicate key/],
    [['call', 'sessions.list', '[]'], /must be a JSON object/],
    [['call', 'sessions.list', '{'], /not JSON/],
    [['call', 'health', '--key', 'x'], /--key has no meaning for health/],
    [['call', 'health', '-', '--token', '-'], /cannot both be read from stdin/],
    [['events', '--until-live'], /--until-live needs --from/],
    [['events', '--only', 'sesions.changed'], /--only .*did you mean "sessions\.changed"/],
    [['start', '--store-url', 'postgres://me:secret@db/x'], /--store-url must be @file or -/],
    [['start', '--url', 'ws://x'], /--url has no meaning for start/],
    [['start', '--token', 'short'], /--token is too short/],
    [['chat', '--json'], /--json has no meaning for chat/],
    [['chat', '--new', '--session', 'x'], /--new and --session/],
    [['chat', '--session', 'agent:main:x', '--agent', 'other'], /is not one of the agent other/],
    [['run', ''], /The message is empty \(such as: tenon run "list the files"; or pipe it in: /],
    [['run', 'x', '--thinking', 'hard'], /--thinking cannot be "hard"; it must be one of off, minimal/],
    [['run', 'x'.repeat(300_000)], /The message has 300000 characters; 262144 are allowed/],
    [['run', '-', '--token', '-'], /cannot both be read from stdin/],
    [['session', 'rewind', 'x', '--turns', '2', '--entry', 'abcd'], /--turns and --entry/],
    [['session', 'branch', 'x'], /\[entry\] or --root must be given/],
    [['session', 'branch', 'x', 'y'], /\[entry\] cannot be "y".* \(list them with: tenon session tree x\)/],
    [['session', 'import', 'x', 'no/such/file'], /\[file\] cannot be "no\/such\/file": no such file/],
    [['session', 'export', '../x'], /<key> cannot be/],
    [['model', 'probe', '*'], /<id> cannot be "\*"/],
    [['ui', '--scope', 'operator.root'], /--scope cannot be/],
  ];
  for (const [words, message] of cases) {
    const { code, stdout, stderr } = await run(home, words);
    assert.match(stderr, message, words.join(' '));
    assertOneLine(stderr);
    assert.equal(code, exitCodes.usage, words.join(' '));
    assert.equal(stdout, '');
    assert.ok(!stderr.includes('secret'));
  }
});

test('a mistyped command or option is met with a suggestion', async (t) => {
  verifies('foundation:cli-no-tty');
  const home = makeHome(t);
  assert.match((await run(home, ['strat'])).stderr, /unknown command 'strat' \(did you mean "start"\?\)/);
  assert.match((await run(home, ['session', 'lst'])).stderr, /unknown command 'lst' \(did you mean "list"/);
  assert.match((await run(home, ['session', 'ls', '--serach', 'x'])).stderr, /unknown option '--serach' \(did you mean "--search"\?\)/);
  assert.equal((await run(home, ['strat'])).code, exitCodes.usage);
  for (const [words, hint] of [
    [['strat'], 'start'],
    [['session', 'hist'], 'history'],
    [['comp'], 'completion'],
    [['session', 'ls', '--serach', 'x'], '--search'],
    [['config', 'get', 'gateway.prot'], 'gateway.port'],
    [['config', 'get', 'gateway.shutdown'], 'gateway.shutdownBudgetMs'],
    [['call', 'sesions.list'], 'sessions.list'],
    [['events', '--only', 'sesions.changed'], 'sessions.changed'],
  ] as const) {
    const error = JSON.parse((await run(home, [...words, '--json'])).stderr) as { message: string; hint: string };
    assert.equal(error.hint, `did you mean "${hint}"?`);
    assert.doesNotMatch(error.message, /did you mean/i);
  }
});

test('an error is one JSON line with --json, wherever it was found', async (t) => {
  const home = makeHome(t);
  for (const words of [
    ['strat', '--json'],
    ['session', 'ls', '--limit', 'x', '--json'],
    ['health', '--json', '--port', String(await freePort())],
  ]) {
    const { stdout, stderr } = await run(home, words);
    assertOneLine(stderr);
    const error = JSON.parse(stderr) as { code: string; message: string };
    assert.ok(error.code && error.message);
    assert.equal(stdout, '');
  }
});

test('a gateway that is not there is exit code 5 for every command that needs one', async (t) => {
  const home = makeHome(t);
  const port = String(await freePort());
  const words = [
    ['health'],
    ['status'],
    ['session', 'ls'],
    ['events'],
    ['logs'],
    ['audit'],
    ['token', 'ls'],
    ['device', 'ls'],
    ['call', 'health'],
    ['stop'],
    ['chat'],
    ['run', 'hello'],
    ['approve', 'ls'],
    ['approve', 'allow', 'abcd'],
    ['model', 'ls'],
    ['agent', 'ls'],
    ['tool', 'ls'],
    ['usage'],
    ['session', 'history', 'notes'],
    ['session', 'export', 'notes'],
    ['ui'],
  ];
  for (const each of words) {
    const { code, stderr } = await run(home, [...each, '--port', port]);
    assert.equal(code, exitCodes.unreachable, each.join(' '));
    assertOneLine(stderr);
    assert.match(stderr, /Cannot connect to ws:\/\/127\.0\.0\.1:\d+.*tenon start/);
  }
});

test('tenon alone says what is running and what to do next', async (t) => {
  const home = makeHome(t);
  const env = { TENON_PORT: String(await freePort()) };
  const people = await run(home, [], { env: { TENON_HOME: home, ...env } });
  assert.equal(people.code, exitCodes.ok);
  assert.match(people.stdout, /^No gateway is running .*\nNext: tenon start/);
  const machine = JSON.parse((await run(home, ['--json'], { env: { TENON_HOME: home, ...env } })).stdout) as {
    running: boolean;
    next: string;
  };
  assert.equal(machine.running, false);
  assert.equal(machine.next, 'tenon start');
});

test('stop of a home where nothing runs is done already', async (t) => {
  const home = makeHome(t);
  const { code, stdout } = await run(home, ['stop', '--json']);
  assert.deepEqual([code, JSON.parse(stdout)], [exitCodes.ok, { stopped: false }]);
});

test('settings are changed in the file where no gateway runs, and shown with where they come from', async (t) => {
  verifies('foundation:config');
  const home = makeHome(t);
  const env = { TENON_HOME: home, TENON_LOG_LEVEL: 'warn' };
  writeFileSync(join(home, 'tenon.toml'), '# mine\n[gateway]\nport = 4000\n');
  writeFileSync(join(home, 'url'), 'postgres://me:hunter2@db/x\n');

  const dry = await run(home, ['config', 'set', 'gateway.port', '5000', '--dry-run', '--json'], { env });
  assert.deepEqual((JSON.parse(dry.stdout) as { changes: unknown }).changes, [
    { name: 'gateway.port', before: 4000, after: 5000, takesEffect: 'restart' },
  ]);
  assert.equal((await run(home, ['config', 'get', 'gateway.port'], { env })).stdout, '4000\n');

  const set = await run(home, ['config', 'set', 'gateway.port=5000', 'log.level=debug', `store.url=@${join(home, 'url')}`], { env });
  assert.equal(set.code, exitCodes.ok);
  assert.match(set.stdout, /gateway\.port: 4000 -> 5000/);
  assert.match(set.stderr, /log\.level is set by TENON_LOG_LEVEL, which stays above the file/);
  assert.ok(!`${set.stdout}${set.stderr}`.includes('hunter2'));

  const shown = await run(home, ['config', 'get', '--json'], { env });
  const { settings } = JSON.parse(shown.stdout) as { settings: Record<string, { value: unknown; source: string }> };
  assert.deepEqual([settings['gateway.port']?.value, settings['gateway.port']?.source], [5000, 'file']);
  assert.deepEqual([settings['log.level']?.value, settings['log.level']?.source], ['warn', 'environment']);
  assert.equal(settings['store.url']?.value, '***');
  assert.ok(!shown.stdout.includes('hunter2'));

  await run(home, ['config', 'unset', 'gateway.port', 'store.url'], { env });
  assert.equal((await run(home, ['config', 'get', 'gateway.port'], { env })).stdout, '18789\n');
});

test('a bad tenon.toml or variable stops every command with one line that names it', async (t) => {
  verifies('foundation:cli-errors');
  const home = makeHome(t);
  const variable = await run(home, ['health'], { env: { TENON_HOME: home, TENON_PORT: 'x' } });
  assert.deepEqual([variable.code, /^tenon: TENON_PORT: gateway\.port cannot be "x"/.test(variable.stderr)], [exitCodes.usage, true]);
  writeFileSync(join(home, 'tenon.toml'), '[gateway]\nport = "x"\n');
  for (const words of [['health'], ['start'], ['config', 'get'], ['doctor'], []]) {
    const { code, stderr } = await run(home, words);
    assertOneLine(stderr);
    assert.match(
      stderr,
      /^tenon: .*tenon\.toml:2: gateway\.port cannot be "x"; it must be a whole number from 0 to 65535 \(edit line 2 of that file, or .*\)\n/,
    );
    assert.equal(code, exitCodes.failed);
  }
});

test('a tenon.toml that is broken keeps nobody from a gateway that runs', async (t) => {
  verifies('foundation:cli-errors');
  const home = makeHome(t);
  const port = await freePort();
  writeFileSync(join(home, 'gateway.json'), JSON.stringify({ url: `http://127.0.0.1:${port}`, port, pid: process.pid }));
  for (const text of ['[gateway]\nport = "x"\n', '[gateway\n']) {
    writeFileSync(join(home, 'tenon.toml'), text);
    for (const words of [['status'], ['stop'], ['approve', 'ls'], ['session', 'ls'], ['doctor']]) {
      const { code, stderr } = await run(home, words);
      // It got as far as the gateway, which does not listen.
      assert.equal(code, exitCodes.unreachable, `${words.join(' ')}: ${stderr}`);
      assert.match(
        stderr,
        /^tenon\.toml cannot be read: .*tenon\.toml:[12]: .*; talking to the running gateway\ntenon: Cannot connect [^\n]+\n$/,
      );
    }
    assert.equal((await run(home, ['start'])).code, exitCodes.failed);
  }
  const broken = await run(home, ['config', 'set', 'gateway.port', '4000']);
  assert.equal(broken.code, exitCodes.failed);
  assert.match(broken.stderr, /tenon\.toml:1: not valid TOML.*\(edit line 1 of that file; tenon config cannot repair broken TOML\)\n$/);
  rmSync(join(home, 'gateway.json'));
  assert.match((await run(home, ['status'])).stderr, /^tenon: .*not valid TOML/);
});

test('config set mends a tenon.toml when nothing else is wrong with it', async (t) => {
  verifies('foundation:config');
  const home = makeHome(t);
  const file = join(home, 'tenon.toml');
  const text = '# mine\n[gateway]\nport = "x" # why\n';
  writeFileSync(file, text);
  const dry = await run(home, ['config', 'set', 'gateway.port', '4000', '--dry-run']);
  assert.deepEqual([dry.code, dry.stdout], [exitCodes.ok, 'gateway.port: unusable -> 4000\n']);
  assert.equal(readFileSync(file, 'utf8'), text);
  const other = await run(home, ['config', 'set', 'log.level', 'debug']);
  assert.deepEqual([other.code, readFileSync(file, 'utf8')], [exitCodes.failed, text]);
  assert.match(other.stderr, /tenon\.toml:3: gateway\.port cannot be "x"/);
  const set = await run(home, ['config', 'set', 'gateway.port', '4000']);
  assert.deepEqual([set.code, readFileSync(file, 'utf8')], [exitCodes.ok, '# mine\n[gateway]\nport = 4000 # why\n']);
  writeFileSync(file, text);
  assert.equal((await run(home, ['config', 'unset', 'gateway.port'])).code, exitCodes.ok);
  assert.equal((await run(home, ['config', 'get', 'gateway.port'])).stdout, '18789\n');
  writeFileSync(file, 'gateway = 3\n');
  assert.match((await run(home, ['config', 'set', 'gateway.port', '4000'])).stderr, /^tenon: .*gateway must be a table/);
});

test('what destroys something asks for --yes when there is no terminal, before anything is sent', async (t) => {
  verifies('foundation:cli-no-tty');
  const home = makeHome(t);
  const port = String(await freePort());
  const { code, stderr } = await run(home, ['session', 'rm', 'notes', '--port', port]);
  assertOneLine(stderr);
  assert.match(stderr, /Delete session "agent:main:notes": there is no terminal to ask on \(agree to it with --yes\)/);
  assert.equal(code, exitCodes.needsConsent);
});

test('on a terminal the name has to be typed; leaving it changes nothing and is exit code 6', async (t) => {
  const home = makeHome(t);
  const port = String(await freePort());
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true, setRawMode() {}, columns: 80, rows: 24 });
  const answer = async (keys: string): Promise<number> => {
    const [stdin, stderr] = [terminal(), terminal()];
    let asked = '';
    stderr.on('data', (chunk: Buffer) => {
      asked += chunk.toString();
      if (asked.endsWith('to go on: ')) setImmediate(() => stdin.write(keys));
    });
    const io = { stdin: stdin as unknown as Io['stdin'], stderr: stderr as unknown as Io['stderr'] };
    return (await run(home, ['session', 'rm', 'notes', '--port', port], io)).code;
  };
  assert.equal(await answer('\u0003'), exitCodes.needsConsent);
  assert.equal(await answer('\u0004'), exitCodes.needsConsent);
  assert.equal(await answer('something else\r'), exitCodes.needsConsent);
  // Agreed to, so it goes on, and finds nobody to send it to.
  assert.equal(await answer('agent:main:notes\r'), exitCodes.unreachable);
});

test('--help shows examples first, for every command; --version the version', async (t) => {
  const home = makeHome(t);
  assert.equal((await run(home, ['--version'])).stdout, `${version}\n`);
  for (const { path, examples } of commands) {
    const { code, stdout, stderr } = await run(home, [...path.split(' '), '-h']);
    assert.equal(code, exitCodes.ok);
    assert.ok(stdout.startsWith(`Examples:\n  tenon ${examples[0]}`), path);
    for (const each of examples) assert.ok(stdout.includes(each.includes('| tenon ') ? `\n  ${each}\n` : `\n  tenon ${each}\n`), each);
    assert.match(stdout, /--json/);
    assert.equal(stderr, '');
  }
  for (const noun of Object.keys(groups)) {
    const first = commands.find(({ path }) => path.startsWith(`${noun} `))!.examples[0];
    assert.ok((await run(home, [noun, '-h'])).stdout.startsWith(`Examples:\n  tenon ${first}\n`), noun);
  }
  const bare = await run(home, ['session']);
  assert.equal(bare.code, exitCodes.usage);
  assert.match(bare.stderr, /ls\|list/);
});

test('no option of a command hides one that all commands share', async () => {
  for (const spec of commands) {
    for (const name of Object.keys(await optionsOf(spec))) assert.ok(!Object.hasOwn(globalOptions, name), `${spec.path} --${name}`);
  }
});

test('a message over the limit is refused before anything is sent, also from stdin, with the limit named', async (t) => {
  const home = makeHome(t);
  const port = String(await freePort());
  const { code, stdout, stderr } = await run(home, ['run', '-', '--port', port], { input: 'x'.repeat(10 * 1024 * 1024) });
  assert.equal(code, exitCodes.usage);
  assert.equal(stdout, '');
  assertOneLine(stderr);
  assert.match(stderr, /The message has 10485760 characters; 262144 are allowed/);
  const error = JSON.parse((await run(home, ['run', '-', '--json'], { input: 'x'.repeat(300_000) })).stderr) as { code: string };
  assert.equal(error.code, 'TOO_LARGE');
});

test('a switch that begins with no is off unless it is given', async (t) => {
  const home = makeHome(t);
  const help = await run(home, ['run', '-h']);
  assert.match(help.stdout, /--no-wait +If something waits/);
  // Both get as far as the gateway, which is not there.
  for (const words of [
    ['run', 'x'],
    ['run', 'x', '--no-wait'],
  ]) {
    assert.equal((await run(home, [...words, '--port', String(await freePort())])).code, exitCodes.unreachable);
  }
});
