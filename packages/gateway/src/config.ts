// The settings a gateway starts with: default < tenon.toml < environment variable < flag, all from the rows of the
// `settings` table. The edge where they are checked: whatever is wrong becomes one line that says where, which setting,
// what was given (never a secret) and what is allowed. What two settings mean together is for those who use them.
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  explain,
  isSettingName,
  matches,
  RESERVED_KEYS,
  settingNames,
  settingRow,
  visible,
  type JsonValue,
  type SettingName,
  type Settings,
} from '@tenon/protocol';
import { parse, TomlError, type TomlTable } from 'smol-toml';
import { lineOf } from './config-places.ts';
import { checkHome, CONFIG_FILE } from './home.ts';
import { didYouMean } from './kernel/nearest.ts';
import { isTimeZone } from './kernel/time-zone.ts';

export type SettingSource = 'default' | 'file' | 'environment' | 'flag';

export interface Config {
  readonly home: string;
  readonly file: string;
  readonly settings: Settings;
  readonly sources: Readonly<Record<SettingName, SettingSource>>;
}

export interface ConfigInput {
  /** `--home` as given; without it TENON_HOME, else ~/.tenon. */
  readonly home?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False leaves tenon.toml unread: for those who talk to a gateway that runs already. */
  readonly readFile?: false;
  /** Text as typed, or a value of the setting's own type. */
  readonly flags?: Readonly<Partial<Record<SettingName, unknown>>>;
}

/** A setting that cannot be used. The message is one line and carries no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'CONFIG';
  readonly source: Exclude<SettingSource, 'default'>;
  /** A wrong flag or variable is wrong usage; a wrong file is a failure to start. */
  readonly exitCode: 1 | 2;
  /** What to do next. */
  readonly hint: string | undefined;

  constructor(source: Exclude<SettingSource, 'default'>, message: string, hint?: string) {
    super(visible(message));
    this.source = source;
    this.hint = hint === undefined ? undefined : visible(hint);
    this.exitCode = source === 'file' ? 1 : 2;
  }
}

/** Contract: throws only ConfigError, and HomeError where others could have written what is read. */
export function loadConfig(input: ConfigInput): Config {
  const home = resolveHome(input.home, input.env);
  checkHome(home);
  const file = join(home, CONFIG_FILE);
  const fromFile = input.readFile === false ? new Map<SettingName, JsonValue>() : parseConfigText(readConfigText(file), file);
  const values = new Map<SettingName, unknown>();
  const sources = new Map<SettingName, SettingSource>();
  const take = (name: SettingName, value: unknown, source: SettingSource) => {
    values.set(name, value);
    sources.set(name, source);
  };
  for (const name of settingNames) {
    const row = settingRow(name);
    take(name, row.default, 'default');
    if (fromFile.has(name)) take(name, fromFile.get(name), 'file');
    // An empty variable counts as not set, as everywhere in a shell.
    const variable = row.env === undefined ? undefined : input.env[row.env];
    if (variable) take(name, parseSetting(name, variable, row.env!, 'environment'), 'environment');
    const flag = input.flags?.[name];
    if (flag !== undefined) take(name, parseSetting(name, flag, flagOf(name), 'flag'), 'flag');
  }
  return {
    home,
    file,
    settings: Object.freeze(Object.fromEntries(values)) as unknown as Settings,
    sources: Object.freeze(Object.fromEntries(sources)) as Record<SettingName, SettingSource>,
  };
}

/** What flags and variables said, for whoever starts the same again. Secrets by their names only. */
export function givenSettings({ settings, sources }: Config): { given: Partial<Record<SettingName, unknown>>; secrets: SettingName[] } {
  const names = settingNames.filter((name) => sources[name] === 'flag' || sources[name] === 'environment');
  const isSecret = (name: SettingName) => settingRow(name).secret === true;
  return {
    given: Object.fromEntries(names.filter((name) => !isSecret(name)).map((name) => [name, settings[name]])),
    secrets: names.filter(isSecret),
  };
}

export function resolveHome(flag: string | undefined, env: ConfigInput['env']): string {
  const given = flag ?? (env.TENON_HOME || undefined);
  if (given === undefined) return join(homedir(), '.tenon');
  const [where, source] = flag === undefined ? (['TENON_HOME', 'environment'] as const) : (['--home', 'flag'] as const);
  if (given === '' || given.includes('\0'))
    throw new ConfigError(source, `${where} cannot be ${show(given)}; it must be the path of a folder`);
  return resolve(given);
}

