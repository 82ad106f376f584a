// The clock that a test moves by hand.
export { createManualClock, type ManualClock } from '../../packages/gateway/src/testing/manual-clock.ts';
