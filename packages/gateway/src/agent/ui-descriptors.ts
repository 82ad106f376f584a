// The controls of plugins as one credential sees them: only those that it may use, each with what is known of the action
// behind it, so that a client can ask for what the action needs. What cannot be used for another reason stays and says why.
import { commands, contributions, isCommandName, type JsonValue, parseCommand, type Scope, type UiDescriptor } from '@tenon/protocol';
import { findPluginCommand, scopesOf } from './plugin-commands.ts';
import type { PluginParts } from './plugin-tools.ts';

/** A larger schema is not sent: people are asked for the payload as it is written. */
const MAX_SCHEMA = 16_384;

export function descriptorsFor(held: ReadonlySet<Scope>, plugins: PluginParts): UiDescriptor[] {
  return plugins.registry.all('uiDescriptor').flatMap(({ plugin, pluginName, item, isLive }) => {
    const wanted = (item.requiredScopes ?? []) as Scope[];
    if (!isLive || !plugins.holds(plugin, 'ui.descriptors') || wanted.some((scope) => !held.has(scope))) return [];
    const { view, actions, options, ...fields } = onlyFields(item);
    const know = (deed: Deed) => knownOf(plugin, deed, held, plugins);
    return [
      {
        pluginId: plugin,
        pluginName,
        ...fields,
        ...(view && {
          view: view.map(({ itemAction, ...block }) => {
            const known = itemAction && know(itemAction);
            return known ? { ...block, itemAction: { ...itemAction, ...known } } : block;
          }),
        }),
        ...(actions && { actions: actions.flatMap((action) => withKnown(action, know(action))) }),
        ...(options && {
          options: options.flatMap(({ action, ...option }) => withKnown(action, know(action)).map((each) => ({ ...option, action: each }))),
        }),
      },
    ];
  });
}

type Deed = { readonly actionId?: string; readonly command?: string };
type Known = { readonly description?: string; readonly schema?: JsonValue; readonly unavailable?: string };

function withKnown<Control extends object>(control: Control, known: Known | undefined): (Control & Known)[] {
  return known ? [{ ...control, ...known }] : [];
}

/** Undefined: it is not for whoever asks. */
function knownOf(plugin: string, { actionId, command = '' }: Deed, held: ReadonlySet<Scope>, plugins: PluginParts): Known | undefined {
  if (actionId === undefined) {
    const name = parseCommand(command)?.name ?? '';
    const core = isCommandName(name) ? commands[name].scope : undefined;
    const found = core === undefined ? findPluginCommand(name, plugins) : undefined;
    if (core === undefined && !found) return { unavailable: `There is no command /${name}` };
    const scopes = found ? scopesOf(found.item) : [core!];
    return scopes.every((scope) => held.has(scope)) ? (found ? { description: found.item.description } : {}) : undefined;
  }
  const found = plugins.registry.find('sessionAction', plugin, actionId);
  if (!found?.isLive) return { unavailable: `${plugin} has no action "${actionId}"` };
  const { requiredScopes, description, schema } = found.item;
  const scopes = requiredScopes?.length ? (requiredScopes as Scope[]) : (['operator.write'] as const);
  if (scopes.some((scope) => !held.has(scope))) return undefined;
  return {
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { schema: JSON.stringify(schema).length > MAX_SCHEMA ? {} : (schema as JsonValue) }),
  };
}

const descriptorFields = Object.keys(contributions.uiDescriptor.schema.properties);

/** What the table names, and nothing that a plugin has put beside it. */
function onlyFields<Item extends object>(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([name]) => descriptorFields.includes(name))) as Item;
}
