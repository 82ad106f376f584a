// Every bound that a peer can run into. The gateway enforces them from here, the docs print them from here.

interface LimitSpec {
  readonly value: number;
  readonly unit: 'bytes' | 'ms' | 'count';
  readonly summary: string;
}

export const limits = {
  preAuthFrameBytes: { value: 16_384, unit: 'bytes', summary: 'All that a client may send before it is authenticated.' },
  maxPayload: { value: 1_048_576, unit: 'bytes', summary: 'One frame, after authentication.' },
  maxBufferedBytes: { value: 1_048_576, unit: 'bytes', summary: 'What may wait to be sent to one client before it counts as slow.' },
  maxInFlight: { value: 256, unit: 'count', summary: 'Requests of one connection that are not answered yet.' },
  maxInFlightBytes: { value: 4_194_304, unit: 'bytes', summary: 'Bytes of those requests together.' },
  maxConnections: { value: 2_048, unit: 'count', summary: 'Authenticated connections.' },
  preAuthSockets: { value: 64, unit: 'count', summary: 'Connections that are not authenticated yet, in total.' },
  preAuthSocketsPerAddress: { value: 8, unit: 'count', summary: 'The same, per address.' },
  handshakeTimeoutMs: { value: 5_000, unit: 'ms', summary: 'From the first byte to a finished `connect`.' },
  authFailuresPerMinute: { value: 10, unit: 'count', summary: 'Wrong credentials tried per address and minute; loopback is not exempt.' },
  refusedPerWindow: {
    value: 120,
    unit: 'count',
    summary: 'Refused requests (unknown method, bad params, no scope) of one connection per window.',
  },
  refusedWindowMs: { value: 10_000, unit: 'ms', summary: 'That window.' },
  httpHeaderBytes: { value: 16_384, unit: 'bytes', summary: 'All headers of one HTTP request.' },
  httpHeaderCount: { value: 100, unit: 'count', summary: 'Headers of one HTTP request.' },
  jsonDepth: { value: 64, unit: 'count', summary: 'Nesting of a JSON text.' },
  jsonKeys: { value: 10_000, unit: 'count', summary: 'Object keys in a JSON text.' },
  tickIntervalMs: { value: 30_000, unit: 'ms', summary: 'Between two `tick` events.' },
  pingIntervalMs: {
    value: 25_000,
    unit: 'ms',
    summary: 'Between two pings; a peer that has sent nothing at all since the last one is cut off.',
  },
  slowConsumerGraceMs: { value: 10_000, unit: 'ms', summary: 'A slow client that takes nothing for this long is closed with 1008.' },
  slowConsumerFlushMs: {
    value: 4_000,
    unit: 'ms',
    summary: 'How long a client that was closed for slowness can still read what waits for it, the reason included.',
  },
  closeGraceMs: { value: 1_000, unit: 'ms', summary: 'From our close frame to the end of the socket.' },
  deviceSkewMs: { value: 120_000, unit: 'ms', summary: 'Between the clock of a device and that of the gateway.' },
  pairingTtlMs: { value: 300_000, unit: 'ms', summary: 'A pairing request waits this long.' },
  pendingPairings: { value: 32, unit: 'count', summary: 'Pairing requests that wait at a time.' },
  maxTokens: { value: 1_000, unit: 'count', summary: 'Tokens that are neither revoked nor expired.' },
  maxDevices: { value: 1_000, unit: 'count', summary: 'Paired devices.' },
  answerRetentionMs: { value: 86_400_000, unit: 'ms', summary: 'How long the answer to an idempotency key is kept.' },
  eventRetentionCount: {
    value: 10_000,
    unit: 'count',
    summary: 'Events kept for resume, at least this many if they are younger than the retention time.',
  },
  eventRetentionMs: { value: 86_400_000, unit: 'ms', summary: 'How long an event is kept for resume.' },
  auditRetentionCount: { value: 100_000, unit: 'count', summary: 'Audit records kept; older ones are cut off with their hash as anchor.' },
  credentialRetentionMs: {
    value: 2_592_000_000,
    unit: 'ms',
    summary: 'How long a token or device is still listed after it was revoked or has expired.',
  },
  messageChars: { value: 262_144, unit: 'count', summary: 'Characters of one message.' },
  messageImages: { value: 8, unit: 'count', summary: 'Images of one message.' },
  imageBytes: { value: 4_194_304, unit: 'bytes', summary: 'One image, in base64.' },
  waitMs: { value: 600_000, unit: 'ms', summary: 'How long one `agent.wait` waits at most.' },
  httpBodyBytes: { value: 8_388_608, unit: 'bytes', summary: 'The body of one HTTP request.' },
  httpBodiesBytes: { value: 134_217_728, unit: 'bytes', summary: 'The bodies of all HTTP requests that are under way, together.' },
  httpBodyTimeoutMs: { value: 60_000, unit: 'ms', summary: 'How long the body of an HTTP request with a credential may take to arrive.' },
  completionsInFlight: { value: 256, unit: 'count', summary: 'Requests to `/v1/chat/completions` that are under way, in total.' },
  completionsPerCredential: { value: 64, unit: 'count', summary: 'The same, per credential.' },
  streamHeartbeatMs: { value: 15_000, unit: 'ms', summary: 'Between two signs of life in a streamed HTTP answer.' },
  signInTtlMs: { value: 600_000, unit: 'ms', summary: 'How long a sign-in link can be used.' },
  signInCodes: { value: 32, unit: 'count', summary: 'Sign-in links that wait to be used; the oldest makes room.' },
  signInTokenTtlMs: { value: 2_592_000_000, unit: 'ms', summary: 'How long a browser stays signed in.' },
  importBytes: { value: 67_108_864, unit: 'bytes', summary: 'The body of one import of a session.' },
  importEntries: { value: 100_000, unit: 'count', summary: 'Entries of one import of a session.' },
  queuedRuns: { value: 100, unit: 'count', summary: 'Messages that wait in one session.' },
  runRetentionMs: { value: 2_592_000_000, unit: 'ms', summary: 'How long a run is known by its id after it has ended.' },
  approvalRetentionMs: { value: 2_592_000_000, unit: 'ms', summary: 'How long an approval is listed after it was settled.' },
  transcriptRetentionMs: { value: 2_592_000_000, unit: 'ms', summary: 'How long the transcript that a reset left behind is kept.' },
  usageRetentionMs: { value: 34_560_000_000, unit: 'ms', summary: 'How long the daily sums of tokens and cost are kept.' },
  pluginStateBytes: { value: 262_144, unit: 'bytes', summary: 'One value that a plugin keeps in a session, as JSON.' },
  pluginStateTotalBytes: { value: 16_777_216, unit: 'bytes', summary: 'All that one plugin keeps in one session.' },
  pluginInjections: { value: 32, unit: 'count', summary: 'What one plugin has queued for the next turn of one session.' },
  pluginGrants: { value: 512, unit: 'count', summary: 'Grants that one plugin holds.' },
  pluginConfigBytes: { value: 262_144, unit: 'bytes', summary: 'The configuration of one plugin, as JSON.' },
  pageSize: { value: 200, unit: 'count', summary: 'Rows of one page of a list.' },
} as const satisfies Record<string, LimitSpec>;

export type LimitName = keyof typeof limits;
