import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallTimeout, ConnectionError, ProtocolError, TooManyCalls } from '@tenon/client';
import { errorCodes, GatewayError, type ErrorCode } from '@tenon/protocol';
import { ConfigError } from '../config.ts';
import { StartError } from '../gateway.ts';
import { CliError, describeFailure, exitCodes, usageError } from './failure.ts';

test('every code of the protocol has an exit code: denied is 4, the rest is 1', () => {
  const denied: readonly ErrorCode[] = ['UNAUTHORIZED', 'SCOPE', 'NOT_PAIRED', 'FORBIDDEN_ORIGIN'];
  for (const code of errorCodes) {
    const failure = describeFailure(new GatewayError(code, 'no'));
    assert.equal(failure.exitCode, denied.includes(code) ? exitCodes.denied : exitCodes.failed, code);
    assert.equal(failure.code, code);
  }
});

test('whatever else can be thrown has its exit code and its own code', () => {
  const cases: readonly [unknown, exitCode: number, code: string][] = [
    [new ConnectionError('UNREACHABLE', 'no'), 5, 'UNREACHABLE'],
    [new ConnectionError('LOST', 'no'), 5, 'LOST'],
    [new ConnectionError('REVOKED', 'no'), 4, 'REVOKED'],
    [new CallTimeout('health', 5), 1, 'TIMEOUT'],
    [new ProtocolError('no', {}), 1, 'PROTOCOL'],
    [new TooManyCalls('no'), 1, 'UNAVAILABLE'],
    [new ConfigError('flag', 'no'), 2, 'CONFIG'],
    [new ConfigError('environment', 'no'), 2, 'CONFIG'],
    [new ConfigError('file', 'no'), 1, 'CONFIG'],
    [new StartError('no', 3), 3, 'LOCKED'],
    [new StartError('no', 2), 2, 'USAGE'],
    [new StartError('no', 1), 1, 'FAILED'],
    [new CliError('NEEDS_CONSENT', exitCodes.needsConsent, 'no'), 6, 'NEEDS_CONSENT'],
    [usageError('no'), 2, 'USAGE'],
    [new Error('no'), 1, 'INTERNAL'],
    [Object.assign(new Error('no'), { code: 'ENOSPC' }), 1, 'ENOSPC'],
    ['no', 1, 'INTERNAL'],
  ];
  for (const [error, exitCode, code] of cases) {
    const failure = describeFailure(error);
    assert.deepEqual([failure.exitCode, failure.code], [exitCode, code]);
  }
});

test('a refusal says what to do next', () => {
  const scope = describeFailure(new GatewayError('SCOPE', 'no', { details: { missingScope: 'operator.write' } }));
  assert.match(scope.hint ?? '', /--scope operator\.write/);
  const pairing = describeFailure(new GatewayError('NOT_PAIRED', 'no', { details: { requestId: 'abc' } }));
  assert.match(pairing.hint ?? '', /tenon device approve abc/);
  assert.equal(describeFailure(new GatewayError('NOT_FOUND', 'Cannot find session "x"')).hint, 'list them with: tenon session ls');
  assert.equal(describeFailure(new GatewayError('NOT_FOUND', 'Cannot find run "x"')).hint, undefined);
  const locked = new GatewayError('RATE_LIMITED', 'no', { retryAfterMs: 41_200, details: { code: 'AUTH_RATE_LIMITED' } });
  assert.deepEqual(describeFailure(locked), { code: 'RATE_LIMITED', message: 'no', hint: 'wait 42 s and try again', exitCode: 4 });
  assert.match(describeFailure(new ConnectionError('UNREACHABLE', 'no')).hint ?? '', /tenon start/);
});
