// Names for new things, and the digests that stand for secrets and bodies.
import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 128 random bits in base64url unless told otherwise. Never begins with `-`: people type ids as arguments. */
export function randomId(bytes = 16): string {
  for (;;) {
    const id = randomBytes(bytes).toString('base64url');
    if (!id.startsWith('-')) return id;
  }
}

export function sha256(text: string): string {
  return hash('sha256', text);
}

/** Compares digests, never the secrets themselves: all inputs have one length, so time tells nothing. */
export function sameDigest(a: string, b: string): boolean {
  const left = createHash('sha256').update(a).digest();
  const right = createHash('sha256').update(b).digest();
  return timingSafeEqual(left, right);
}
