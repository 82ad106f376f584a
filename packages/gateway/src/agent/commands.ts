// The slash commands: one function for each row of the table. They act at once, also while a turn runs, with the rights of
// whoever typed them. What they answer is text, the same on every surface.
import {
  type Approval,
  type CommandName,
  commandNames,
  commands,
  type Decision,
  GatewayError,
  isCommandName,
  parseCommand,
  thinkingLevels,
  visible,
} from '@tenon/protocol';
import type { HookRunner } from '../host/run-hook.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import { didYouMean } from '../kernel/nearest.ts';
import { chooseModel, tellModel } from './choose-model.ts';
import { unknownModel } from '../model/models.ts';
import type { Models } from '../model/types.ts';
import type { Store } from '../store/store.ts';
import { agentIdOf, type AgentBook } from './agents.ts';
import { type CommandCall, type CommandReply, findPluginCommand, pluginCommandInfos, runPluginCommand } from './plugin-commands.ts';
import type { PluginParts } from './plugin-tools.ts';
import { resetSession } from './session-life.ts';
import type { Turns } from './service.ts';
import type { Transcripts } from './transcripts.ts';
import type { Wake } from './wake.ts';

export interface CommandDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly hooks: HookRunner;
  readonly models: Models;
  readonly agents: AgentBook;
  readonly turns: Turns;
  readonly wake: Wake;
  readonly transcripts: Transcripts;
  readonly endJobs: (sessionKey: string) => void;
  /** Commands of plugins; none while they are being opened. */
  readonly plugins: () => PluginParts | undefined;
  /** How the gateway is, in a few lines. */
  readonly gatewayStatus: () => string[];
  /** Kinds of question that the demo model answers, for `/help`. */
  readonly demoExamples: readonly string[];
}

type Run = (rest: string, call: CommandCall, deps: CommandDeps) => Promise<string | CommandReply>;

