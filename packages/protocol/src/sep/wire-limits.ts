// Bounds of a connection with an extension, when it is started again, and the environment that it is started with.

interface LimitRow {
  readonly value: number;
  readonly unit: 'bytes' | 'ms' | 'count';
  readonly summary: string;
}

export const limits = {
  lineBytes: { value: 1_048_576, unit: 'bytes', summary: 'One line from an extension; a longer one ends the connection.' },
  hostLineBytes: {
    value: 16_777_216,
    unit: 'bytes',
    summary: 'One line from the host; a call that would be longer fails and is not sent.',
  },
  jsonDepth: { value: 64, unit: 'count', summary: 'Nesting of one line.' },
  jsonKeys: { value: 10_000, unit: 'count', summary: 'Object keys of one line from an extension.' },
  observeQueue: {
    value: 1_024,
    unit: 'count',
    summary: 'Events that wait for an extension; the oldest is shed, and `events_lost` says how many.',
  },
  outboundFrames: { value: 1_000, unit: 'count', summary: 'Other frames that wait for an extension; a call beyond them fails.' },
  outboundBytes: { value: 4_194_304, unit: 'bytes', summary: 'Bytes of all frames that wait, beside one that is longer by itself.' },
  toExtensionInFlight: { value: 256, unit: 'count', summary: 'Requests of the host that one extension has not answered.' },
  toHostInFlight: {
    value: 256,
    unit: 'count',
    summary: 'Requests of one extension that the host has not answered; it is not read beyond them.',
  },
  loadWaitMs: {
    value: 10_000,
    unit: 'ms',
    summary: 'How long a request of an extension that has just introduced itself waits for the rights of the extension to be in place.',
  },
  toHostBytes: { value: 4_194_304, unit: 'bytes', summary: 'Bytes of those requests together.' },
  notificationsPerSecond: {
    value: 2_000,
    unit: 'count',
    summary: 'Notifications of one extension and second, on average; it is read more slowly beyond them.',
  },
  saidBytesPerSecond: {
    value: 1_048_576,
    unit: 'bytes',
    summary:
      'Bytes that one extension says of its own accord in a second, on average: notifications, requests and lines that are no messages. Four times as much at once; it is read more slowly beyond that.',
  },
  replyBytesPerSecond: { value: 16_777_216, unit: 'bytes', summary: 'Bytes of its replies; twice as much at once.' },
  floodMs: {
    value: 15_000,
    unit: 'ms',
    summary: 'How long it may stay at one of these limits without a break; then its process is ended.',
  },
  logsPerSecond: { value: 100, unit: 'count', summary: 'Log records of one extension and second that are kept; the rest is counted.' },
  stderrBytesPerSecond: {
    value: 1_048_576,
    unit: 'bytes',
    summary:
      'What one extension writes to its standard error in a second, on average, four times as much at once; it is read more slowly beyond that.',
  },
  stderrRingBytes: { value: 262_144, unit: 'bytes', summary: 'What is kept of the standard error of one extension.' },
  initializeMs: { value: 10_000, unit: 'ms', summary: 'From the start of an extension to its registrations.' },
  shutdownMs: { value: 5_000, unit: 'ms', summary: 'From `shutdown` to the end of the process; then its group is ended.' },
  pingIdleMs: { value: 10_000, unit: 'ms', summary: 'Silence of an extension after which it is pinged. SEP says 60 s at most.' },
  pingReplyMs: { value: 5_000, unit: 'ms', summary: 'How long it may take to answer a ping.' },
  pingsMissed: { value: 2, unit: 'count', summary: 'Pings in a row without an answer that count as a crash.' },
  quarantineCrashes: { value: 3, unit: 'count', summary: 'Crashes within the window after which it is not started again by itself.' },
  quarantineWindowMs: { value: 300_000, unit: 'ms', summary: 'That window.' },
  stableMs: { value: 600_000, unit: 'ms', summary: 'After so long at work its crashes are forgotten.' },
  hookTimeoutMinMs: { value: 100, unit: 'ms', summary: 'The shortest `hook_timeout_ms`; a shorter one counts as this.' },
  hookTimeoutMaxMs: { value: 60_000, unit: 'ms', summary: 'The longest `hook_timeout_ms`; a longer one counts as this.' },
  uiAnswerMs: { value: 120_000, unit: 'ms', summary: 'How long a person may take to answer a `ui/request`; then it is cancelled.' },
  uiPending: { value: 16, unit: 'count', summary: 'Questions of one extension that wait for people.' },
  kvKeyChars: { value: 256, unit: 'count', summary: 'Characters of a key.' },
  kvValueBytes: { value: 262_144, unit: 'bytes', summary: 'One value, as JSON.' },
  kvTotalBytes: { value: 16_777_216, unit: 'bytes', summary: 'All values of one extension.' },
  kvKeys: { value: 10_000, unit: 'count', summary: 'Keys of one extension.' },
  narrowedSessions: { value: 1_000, unit: 'count', summary: 'Sessions for which one extension says by itself which tools are active.' },
  entryBytes: { value: 262_144, unit: 'bytes', summary: 'One entry of `session/append_entry`, as JSON.' },
  registrations: { value: 256, unit: 'count', summary: 'Items of one kind that one extension registers.' },
} as const satisfies Record<string, LimitRow>;
export type SepLimitName = keyof typeof limits;

/** Waits before an extension that crashed is started again; then it has failed. */
export const restartDelaysMs = [1_000, 5_000, 25_000] as const;

/** Variables of the host that an extension is started with, where they are set. The manifest adds to them. */
export const inheritedEnv = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TMPDIR', 'TERM', 'SystemRoot'] as const;

/** What a variable may be called that a manifest sets. Which names it may not set, the host says. */
export function isEnvName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name);
}

/**
 * Folders whose children are extensions, where they have a manifest: below the home of the gateway, and below a workspace. Of two
 * with one name, that of the workspace holds, and of two there the one that is found first.
 */
export const extensionFolders = { home: ['extensions'], workspace: ['.tenon/extensions', '.smooth/extensions'] } as const;

export const EXTENSION_MANIFEST_FILE = 'extension.toml';
/** Keys of package.json that hold the same as JSON, the first one that is there. */
export const PACKAGE_JSON_KEYS = ['tenon', 'smooth'] as const;
