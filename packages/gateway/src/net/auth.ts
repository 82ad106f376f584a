// Who is it? Turns the first frame into a principal, from the record of a credential. Nothing that the client says of
// itself counts, and a credential that is present is not thereby valid.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { type ConnectParams, type DeviceProof, deviceSigningText, GatewayError, limits, type Scope, scopeNames } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { randomId, sameDigest } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { createWindow } from '../kernel/window.ts';
import type { Incidents } from '../rpc/incidents.ts';
import { createPrincipal, type Principal } from '../rpc/principal.ts';
import { digestOf } from '../rpc/token-mint.ts';
import type { Store } from '../store/store.ts';
import type { Peer } from './peer.ts';

export interface Challenge {
  readonly nonce: string;
  readonly ts: number;
}

export interface Authenticator {
  /** Throws a GatewayError that says why not. */
  connect(params: ConnectParams, challenge: Challenge, peer: Peer): Promise<Principal>;
  /** A bearer token of an HTTP request. */
  bearer(header: string | undefined, peer: Peer): Promise<Principal>;
  /** Anything else that proves something. Where it throws UNAUTHORIZED, that counts as a wrong credential of the peer. */
  attempt<Proved>(peer: Peer, prove: () => Promise<Proved>): Promise<Proved>;
}

interface AuthDeps {
  readonly mode: 'token' | 'none';
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly incidents: Incidents;
}

/** A credential's last use is noted at most this often. */
const TOUCH_EVERY_MS = 60_000;

