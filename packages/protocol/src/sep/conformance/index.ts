// What an implementation of the extension protocol can be tested with.
import { anyExchanges } from './any-exchanges.ts';
import type { Exchange } from './exchange.ts';
import { referenceExchanges } from './reference-exchanges.ts';
import { seamExchanges } from './seam-exchanges.ts';

export { blocks, examples, furtherRegistrations, type Examples } from './examples.ts';
export type { Exchange, Pattern, Step } from './exchange.ts';
export { invalidFixtures, type InvalidFixture } from './invalid.ts';

export const exchanges: readonly Exchange[] = [...anyExchanges, ...referenceExchanges, ...seamExchanges];
