// Runs the module of a plugin, anew for each generation: the modules of its folder carry the generation in their address, so
// that a reload never gets old code. A plugin finds `@tenon/plugin-sdk` wherever its folder is.
import { createRequire, registerHooks } from 'node:module';
import { extname, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as sdk from '@tenon/plugin-sdk';
import { visible } from '@tenon/protocol';

const SDK = '@tenon/plugin-sdk';
const SDK_ADDRESS = 'tenon:plugin-sdk';
const IMPORT_ADDRESS = 'tenon:import';
const GENERATION = 'tenon-generation';
const SHARED = Symbol.for('tenon.plugin-sdk');

/** Plugins are ES modules whatever a package.json says: CommonJS would be remembered by its path, and never be loaded anew. */
const FORMATS: Readonly<Record<string, string>> = {
  '.js': 'module',
  '.mjs': 'module',
  '.ts': 'module-typescript',
  '.mts': 'module-typescript',
};

type ImportModule = (address: string) => Promise<{ readonly default?: unknown }>;

let importModule: ImportModule | undefined;

/** The namespace of the module. Rejects with whatever the module throws. */
export async function loadModule(entry: string, folder: string, generation: number): Promise<{ readonly default?: unknown }> {
  importModule ??= prepare();
  const address = pathToFileURL(entry);
  address.searchParams.set(GENERATION, `${generation}:${folder}`);
  return importModule(address.href);
}

/** Once for the process: hooks of Node's loader that touch nothing but modules of plugins and our own two. */
function prepare(): ImportModule {
  Object.defineProperty(globalThis, SHARED, { value: sdk, configurable: true });
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === IMPORT_ADDRESS) return { url: IMPORT_ADDRESS, format: 'module', shortCircuit: true };
      const mark = markIn(specifier) ?? markIn(context.parentURL);
      if (mark === undefined) return nextResolve(specifier, context);
      if (specifier === SDK) return { url: SDK_ADDRESS, format: 'module', shortCircuit: true };
      const resolved = nextResolve(specifier, context);
      if (!resolved.url.startsWith('file:')) return resolved;
      const url = new URL(resolved.url);
      const path = fileURLToPath(url);
      const folder = mark.slice(mark.indexOf(':') + 1);
      // What a plugin brings along from others is what it is, and stays loaded.
      if (!path.startsWith(`${folder}${sep}`) || path.slice(folder.length).includes(`${sep}node_modules${sep}`)) return resolved;
      url.searchParams.set(GENERATION, mark);
      const format = FORMATS[extname(path)];
      return { ...resolved, url: url.href, ...(format === undefined ? {} : { format }) };
    },
    load(url, context, nextLoad) {
      if (url === IMPORT_ADDRESS)
        return { format: 'module', shortCircuit: true, source: 'export const load = (address) => import(address);' };
      if (url !== SDK_ADDRESS) return nextLoad(url, context);
      const lines = Object.keys(sdk).map((name) => `export const ${name} = sdk.${name};`);
      return {
        format: 'module',
        shortCircuit: true,
        source: `const sdk = globalThis[Symbol.for('tenon.plugin-sdk')];\n${lines.join('\n')}`,
      };
    },
  });
  // The program is started from a code cache, where import() is not possible; in a module of its own it is.
  return (createRequire(import.meta.url)(IMPORT_ADDRESS) as { load: ImportModule }).load;
}

/** The generation of the first module of a plugin that a stack goes through. */
export function generationIn(stack: string): number | undefined {
  const found = STACK_MARK.exec(stack)?.[1];
  return found === undefined ? undefined : Number(found);
}

const STACK_MARK = new RegExp(`${GENERATION}=([0-9]{1,15})`);

/** The first place in the code of a plugin that a stack goes through: a file with its line, for whoever has to mend it. */
export function placeIn(stack: string): string | undefined {
  const [, address, line] = STACK_PLACE.exec(stack) ?? [];
  if (address === undefined) return undefined;
  try {
    return visible(`${fileURLToPath(address)}:${line}`);
  } catch {
    return undefined;
  }
}

const STACK_PLACE = new RegExp(`(file://[^\\s?()]{1,1024})\\?${GENERATION}=[^\\s:()]{1,2048}:([0-9]{1,9})`);

/** The generation and the folder that the address of a module carries. */
function markIn(address: string | undefined): string | undefined {
  if (!address?.startsWith('file:')) return undefined;
  return new URL(address).searchParams.get(GENERATION) ?? undefined;
}
