// Plugins in the process of the gateway are trusted with it. What is cheap to keep from a careless or hostile one is kept all the same.
import { mintToken } from '../../security/harness.ts';
import { doer, openHostile } from '../../support/hostile.ts';
import { connectRaw } from '../../support/raw-client.ts';
import { type Attack, broke, held, noneOf } from '../attack.ts';

export const pluginAttacks: readonly Attack[] = [
  {
    id: 'R14',
    tried: 'a plugin calls process.exit(0): a supervisor that restarts on failure must notice',
    async run(world) {
      const hostile = await openHostile([doer('leaver', `setTimeout(() => process.exit(0), 50);`)]);
      world.after(() => hostile[Symbol.asyncDispose]());
      await hostile.poke('leaver').catch(() => undefined);
      const { code, signal } = await hostile.gateway.exited;
      return code === 0 ? broke('the gateway ended with code 0') : held(`the gateway ended with ${signal ?? code}`);
    },
  },
  {
    id: 'S23',
    tried: 'a plugin replaces Set.prototype.has, Array.prototype.includes and the like: a token that may read asks for more',
    async run(world) {
      const hostile = await openHostile([
        doer(
          'patcher',
          `Set.prototype.has = () => true; Map.prototype.has = () => true; Array.prototype.includes = () => true; Array.prototype.some = () => true; Array.prototype.every = () => true; Array.prototype.indexOf = () => 0; Object.hasOwn = () => true;`,
        ),
      ]);
      world.after(() => hostile[Symbol.asyncDispose]());
      const { token } = await mintToken(hostile.operator, ['operator.read']);
      const client = await connectRaw(hostile.gateway.socketUrl, token);
      world.after(() => client.close());
      const methods = ['approvals.list', 'audit.list', 'tokens.list'];
      const allowed = async () => {
        const found: string[] = [];
        for (const method of methods) {
          const answer = await Promise.race([
            client.request(method, {}),
            new Promise<{ ok: false }>((resolve) => setTimeout(() => resolve({ ok: false }), 5_000).unref()),
          ]).catch(() => ({ ok: false }));
          if (answer.ok) found.push(`${method} was answered`);
        }
        return found;
      };
      if ((await allowed()).length > 0) throw new Error('it was allowed before');
      await Promise.race([hostile.poke('patcher'), new Promise((resolve) => setTimeout(resolve, 3_000).unref())]).catch(() => undefined);
      return noneOf(await allowed(), 'refused as before');
    },
  },
  {
    id: 'S23',
    tried: 'a plugin replaces Set.prototype.has alone: a token that may read asks for more',
    async run(world) {
      const hostile = await openHostile([
        doer(
          'patcher',
          `const has = Set.prototype.has; Set.prototype.has = function (value) { return String(value).startsWith('operator.') || has.call(this, value); };`,
        ),
      ]);
      world.after(() => hostile[Symbol.asyncDispose]());
      const { token } = await mintToken(hostile.operator, ['operator.read']);
      const client = await connectRaw(hostile.gateway.socketUrl, token);
      world.after(() => client.close());
      await hostile.poke('patcher');
      const found: string[] = [];
      for (const method of ['approvals.list', 'audit.list', 'tokens.list'])
        if ((await client.request(method, {})).ok) found.push(`${method} was answered`);
      return noneOf(found, 'refused as before');
    },
  },
];
