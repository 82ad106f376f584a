import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError, limits, type Scope } from '@tenon/protocol';
import { createSignIn } from './signin.ts';

function world() {
  let now = 1_000_000;
  const clock = { now: () => now, monotonic: () => now, after: () => ({ cancel() {} }), every: () => ({ cancel() {} }) };
  const signIn = createSignIn({ clock, gatewayUrl: () => 'http://127.0.0.1:1' });
  const admin = new Set<Scope>(['operator.admin', 'operator.read', 'operator.write', 'operator.approvals', 'operator.pairing']);
  const create = (by = 'token:a') => signIn.create({ scopes: ['operator.write'], by, held: admin });
  const codeOf = (id: string) => signIn.url(id)?.replace('http://127.0.0.1:1/#code=', '') ?? '';
  const pass = (ms: number) => {
    now += ms;
  };
  return { signIn, create, codeOf, pass };
}

test('a code has 128 bits, is in the fragment of the link, and finds its grant', () => {
  const { signIn, create, codeOf } = world();
  const grant = create();
  assert.match(signIn.url(grant.id) ?? '', /^http:\/\/127\.0\.0\.1:1\/#code=[\w-]{22}$/);
  assert.deepEqual(signIn.find(codeOf(grant.id)), grant);
  assert.equal(signIn.find('x'), undefined);
  assert.notEqual(codeOf(create().id), codeOf(grant.id));
});

test('a code is used up by taking it, and can be put back', () => {
  const { signIn, create, codeOf } = world();
  const grant = create();
  const code = codeOf(grant.id);
  assert.equal(signIn.take(grant), true);
  assert.equal(signIn.take(grant), false);
  assert.equal(signIn.find(code), undefined);
  assert.equal(signIn.url(grant.id), undefined, 'a used link is not given again');
  signIn.putBack(grant);
  assert.equal(signIn.find(code), grant);
});

test('a code ends with its time, and with the credential of its maker', () => {
  const { signIn, create, codeOf, pass } = world();
  const [first, second] = [create('token:a'), create('token:b')];
  const codes = [codeOf(first.id), codeOf(second.id)];
  signIn.forget('token:a');
  assert.deepEqual(
    codes.map((code) => signIn.find(code)?.by),
    [undefined, 'token:b'],
  );
  pass(limits.signInTtlMs.value - 1);
  assert.equal(signIn.find(codes[1] ?? ''), second);
  pass(1);
  assert.equal(signIn.find(codes[1] ?? ''), undefined);
  assert.equal(signIn.url(second.id), undefined);
});

test('so many codes wait, and the oldest makes room', () => {
  const { signIn, create, codeOf } = world();
  const first = create();
  const code = codeOf(first.id);
  for (let n = 1; n < limits.signInCodes.value; n++) create();
  assert.equal(signIn.find(code), first);
  create();
  assert.equal(signIn.find(code), undefined);
});

test('a code is never wider than what its maker holds', () => {
  const { signIn } = world();
  const make = (scopes: Scope[], held: Scope[]) => () => signIn.create({ scopes, by: 'x', held: new Set(held) });
  assert.throws(make(['operator.admin'], ['operator.pairing']), (error) => error instanceof GatewayError && error.code === 'SCOPE');
  assert.throws(make(['operator.write'], ['operator.write', 'operator.pairing']), GatewayError, 'write implies read');
  assert.doesNotThrow(make(['operator.pairing'], ['operator.pairing']));
});
