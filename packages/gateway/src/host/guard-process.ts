// Stands where the process would end because of something that nobody caught. What is of a plugin is taken from there; what
// is of the gateway itself ends the process as before, because nobody knows what state it is in.
import { inspect } from 'node:util';
import type { Log } from '../kernel/log.ts';
import type { PluginFaults } from './plugin-faults.ts';
import { scopeNow } from './plugin-scope.ts';

/** For as long as the process lasts: what was loaded once may have timers when the gateway has closed. */
export function guardProcess(faults: PluginFaults, log: Log): void {
  function end(error: unknown): void {
    log.fatal({ error }, 'the gateway ends: something of its own was thrown and nobody caught it');
    process.stderr.write(`${inspect(error)}\n`);
    process.exit(1);
  }
  const onThrown = (error: unknown, origin: NodeJS.UncaughtExceptionOrigin): void => {
    // A rejection that nobody handled arrives here only where the other listener is not there.
    if (!faults.take(error, origin === 'unhandledRejection' ? 'rejected' : 'threw', scopeNow())) end(error);
  };
  const onRejected = (reason: unknown): void => {
    if (!faults.take(reason, 'rejected', scopeNow())) end(reason);
  };
  // The code of the process is set where it was started. Here is known who ended it: this runs in the call that did.
  process.on('exit', (code) => {
    const scope = scopeNow();
    if (!scope) return;
    log.fatal({ ...scope, code }, 'the gateway ends: a plugin has ended the process');
    process.stderr.write(`Plugin ${scope.plugin} has ended the process of the gateway with process.exit(${code})\n`);
  });
  process.on('uncaughtException', onThrown);
  process.on('unhandledRejection', onRejected);
}
