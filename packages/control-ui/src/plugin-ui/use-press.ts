// Pressing a control of a plugin: what it needs is asked for first, the action is called or the command is sent, and what came
// of it is said beside the control. A session that does not exist yet is made by it.
import type { JsonValue, UiDescriptor } from '@tenon/protocol';
import { type Form, pressOf } from '@tenon/protocol/ui';
import { useRef, useState } from 'react';
import { useApp, usePage } from '../hooks/page-context.ts';
import { navigate } from '../hooks/use-route.ts';
import type { Page } from '../state/page.ts';
import { troubleOf } from '../state/trouble.ts';

type Action = NonNullable<UiDescriptor['actions']>[number];
/** A button, the position of a switch, or what is done with an item. */
export type Control = Omit<Action, 'label'> & { readonly label: string };

export interface Said {
  readonly tone: 'ok' | 'bad';
  readonly text: string;
}

export interface Pressing {
  /** The label of what is under way. */
  readonly pending: string | undefined;
  readonly asking: { readonly control: Control; readonly form: Form } | undefined;
  readonly said: Said | undefined;
  press(control: Control): void;
  submit(payload: JsonValue): void;
  cancel(): void;
}

export function usePress(pluginId: string, sessionKey: string | undefined): Pressing {
  const page = usePage();
  const extensions = useApp((state) => state.pluginUi.byKey.get(sessionKey ?? '')?.extensions) ?? [];
  const [pending, setPending] = useState<string>();
  const [asking, setAsking] = useState<Pressing['asking']>();
  const [said, setSaid] = useState<Said>();
  const isBusy = useRef(false);

  async function run(control: Control, payload: JsonValue | undefined): Promise<void> {
    // Two quick presses are one.
    if (isBusy.current) return;
    isBusy.current = true;
    setPending(control.label);
    setSaid(undefined);
    const outcome = await perform(page, pluginId, sessionKey, control, payload);
    isBusy.current = false;
    setPending(undefined);
    setSaid(outcome);
    if (outcome.tone === 'ok') setAsking(undefined);
  }

  return {
    pending,
    asking,
    said,
    press(control) {
      const press = control.command === undefined ? pressOf(pluginId, control, extensions) : ({ kind: 'send' } as const);
      setSaid(undefined);
      if (press.kind === 'ask') setAsking({ control, form: press.form });
      else void run(control, press.payload);
    },
    submit(payload) {
      if (asking) void run(asking.control, payload);
    },
    cancel() {
      setAsking(undefined);
      setSaid(undefined);
    },
  };
}

/** Contract: must not throw. */
async function perform(
  page: Page,
  pluginId: string,
  openKey: string | undefined,
  { label, actionId, command }: Control,
  payload: JsonValue | undefined,
): Promise<Said> {
  try {
    const sessionKey = await existing(page, openKey);
    if (command !== undefined) {
      const now = await page.chat.send(sessionKey, { text: command, images: [] });
      if (now !== undefined && now !== openKey) navigate({ view: 'chat', sessionKey: now });
      return { tone: 'ok', text: '' };
    }
    const params = { pluginId, actionId: actionId ?? '', sessionKey, ...(payload === undefined ? {} : { payload }) };
    const answer = await page.link().call('plugins.sessionAction', params, { timeoutMs: 60_000 });
    if (sessionKey !== openKey) navigate({ view: 'chat', sessionKey }, 'replace');
    if (!answer.ok) return { tone: 'bad', text: answer.code === undefined ? answer.error : `${answer.error} (${answer.code})` };
    return { tone: 'ok', text: wordsOf(answer.result) ?? `${label}: done` };
  } catch (error) {
    const { message, code } = troubleOf(error);
    return { tone: 'bad', text: code === undefined ? message : `${message} (${code})` };
  }
}

async function existing(page: Page, key: string | undefined): Promise<string> {
  if (key !== undefined && page.store.get().sessions.byKey.has(key)) return key;
  try {
    return (await page.link().call('sessions.create', key === undefined ? {} : { key })).session.key;
  } catch (error) {
    // Somebody else has made it meanwhile.
    if (key !== undefined && troubleOf(error).code === 'CONFLICT') return key;
    throw error;
  }
}

/** What a plugin says for people: a text, or the `text` of its result. */
function wordsOf(result: JsonValue | undefined): string | undefined {
  if (typeof result === 'string') return result === '' ? undefined : result;
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined;
  const { text } = result as { readonly text?: unknown };
  return typeof text === 'string' && text !== '' ? text : undefined;
}
