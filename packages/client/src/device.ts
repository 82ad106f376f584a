// A device identity: an ed25519 key pair whose public half the gateway knows by its fingerprint. The helper here uses
// WebCrypto, which Node and browsers share (browsers only on https or localhost). Where to keep the key is the caller's business.

/** What `createClient` needs of a device. `sign` gives the ed25519 signature over the UTF-8 text, in base64url. */
export interface DeviceIdentity {
  /** SHA-256 of the public key's SPKI DER, in hex. */
  readonly id: string;
  /** SPKI DER, in base64url. */
  readonly publicKey: string;
  sign(text: string): Promise<string> | string;
}

/** The private key as a JWK: keep it like a password. */
export interface DeviceJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d: string;
}

export interface ExportableDeviceIdentity extends DeviceIdentity {
  exportJwk(): DeviceJwk;
}

const ALGORITHM = { name: 'Ed25519' };

/** With a JWK from `exportJwk`, the same device again; without, a new one. Throws where WebCrypto is missing or the JWK is not such a key. */
export async function createDeviceIdentity(stored?: DeviceJwk): Promise<ExportableDeviceIdentity> {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) throw new Error('Cannot make a device identity: WebCrypto needs https or localhost');

  const jwk = stored ? pick(stored) : await generate(subtle);
  const { kty, crv, x } = jwk;
  const privateKey = await subtle.importKey('jwk', { ...jwk }, ALGORITHM, false, ['sign']);
  const publicKey = await subtle.importKey('jwk', { kty, crv, x }, ALGORITHM, true, ['verify']);
  const spki = new Uint8Array(await subtle.exportKey('spki', publicKey));
  const digest = new Uint8Array(await subtle.digest('SHA-256', spki));

  return {
    id: Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''),
    publicKey: base64url(spki),
    async sign(text) {
      return base64url(new Uint8Array(await subtle.sign(ALGORITHM, privateKey, new TextEncoder().encode(text))));
    },
    exportJwk: () => ({ ...jwk }),
  };
}

async function generate(subtle: typeof globalThis.crypto.subtle): Promise<DeviceJwk> {
  const pair = (await subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as { privateKey: Parameters<typeof subtle.exportKey>[1] };
  return pick((await subtle.exportKey('jwk', pair.privateKey)) as DeviceJwk);
}

// Only the key: `ext`, `key_ops` and `alg` of a stored JWK differ between platforms and would restrict the import.
function pick({ kty, crv, x, d }: DeviceJwk): DeviceJwk {
  return { kty, crv, x, d };
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
