// Which functions of the api stand in a group and under a plain name, too. Both are made from this table, so that they are
// the same function whatever name a plugin calls.
import type { FlatRegistrations, FlatRuntime } from '@tenon/plugin-sdk';

type Group = 'session.state' | 'session.workflow' | 'session.controls' | 'agent.events' | 'runContext' | 'lifecycle';

export const groupOf = {
  registerSessionExtension: 'session.state',
  enqueueNextTurnInjection: 'session.workflow',
  scheduleSessionTurn: 'session.workflow',
  unscheduleSessionTurnsByTag: 'session.workflow',
  sendSessionAttachment: 'session.workflow',
  registerSessionSchedulerJob: 'session.workflow',
  registerSessionAction: 'session.controls',
  registerControlUiDescriptor: 'session.controls',
  registerAgentEventSubscription: 'agent.events',
  emitAgentEvent: 'agent.events',
  setRunContext: 'runContext',
  getRunContext: 'runContext',
  clearRunContext: 'runContext',
  registerRuntimeLifecycle: 'lifecycle',
} as const satisfies Readonly<Record<keyof FlatRuntime | keyof FlatRegistrations, Group>>;

type Part = Record<string, unknown>;

/** The parts as one frozen api, in which what has a group stands in it and beside it. */
export function groupApi<Api extends object>(...parts: readonly object[]): Api {
  const api: Part = Object.assign({}, ...parts);
  const groups = new Map<string, Part>();

  /** The group as an object of this api's own. */
  function open(path: string): Part {
    const known = groups.get(path);
    if (known) return known;
    const cut = path.lastIndexOf('.');
    const outer = cut < 0 ? api : open(path.slice(0, cut));
    const own = { ...(outer[path.slice(cut + 1)] as Part | undefined) };
    outer[path.slice(cut + 1)] = own;
    groups.set(path, own);
    return own;
  }

  for (const [name, group] of Object.entries(groupOf)) {
    const grouped = group.split('.').reduce<Part | undefined>((at, each) => at?.[each] as Part | undefined, api)?.[name];
    if (grouped !== undefined) api[name] = grouped;
    else if (Object.hasOwn(api, name)) open(group)[name] = api[name];
  }
  return freezeGroups(api) as Api;
}

/** A plugin that changes what it was given changes it for nobody. */
function freezeGroups(part: Part): Part {
  for (const inner of Object.values(part)) {
    const isPlain = typeof inner === 'object' && inner !== null && Object.getPrototypeOf(inner) === Object.prototype;
    if (isPlain && !Object.isFrozen(inner)) freezeGroups(inner as Part);
  }
  return Object.freeze(part);
}
