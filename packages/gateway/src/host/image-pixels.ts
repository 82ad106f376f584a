// Images that claim more pixels than anybody is shown: a few bytes that would be gigabytes for whoever unpacks them.
import { limits } from '@tenon/protocol';
import { imageSizeOf } from '../kernel/image-size.ts';

/** Why it is not shown; undefined when it can be, or says nothing of its size. */
export function tooManyPixels(bytes: Buffer): string | undefined {
  const size = imageSizeOf(bytes);
  if (!size || size.width * size.height <= limits.imagePixels.value) return undefined;
  return `has ${size.width} x ${size.height} pixels; an image that is shown has ${limits.imagePixels.value} at most`;
}
