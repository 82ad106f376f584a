// What a plugin may do, as the operator grants it. Nothing is granted by origin: bundled plugins ask for the same names. A
// grant is a name, or a name and what it is for, such as `hooks.intercept:before_tool_call`.
import { Type } from 'typebox';
import { groups, type SepGroup } from './sep/wire-methods.ts';

interface GrantSpec {
  /** In the words of the page where it is granted. */
  readonly summary: string;
  /** What follows the colon; without it the grant is the bare name. */
  readonly of?: string;
  /** Wide: it reaches far beyond the plugin itself, and the page says so. */
  readonly wide?: true;
}

export const grants = {
  'tools.register': { summary: 'Give the agent tools.' },
  'tools.narrow': { summary: 'Decide which tools of others the agent may use.', wide: true },
  'tools.results': { summary: 'Change what tools have answered before the agent reads it.', wide: true },
  'commands.register': { summary: 'Add slash commands.' },
  'hooks.observe': { summary: 'Be told of something that happens.', of: 'hook' },
  'hooks.intercept': { summary: 'Change or stop something before it happens.', of: 'hook' },
  'conversation.read': { summary: 'Read what is said in sessions.', wide: true },
  'prompt.inject': { summary: 'Add to what the agent is told.', wide: true },
  'sessions.list': { summary: 'See which sessions have state of this plugin.' },
  'policy.tools': { summary: 'Judge tool calls before all others; it can only tighten.' },
  'approvals.request': { summary: 'Ask the operator.' },
  'people.notify': { summary: 'Tell people that they are needed.' },
  'turns.start': { summary: 'Let the agent go on without a message of a person.' },
  'schedule.turns': { summary: 'Let the agent work at a later time.' },
  'attachments.send': { summary: 'Send files to where a session came from.', wide: true },
  'channels.serve': { summary: 'Carry messages and files between sessions and another place.', wide: true },
  'ui.interact': { summary: 'Be told of buttons that people press in a conversation.' },
  'ui.descriptors': { summary: 'Show controls in the page.' },
  'events.follow': { summary: 'Follow what runs say while they work.', wide: true },
  'events.emit': { summary: 'Say something in streams and events of its own.' },
  'http.routes': { summary: 'Answer web requests under its own path.', wide: true },
  'gateway.methods': { summary: 'Add methods of its own to the gateway.' },
  'extension.use': { summary: 'Use something that only extensions have.', of: 'capability' },
  'models.serve': { summary: 'Serve models: read all that they are told, and answer for them.', wide: true },
  'services.run': { summary: 'Do something in the background.' },
  'secrets.use': { summary: 'Use a secret by its name.', of: 'secret', wide: true },
} as const satisfies Record<string, GrantSpec>;

export type GrantName = keyof typeof grants;
export const grantNames = Object.keys(grants) as GrantName[];

/** As it is written in a manifest: the name, and what it is for where the row says so. */
export const Grant = Type.String({
  pattern: '^[a-z]+\\.[a-z]+(:[A-Za-z0-9][A-Za-z0-9._-]{0,127})?$',
  description: 'a grant, such as tools.register or hooks.observe:agent_end',
});

/** The row of a grant; undefined when there is none, or when what it is for is missing or too much. */
export function grantRow(grant: string): GrantSpec | undefined {
  const [name = '', of] = grant.split(':', 2);
  if (!Object.hasOwn(grants, name)) return undefined;
  const row: GrantSpec = grants[name as GrantName];
  if ((row.of === undefined) !== (of === undefined)) return undefined;
  // What extensions alone have, each in its own words.
  return name === ('extension.use' satisfies GrantName) ? (ofExtensions(of!) ?? row) : row;
}

/** What an extension asks for beside the groups of its protocol: places outside of its sandbox. */
const reaches: Readonly<Record<string, GrantSpec>> = {
  net: { summary: 'Reach the network. Without a sandbox it can anyway.', wide: true },
  files: { summary: 'Reach the places that its manifest names. Without a sandbox it can anyway.', wide: true },
  unconfined: {
    summary:
      'Run unconfined, with your rights: no sandbox works on this machine, so its code can read, change and send whatever you can, the keys of the gateway among them.',
    wide: true,
  },
};

/**
 * No manifest asks for it: the machine does, where no sandbox works. It is never granted along with everything else, only by its name,
 * and like every grant it holds for the files that were looked at.
 */
export const UNCONFINED_GRANT = 'extension.use:unconfined';

/** In a few words, wherever it is so. */
export const UNCONFINED = 'runs unconfined, with your rights';

const VARIABLE = 'env.';

/** What an extension needs to be handed this variable of the gateway. */
export function variableGrant(name: string): string {
  return `${'extension.use' satisfies GrantName}:${VARIABLE}${name}`;
}

function ofExtensions(capability: string): GrantSpec | undefined {
  if (capability.startsWith(VARIABLE))
    return { summary: `Be handed the variable ${capability.slice(VARIABLE.length)} of the environment of the gateway.`, wide: true };
  if (Object.hasOwn(reaches, capability)) return reaches[capability];
  if (!Object.hasOwn(groups, capability)) return undefined;
  const row: { readonly summary: string; readonly wide?: true } = groups[capability as SepGroup];
  return { summary: row.summary, ...(row.wide ? { wide: true } : {}) };
}
