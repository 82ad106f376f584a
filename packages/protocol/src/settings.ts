// Every setting of tenon.toml: dotted name → schema, default, and when a change takes effect. The file's tables, the
// environment variables, the flags of `tenon start`, `config.get/patch` and the reference docs are derived from these rows.
import { Type, type Static, type TSchema } from 'typebox';
import { LogLevel } from './methods/system.ts';

interface SettingSpec {
  readonly summary: string;
  readonly schema: TSchema;
  readonly default: unknown;
  readonly takesEffect: 'now' | 'restart';
  readonly env?: string;
  /** Shown as `***` and never logged. */
  readonly secret?: true;
}

const HostName = Type.String({
  pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?$',
  description: 'a host name, with a port where the Host header has one',
});
const Origin = Type.String({
  pattern: '^https?://[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?$',
  description: 'an origin, such as https://tenon.example',
});
/** Four numbers up to 255, or something with colons. What the system then makes of it, it says itself. */
const ADDRESS = '^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(\\.(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$';

export const settings = {
  'gateway.bind': {
    summary: 'Address to listen on. Anything but loopback needs `gateway.insecure`.',
    schema: Type.String({ maxLength: 45, pattern: ADDRESS, description: 'an IPv4 or IPv6 address' }),
    default: '127.0.0.1',
    takesEffect: 'restart',
    env: 'TENON_BIND',
  },
  'gateway.port': {
    summary: 'Port to listen on; 0 lets the system pick one.',
    schema: Type.Integer({ minimum: 0, maximum: 65535 }),
    default: 18789,
    takesEffect: 'restart',
    env: 'TENON_PORT',
  },
  'gateway.auth': {
    summary: '`token`: clients need a token or a paired device. `none`: everybody on this machine is admin; loopback only.',
    schema: Type.Enum(['token', 'none']),
    default: 'token',
    takesEffect: 'restart',
  },
  'gateway.insecure': {
    summary: 'Allow plain http on an address that is not loopback. Put a TLS proxy in front instead if you can.',
    schema: Type.Boolean(),
    default: false,
    takesEffect: 'restart',
  },
  'gateway.allowedHosts': {
    summary: 'Further values of the Host header that are answered.',
    schema: Type.Array(HostName, { maxItems: 64 }),
    default: [],
    takesEffect: 'restart',
  },
  'gateway.allowedOrigins': {
    summary: 'Further web origins that may open a socket.',
    schema: Type.Array(Origin, { maxItems: 64 }),
    default: [],
    takesEffect: 'restart',
  },
  'gateway.shutdownBudgetMs': {
    summary: 'How long a stop may take before it is forced.',
    schema: Type.Integer({ minimum: 100, maximum: 600_000 }),
    default: 25_000,
    takesEffect: 'now',
  },
  'store.engine': {
    summary: '`sqlite`: a file in the home folder. `postgres`: the database of `store.url`.',
    schema: Type.Enum(['sqlite', 'postgres']),
    default: 'sqlite',
    takesEffect: 'restart',
  },
  'store.url': {
    summary: 'PostgreSQL connection string; only with the engine `postgres`.',
    schema: Type.String({
      maxLength: 1024,
      pattern: '^(|postgres(ql)?://.+)$',
      description: 'postgres://user:password@host:port/database',
    }),
    default: '',
    takesEffect: 'restart',
    env: 'TENON_STORE_URL',
    secret: true,
  },
  'store.maxBytes': {
    summary: 'Upper bound of the SQLite file; writes beyond it are refused with STORAGE. 0: as large as the disk allows.',
    schema: Type.Integer({ minimum: 0, maximum: 1_000_000_000_000 }),
    default: 0,
    takesEffect: 'restart',
  },
  'log.level': {
    summary: 'The least severe record that is written.',
    schema: LogLevel,
    default: 'info',
    takesEffect: 'now',
    env: 'TENON_LOG_LEVEL',
  },
  'log.maxBytes': {
    summary: 'Size at which the log file is rotated.',
    schema: Type.Integer({ minimum: 10_000, maximum: 1_000_000_000 }),
    default: 10_000_000,
    takesEffect: 'restart',
  },
  'log.files': {
    summary: 'Rotated log files that are kept.',
    schema: Type.Integer({ minimum: 1, maximum: 100 }),
    default: 5,
    takesEffect: 'restart',
  },
} as const satisfies Record<string, SettingSpec>;

export type SettingName = keyof typeof settings;
export type SettingValue<Name extends SettingName> = Static<(typeof settings)[Name]['schema']>;
export type Settings = { readonly [Name in SettingName]: SettingValue<Name> };

export const settingNames = Object.keys(settings) as SettingName[];

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name);
}

export function settingRow(name: SettingName): SettingSpec {
  return settings[name];
}
