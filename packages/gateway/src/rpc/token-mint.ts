// Makes the secrets of tokens. A secret is derived from the home's own key and a salt, so the same answer can be given
// again to a repeated request although only the digest of the secret is stored.
import { createHmac } from 'node:crypto';
import { randomId, sha256 } from '../kernel/ids.ts';

export interface TokenMint {
  /** A new secret: what is stored of it. */
  strike(id: string): { digest: string; salt: string };
  /** The secret itself, for whoever asked for it. */
  reveal(id: string, salt: string): string;
}

export function createTokenMint(homeKey: Buffer): TokenMint {
  const reveal = (id: string, salt: string) => `tenon_${createHmac('sha256', homeKey).update(`token\n${id}\n${salt}`).digest('base64url')}`;
  return {
    reveal,
    strike(id) {
      const salt = randomId();
      return { digest: digestOf(reveal(id, salt)), salt };
    },
  };
}

export function digestOf(secret: string): string {
  return sha256(`tenon-token\n${secret}`);
}