/** Contract: throws only GatewayError. */
export async function runCommand(call: CommandCall, deps: CommandDeps): Promise<CommandReply> {
  const parsed = parseCommand(call.text);
  if (!parsed) throw new GatewayError('INVALID_REQUEST', 'A command begins with a slash and a word, such as /help');
  if (!isCommandName(parsed.name)) {
    const plugins = deps.plugins();
    const found = findPluginCommand(parsed.name, plugins);
    if (found && plugins) return runPluginCommand(found, parsed.rest, call, deps, plugins);
    const names = [...commandNames, ...pluginCommandInfos(plugins, call.principal.held).map(({ name }) => name)];
    const hint = didYouMean(parsed.name, names).replace(/"/g, '');
    throw new GatewayError(
      'NOT_FOUND',
      `There is no command /${parsed.name}${hint}; /commands lists them. Put a space before the slash to say it to the agent`,
    );
  }
  const { scope, usage } = commands[parsed.name];
  if (!call.principal.held.has(scope)) {
    throw new GatewayError('SCOPE', `${usage.split(' ', 1)[0]} needs the scope ${scope}`, {
      details: { code: 'MISSING_SCOPE', missingScope: scope, requiredScopes: [scope] },
    });
  }
  const answer = await runs[parsed.name](parsed.rest, call, deps);
  return typeof answer === 'string' ? { reply: answer, sessionKey: call.sessionKey } : answer;
}

const runs: Readonly<Record<CommandName, Run>> = {
  async help(_, { sessionKey, principal }, { models, agents, demoExamples, plugins }) {
    const agent = agents.get(agentIdOf(sessionKey));
    const isDemo = models.get(agent?.model ?? '')?.info.provider === 'demo' || agent?.model === 'demo';
    const lines = [
      'Write a message, and the agent answers. It can read and change files in its workspace and run programs; what needs your approval asks first.',
      'A line that begins with ! runs a command; with !! its output is kept from the agent.',
      `Commands: ${commandNames.map((name) => `/${name}`).join(' ')}`,
    ];
    const ofPlugins = pluginCommandInfos(plugins(), principal.held).map(({ name }) => `/${name}`);
    if (ofPlugins.length > 0) lines.push(`Commands of plugins: ${ofPlugins.join(' ')}`);
    if (isDemo) lines.push('', 'This session uses the built-in demo model. Try:', ...demoExamples.map((example) => `- ${example}`));
    return lines.join('\n');
  },

  commands: async (_, { principal }, { plugins }) =>
    [
      ...commandNames.map((name) => `${commands[name].usage} — ${commands[name].summary}`),
      ...pluginCommandInfos(plugins(), principal.held).map(({ usage, summary, pluginId }) => `${usage} — ${summary} (${pluginId})`),
    ].join('\n'),

  async status(_, { sessionKey, principal }, { store, agents, transcripts, gatewayStatus }) {
    const { session } = await store.read('sessions.get', { key: sessionKey });
    const agent = agents.get(agentIdOf(sessionKey));
    const { total } = await store.read('usage.sum', { sessionKey });
    const { runs: open } = await store.read('runs.openIn', { key: sessionKey });
    const lines = [
      `Session: ${session.title || session.key} (${session.status})`,
      `Agent: ${agent?.name ?? session.agentId}, model ${transcripts.modelOf(session)?.info.id ?? 'none'}, thinking ${session.thinking ?? agent?.thinking ?? 'off'}`,
      `Permissions: ${session.permissions ?? agent?.permissions ?? 'ask'}; while busy: ${session.queue ?? agent?.queue ?? 'collect'}`,
      `Waiting messages: ${open.filter(({ run }) => run.state === 'queued').length}`,
      `Tokens: ${total.input + total.cacheRead} in, ${total.output} out; cost ${total.costUsd.toFixed(4)} US dollars`,
    ];
    if (principal.sessionKey === undefined) lines.push(...gatewayStatus());
    return lines.join('\n');
  },

  async new(rest, { sessionKey, principal }, { store, clock, hooks }) {
    if (principal.sessionKey !== undefined)
      throw new GatewayError('SCOPE', 'This credential is bound to one session', { details: { code: 'SESSION_BOUND' } });
    const key = `agent:${agentIdOf(sessionKey)}:s${randomId()}`;
    const { session } = await store.write('sessions.create', {
      key,
      fields: rest === '' ? {} : { title: rest.slice(0, 512) },
      at: clock.now(),
    });
    hooks.run('session_start', { sessionKey: key, sessionId: session.sessionId, agentId: session.agentId, reason: 'new' });
    return { reply: `A new session: ${key}`, sessionKey: key };
  },

  async reset(_, { sessionKey }, deps) {
    await resetSession(sessionKey, deps, (args) => deps.store.write('sessions.reset', args));
    return 'The session starts afresh.';
  },

  async model(rest, { sessionKey }, deps) {
    const { store, models, transcripts } = deps;
    if (rest === '') {
      const { session } = await store.read('sessions.get', { key: sessionKey });
      const list = models.list().map(({ id, usable, reason }) => `- ${id}${usable ? '' : ` (${reason ?? 'not usable'})`}`);
      return [`This session uses ${transcripts.modelOf(session)?.info.id ?? 'no model'}.`, ...list].join('\n');
    }
    const model = rest === 'default' ? null : rest;
    if (model !== null && !models.get(model)) throw new GatewayError('NOT_FOUND', unknownModel(model, models).message);
    const chosen = await chooseModel(sessionKey, { model }, deps);
    return `The model is now ${chosen?.info.id ?? model}.`;
  },

  async think(rest, { sessionKey }, deps) {
    const { store, clock, agents } = deps;
    const agent = agents.get(agentIdOf(sessionKey));
    if (rest === '') {
      const { session } = await store.read('sessions.get', { key: sessionKey });
      return `Thinking is ${session.thinking ?? agent?.thinking ?? 'off'}. It can be: ${thinkingLevels.join(', ')}, default.`;
    }
    const level = rest === 'default' ? null : thinkingLevels.find((each) => each === rest);
    if (level === undefined)
      throw new GatewayError(
        'INVALID_REQUEST',
        `There is no level "${rest.slice(0, 64)}"; it can be: ${thinkingLevels.join(', ')}, default`,
      );
    const { session } = await store.write('sessions.patch', { key: sessionKey, fields: { thinking: level }, at: clock.now() });
    const thinkingLevel = level ?? agent?.thinking ?? 'off';
    await store.write('entries.append', { key: sessionKey, draft: { type: 'thinking_level_change', thinkingLevel }, at: clock.now() });
    tellModel(session, deps);
    return `Thinking is now ${thinkingLevel}.`;
  },

  async compact(rest, { sessionKey }, { transcripts }) {
    const { compacted, reason, tokensBefore } = await transcripts.compact(sessionKey, rest === '' ? undefined : rest);
    return compacted ? `Summed up; about ${tokensBefore} tokens before.` : `Not summed up: ${reason ?? 'there is nothing to sum up'}.`;
  },

  async stop(_, { sessionKey }, { turns }) {
    const stopped = await turns.abort(sessionKey);
    return stopped.length === 0 ? 'Nothing runs.' : 'Stopped.';
  },

  async approve(rest, { sessionKey, principal }, { store, clock }) {
    const { approvals } = await store.read('approvals.list', { state: 'pending', sessionKey, limit: 20 });
    const [word = '', id] = rest.split(/\s+/);
    if (word === '') {
      if (approvals.length === 0) return 'Nothing waits for you in this session.';
      return describeAll(approvals);
    }
    // As `approvals.resolve`: who is bound to the session that asks is no judge of it.
    if (principal.sessionKey !== undefined)
      throw new GatewayError('SCOPE', 'This credential is bound to one session', { details: { code: 'SESSION_BOUND' } });
    const decision = decisionOf(word);
    const wanted = id === undefined ? approvals : approvals.filter((each) => each.id === id);
    if (wanted.length === 0)
      throw new GatewayError(
        'NOT_FOUND',
        id === undefined ? 'Nothing waits for you in this session' : `Nothing waits under "${id.slice(0, 64)}"`,
      );
    if (wanted.length > 1)
      throw new GatewayError('INVALID_REQUEST', `${wanted.length} questions wait; name one: ${wanted.map((each) => each.id).join(', ')}`);
    const { approval } = await store.write('approvals.resolve', { id: wanted[0]!.id, decision, by: principal.id, at: clock.now() });
    return `${approval.state === 'allowed' ? 'Allowed' : 'Denied'}: ${approval.title}`;
  },
};

function decisionOf(word: string): Decision {
  const decision = (
    { allow: 'allow-once', yes: 'allow-once', once: 'allow-once', always: 'allow-always', deny: 'deny', no: 'deny' } as const
  )[word];
  if (!decision) throw new GatewayError('INVALID_REQUEST', `/approve takes allow, deny or always, not "${word.slice(0, 32)}"`);
  return decision;
}

/** Each is shown whole, as many as one answer holds. */
const SHOWN_CHARS = 500_000;

function describeAll(approvals: readonly Approval[]): string {
  const shown: string[] = [];
  let chars = 0;
  for (const approval of approvals) {
    const text = describe(approval);
    chars += text.length;
    if (shown.length > 0 && chars > SHOWN_CHARS) {
      shown.push(`${approvals.length - shown.length} more wait; answer these first`);
      break;
    }
    shown.push(text);
  }
  return shown.join('\n\n');
}

/** Whole: what is not shown cannot be approved. */
function describe({ id, title, reason, argv = [], cwd, env = {}, bound = [], notBound = [], args, allowed }: Approval): string {
  const { argv: _argv, cwd: _cwd, bound: _bound, notBound: _notBound, ...others } = args;
  const what = [
    ...argv.map((word, index) => `  ${index} ${JSON.stringify(word)}`),
    ...Object.entries(env).map(([name, value]) => `  with ${name}=${JSON.stringify(value)}`),
    ...bound.map((file) => `  bound, as it was when this was asked: ${file}`),
    ...notBound.map((what) => `  not bound, can change until it runs: ${what}`),
    ...Object.entries(others).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`),
  ];
  const answers = [`/approve allow ${id}`, `/approve deny ${id}`, ...(allowed.includes('allow-always') ? [`/approve always ${id}`] : [])];
  const lines = [`${title} (${id})`, ...what, ...(cwd ? [`  in ${cwd}`] : []), `  ${reason}`, `  ${answers.join(' · ')}`];
  return lines.map(visible).join('\n');
}