/** The flag of `tenon start` for a setting: `gateway.port` → `--port`, `log.maxBytes` → `--log-max-bytes`. */
export function flagOf(name: SettingName): string {
  const words = name.replace(/^gateway\.|^plugins\.(?=safe$)/, '').replaceAll('.', '-');
  return `--${words.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** A value from a flag, a variable or `tenon config set`, checked. `where` names the place in the error. */
export function parseSetting(name: SettingName, given: unknown, where: string, source: Exclude<SettingSource, 'default'>): JsonValue {
  const value = typeof given === 'string' ? fromText(settingRow(name).schema, given) : given;
  const fault = checkSetting(name, value);
  if (fault) throw new ConfigError(source, `${where}: ${fault}`);
  return value as JsonValue;
}

/** What is wrong with the value, in one line that names the setting; undefined when nothing is. */
export function checkSetting(name: SettingName, value: unknown): string | undefined {
  const row = settingRow(name);
  if (matches(row.schema, value) && !(row.timeZone && value !== '' && !isTimeZone(String(value)))) return undefined;
  if (row.tables) return `${tableFault(name, value).text}; see ${name} in docs/reference/settings.md`;
  return `${name} cannot be ${row.secret ? '***' : show(value)}; it must be ${describeAllowed(row.schema)}`;
}

/** What is wrong in a list of tables, in the words of the file, and where: `the 4th [[models]]: provider must be …`. */
function tableFault(name: SettingName, value: unknown): { readonly text: string; readonly path: readonly (string | number)[] } {
  const fault = explain(settingRow(name).schema, value, name) ?? `${name} do not fit`;
  const [, index, below = '', rest = ''] = /^[^/ ]+\/(\d+)((?:\/[^/ ]+)*)( .*)$/s.exec(fault) ?? [];
  const place = name.split('.');
  if (index === undefined) return { text: fault, path: place };
  const keys = below.split('/').slice(1);
  const unknownKey = /^ has an unknown field "(.*)"$/s.exec(rest)?.[1];
  const text = `the ${ordinal(Number(index) + 1)} [[${name}]]${keys.length === 0 ? '' : `: ${keys.join('.')}`}${rest}`;
  return { text, path: [...place, Number(index), ...keys, ...(unknownKey === undefined ? [] : [unknownKey])] };
}

function ordinal(n: number): string {
  const teen = n % 100 >= 11 && n % 100 <= 13;
  return `${n}${(teen ? undefined : ['th', 'st', 'nd', 'rd'][n % 10]) ?? 'th'}`;
}

/** The settings that the text of tenon.toml sets, each checked. */
export function parseConfigText(text: string, file: string): Map<SettingName, JsonValue> {
  const found = new Map<SettingName, JsonValue>();
  collect(parseToml(text, file), []);
  return found;

  function collect(table: TomlTable, above: readonly string[]): void {
    for (const [key, value] of Object.entries(table)) {
      const path = [...above, key];
      const name = path.join('.');
      const refuse = (message: string, at: readonly (string | number)[] = path, mend = '') => {
        const line = lineOf(text, at) ?? 1;
        // A message that knows what was meant needs no more advice.
        const hint = message.endsWith('?)') ? undefined : `edit line ${line} of that file${mend}`;
        return new ConfigError('file', `${file}:${line}: ${message}`, hint);
      };
      if (RESERVED_KEYS.has(key)) throw refuse(`"${name}" is a reserved name`);
      const isPath = !key.includes('.');
      if (isPath && isSettingName(name)) {
        const fault = checkSetting(name, value);
        if (fault && settingRow(name).tables) throw refuse(fault, tableFault(name, value).path);
        if (fault) throw refuse(fault, path, `, or return to the default with: tenon config unset ${name}`);
        found.set(name, value as JsonValue);
      } else if (isPath && settingNames.some((each) => each.startsWith(`${name}.`))) {
        if (!isTable(value)) throw refuse(`${name} must be a table of settings, such as [${name}]`);
        collect(value, path);
      } else {
        throw refuse(`unknown setting "${name}"${didYouMean(name, isTable(value) ? settingTables() : settingNames)}`);
      }
    }
  }
}

/** TOML as smol-toml reads it, its complaint in one line. */
export function parseToml(text: string, file: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded', unsafeKeyBehaviour: 'throw' }) as TomlTable;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = (error.message.split('\n', 1)[0] ?? '').replace('Invalid TOML document: ', '');
    // Only the key is quoted from the line: the rest may be a secret.
    const key = /^\s*(\[*[\w."'-]+\]*)\s*(?:=|$)/.exec(text.split('\n')[error.line - 1] ?? '')?.[1];
    const message = `${file}:${error.line}: not valid TOML${key ? ` at ${key}` : ''}: ${reason}`;
    throw new ConfigError('file', message, `edit line ${error.line} of that file; tenon config cannot repair broken TOML`);
  }
}

const MAX_CONFIG_BYTES = 1_048_576;

/** The text of tenon.toml; empty when there is no such file. */
export function readConfigText(file: string): string {
  const refuse = (reason: string) => new ConfigError('file', `${file} cannot be read: ${reason}`);
  let bytes: Buffer;
  try {
    // Asked before opening: to open a pipe would wait for a writer.
    const kind = statSync(file);
    if (kind.isDirectory()) throw refuse('it is a folder; tenon.toml must be a text file');
    if (!kind.isFile()) throw refuse('it is not a regular file');
    bytes = readUpTo(file, MAX_CONFIG_BYTES + 1);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    if (code === 'EACCES' || code === 'EPERM') throw refuse('permission denied');
    if (code === 'ENOTDIR') throw refuse('its home is not a folder');
    throw refuse(message);
  }
  if (bytes.length > MAX_CONFIG_BYTES) throw refuse(`it is larger than ${MAX_CONFIG_BYTES} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse('it is not valid UTF-8');
  }
}

