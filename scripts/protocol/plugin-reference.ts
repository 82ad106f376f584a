// The pages about what plugins can register and what they may do. Which grant is needed where is said by the rows that need
// it; here it is only turned around.
import { createContributionDocument } from './json-schema.ts';
import { anchor, shape, table } from './markdown.ts';
import { contributionName, type ProtocolTables } from './tables.ts';

/** The grants of a row, with where they are told. */
export function needsText(needs: readonly string[]): string {
  return `Needs ${needs.map((need) => `[\`${need}\`](grants.md#${anchor(need.split(':')[0]!)})`).join(' and ')}.`;
}

export function contributions(tables: ProtocolTables): string[] {
  const { definitions } = createContributionDocument(tables);
  const parts = [
    '# Contributions',
    'What a plugin can register in `register(api)`, beside [hooks](hooks.md). What is listed is data: plain JSON that is copied, frozen ' +
      'and held against its schema; the handlers that stand beside it are in the types of `@tenon/plugin-sdk`. Unique by **plugin**: two ' +
      'plugins may use one name. By **global**: the first one has it.',
    table(
      ['kind', 'named by', 'unique by', 'grant', ''],
      Object.entries(tables.contributions).map(([kind, { key, unique, grant, summary }]) => [
        `[\`${kind}\`](#${anchor(kind)})`,
        `\`${key}\``,
        unique,
        grant === undefined ? '' : `[\`${grant}\`](grants.md#${anchor(grant)})`,
        summary,
      ]),
    ),
  ];
  for (const [kind, { summary, grant }] of Object.entries(tables.contributions)) {
    parts.push(`## ${kind}`, summary);
    if (grant !== undefined) parts.push(needsText([grant]));
    parts.push(...shape('Data', definitions[contributionName(kind)]!));
  }
  parts.push(
    '## Why a registration is not taken',
    'Each registration of a plugin is on record as taken or not; `plugins.list`, `tenon plugin inspect` and the page show it.',
    table(
      ['code', ''],
      Object.entries(tables.rejections).map(([code, summary]) => [`\`${code}\``, summary]),
    ),
    '## Where its code is called',
    'Beside hooks. Counts, traces, metrics and the setting `plugins.timeouts` name these places; the time is what the gateway waits ' +
      'unless that setting says otherwise.',
    table(
      ['place', 'waits', ''],
      Object.entries(tables.pluginPlaces).map(([place, { summary, timeoutMs }]) => [
        `\`${place}\``,
        `${timeoutMs.toLocaleString('en')} ms`,
        summary,
      ]),
    ),
  );
  return parts;
}

export function grants(tables: ProtocolTables): string[] {
  const parts = [
    '# Grants',
    'What a plugin may do beyond its own. A manifest asks for grants by name, the operator grants and revokes them, and nothing is ' +
      'granted by origin: bundled plugins ask for the same names. What says `:hook` or `:secret` is granted for one of them, such as ' +
      '`hooks.observe:agent_end`. A **wide** grant reaches far beyond the plugin itself.',
    table(
      ['grant', 'wide', ''],
      Object.entries(tables.grants).map(([name, { summary, of, wide }]) => [
        `[\`${name}${of === undefined ? '' : `:${of}`}\`](#${anchor(name)})`,
        wide ? 'yes' : '',
        summary,
      ]),
    ),
  ];
  for (const [name, { summary, of, wide }] of Object.entries(tables.grants)) {
    parts.push(`## ${name}`, `${summary}${of === undefined ? '' : ` Granted for one ${of} at a time.`}${wide ? ' Wide.' : ''}`);
    const users = usersOf(name, tables);
    parts.push(users.length === 0 ? 'Nothing needs it yet.' : users.map((user) => `- ${user}`).join('\n'));
  }
  return parts;
}

/** What needs a grant: derived from the rows that say so. */
function usersOf(grant: string, tables: ProtocolTables): string[] {
  const isIt = (need: string) => need.split(':')[0] === grant;
  const kinds = Object.entries(tables.contributions).filter(([, row]) => row.grant !== undefined && isIt(row.grant));
  const calls = Object.entries(tables.lateCalls).filter(([, { grant, grantFor }]) => isIt(grant ?? grantFor ?? ''));
  const fields = Object.entries(tables.grantedFields).filter(([, row]) => row.grant !== undefined && isIt(row.grant));
  const hooks = Object.entries(tables.hooks).filter(([, { needs }]) => needs.some(isIt));
  return [
    ...kinds.map(([kind, row]) => `to register [\`${kind}\`](contributions.md#${anchor(kind)}): ${row.summary}`),
    ...calls.map(([call, row]) => `\`api.${call}\`: ${row.summary}`),
    ...fields.map(([field, row]) => `the field \`${field}\`: ${row.summary}`),
    ...(hooks.length === 0 ? [] : [`the hooks ${hooks.map(([name]) => `[\`${name}\`](hooks.md#${anchor(name)})`).join(', ')}`]),
  ];
}
