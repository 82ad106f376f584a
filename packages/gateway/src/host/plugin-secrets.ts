// `api.secrets.get`: a secret that the operator keeps and has granted by its name. That it was used is on record, once for
// each load; what it is never is, and from the moment it is handed out it is kept out of the log and of traces.
import type { Refused, SecretValue } from '@tenon/plugin-sdk';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { keepBack } from '../kernel/redact.ts';
import { isSecretFileName } from '../kernel/secret-files.ts';
import type { Store } from '../store/store.ts';
import { barrier, refuse } from './late-call.ts';
import { missingGrant } from './missing-grant.ts';
import type { PluginLoad } from './plugin-load.ts';

export interface SecretDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined where there is none; throws an error that says what is wrong with it. */
  readonly readSecret: (name: string) => string | undefined;
}

export function createSecrets(load: PluginLoad, deps: SecretDeps): { get(name: unknown): Promise<SecretValue | Refused> } {
  const { plugin, generation, asked } = load.facts;
  const { store, clock, log, readSecret } = deps;
  const noted = new Set<string>();

  function blocked(name: string): Refused | undefined {
    const grant = `secrets.use:${name}`;
    return barrier(load) ?? (load.holds(grant) ? undefined : refuse('not-granted', missingGrant(plugin, grant, asked)));
  }

  return {
    async get(name) {
      if (typeof name !== 'string' || !isSecretFileName(name))
        return barrier(load) ?? refuse('invalid', 'the name of a secret is up to 64 lower-case letters, digits and single dashes');
      const refused = blocked(name);
      if (refused) return refused;
      try {
        const value = readSecret(name);
        if (value === undefined)
          return refuse('unavailable', `there is no secret "${name}"; the operator sets it with: tenon secret set ${name}`);
        keepBack(value);
        if (!noted.has(name)) {
          const record = { actor: `plugin:${plugin}`, action: 'secret.use', target: name, details: { generation }, at: clock.now() };
          await store.write('audit.append', record);
          noted.add(name);
        }
        return blocked(name) ?? Object.freeze({ ok: true, value });
      } catch (error) {
        log.warn({ plugin, name, reason: error instanceof Error ? error.message : 'unknown' }, 'a secret cannot be given to a plugin');
        return refuse('unavailable', `the secret "${name}" cannot be read; the log of the gateway says why`);
      }
    },
  };
}
