// The extensions over HTTP, for programs without a socket: how each does, what it registered, what is wrong with it; and a reload.
// The credentials and the scopes are those of plugins.list and plugins.reload.
import { explain, GatewayError, matches, OwnerId, type PluginInfo } from '@tenon/protocol';
import { Type } from 'typebox';
import { toInfo, unknownPlugin } from '../../rpc/methods/plugins.ts';
import { json } from '../answer.ts';
import { jsonOf } from '../body.ts';
import { JSON_TYPES, type RouteExtensions, type Routes } from '../route.ts';

const Reload = Type.Object({ name: Type.Optional(OwnerId) });

export const extensionRoutes: Routes = {
  '/api/ext': {
    method: 'GET',
    scope: 'operator.read',
    handle(_call, { extensions }) {
      const host = extensions();
      const all = host.list().filter(isExtension).map(toInfo);
      return json(200, {
        extensions: all.map((each) => ({ ...each, problems: problemsOf(each) })),
        commands: all.flatMap(({ id }) => commandsOf(id, host)),
      });
    },
  },

  '/api/ext/reload': {
    method: 'POST',
    scope: 'operator.admin',
    body: { maxBytes: 4_096, types: JSON_TYPES },
    async handle({ body, principal }, { extensions }) {
      const given = jsonOf(body);
      if (!matches(Reload, given))
        throw new GatewayError('INVALID_REQUEST', explain(Reload, given, 'body') ?? 'The body does not fit', {
          details: { code: 'INVALID_PARAMS' },
        });
      const { name } = given;
      const host = extensions();
      const known = name === undefined ? undefined : host.get(name);
      if (known && !isExtension(known)) throw unknownPlugin(known.id, host);
      const by = { by: principal.id };
      const reloaded = (
        await host.reload(name, by).catch((error: unknown) => {
          throw name !== undefined && !host.get(name) ? unknownPlugin(name, host) : error;
        })
      )
        .filter(isExtension)
        .map(toInfo);
      const failed = name === undefined ? undefined : reloaded.find(isNotAsWanted);
      if (failed)
        throw new GatewayError('UNAVAILABLE', `Extension "${failed.id}" was not started anew: ${failed.reason ?? failed.state}`, {
          details: { code: 'NOT_RELOADED', state: failed.state },
        });
      return json(200, { reloaded: name ?? reloaded.map(({ id }) => id), extensions: reloaded });
    },
  },
};

/** To the gateway, an extension is a plugin that has a process. */
function isExtension({ process }: { readonly process?: unknown }): boolean {
  return process !== undefined;
}

/** It is on, and down; or the one before has stayed. */
function isNotAsWanted({ enabled, state, reason }: PluginInfo): boolean {
  return enabled && (state !== 'loaded' || reason !== undefined);
}

/** In words, what a person would want to know of. */
function problemsOf({ state, enabled, reason, process, registrations, switchedOff, incidents }: PluginInfo): string[] {
  return [
    ...(reason !== undefined && (enabled || state === 'rejected') ? [reason] : []),
    ...(process?.reason !== undefined && process.reason !== reason ? [`its process is ${process.state}: ${process.reason}`] : []),
    ...registrations.flatMap(({ kind, key, accepted, message }) => (accepted ? [] : [`${kind} ${key} was not taken: ${message ?? ''}`])),
    ...switchedOff.map(({ place, reason: why }) => `${place} is switched off: ${why}`),
    ...incidents.map(({ place, kind, message }) => `${place} ${kind}: ${message}`),
  ];
}

function commandsOf(ext: string, { registry }: RouteExtensions) {
  return registry
    .all('command')
    .filter(({ plugin }) => plugin === ext)
    .map(({ item }) => ({ ext, name: item.name, description: item.description }));
}
