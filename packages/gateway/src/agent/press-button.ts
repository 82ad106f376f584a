// A button of a delivery, from the press to what it does. Whoever presses needs what the action asks for. One press at a time
// for each delivery; that it was pressed is committed with what a session action does, so that a gateway that is killed
// around it has done both or neither. An interactive handler is told first: after a kill in between it is told again, under
// the same callback id.
import { GatewayError, type JsonValue, type Result, type Scope, type UiReply } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { faultpoint } from '../kernel/fault.ts';
import type { Lanes } from '../kernel/lane.ts';
import type { OpenButton } from '../store/deliveries.ts';
import type { WriteArgs, WriteName, WriteResult } from '../store/operations.ts';
import type { Store } from '../store/store.ts';
import { tellOfPress } from './button-presses.ts';
import { requireScopes } from './plugin-commands.ts';
import { askUntilFresh, type EffectDeps } from './plugin-effects.ts';
import type { PluginParts } from './plugin-tools.ts';
import { findAction, performAction } from './session-actions.ts';

type Pressed = Result<'deliveries.press'>;

export interface ButtonRequest {
  readonly sessionKey: string;
  readonly entryId: string;
  readonly buttonId: string;
  readonly by: string;
  readonly held: ReadonlySet<Scope>;
}

/** Of a committed answer, whatever the caller marks it with. */
interface PressDeps<Mark> extends Pick<EffectDeps, 'wake'> {
  readonly store: Store;
  readonly clock: Clock;
  readonly plugins: PluginParts;
  readonly lanes: Lanes;
  /** Whoever waits for the answer to this question has it. */
  readonly answered: (id: string, reply: UiReply) => void;
  /** The turn that runs in the session. */
  readonly running: string | undefined;
  commit<Name extends WriteName>(name: Name, args: WriteArgs<Name>): Promise<WriteResult<Name> & Mark>;
  keepAnswer<Answer>(answer: Answer): Promise<Answer & Mark>;
}

/** Contract: throws only GatewayError, and what the store throws. */
export function pressButton<Mark>(request: ButtonRequest, deps: PressDeps<Mark>): Promise<Pressed & Mark> {
  const { sessionKey, entryId, buttonId } = request;
  return deps.lanes.run(`press\n${sessionKey}\n${entryId}`, async () => {
    await deps.store.read('sessions.expect', { key: sessionKey });
    const open = await deps.store.read('deliveries.button', { key: sessionKey, entryId, buttonId });
    faultpoint('press.begun');
    const { action } = open.button;
    const how = 'question' in action ? answer : 'data' in action ? tell : act;
    const pressed = await how(open, request, deps);
    faultpoint('press.committed');
    return pressed;
  });
}

async function act<Mark>({ pluginId, button }: OpenButton, request: ButtonRequest, deps: PressDeps<Mark>): Promise<Pressed & Mark> {
  const { sessionKey, entryId, buttonId, by, held } = request;
  const { store, clock, plugins, wake, lanes, running } = deps;
  const { actionId, payload } = button.action as { actionId: string; payload?: JsonValue };
  const asked = {
    pluginId,
    actionId,
    sessionKey,
    held,
    ...(payload === undefined ? {} : { payload }),
    ...(running === undefined ? {} : { runId: running }),
  };
  const registered = findAction(asked, plugins);
  // The lane of all actions of the plugin in this session: each sees the state that the one before it left.
  return lanes.run(`action\n${pluginId}\n${sessionKey}`, () =>
    askUntilFresh(async () => {
      const at = clock.now();
      const { looked, act: said } = await performAction(registered, asked, { store, plugins, wake }, at);
      faultpoint('press.answered');
      const pressed = { entryId, buttonId, pluginId, answer: said.answer as NonNullable<Pressed['answer']> };
      const isDone = pressed.answer.ok;
      const settle = async () => {
        if (!isDone) return deps.keepAnswer<Pressed>(pressed);
        const text = 'reply' in pressed.answer && pressed.answer.reply !== undefined ? { text: pressed.answer.reply } : {};
        return (await deps.commit('plugins.act', {
          ...said,
          // What it replies stands with the press.
          drafts: [],
          answer: pressed,
          actionId,
          press: { entryId, buttonId, by, ...text },
        })) as Pressed & Mark;
      };
      return { looked, commit: settle };
    }),
  );
}

/** The first answer counts, wherever it was given. */
async function answer<Mark>({ pluginId, button }: OpenButton, request: ButtonRequest, deps: PressDeps<Mark>): Promise<Pressed & Mark> {
  const { sessionKey, entryId, buttonId, by, held } = request;
  requireScopes('The button', ['operator.write'], held);
  const { question: id, reply } = button.action as { question: string; reply: UiReply };
  const press = { entryId, buttonId, by };
  const said = { entryId, buttonId, pluginId };
  const pressed = await deps.commit('ui.press', { key: sessionKey, press, id, reply, answer: said, at: deps.clock.now() });
  deps.answered(id, reply);
  return pressed as Pressed & Mark;
}

async function tell<Mark>(open: OpenButton, request: ButtonRequest, deps: PressDeps<Mark>): Promise<Pressed & Mark> {
  const { sessionKey, entryId, buttonId, by, held } = request;
  const { pluginId, channel, button } = open;
  requireScopes('The button', ['operator.write'], held);
  const { data } = button.action as { data: string };
  const namespace = data.slice(0, data.indexOf(':'));
  const owner = deps.plugins.registry.all('interactiveHandler').find(({ key }) => key === namespace)?.plugin;
  if (owner !== pluginId)
    throw new GatewayError('UNAVAILABLE', `Plugin "${pluginId}" is not told of buttons of "${namespace}", or is not loaded`, {
      details: { code: 'UNKNOWN_BUTTON', plugin: pluginId, namespace },
    });
  const press = { sessionKey, channel, data, callbackId: `${entryId}:${buttonId}`, held };
  const { text } = await tellOfPress(press, deps.plugins, deps.clock);
  faultpoint('press.told');
  const said = text === undefined ? {} : { text };
  return (await deps.commit('deliveries.press', {
    key: sessionKey,
    press: { entryId, buttonId, by, ...said },
    answer: { entryId, buttonId, pluginId, ...said },
    at: deps.clock.now(),
  })) as Pressed & Mark;
}