/** The settings as they may be shown: a secret that is set is `***`. */
export function redact(config: Pick<Config, 'settings'>): Record<SettingName, JsonValue> {
  const shown = settingNames.map((name) => [name, redactSetting(name, config.settings[name] as JsonValue)]);
  return Object.fromEntries(shown) as Record<SettingName, JsonValue>;
}

export function redactSetting(name: SettingName, value: JsonValue): JsonValue {
  return settingRow(name).secret && value !== '' ? '***' : value;
}

function readUpTo(file: string, maxBytes: number): Buffer {
  const handle = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(Math.min(fstatSync(handle).size + 1, maxBytes));
    let length = 0;
    for (;;) {
      const count = readSync(handle, buffer, length, buffer.length - length, null);
      length += count;
      if (count === 0 || length === buffer.length) return buffer.subarray(0, length);
    }
  } finally {
    closeSync(handle);
  }
}

// The part of JSON Schema that the rows of the settings table use.
interface SchemaShape {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly items?: SchemaShape;
  readonly description?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly SchemaShape[];
}

/** What a schema allows, in words: `a whole number from 0 to 65535`. */
export function describeAllowed(schema: object): string {
  const shape = schema as SchemaShape;
  if (shape.anyOf) return shape.anyOf.map(describeAllowed).join(' or ');
  if (shape.const !== undefined) return String(shape.const);
  if (shape.enum) return shape.enum.length === 2 ? shape.enum.join(' or ') : `one of ${shape.enum.join(', ')}`;
  if (shape.type === 'boolean') return 'true or false';
  if (shape.type === 'number') return `a number from ${shape.minimum} to ${shape.maximum}`;
  if (shape.type === 'integer') return `a whole number from ${shape.minimum} to ${shape.maximum}`;
  if (shape.type === 'array') return `a list of at most ${shape.maxItems}, each ${describeAllowed(shape.items ?? {})}`;
  if (shape.description) return shape.description;
  const length = shape.maxLength === undefined ? '' : ` of at most ${shape.maxLength} characters`;
  return shape.pattern === undefined ? `text${length}` : `text${length} that matches ${shape.pattern}`;
}

// Text that is no number or boolean stays text, and the schema refuses it with the text shown as it was typed.
function fromText(schema: object, text: string): unknown {
  const { type, anyOf } = schema as SchemaShape;
  if (anyOf) return anyOf.map((each) => fromText(each, text)).find((value) => value !== text) ?? text;
  if (type === 'integer') return /^-?(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
  if (type === 'number') return /^-?(0|[1-9]\d{0,14})(\.\d{1,12})?$/.test(text) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (type === 'array') return text === '' ? [] : text.split(',').map((item) => item.trim());
  return text;
}

export function show(value: unknown): string {
  const text =
    typeof value === 'string' ? JSON.stringify(value) : typeof value === 'object' ? JSON.stringify(value, bigintAsText) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function isTable(value: unknown): value is TomlTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function settingTables(): string[] {
  return [...new Set(settingNames.map((name) => (name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : name)))];
}
