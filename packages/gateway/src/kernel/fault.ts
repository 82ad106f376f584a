// Named points where a test can end the process as kill -9 would. In normal running each costs one comparison.
// TENON_FAULT=<name>[:<nth time>] arms one point.

const [armedName, nth = '1'] = (process.env.TENON_FAULT ?? '').split(':');
let remaining = Number(nth);

export function faultpoint(name: string): void {
  if (!armedName || name !== armedName) return;
  remaining--;
  if (remaining > 0) return;
  process.kill(process.pid, 'SIGKILL');
  // SIGKILL reaches a thread that is busy a little later: nothing may happen in between.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000);
}
