// Asking and showing people something, as pi's extensions do: a dialog that was dismissed is undefined or false, and what is
// only shown never fails. SEP has one status and one widget for each extension; several, by key, are put together here.
import { errorCode } from './wire.ts';
import type { AskHost, DispatchContext } from './host.ts';
import type { UiKind } from './names.ts';
import { render, type RenderBlock } from './render.ts';
import { RpcError, messageOf } from './rpc-error.ts';

export interface DialogOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds; then it counts as dismissed. */
  readonly timeout?: number;
}

export interface Ui {
  /** Undefined when it was dismissed. Rejects with NoUI where nobody can be asked: see `hasUI`. */
  select(prompt: string, options: readonly string[], dialog?: DialogOptions): Promise<string | undefined>;
  /** False also when it was dismissed. */
  confirm(prompt: string, message?: string, dialog?: DialogOptions): Promise<boolean>;
  /** pi's second argument, the placeholder, is what stands there already. */
  input(prompt: string, given?: string | { readonly default?: string }, dialog?: DialogOptions): Promise<string | undefined>;
  notify(message: string, level?: 'info' | 'warn' | 'warning' | 'error'): Promise<void>;
  setStatus(text: string): Promise<void>;
  setStatus(key: string, text: string | undefined): Promise<void>;
  setWidget(block: RenderBlock): Promise<void>;
  setWidget(key: string, content: readonly string[] | RenderBlock | undefined): Promise<void>;
  setTitle(title: string): Promise<void>;
}

/** What is shown now, by key: of the connection, not of a call. */
export interface Shown {
  readonly statuses: Map<string, string>;
  readonly widgets: Map<string, RenderBlock>;
  /** Kinds whose refusal was told already. */
  readonly refused: Set<string>;
}

export function createShown(): Shown {
  return { statuses: new Map(), widgets: new Map(), refused: new Set() };
}

interface UiDeps {
  readonly ask: AskHost;
  readonly shown: Shown;
  hasUI(kind: UiKind): boolean;
  warn(message: string): void;
  /** Of the call in which it is used. */
  signalOf?(): AbortSignal;
  /** The call that it is about, where the host takes that: then it asks the people of its session. */
  about(): { readonly context?: DispatchContext };
}

interface Answer {
  readonly value?: string;
  readonly confirmed?: boolean;
  readonly text?: string;
  readonly cancelled?: boolean;
}

export function createUi({ ask, shown, hasUI, warn, signalOf, about }: UiDeps): Ui {
  async function dialog(kind: UiKind, params: object, { signal: own, timeout }: DialogOptions = {}): Promise<Answer> {
    const signal = signalOf?.();
    const signals = [signal, own].filter((each) => each !== undefined);
    const waiting = timeout === undefined ? signals : [...signals, AbortSignal.timeout(timeout)];
    try {
      return await ask<Answer>(
        'ui/request',
        { kind, ...params, ...about() },
        waiting.length === 0 ? {} : { signal: AbortSignal.any(waiting) },
      );
    } catch (thrown) {
      // The author's own signal or time has ended it: that is a dialog that was dismissed.
      if (thrown instanceof RpcError && thrown.code === errorCode.Cancelled && !signal?.aborted) return { cancelled: true };
      throw thrown;
    }
  }

  async function show(kind: UiKind, params: object): Promise<void> {
    if (!hasUI(kind)) return refuse(kind, 'no front end here shows it');
    try {
      await ask('ui/request', { kind, ...params, ...about() });
    } catch (thrown) {
      refuse(kind, messageOf(thrown));
    }
  }

  function refuse(kind: UiKind, reason: string): void {
    if (shown.refused.has(kind)) return;
    shown.refused.add(kind);
    warn(`${kind} was not shown: ${reason}`);
  }

  return {
    async select(prompt, options, more) {
      const { value, cancelled } = await dialog('select', { prompt, options }, more);
      return cancelled ? undefined : value;
    },
    async confirm(prompt, message, more) {
      const { confirmed, cancelled } = await dialog('confirm', { prompt: message ? `${prompt}\n${message}` : prompt }, more);
      return !cancelled && confirmed === true;
    },
    async input(prompt, given, more) {
      const start = typeof given === 'string' ? given : given?.default;
      const { text, cancelled } = await dialog('input', { prompt, ...(start === undefined ? {} : { default: start }) }, more);
      return cancelled ? undefined : text;
    },
    notify: (message, level = 'info') => show('notify', { message, level: level === 'warning' ? 'warn' : level }),
    setStatus(...args: [string] | [string, string | undefined]) {
      const [key, text] = args.length === 1 ? ['', args[0]] : args;
      keep(shown.statuses, key, text);
      return show('set_status', { status: [...shown.statuses.values()].join(' · ') });
    },
    setWidget(...args: [RenderBlock] | [string, readonly string[] | RenderBlock | undefined]) {
      const [key, content] = args.length === 1 ? ['', args[0]] : args;
      keep(shown.widgets, key, isLines(content) ? render.markdown(content.join('\n')) : content);
      const blocks = [...shown.widgets.values()];
      return show('set_widget', { widget: blocks.length === 1 ? blocks[0] : render.stack(...blocks) });
    },
    setTitle: (title) => show('set_title', { title }),
  };
}

const MOST_KEYS = 64;

function keep<Value>(map: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) map.delete(key);
  else if (map.has(key) || map.size < MOST_KEYS) map.set(key, value);
  else throw new RangeError(`Cannot show "${key}": ${MOST_KEYS} are shown already; take one away with undefined`);
}

function isLines(content: readonly string[] | RenderBlock | undefined): content is readonly string[] {
  return Array.isArray(content);
}
