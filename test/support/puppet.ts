// An extension that says what it is told to, as it stands (test/fixtures/extensions/puppet.mjs), at work in a host of its own.
import assert from 'node:assert/strict';
import type { PluginHost } from '../../packages/gateway/src/host/plugin-host.ts';
import { type Clock, systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { type HostWorld, openHostWorld } from './plugins.ts';
import { toolCall, withExtensions, writeExtension } from './written-extension.ts';

export const BY = { by: 'test' };
export const TOOLS = ['write', 'raw', 'block', 'wait', 'events', 'gone'].map((name) => ({
  name,
  description: 'Does.',
  parameters: { type: 'object' },
}));
/** Restarts come soon. */
export const clock: Clock = { ...systemClock, after: (delayMs, call) => systemClock.after(delayMs === 1_100 ? 5 : delayMs, call) };

export interface PuppetOptions {
  readonly manifest?: string;
  readonly run?: string;
  readonly registrations?: object;
  readonly answers?: object;
}

export function writePuppet(
  world: HostWorld,
  { manifest, run, registrations = {}, answers = {} }: PuppetOptions = {},
  name = 'puppet',
): string {
  return writeExtension(world, name, {
    fixture: 'puppet.mjs',
    manifest: manifest ?? '[capabilities]\ntools = true',
    ...(run === undefined ? {} : { run }),
    files: { 'registrations.json': JSON.stringify({ tools: TOOLS, ...registrations }), 'answers.json': JSON.stringify(answers) },
  });
}

export interface Puppet extends AsyncDisposable {
  readonly world: HostWorld;
  readonly host: PluginHost;
  use(tool: string, args?: object, call?: Partial<ReturnType<typeof toolCall>>): Promise<{ content: unknown; isError?: boolean }>;
  /** Writes these lines, and has so many replies. */
  write(lines: readonly string[], replies?: number): Promise<Record<string, unknown>[]>;
  /** What it has written to standard error. */
  noted(): Record<string, unknown>[];
}

export async function openPuppet(options: PuppetOptions = {}): Promise<Puppet> {
  const world = await openHostWorld(clock);
  writePuppet(world, options);
  const host = await world.open(withExtensions);
  const on = await host.enable('puppet', BY);
  assert.equal(on.state, 'loaded', on.reason);
  const use: Puppet['use'] = async (tool, args = {}, call = {}) => {
    const found = host.registry.findAny('tool', `puppet__${tool}`)?.item;
    assert.ok(found, `there is no tool ${tool}`);
    return (await found.execute(args as never, { ...toolCall(), ...call })) as never;
  };
  return {
    world,
    host,
    use,
    write: async (lines, replies = 0) => JSON.parse(String((await use('write', { lines, replies })).content)) as never,
    noted: () =>
      world.logged.flatMap(({ stderr }) => (typeof stderr === 'string' && stderr.startsWith('{') ? [JSON.parse(stderr) as never] : [])),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

export const frame = (message: object) => JSON.stringify({ jsonrpc: '2.0', ...message });
