import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { settingNames, settingRow, type SettingName } from '@tenon/protocol';
import { stringify } from 'smol-toml';
import { ConfigError, describeAllowed, flagOf, loadConfig, parseConfigText, redact } from './config.ts';

const SECRET = 'hunter2-swordfish';

function makeHome(t: TestContext, toml?: string | Uint8Array): string {
  const home = mkdtempSync(join(tmpdir(), 'tenon-config-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  if (toml !== undefined) writeFileSync(join(home, 'tenon.toml'), toml);
  return home;
}

function refusal(load: () => unknown): ConfigError {
  try {
    load();
  } catch (error) {
    assert.ok(error instanceof ConfigError, `expected a ConfigError, got ${error}`);
    assert.ok(!/[\n\r]/.test(error.message), `more than one line: ${error.message}`);
    return error;
  }
  return assert.fail('nothing was refused');
}

interface Shape {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly items?: Shape;
}

/** Values that the schema refuses, whatever the schema is: a new row is covered the day it is added. */
function badValues(shape: Shape): unknown[] {
  if (shape.enum) return [`${shape.enum[0]}x`, '', 7, true, [shape.enum[0]]];
  if (shape.type === 'boolean') return ['maybe', 1, 'TRUE', []];
  if (shape.type === 'integer')
    return [shape.minimum! - 1, shape.maximum! + 1, shape.minimum! + 0.5, 'many', true, [], Number.NaN, Number.POSITIVE_INFINITY];
  if (shape.type === 'number') return [shape.minimum! - 1, shape.maximum! + 1, 'many', true, [], Number.NaN, Number.POSITIVE_INFINITY];
  if (shape.type === 'array') {
    const item = badValues(shape.items!).find((each) => typeof each === 'string')!;
    return [[item], Array.from({ length: shape.maxItems! + 1 }, () => 'example.org'), 7, { a: 1 }, [7]];
  }
  return [shape.pattern ? `*${SECRET}*` : undefined, shape.maxLength ? 'x'.repeat(shape.maxLength + 1) : undefined, 7, true, []].filter(
    (each) => each !== undefined,
  );
}

test('loadConfig gives every setting its default when nothing is said', (t) => {
  const config = loadConfig({ home: makeHome(t), env: {} });
  for (const name of settingNames) {
    assert.deepEqual(config.settings[name], settingRow(name).default);
    assert.equal(config.sources[name], 'default');
  }
});

test('default < tenon.toml < environment < flag', (t) => {
  const home = makeHome(t, '[gateway]\nport = 1111\nbind = "127.0.0.2"\n[log]\nlevel = "warn"\n');
  const config = loadConfig({ home, env: { TENON_PORT: '2222', TENON_LOG_LEVEL: 'error' }, flags: { 'log.level': 'debug' } });
  assert.equal(config.settings['gateway.bind'], '127.0.0.2');
  assert.equal(config.settings['gateway.port'], 2222);
  assert.equal(config.settings['log.level'], 'debug');
  assert.deepEqual(
    [config.sources['gateway.bind'], config.sources['gateway.port'], config.sources['log.level'], config.sources['log.files']],
    ['file', 'environment', 'flag', 'default'],
  );
});

test('the home folder is that of the flag, else TENON_HOME, else ~/.tenon', (t) => {
  const home = makeHome(t);
  const other = makeHome(t);
  assert.equal(loadConfig({ home, env: { TENON_HOME: other } }).home, home);
  assert.equal(loadConfig({ env: { TENON_HOME: other } }).file, join(other, 'tenon.toml'));
  assert.equal(loadConfig({ home: join(home, 'none', 'yet'), env: {} }).home, join(home, 'none', 'yet'));
  const empty = refusal(() => loadConfig({ home: '', env: {} }));
  assert.match(empty.message, /^--home cannot be "".*folder/);
  assert.equal(empty.exitCode, 2);
  assert.match(refusal(() => loadConfig({ env: { TENON_HOME: 'a\0b' } })).message, /^TENON_HOME cannot be/);
});

test('without --home and TENON_HOME the home is in the folder of the user', (t) => {
  const before = process.env.HOME;
  const home = makeHome(t);
  t.after(() => {
    process.env.HOME = before;
  });
  process.env.HOME = home;
  assert.equal(homedir(), home);
  assert.equal(loadConfig({ env: {} }).home, join(home, '.tenon'));
});

test('a setting that is off or a number is read from text, and a wrong one is told both', (t) => {
  const home = makeHome(t);
  const load = (text: string) => loadConfig({ home, env: {}, flags: { 'heartbeat.everyMs': text } }).settings['heartbeat.everyMs'];
  assert.deepEqual([load('0'), load('1800000')], [0, 1_800_000]);
  for (const bad of ['30m', '5'])
    assert.match(
      refusal(() => load(bad)).message,
      /heartbeat\.everyMs cannot be .*; it must be 0 or a whole number from 60000 to 604800000$/,
    );
});

test('a time zone that there is not is refused', (t) => {
  const home = makeHome(t, '[heartbeat]\ntz = "Mars/Olympus"\n');
  const allowed = 'it must be the name of a time zone, such as Europe/Berlin, or empty';
  assert.ok(refusal(() => loadConfig({ home, env: {} })).message.endsWith(`:2: heartbeat.tz cannot be "Mars/Olympus"; ${allowed}`));
  for (const tz of ['Europe/Berlin', ''])
    assert.equal(loadConfig({ home: makeHome(t), env: {}, flags: { 'heartbeat.tz': tz } }).settings['heartbeat.tz'], tz);
});

for (const name of settingNames.filter((each) => !settingRow(each).tables)) {
  const row = settingRow(name);
  const [table, key] = name.split('.') as [string, string];

  test(`a bad ${name} in tenon.toml is refused with its line, name and what is allowed`, (t) => {
    for (const bad of badValues(row.schema as Shape)) {
      const home = makeHome(t, `# a comment\n\n[${table}]\n${stringify({ [key]: bad }).replace(/^\[(.*)\]\n/, `[${table}.$1]\n`)}`);
      const error = refusal(() => loadConfig({ home, env: {} }));
      assert.match(error.message, new RegExp(`^${home}/tenon\\.toml:4: ${name.replace('.', '\\.')} cannot be `), `value ${String(bad)}`);
      assert.ok(error.message.endsWith(describeAllowed(row.schema)));
      assert.equal(error.exitCode, 1);
      if (row.secret) assert.ok(!error.message.includes(SECRET) && error.message.includes('***'));
    }
  });

  test(`a bad ${name} as ${flagOf(name)} is refused by the name of the flag`, (t) => {
    const home = makeHome(t);
    for (const bad of textsOf(row.schema as Shape)) {
      const error = refusal(() => loadConfig({ home, env: {}, flags: { [name]: bad } }));
      assert.ok(error.message.startsWith(`${flagOf(name)}: ${name} cannot be `), error.message);
      assert.ok(error.message.endsWith(describeAllowed(row.schema)));
      assert.equal(error.exitCode, 2);
      if (row.secret) assert.ok(!error.message.includes(SECRET));
    }
  });

  if (row.env !== undefined) {
    test(`a bad ${name} in ${row.env} is refused by the name of the variable`, (t) => {
      const home = makeHome(t);
      for (const bad of textsOf(row.schema as Shape)) {
        if (bad === '') continue; // an empty variable is one that is not set
        const error = refusal(() => loadConfig({ home, env: { [row.env!]: bad } }));
        assert.ok(error.message.startsWith(`${row.env}: ${name} cannot be `), error.message);
        assert.ok(error.message.endsWith(describeAllowed(row.schema)));
        assert.equal(error.exitCode, 2);
        if (row.secret) assert.ok(!error.message.includes(SECRET));
      }
    });
  }
}

/** Bad values that a flag or a variable can carry. The text of some of them is a good value: an empty list, for one. */
function textsOf(shape: Shape): string[] {
  const texts = badValues(shape).map((value) => (Array.isArray(value) ? value.join(',') : String(value)));
  return texts.filter((text) => !isGood(shape, text));
}

function isGood(shape: Shape, text: string): boolean {
  if (shape.enum) return shape.enum.includes(text);
  if (shape.type === 'array') {
    const items = text === '' ? [] : text.split(',');
    return items.length <= shape.maxItems! && items.every((item) => isGood(shape.items!, item));
  }
  return shape.type === 'string' && new RegExp(shape.pattern ?? '').test(text) && text.length <= (shape.maxLength ?? text.length);
}

for (const [name, toml, message] of [
  [
    'a model without a provider',
    '[[models]]\nid = "a"\n',
    /:1: the 1st \[\[models\]\] must have required properties provider; see models in/,
  ],
  [
    'a word that no model has',
    '\n[[models]]\nid = "a"\nprovider = "openai"\nkeyenv = "A"\n',
    /:5: the 1st \[\[models\]\] has an unknown field "keyenv"/,
  ],
  [
    'a value in one of several models',
    `${'[[models]]\nid = "a"\nprovider = "openai"\n\n'.repeat(3)}[[models]]\nid = "d"\nprovider = "x"\n[[models]]\nid = "e"\nprovider = "google"\n`,
    /:15: the 4th \[\[models\]\]: provider must be one of/,
  ],
  [
    'what one of several models lacks',
    `${'[[models]]\nid = "a"\nprovider = "openai"\n\n'.repeat(2)}[[models]]\nid = "d"\n`,
    /:9: the 3rd \[\[models\]\] must have required properties provider/,
  ],
  ['a model in a list on one line', '\nmodels = [{ id = "a", provider = "x" }]\n', /:2: the 1st \[\[models\]\]: provider/],
  ['a provider that does not exist', '[[models]]\nid = "a"\nprovider = "x"\n', /:3: the 1st \[\[models\]\]: provider .*openai, anthropic/],
  ['an agent with a bad id', '[[agents]]\nid = "A b"\n', /:2: the 1st \[\[agents\]\]: id .*lower-case/],
  ['a list that is none', 'agents = 5\n', /:1: agents must be array/],
] as const) {
  test(`tenon.toml with ${name} is refused with its line and place`, (t) => {
    const error = refusal(() => loadConfig({ home: makeHome(t, toml), env: {} }));
    assert.match(error.message, message);
    assert.equal(error.exitCode, 1);
  });
}

test('a list of tables may stand in a table, and what is wrong in it is told with its line', () => {
  const text = (ms: number) =>
    `[plugins]\nsafe = true\n\n[[plugins.timeouts]]\nplugin = "a"\ntimeoutMs = 1\n\n[[plugins.timeouts]]\ntimeoutMs = ${ms}\n`;
  assert.deepEqual(structuredClone(parseConfigText(text(2), 'tenon.toml').get('plugins.timeouts')), [
    { plugin: 'a', timeoutMs: 1 },
    { timeoutMs: 2 },
  ]);
  assert.throws(() => parseConfigText(text(600_001), 'tenon.toml'), /:9: the 2nd \[\[plugins\.timeouts\]\]: timeoutMs/);
});

test('models and agents are lists of tables', (t) => {
  const home = makeHome(t, '[[models]]\nid = "a"\nprovider = "openai"\n[[models]]\nid = "b"\nprovider = "google"\n[[agents]]\nid = "x"\n');
  const { settings } = loadConfig({ home, env: {} });
  assert.deepEqual(
    settings.models.map(({ id }) => id),
    ['a', 'b'],
  );
  assert.deepEqual(
    settings.agents.map(({ id }) => id),
    ['x'],
  );
});

test('flags are derived from the names of the settings, and differ', () => {
  assert.equal(flagOf('gateway.port'), '--port');
  assert.equal(flagOf('log.maxBytes'), '--log-max-bytes');
  assert.equal(new Set(settingNames.map(flagOf)).size, settingNames.length);
});

test('lists and booleans are read from text', (t) => {
  const flags = { 'gateway.allowedHosts': 'a.example, b.example', 'gateway.insecure': 'true' };
  const { settings } = loadConfig({ home: makeHome(t), env: {}, flags });
  assert.deepEqual(settings['gateway.allowedHosts'], ['a.example', 'b.example']);
  assert.equal(settings['gateway.insecure'], true);
});

test('an empty variable counts as not set', (t) => {
  assert.equal(loadConfig({ home: makeHome(t), env: { TENON_PORT: '' } }).sources['gateway.port'], 'default');
});

const brokenFiles: readonly [name: string, toml: string, message: RegExp][] = [
  ['an unknown key', '[gateway]\nprot = 1\n', /:2: unknown setting "gateway\.prot" \(did you mean "gateway\.port"\?\)$/],
  ['an unknown table', '\n[gatewya]\nport = 1\n', /:2: unknown setting "gatewya" \(did you mean "gateway"\?\)$/],
  ['an unknown top-level key', 'port = 1\n', /:1: unknown setting "port"/],
  ['a name that is one quoted key', '"gateway.port" = 1\n', /:1: unknown setting "gateway\.port"/],
  ['a table in a table', '[gateway.tls]\ncert = "x"\n', /:1: unknown setting "gateway\.tls"/],
  ['a table in place of a value', '[gateway.port]\nnumber = 1\n', /:1: gateway\.port cannot be \{"number":1\}; it must be a whole number/],
  ['a value in place of a table', 'gateway = 7\n', /:1: gateway must be a table of settings, such as \[gateway\]$/],
  ['a secret in place of a table', `store = "${SECRET}"\n`, /:1: store must be a table/],
  ['an array of tables', '[[gateway]]\nport = 1\n', /:1: gateway must be a table/],
  ['a setting in an inline table', 'gateway = { port = 1,\n bind = "x" }\n', /:1: gateway\.bind cannot be "x"/],
  ['a dotted key', 'log.files = 3\nlog.level = "loud"\n', /:2: log\.level cannot be "loud"; it must be one of trace, debug/],
  ['a date', '[log]\nfiles = 2020-01-01\n', /:2: log\.files cannot be "2020-01-01"/],
  ['a number that is too large for JavaScript', '[log]\nfiles = 99999999999999999999\n', /:2: log\.files cannot be 99999999999999999999;/],
  ['the key __proto__', '[gateway]\n__proto__ = 1\n', /:2: not valid TOML at __proto__: .*unsafe/],
  ['the table __proto__', '[__proto__]\nx = 1\n', /:1: not valid TOML at \[__proto__\]: .*unsafe/],
  ['the key constructor, quoted', '[gateway]\n"constructor" = 1\n', /:2: not valid TOML at "constructor": .*unsafe/],
  ['the key prototype', '[gateway.prototype]\nx = 1\n', /:1: "gateway\.prototype" is a reserved name$/],
  ['text without quotes', '[gateway]\nbind = localhost\n', /:2: not valid TOML at bind: invalid value$/],
  ['a value that is missing', '[gateway]\nport =\n', /:2: not valid TOML at port: /],
  ['an open bracket', '[gateway\nport = 1\n', /:1: not valid TOML/],
  ['a key twice', '[gateway]\nport = 1\nport = 2\n', /:3: not valid TOML at port: /],
  ['a table twice', '[gateway]\n[log]\n[gateway]\n', /:3: not valid TOML at \[gateway\]: /],
  ['a control character', '[gateway]\nbind = "\u0007"\n', /:2: not valid TOML at bind: control characters/],
  ['a bidi override in a name', '"a\u202eb" = 1\n', /:1: unknown setting "a\\u\{202e\}b"/],
  ['deep nesting', `x = ${'['.repeat(2000)}${']'.repeat(2000)}\n`, /:1: not valid TOML at x: .*nested/],
  ['a broken line with a secret', `[store]\nurl = "${SECRET}\n`, /:2: not valid TOML at url: /],
];

for (const [name, toml, message] of brokenFiles) {
  test(`tenon.toml with ${name} is refused in one line`, (t) => {
    const home = makeHome(t, toml);
    const error = refusal(() => loadConfig({ home, env: {} }));
    assert.ok(error.message.startsWith(join(home, 'tenon.toml')), error.message);
    assert.match(error.message, message);
    assert.ok(!error.message.includes(SECRET));
    assert.equal(error.exitCode, 1);
  });
}

test('a tenon.toml that cannot be read is refused with its path and the reason', (t) => {
  const folder = makeHome(t);
  mkdirSync(join(folder, 'tenon.toml'));
  assert.match(refusal(() => loadConfig({ home: folder, env: {} })).message, /tenon\.toml cannot be read: it is a folder/);

  const bytes = makeHome(t, new Uint8Array([0x5b, 0xff, 0xfe, 0x5d]));
  assert.match(refusal(() => loadConfig({ home: bytes, env: {} })).message, /tenon\.toml cannot be read: it is not valid UTF-8/);

  const large = makeHome(t, `# ${'x'.repeat(1_048_576)}`);
  assert.match(refusal(() => loadConfig({ home: large, env: {} })).message, /tenon\.toml cannot be read: it is larger than 1048576 bytes/);

  const loop = makeHome(t);
  symlinkSync('tenon.toml', join(loop, 'tenon.toml'));
  assert.match(refusal(() => loadConfig({ home: loop, env: {} })).message, /tenon\.toml cannot be read: ELOOP/);

  const device = makeHome(t);
  symlinkSync('/dev/zero', join(device, 'tenon.toml'));
  assert.match(refusal(() => loadConfig({ home: device, env: {} })).message, /tenon\.toml cannot be read: it is not a regular file/);

  const file = join(makeHome(t), 'file');
  writeFileSync(file, '');
  assert.match(refusal(() => loadConfig({ home: file, env: {} })).message, /tenon\.toml cannot be read: its home is not a folder/);
});

test('a byte order mark and CRLF are read as text editors write them', (t) => {
  const home = makeHome(t, '\ufeff[gateway]\r\nport = 4000\r\n');
  assert.equal(loadConfig({ home, env: {} }).settings['gateway.port'], 4000);
  const bad = makeHome(t, '\ufeff[gateway]\r\nport = "x"\r\n');
  assert.match(refusal(() => loadConfig({ home: bad, env: {} })).message, /tenon\.toml:2: gateway\.port cannot be "x"/);
});

test('nothing in a config file reaches the prototype of objects', () => {
  for (const toml of ['[__proto__]\npolluted = 1\n', '[constructor.prototype]\npolluted = 1\n', 'gateway.__proto__.polluted = 1\n']) {
    assert.throws(() => parseConfigText(toml, 'tenon.toml'), ConfigError);
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
});

test('redact hides each secret that is set and nothing else', (t) => {
  const url = `postgres://tenon:${SECRET}@db/tenon`;
  const config = loadConfig({ home: makeHome(t), env: { TENON_STORE_URL: url } });
  const shown = redact(config);
  assert.equal(shown['store.url'], '***');
  assert.ok(!JSON.stringify(shown).includes(SECRET));
  for (const name of settingNames.filter((each: SettingName) => !settingRow(each).secret))
    assert.deepEqual(shown[name], config.settings[name]);
  assert.equal(redact(loadConfig({ home: makeHome(t), env: {} }))['store.url'], '');
});
