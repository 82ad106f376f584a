// Where code of plugins is called beside hooks, and how long it may take there unless the operator says otherwise. These names
// stand in counts, traces, metrics and in `plugins.timeouts`, next to the names of hooks.
import { isHookName } from './hooks.ts';
import { limits } from './limits.ts';

interface PlaceSpec {
  readonly summary: string;
  readonly timeoutMs: number;
}

export const pluginPlaces = {
  register: { summary: 'It registers what it has.', timeoutMs: 5_000 },
  'service.start': { summary: 'A service of it begins.', timeoutMs: 5_000 },
  'service.stop': { summary: 'A service of it ends.', timeoutMs: 5_000 },
  startupCheck: { summary: 'It looks whether all is well.', timeoutMs: 5_000 },
  dispose: { summary: 'A load of it ends.', timeoutMs: 5_000 },
  cleanup: { summary: 'A session is reset or deleted, or the plugin goes.', timeoutMs: 5_000 },
  session_projection: { summary: 'It says what clients see of its state.', timeoutMs: 1_000 },
  'state.update': { summary: 'It changes its state.', timeoutMs: 5_000 },
  session_action: { summary: 'A button was pressed.', timeoutMs: 30_000 },
  sessions_patch: { summary: 'It takes part in a change of a session.', timeoutMs: 10_000 },
  interactive: { summary: 'A button of a message was pressed.', timeoutMs: 30_000 },
  channel: { summary: 'It takes what is sent to where a session came from.', timeoutMs: 30_000 },
  scheduled_turn: { summary: 'A turn that it has scheduled is due.', timeoutMs: 30_000 },
  command: { summary: 'Somebody typed a command of it.', timeoutMs: 30_000 },
  command_complete: { summary: 'Somebody is typing a command of it.', timeoutMs: 2_000 },
  tool_factory: { summary: 'It makes a tool for a session.', timeoutMs: 5_000 },
  tool: { summary: 'The agent uses a tool of it.', timeoutMs: 120_000 },
  tool_policy: { summary: 'It judges a tool call.', timeoutMs: 5_000 },
  tool_result: { summary: 'It changes what a tool has given.', timeoutMs: 5_000 },
  model: { summary: 'A model that it serves is asked.', timeoutMs: 300_000 },
  model_sign_in: { summary: 'The operator signs in at a provider of models.', timeoutMs: 300_000 },
  model_renew: { summary: 'It renews what a sign-in gave.', timeoutMs: 300_000 },
  agent_event: { summary: 'It follows what a run says.', timeoutMs: 5_000 },
  gateway_method: { summary: 'A client calls a method of it.', timeoutMs: 30_000 },
  http_route: { summary: 'A web request came for it.', timeoutMs: limits.pluginRouteTimeoutMs.value },
} as const satisfies Record<string, PlaceSpec>;

export type PluginPlaceName = keyof typeof pluginPlaces;
export const pluginPlaceNames = Object.keys(pluginPlaces) as PluginPlaceName[];

/** Whether code of plugins is called there: a hook, or one of these. */
export function isPluginPlace(name: string): boolean {
  return isHookName(name) || Object.hasOwn(pluginPlaces, name);
}