export function createAuthenticator({ mode, store, clock, log, incidents }: AuthDeps): Authenticator {
  const failures = createWindow({ limit: limits.authFailuresPerMinute.value, windowMs: 60_000, clock });
  /** The same by forwarded address, counted at once: whom to charge is known a moment later, and asked for only here. */
  const suspects = createWindow({ limit: limits.authFailuresPerMinute.value, windowMs: 60_000, clock });
  const pairings = createWindow({ limit: limits.authFailuresPerMinute.value, windowMs: 60_000, clock });
  const everybody = createPrincipal({ id: 'none', method: 'none', scopes: ['operator.admin'] });

  async function connect(params: ConnectParams, challenge: Challenge, peer: Peer): Promise<Principal> {
    if (mode === 'none') return everybody;
    const { auth, device } = params;
    if (auth?.token !== undefined) return tryCredential(peer, () => byToken(auth.token as string));
    if (device) return tryCredential(peer, () => byDevice(device, params, challenge, peer));
    incidents.record('auth.missing', peer.address);
    throw new GatewayError('UNAUTHORIZED', 'A token or a paired device is needed', { details: { code: 'AUTH_REQUIRED' } });
  }

  /**
   * Counts wrong credentials only: who sends none at all cannot lock anybody out. Nor can who sends wrong ones: a right one is let
   * in whatever was tried before, because what is guessed has 128 bits or more, and no number of tries a second finds one. A
   * wrong one over the budget is not told that it is wrong. Only where a proxy forwards the address, which then is one of many
   * and not everybody's, a spent budget holds for right and wrong alike.
   */
  async function tryCredential<Proved>(peer: Peer, attempt: () => Promise<Proved>): Promise<Proved> {
    const isStrict = () => peer.isForwarded && suspects.waitMs(peer.address) > 0;
    if (isStrict()) checkFailures(peer, await peer.findAccount());
    const [outcome] = await Promise.allSettled([attempt()]);
    if (outcome.status === 'fulfilled') {
      // Once more: many that are tried side by side must not tell which of them is right.
      if (isStrict()) checkFailures(peer, await peer.findAccount());
      return outcome.value;
    }
    const error: unknown = outcome.reason;
    if (error instanceof GatewayError && error.code === 'UNAUTHORIZED') {
      if (peer.isForwarded) suspects.hit(peer.address);
      const account = await peer.findAccount();
      // Both at once: those that are tried side by side must not all pass before the first is counted.
      checkFailures(peer, account);
      failures.hit(account);
      incidents.record('auth.failed', peer.address, { ...(error.details as object), account });
    }
    throw error;
  }

  function checkFailures(peer: Peer, account: string): void {
    const waitMs = failures.waitMs(account);
    if (waitMs === 0) return;
    incidents.record('auth.rate-limited', peer.address, { account });
    throw new GatewayError('RATE_LIMITED', 'Too many wrong credentials', {
      retryAfterMs: waitMs,
      details: { code: 'AUTH_RATE_LIMITED' },
    });
  }

  async function byToken(token: string): Promise<Principal> {
    const at = clock.now();
    const digest = digestOf(token);
    const record = await store.read('tokens.find', { digest, at });
    if (!record) throw new GatewayError('UNAUTHORIZED', 'The token is not valid', { details: { code: 'AUTH_TOKEN_MISMATCH' } });
    if (record.lastUsedAt === null || at - record.lastUsedAt > TOUCH_EVERY_MS) {
      store.write('tokens.touch', { id: record.id, at }).catch((error: unknown) => log.warn({ error }, 'cannot note the use of a token'));
    }
    return createPrincipal({
      id: `token:${record.id}`,
      method: 'token',
      scopes: record.scopes,
      ...(record.sessionKey === null ? {} : { sessionKey: record.sessionKey }),
      ...(record.expiresAt === null ? {} : { expiresAt: record.expiresAt }),
    });
  }

  async function byDevice(device: DeviceProof, params: ConnectParams, challenge: Challenge, peer: Peer): Promise<Principal> {
    checkProof(device, params, challenge, clock.now());
    const known = await store.read('device.find', { id: device.id });
    if (!known) throw await askToPair(device, params, peer);
    if (known.publicKey !== device.publicKey)
      throw deviceError('DEVICE_AUTH_PUBLIC_KEY', 'The public key is not the one that was approved');
    const at = clock.now();
    if (known.lastSeenAt === null || at - known.lastSeenAt > TOUCH_EVERY_MS) {
      store.write('device.touch', { id: device.id, at }).catch((error: unknown) => log.warn({ error }, 'cannot note the use of a device'));
    }
    return createPrincipal({ id: `device:${device.id}`, method: 'device', scopes: known.scopes });
  }

  async function askToPair(device: DeviceProof, params: ConnectParams, peer: Peer): Promise<GatewayError> {
    const wanted = (params.scopes ?? ['operator.read']).filter((scope): scope is Scope => (scopeNames as string[]).includes(scope));
    // Each new request is an event and an audit record: nobody may fill either without a credential.
    const account = await peer.findAccount();
    const waitMs = pairings.waitMs(account);
    if (waitMs > 0) {
      incidents.record('device.pair.rate-limited', peer.address, { account });
      return new GatewayError('RATE_LIMITED', 'Too many requests to pair', {
        retryAfterMs: waitMs,
        details: { code: 'PAIRING_RATE_LIMITED' },
      });
    }
    const requestedAt = clock.now();
    const { requestId, isNew } = await store.write('pairing.request', {
      requestId: randomId(),
      deviceId: device.id,
      publicKey: device.publicKey,
      name: params.client.displayName ?? params.client.id,
      platform: params.client.platform,
      scopes: [...new Set(wanted)],
      address: peer.address,
      requestedAt,
      expiresAt: requestedAt + limits.pairingTtlMs.value,
      limit: limits.pendingPairings.value,
    });
    if (isNew) pairings.hit(account);
    return new GatewayError('NOT_PAIRED', 'This device waits for approval: tenon device approve', {
      retryAfterMs: 5_000,
      details: { code: 'PAIRING_REQUIRED', requestId },
    });
  }

  return {
    connect,
    attempt: tryCredential,
    async bearer(header, peer) {
      if (mode === 'none') return everybody;
      const token = /^Bearer ([\x21-\x7e]{1,512})$/.exec(header ?? '')?.[1];
      if (token === undefined) {
        incidents.record('auth.missing', peer.address);
        throw new GatewayError('UNAUTHORIZED', 'Send a token: Authorization: Bearer <token>', { details: { code: 'AUTH_REQUIRED' } });
      }
      return tryCredential(peer, () => byToken(token));
    },
  };
}

/** The nonce belongs to this socket and to no other, so a proof that was seen elsewhere is worth nothing. */
function checkProof(device: DeviceProof, params: ConnectParams, challenge: Challenge, now: number): void {
  if (!sameDigest(device.nonce, challenge.nonce))
    throw deviceError('DEVICE_AUTH_NONCE_MISMATCH', 'The nonce is not the one of this connection');
  if (Math.abs(device.signedAt - now) > limits.deviceSkewMs.value)
    throw deviceError('DEVICE_AUTH_SIGNATURE_EXPIRED', 'The clock of the device is too far off');
  const der = Buffer.from(device.publicKey, 'base64url');
  if (createHash('sha256').update(der).digest('hex') !== device.id)
    throw deviceError('DEVICE_AUTH_ID_MISMATCH', 'The device id is not the fingerprint of its key');
  if (!isSigned(der, deviceSigningText(device, params), device.signature))
    throw deviceError('DEVICE_AUTH_SIGNATURE_INVALID', 'The signature is not valid');
}

function isSigned(publicKey: Buffer, text: string, signature: string): boolean {
  try {
    const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ed25519' && verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

function deviceError(code: string, message: string): GatewayError {
  return new GatewayError('UNAUTHORIZED', message, { details: { code } });
}
