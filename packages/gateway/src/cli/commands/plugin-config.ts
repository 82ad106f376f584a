import { readFile } from 'node:fs/promises';
import type { PluginDetails } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { configLines, isPart, type Part } from '../config-lines.ts';
import { quoted, usageError } from '../failure.ts';
import { type Io, readAll } from '../io.ts';
import { list, on, repeated, required, text } from '../values.ts';

export const pluginConfig = defineCommand({
  path: 'plugin config',
  summary: 'Show or change the configuration of a plugin; a change loads it anew',
  examples: [
    'plugin config guardrails',
    'plugin config guardrails --set denyCommands=\'["rm","git push"]\'',
    'plugin config guardrails --remove denyHosts',
    'plugin config guardrails --file guardrails.json',
    'plugin config guardrails --unset',
  ],
  args: { id: required('Its id') },
  options: {
    set: repeated('<key=value>', 'Set one value, as JSON or as text; a.b reaches into an object. May be repeated'),
    remove: list('<keys>', 'Remove these'),
    file: text('<file>', 'Take all of it from a JSON file; - is stdin'),
    unset: on('Take all of it back'),
  },
  async run({ args, options, out, io, call }) {
    const { set = [], remove = [], file, unset } = options;
    const ways = [set.length + remove.length > 0, file !== undefined, unset].filter(Boolean).length;
    if (ways > 1) throw usageError('--file and --unset go with nothing else');
    const assignments = set.map(assignmentOf);
    const removals = remove.map((key) => pathOf(key, '--remove'));
    const whole = file === undefined ? undefined : await readConfig(file, io);
    const { visible } = await import('@tenon/protocol');
    const { plugin } = await call('plugins.get', { id: args.id }, { id: 'the id' });
    if (ways === 0) {
      out.show({ id: plugin.id, config: plugin.config, configSchema: plugin.configSchema ?? null }, () => configLines(plugin).map(visible));
      return;
    }
    const config = unset ? null : (whole ?? changed(plugin, assignments, removals));
    const result = await call(
      'plugins.config',
      { id: plugin.id, config },
      { id: 'the id', config: file === undefined ? '--set' : '--file' },
    );
    const { id, state, reason } = result.plugin;
    out.show(result, () => [`${state} ${id}${reason === undefined ? '' : `: ${reason}`}`, ...configLines(result.plugin)].map(visible));
    return result.plugin.enabled && state !== 'loaded' ? 1 : 0;
  },
});

interface Assignment {
  readonly path: readonly string[];
  readonly typed: string;
}

function assignmentOf(given: string): Assignment {
  const at = given.indexOf('=');
  if (at < 1) throw usageError(`--set cannot be ${quoted(given)}; it must be key=value`);
  return { path: pathOf(given.slice(0, at), '--set'), typed: given.slice(at + 1) };
}

const MAX_KEY = 256;

function pathOf(key: string, flag: string): readonly string[] {
  if (key.length > MAX_KEY || key.split('.').includes(''))
    throw usageError(`${flag} cannot be ${quoted(key)}; it must be a key such as a or a.b`);
  return key.split('.');
}

function changed({ config, configSchema }: PluginDetails, set: readonly Assignment[], remove: readonly (readonly string[])[]): Part {
  const made = structuredClone(config) as Part;
  for (const { path, typed } of set) put(made, path, typedValue(typed, schemaAt(configSchema, path)));
  for (const path of remove) {
    const part = path.slice(0, -1).reduce<Part | undefined>((outer, step) => (isPart(outer?.[step]) ? outer[step] : undefined), made);
    if (!part || !Object.hasOwn(part, path.at(-1)!)) throw usageError(`--remove cannot be ${quoted(path.join('.'))}: it is not set`);
    delete part[path.at(-1)!];
  }
  return made;
}

function put(made: Part, path: readonly string[], value: unknown): void {
  let part = made;
  for (const step of path.slice(0, -1)) {
    if (!Object.hasOwn(part, step)) part[step] = {};
    const inner = part[step];
    if (!isPart(inner)) throw usageError(`--set cannot be ${quoted(path.join('.'))}: ${quoted(step)} is not an object`);
    part = inner;
  }
  // Not by assignment: a key such as __proto__ stays a key, and the gateway refuses it.
  Object.defineProperty(part, path.at(-1)!, { value, enumerable: true, configurable: true, writable: true });
}

/** A text where the schema wants one; else JSON, and what is no JSON is a text. */
function typedValue(typed: string, schema: Part | undefined): unknown {
  if (schema?.type === 'string') return typed;
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

function schemaAt(schema: unknown, path: readonly string[]): Part | undefined {
  let at = schema;
  for (const step of path) {
    const properties = isPart(at) ? at.properties : undefined;
    at = isPart(properties) && Object.hasOwn(properties, step) ? properties[step] : undefined;
  }
  return isPart(at) ? at : undefined;
}

async function readConfig(file: string, io: Io): Promise<Part> {
  const content =
    file === '-'
      ? await readAll(io.stdin)
      : await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
          throw usageError(`--file ${quoted(file)} cannot be read: ${error.code ?? error.message}`);
        });
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch (error) {
    throw usageError(`--file ${quoted(file)} is not JSON: ${(error as Error).message}`);
  }
  if (!isPart(parsed)) throw usageError(`--file ${quoted(file)} must hold a JSON object`);
  return parsed;
}
