// What must not be written down, wherever something is kept for people to read: fields whose name says that they hold a
// secret, and texts that look like one. The log and the trace of plugins both go by it.

export const CENSORED = '***';

/** As the log knows them: at the top of a record and one level below it. */
const LOGGED = ['token', 'auth', 'secret', 'password', 'apiKey', 'authorization', 'cookie'] as const;

export const logRedaction = { paths: LOGGED.flatMap((name) => [name, `*.${name}`]), censor: CENSORED };

const SECRET_NAME =
  /(?:^auth|token|api_?key|access_?key|private_?key|password|passwd|passphrase|secret|secrets|authorization|cookie|credential|credentials)$/;

/** `apiKey`, `API_KEY`, `x-api-key`, `refreshToken`; not `maxTokens`, which is an amount. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.toLowerCase().replaceAll('-', '_'));
}

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${CENSORED}`],
  [/\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abeprs]|AKIA|AIza)[-_]?[A-Za-z0-9_-]{12,}/g, CENSORED],
  [
    /\b((?:[a-z]{1,24}[_-]){0,4}(?:token|api[_-]?key|password|passwd|secret|authorization))(["']?\s*[=:]\s*["']?)[^\s"',;&]{4,}/gi,
    `$1$2${CENSORED}`,
  ],
  [/(\b[a-z][a-z0-9+.-]{0,24}:\/\/[^\s/:@]{0,256}):[^\s/@]{1,256}@/gi, `$1:${CENSORED}@`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, CENSORED],
];

/** Values that were handed out as secrets. Of the whole process, as the log is: whoever writes something down goes by them. */
const handedOut = new Set<string>();
const MAX_HANDED_OUT = 1_000;
/** Below this a value is no secret, and taking it out would only spoil the text. */
const MIN_SECRET = 4;

/** From now on it is taken out of what is written down. */
export function keepBack(secret: string): void {
  for (const form of formsOf(secret)) {
    handedOut.delete(form);
    handedOut.add(form);
  }
  for (const oldest of handedOut) {
    if (handedOut.size <= MAX_HANDED_OUT) break;
    handedOut.delete(oldest);
  }
}

/** The text without values that were handed out as secrets. */
export function hideHandedOut(text: string): string {
  let clean = text;
  for (const value of handedOut) if (clean.includes(value)) clean = clean.replaceAll(value, CENSORED);
  return clean;
}

/** The same for a value: every text in it. */
export function hideHandedOutIn<Value>(value: Value): Value {
  return handedOut.size === 0 ? value : (cleanOf(value) as Value);
}

function cleanOf(value: unknown): unknown {
  if (typeof value === 'string') return hideHandedOut(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cleanOf);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [hideHandedOut(key), cleanOf(each)]));
}

/** The text without what looks like a secret. Before it is cut: half a key is a key too. */
export function hideSecrets(text: string): string {
  let clean = hideHandedOut(text);
  for (const [shape, shown] of SHAPES) clean = clean.replace(shape, shown);
  return clean;
}

/** The text without these secrets, however they are written in it. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const form of secrets.flatMap(formsOf)) clean = clean.replaceAll(form, CENSORED);
  return clean;
}

/** A secret in every form in which it may stand somewhere; nothing for what is too short to be one. */
function formsOf(secret: string): string[] {
  if (secret.length < MIN_SECRET) return [];
  return [...new Set([secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)])];
}
