// For test/security/intrinsics.test.ts, as a process of its own: replaces methods that everything is built on, as a plugin inside the
// gateway can, and then asks dispatch and the HTTP side for what the credential may not do. Prints what came of it.
import { handlers } from '../../packages/gateway/src/rpc/handlers.ts';
import { createDispatch } from '../../packages/gateway/src/rpc/dispatch.ts';
import { createPrincipal } from '../../packages/gateway/src/rpc/principal.ts';
import { authorize } from '../../packages/gateway/src/net/authorize.ts';

const yes = () => true;
const all = () => ({ scope: 'any', has: yes });
/** What is replaced, where, and by what. */
const patches: readonly (readonly [name: string, owner: object, key: string, by: () => unknown])[] = [
  ['Set.has', Set.prototype, 'has', yes],
  ['Array.includes', Array.prototype, 'includes', yes],
  ['Array.some', Array.prototype, 'some', yes],
  ['Array.every', Array.prototype, 'every', yes],
  ['Map.get', Map.prototype, 'get', all],
  ['Map.has', Map.prototype, 'has', yes],
  ['Object.hasOwn', Object, 'hasOwn', yes],
];
const stringify = JSON.stringify;
const parse = JSON.parse;

const services = { log: { error: () => {} }, clock: { now: () => 0 }, plugins: () => undefined };
const dispatch = createDispatch(handlers, services as never, { describe: () => {}, count: () => {} } as never);
const connect = (principal: object) => ({ principal, revoked: false }) as never;
async function codeOf(method: string, params: object, principal: object): Promise<string> {
  const { text } = await dispatch({ type: 'req', id: '1', method, params } as never, connect(principal));
  return (parse(text) as { error?: { code: string } }).error?.code ?? 'ok';
}

async function overHttp(reader: object): Promise<string> {
  const parts = { auth: { bearer: async () => reader }, connections: { revocations: 0, revokedSince: () => false } };
  return authorize({ headers: {} } as never, {} as never, { scope: 'operator.admin' }, parts as never).then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );
}

async function tryAll(): Promise<Record<string, string>> {
  const reader = createPrincipal({ id: 'token:r', method: 'token', scopes: ['operator.read'] });
  const bound = createPrincipal({ id: 'token:b', method: 'token', scopes: ['operator.read'], sessionKey: 'agent:main:mine' });
  return {
    approvals: await codeOf('approvals.list', {}, reader),
    audit: await codeOf('audit.list', {}, reader),
    shutdown: await codeOf('gateway.shutdown', {}, reader),
    unknown: await codeOf('constructor', {}, reader),
    elsewhere: await codeOf('sessions.get', { key: 'agent:main:other' }, bound),
    unbound: await codeOf('status', {}, bound),
    http: await overHttp(reader),
  };
}

const told: Record<string, Record<string, string>> = { nothing: await tryAll() };
for (const [name, owner, key, by] of patches) {
  const original = Reflect.get(owner, key) as unknown;
  Reflect.set(owner, key, by);
  const outcome = await tryAll();
  Reflect.set(owner, key, original);
  told[name] = outcome;
}
process.stdout.write(stringify(told));
