import type { PluginMethod } from '@tenon/client';
import type { JsonValue, MethodName, Params } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { quoted, unknownWord, usageError } from '../failure.ts';
import { readAll } from '../io.ts';
import { jsonLine } from '../output.ts';
import { text } from '../values.ts';

export const call = defineCommand({
  path: 'call',
  summary: 'Call a method; without one, list them',
  examples: ['call', 'call health', `call sessions.list '{"limit": 5}'`, 'call sessions.create - < params.json', 'call plugin.hello.greet'],
  args: {
    method: {
      summary: 'Its name',
      count: 'optional',
      parse: (given: string) => given,
      choices: async () => (await import('@tenon/protocol')).methodNames,
    },
    json: { summary: 'Its params as JSON, or - for stdin', count: 'optional', parse: (given: string) => given },
  },
  options: { key: text('<key>', 'Idempotency key: a repeat with the same key gets the first answer back') },
  async run(context) {
    const { args, options, globals, out } = context;
    if (args.method === undefined) return listMethods(context);
    const { explain, isMethodName, methodNames, methodRow } = await import('@tenon/protocol');
    const { method } = args;
    if (isPluginMethod(method)) return callPlugin(method, args.json, options.key, context);
    if (!isMethodName(method)) {
      throw await unknownWord(`Unknown method ${quoted(method)}`, method, methodNames, 'list them with: tenon call');
    }
    if (args.json === '-' && globals.token === '-') throw usageError('--token and the params cannot both be read from stdin');
    const params = await parseParams(args.json === '-' ? await readAll(context.io.stdin) : (args.json ?? '{}'));
    if (options.key !== undefined) {
      if (methodRow(method).repeat !== 'keyed') throw usageError(`--key has no meaning for ${method}: it has no side effect`);
      await context.check(method, { idempotencyKey: options.key } as Params<MethodName>, { idempotencyKey: '--key' });
      params.idempotencyKey = options.key;
    }
    const fault = explain(methodRow(method).params, params, 'params');
    if (fault) throw usageError(`${method}: ${fault}`);
    const result = await context.call(method, params as Params<MethodName>);
    out.show(result, () => jsonLine(result, 2));
    return;
  },
});

/** What a plugin brings is in no table: the gateway says whether it is there, and the plugin what is wrong with the params. */
function isPluginMethod(name: string): name is PluginMethod {
  return /^plugin\.[^.]+\../.test(name);
}

async function callPlugin(
  method: PluginMethod,
  json: string | undefined,
  key: string | undefined,
  { globals, io, connect, out }: CommandContext,
): Promise<undefined> {
  if (key !== undefined) throw usageError(`--key has no meaning for ${method}: a method of a plugin has no idempotency key`);
  if (json === '-' && globals.token === '-') throw usageError('--token and the params cannot both be read from stdin');
  const params = await parseParams(json === '-' ? await readAll(io.stdin) : (json ?? '{}'));
  const result = await (await connect()).callPlugin(method, params);
  out.show(result, () => jsonLine(result, 2));
}

async function parseParams(given: string): Promise<Record<string, JsonValue>> {
  const { parseJson } = await import('@tenon/protocol');
  const parsed = parseJson(given);
  if (!parsed.ok) throw usageError(`The params are not JSON that Tenon accepts: ${parsed.fault.reason} at offset ${parsed.fault.offset}`);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw usageError('The params must be a JSON object');
  return value;
}

async function listMethods({ out }: CommandContext): Promise<undefined> {
  const { methodNames, methodRow } = await import('@tenon/protocol');
  const rows = methodNames.map((name) => ({
    name,
    scope: methodRow(name).scope,
    repeat: methodRow(name).repeat,
    summary: methodRow(name).summary,
  }));
  out.show({ methods: rows }, () =>
    out.table(
      [
        { title: 'METHOD', cell: (row) => row.name },
        { title: 'SCOPE', cell: (row) => row.scope },
        { title: 'SUMMARY', cell: (row) => row.summary, flexible: true },
      ],
      rows,
    ),
  );
}
