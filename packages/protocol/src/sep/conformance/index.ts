// What an implementation of the extension protocol can be tested with.
export { blocks, examples, furtherRegistrations, type Examples } from './examples.ts';
