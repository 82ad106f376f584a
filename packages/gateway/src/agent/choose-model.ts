// The model of a session is chosen, by a command or by an extension: what it uses from now on, the entries that say so, and who is told.
import type { Session } from '@tenon/protocol';
import type { HookRunner } from '../host/run-hook.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Model, Models } from '../model/types.ts';
import type { Store } from '../store/store.ts';
import { type AgentBook, agentIdOf } from './agents.ts';

export interface ChooseDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly models: Models;
  readonly agents: AgentBook;
  readonly hooks: HookRunner;
  /** Whoever asked for it. */
  readonly by?: string;
}

interface Choice {
  /** Null: that of the agent. */
  readonly model: string | null;
  readonly thinking?: NonNullable<Session['thinking']>;
}

/** The model that is used now, if it is there. */
export async function chooseModel(key: string, choice: Choice, deps: ChooseDeps): Promise<Model | undefined> {
  const { store, clock, models, agents, by } = deps;
  const { session } = await store.write('sessions.patch', { key, fields: choice, at: clock.now(), ...(by === undefined ? {} : { by }) });
  const chosen = models.get(choice.model ?? agents.get(agentIdOf(key))?.model ?? models.defaultId);
  const append = (draft: Parameters<typeof store.write<'entries.append'>>[1]['draft']) =>
    store.write('entries.append', { key, draft, at: clock.now() });
  if (chosen) await append({ type: 'model_change', provider: chosen.info.provider, modelId: chosen.info.id });
  if (choice.thinking !== undefined) await append({ type: 'thinking_level_change', thinkingLevel: choice.thinking });
  tellModel(session, deps);
  return chosen;
}

/** To plugins and extensions, once the choice is durable. */
export function tellModel(session: Session, { hooks, models, agents }: Pick<ChooseDeps, 'hooks' | 'models' | 'agents'>): void {
  if (!hooks.has('model_select')) return;
  const { key: sessionKey, sessionId, agentId } = session;
  const agent = agents.get(agentIdOf(sessionKey));
  const model = session.model ?? agent?.model ?? models.defaultId;
  const provider = models.get(model)?.info.provider;
  hooks.run('model_select', {
    ...{ sessionKey, sessionId, agentId, model, thinking: session.thinking ?? agent?.thinking ?? 'off' },
    ...(provider === undefined ? {} : { provider }),
  });
}
