// What extensions do in sessions, in the ways that are there: a note is one as people inject them, a message waits in the queue of the
// session and begins a turn as any other, what is for the next turn is an injection, and a model is chosen as by `/model`. What an
// extension says stands under its name, so that nobody takes it for the word of a person or of the agent.
import { GatewayError, type JsonObject, thinkingLevels } from '@tenon/protocol';
import type { SessionDesk } from '../host/sep/serve/session-desk.ts';
import type { HookRunner } from '../host/run-hook.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import { unknownModel } from '../model/models.ts';
import type { Models } from '../model/types.ts';
import { principalOf } from '../store/continuations.ts';
import type { Store } from '../store/store.ts';
import { agentIdOf, type AgentBook } from './agents.ts';
import { chooseModel } from './choose-model.ts';
import type { Composer } from './composer.ts';
import { isOffered } from './plugin-tools.ts';
import { SAID_BY_EXTENSION } from './prompt.ts';
import type { Turns } from './service.ts';
import type { Tool } from './tools/tool.ts';
import type { Transcripts } from './transcripts.ts';

export interface DeskDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly agents: AgentBook;
  readonly models: Models;
  readonly hooks: HookRunner;
  readonly composer: Composer;
  readonly transcripts: Pick<Transcripts, 'modelOf'>;
  readonly turns: Pick<Turns, 'accepted'>;
  readonly nameOf: (plugin: string) => string;
  readonly allTools: () => readonly Pick<Tool, 'name' | 'optional'>[];
  readonly isActive: (tool: string, sessionKey: string) => boolean;
}

export function createSessionDesk(deps: DeskDeps): SessionDesk {
  const { store, clock, agents, models, composer, transcripts, turns, nameOf } = deps;

  function mustSay(text: string): void {
    if (text.trim() === '') throw new GatewayError('INVALID_REQUEST', 'params/text is empty');
  }

  return {
    async say({ plugin, sessionKey }, text, role) {
      mustSay(text);
      const content = [{ type: 'text' as const, text }];
      const at = clock.now();
      const draft =
        role === 'user'
          ? { type: 'message' as const, message: { role, content, from: nameOf(plugin), via: 'plugin' as const, timestamp: at } }
          : {
              type: 'custom_message' as const,
              customType: SAID_BY_EXTENSION,
              content,
              display: true,
              details: { by: principalOf(plugin), label: nameOf(plugin) },
            };
      await store.write('entries.append', { key: sessionKey, draft, at });
    },

    async tell({ plugin, sessionKey, asked }, text, mode) {
      mustSay(text);
      if (composer.mayBeClosed()) await composer.requireOpen(sessionKey);
      const wish = { runId: `x${randomId()}`, pluginId: plugin, pluginName: nameOf(plugin), asked };
      await store.write('runs.sayFor', { key: sessionKey, wish, text, mode, at: clock.now() });
      turns.accepted(sessionKey);
    },

    async tellNext({ plugin, sessionKey }, text) {
      mustSay(text);
      const injection = { id: `x${randomId()}`, text, placement: 'prepend_context' as const, priority: 0 };
      const { reason } = await store.write('injections.enqueue', { ...injection, key: sessionKey, pluginId: plugin, at: clock.now() });
      if (reason === 'no-session') throw new GatewayError('NOT_FOUND', `Cannot find session "${sessionKey}"`);
      if (reason !== undefined)
        throw new GatewayError('TOO_LARGE', 'As much as can wait for the next turn waits already', {
          details: { limit: 'pluginInjections' },
        });
    },

    async keep({ plugin, sessionKey, runId }, entry, shown) {
      const draft = { type: 'custom' as const, customType: 'extension', data: { plugin, entry, ...shown } };
      await store.write('entries.append', { key: sessionKey, draft, at: clock.now(), ...(runId === undefined ? {} : { runId }) });
    },

    async setModel({ plugin, sessionKey }, { model: said, provider, thinking: level }) {
      const thinking = level === undefined ? undefined : thinkingLevels.find((each) => each === level);
      if (level !== undefined && thinking === undefined)
        throw new GatewayError('INVALID_REQUEST', `params/thinking is none of ${thinkingLevels.join(', ')}`);
      const found = [said, `${provider}/${said}`].map((id) => models.get(id)?.info).find((info) => info !== undefined);
      if (!found) throw new GatewayError('INVALID_REQUEST', unknownModel(said, models).message);
      if (provider !== undefined && found.provider !== provider)
        throw new GatewayError('INVALID_REQUEST', `The model "${said}" is one of ${found.provider}, not of ${provider}`);
      await chooseModel(
        sessionKey,
        { model: found.id, ...(thinking === undefined ? {} : { thinking }) },
        { ...deps, by: principalOf(plugin) },
      );
    },

    tools(sessionKey) {
      const of = sessionKey === undefined ? agents.list().map(({ id }) => agents.get(id)) : [agents.get(agentIdOf(sessionKey))];
      const offered = deps.allTools().filter((tool) => of.some((agent) => agent && isOffered(tool, agent)));
      return offered.map(({ name }) => name).filter((name) => sessionKey === undefined || deps.isActive(name, sessionKey));
    },

    async state({ sessionKey, runId }) {
      const { session } = await store.read('sessions.get', { key: sessionKey });
      const agent = agents.get(agentIdOf(sessionKey));
      const model = transcripts.modelOf(session)?.info;
      return {
        session_key: session.key,
        session_id: session.sessionId,
        agent_id: session.agentId,
        title: session.title,
        status: session.status,
        model: model?.id ?? null,
        provider: model?.provider ?? null,
        thinking: session.thinking ?? agent?.thinking ?? 'off',
        ...(agent ? { workspace: agent.workspace } : {}),
        ...(runId === undefined ? {} : { run_id: runId }),
      } satisfies JsonObject;
    },
  };
}
