// Loads one plugin: runs its module and its `register`, and keeps or undoes everything together. The old load, if there is
// one, ends in the same step in which the new one begins, so that at no moment both are asked.
import type { PluginManifest } from '@tenon/protocol';
import type { RegisterApi } from '@tenon/plugin-sdk';
import type { Clock } from '../kernel/clock.ts';
import { placed, type PluginCaller } from './call-plugin.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import type { Found } from './discover.ts';
import type { HookRegistry } from './hook-registry.ts';
import { shortText, stackOf } from './error-text.ts';
import { loadModule, placeIn } from './load-module.ts';
import { createRuntimeApi, type PluginApiDeps } from './plugin-api.ts';
import type { PluginLoad } from './plugin-load.ts';
import { runAsPlugin } from './plugin-scope.ts';
import { createPluginServices, type PluginServices } from './plugin-services.ts';
import { createRegisterApi } from './register-api.ts';
import type { Accepted, ExtensionRun } from './sep/extension-run.ts';

export interface LoadDeps extends PluginApiDeps {
  readonly clock: Clock;
  readonly caller: PluginCaller;
  readonly registry: ContributionRegistry;
  readonly hookRegistry: HookRegistry;
}

export interface Module {
  readonly id: string;
  readonly register: (api: RegisterApi) => unknown;
  readonly patchActions: Readonly<Record<string, unknown>>;
}

const IMPORT_TIMEOUT_MS = 30_000;

/** Why a plugin cannot be loaded; the text is for the operator. */
export class LoadError extends Error {}

export async function runModule(found: Found, generation: number, clock: Clock, accepted: Accepted): Promise<Module> {
  const { entry, folder, manifest, exported: given, extension } = found;
  if (given !== undefined) return readExport(given, manifest);
  if (extension) return readExport(await prepare(extension, accepted), manifest);
  const overdue = Promise.withResolvers<never>();
  const timer = clock.after(IMPORT_TIMEOUT_MS, () =>
    overdue.reject(new LoadError(`its module did not load within ${IMPORT_TIMEOUT_MS} ms`)),
  );
  let exported: unknown;
  try {
    const loading = runAsPlugin({ plugin: manifest.id, generation }, loadModule, entry, folder, generation);
    exported = (await Promise.race([loading, overdue.promise])).default;
  } catch (error) {
    throw error instanceof LoadError ? error : new LoadError(`its module threw: ${shortText(error)}${seenAt(placeIn(stackOf(error)))}`);
  } finally {
    timer.cancel();
  }
  return readExport(exported, manifest);
}

async function prepare(extension: ExtensionRun, accepted: Accepted): Promise<unknown> {
  try {
    return await extension.prepare(accepted);
  } catch (error) {
    throw new LoadError(shortText(error));
  }
}

function readExport(exported: unknown, manifest: PluginManifest): Module {
  try {
    if (typeof exported !== 'object' || exported === null)
      throw new LoadError('its module has no default export made by definePluginEntry');
    const { id, register, sessionsPatchExtensions } = exported as Record<string, unknown>;
    if (id !== manifest.id)
      throw new LoadError(`its module says that its id is "${String(id).slice(0, 64)}", its manifest "${manifest.id}"`);
    if (typeof register !== 'function') throw new LoadError('its default export has no register function');
    const patchActions =
      typeof sessionsPatchExtensions === 'object' && sessionsPatchExtensions !== null ? { ...sessionsPatchExtensions } : {};
    return { id, register: (api) => Reflect.apply(register, exported, [api]) as unknown, patchActions };
  } catch (error) {
    throw error instanceof LoadError ? error : new LoadError(`its default export cannot be read: ${shortText(error)}`);
  }
}

/** Contract: synchronous. On a LoadError nothing of the load is left. */
export function registerPlugin(load: PluginLoad, module: Module, deps: LoadDeps): PluginServices {
  const { plugin } = load.facts;
  const runtime = createRuntimeApi(load, deps);
  const registering = createRegisterApi(load, runtime, deps);
  const answer = deps.caller.call(
    placed(plugin, 'register'),
    (api: RegisterApi) => module.register(api),
    registering.api,
    () => ({ value: undefined }),
  );
  if (answer instanceof Promise || !answer.ok) {
    load.end('it was not loaded');
    throw new LoadError(
      answer instanceof Promise
        ? 'its register is asynchronous; it must return nothing, so do what waits in a service or in a handler'
        : `its register threw: ${answer.message}${seenAt(answer.at)}`,
    );
  }
  for (const [action, given] of Object.entries(module.patchActions)) registering.add('sessionsPatchAction', patchAction(action, given));
  registering.close();
  const services = deps.registry.all('service').filter((each) => each.plugin === plugin);
  return createPluginServices(
    load,
    services.map(({ item }) => item),
    deps.caller,
    runtime.logger,
  );
}

function seenAt(place: string | undefined): string {
  return place === undefined ? '' : `, at ${place}`;
}

/** A handler alone, or with the scopes that it asks for. */
function patchAction(action: string, given: unknown): unknown {
  return typeof given === 'object' && given !== null ? { ...given, action } : { action, handler: given };
}
