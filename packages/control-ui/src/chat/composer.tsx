// Where a person writes: text, files, commands, and the choices that go with a message. What was typed is never lost: the
// text belongs to the shell, also while the composer is closed.
import { visible } from '@tenon/protocol';
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { Icon } from '../icons.tsx';
import { CommandList, matchingCommands, type Offer, useArguments } from './command-list.tsx';
import { plural } from './format.ts';
import { Pickers } from './pickers.tsx';
import type { ClosedReason, ComposerProps } from './types.ts';

/** Two presses of Escape within this time stop the turn. */
const TWICE_MS = 700;

export function Composer(props: ComposerProps): ReactNode {
  // Where the person wrote when it closed, so that they go on there when it opens.
  const caret = useRef<Caret | undefined>(undefined);
  if (props.disabledReason) return <ClosedComposer reason={props.disabledReason} kept={props.value !== ''} caret={caret} />;
  return <OpenComposer {...props} caret={caret} />;
}

type Caret = readonly [start: number, end: number];
type CaretRef = { current: Caret | undefined };

function OpenComposer(props: ComposerProps & { readonly caret: CaretRef }): ReactNode {
  const {
    value,
    onChange,
    onSend,
    onStop,
    busy,
    stopping = false,
    commands,
    fileCount = 0,
    refused = [],
    waitingForApproval = false,
  } = props;
  const formRef = useRef<HTMLFormElement>(null);
  const textRef = useRef<HTMLTextAreaElement>(null);
  const fileRef = useRef<HTMLInputElement>(null);
  const listId = useId();
  const hintId = useId();
  const [active, setActive] = useState<number>();
  const [closedFor, setClosedFor] = useState<string>();
  const escapedAt = useRef(Number.NEGATIVE_INFINITY);

  const fitting = matchingCommands(value, commands);
  const following = useArguments(value, props.onComplete);
  const offered = closedFor === value ? [] : fitting.length > 0 ? fitting : following;
  // What follows a command may be anything: none of it is chosen until somebody goes there.
  const isFree = offered.length > 0 && offered === following;
  const at = Math.min(active ?? (isFree ? -1 : 0), offered.length - 1);
  const chosen = offered[at];
  const canSend = (value.trim() !== '' || fileCount > 0) && props.filesReason === undefined;
  const canStop = busy && !waitingForApproval && onStop !== undefined;

  useOwnHeight(textRef, value);
  useKeyboardInset(formRef);
  const { caret } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is first shown
  useLayoutEffect(() => {
    const [form, text, returning] = [formRef.current, textRef.current, caret.current];
    caret.current = undefined;
    if (returning || props.focusOnMount) text?.focus({ preventScroll: true });
    if (returning) text?.setSelectionRange(...returning);
    return () => {
      if (text && form?.contains(document.activeElement)) caret.current = [text.selectionStart, text.selectionEnd];
    };
  }, []);

  function send(): void {
    if (canSend) onSend();
  }

  function complete({ text }: Offer): void {
    onChange(text);
    setActive(undefined);
    // What may follow the command is another question.
    setClosedFor(isFree || !text.endsWith(' ') ? text : undefined);
    textRef.current?.focus();
  }

  function onListKey(event: KeyboardEvent): boolean {
    if (offered.length === 0) return false;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && !event.altKey)
      setActive(at < 0 ? (step > 0 ? 0 : offered.length - 1) : (at + step + offered.length) % offered.length);
    else if (event.key === 'Escape') setClosedFor(value);
    else if (event.key === 'Tab' && !event.shiftKey) complete(chosen ?? offered[0]!);
    else if (event.key === 'Enter' && !event.shiftKey && chosen && !chosen.isWhole) complete(chosen);
    else return false;
    event.preventDefault();
    return true;
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>): void {
    // While an input method is open its keys are its own; 229 is what older browsers say for that.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (onListKey(event)) return;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || (!event.shiftKey && !event.altKey && !onTouch()))) {
      event.preventDefault();
      send();
    } else if (event.key === 'ArrowUp' && event.altKey && props.onEditLast) {
      event.preventDefault();
      props.onEditLast();
    }
  }

  function onEscape(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || event.defaultPrevented || event.nativeEvent.isComposing || !busy || !onStop) return;
    const again = performance.now() - escapedAt.current < TWICE_MS;
    escapedAt.current = again ? Number.NEGATIVE_INFINITY : performance.now();
    if (again) onStop();
  }

  function onPaste(event: ClipboardEvent): void {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    props.onFiles?.(files);
  }

  function onDrop(event: DragEvent): void {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    props.onFiles?.([...event.dataTransfer.files]);
  }

  const command = value.startsWith('!');
  const hints = [
    ...refused,
    ...(props.hint === undefined ? [] : [props.hint]),
    ...(command ? ['Runs as a shell command in the workspace, under the same rules as the agent'] : []),
  ];
  return (
    <form
      ref={formRef}
      className="composer"
      aria-label="Message"
      data-filled={value !== '' || fileCount > 0 ? '' : undefined}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={onEscape}
      onDragOver={(event) => {
        // Text that is dragged into the field stays the browser's business.
        if (event.dataTransfer.types.includes('Files')) event.preventDefault();
      }}
      onDrop={onDrop}
    >
      {offered.length > 0 && (
        <CommandList id={listId} label={isFree ? 'Suggestions' : 'Commands'} offers={offered} active={at} onChoose={complete} />
      )}
      <p className="visually-hidden" role="status">
        {isFree && `${plural(offered.length, 'suggestion')}, arrow keys choose`}
      </p>
      {props.files}
      <textarea
        ref={textRef}
        className="composer-text"
        rows={1}
        value={value}
        placeholder={props.placeholder}
        aria-label={props.placeholder}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={offered.length > 0 ? listId : undefined}
        aria-activedescendant={chosen ? `${listId}-${at}` : undefined}
        aria-describedby={hints.length > 0 ? hintId : undefined}
        enterKeyHint={onTouch() ? 'enter' : 'send'}
        onChange={(event) => {
          onChange(event.target.value);
          setActive(undefined);
        }}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div className="composer-hints" id={hintId} role="status">
        {hints.map((hint) => (
          <p key={hint}>
            <Icon name={refused.includes(hint) ? 'warning' : hint === props.hint ? 'lock' : 'terminal'} size={14} /> {visible(hint)}
          </p>
        ))}
      </div>
      {props.onFiles && (
        <span className="composer-attach">
          <button
            type="button"
            className="chat-icon-button"
            aria-label="Attach files"
            title="Attach files"
            onClick={() => fileRef.current?.click()}
          >
            <Icon name="paperclip" />
          </button>
          <input
            ref={fileRef}
            type="file"
            hidden
            multiple
            onChange={(event) => {
              props.onFiles?.([...(event.target.files ?? [])]);
              // The same file can be picked again after it was removed.
              event.target.value = '';
            }}
          />
        </span>
      )}
      <div className="composer-pickers">
        {props.chips}
        <Pickers {...props} />
      </div>
      <div className="composer-buttons">
        {(props.queuedCount ?? 0) > 0 && <span className="composer-queued">{plural(props.queuedCount ?? 0, 'message')} waiting</span>}
        {canStop && (
          <button type="button" className="chat-button" aria-disabled={stopping} onClick={() => !stopping && onStop()}>
            <Icon name={stopping ? 'spinner' : 'stop'} className={stopping ? 'spin' : ''} />
            {stopping ? 'Stopping' : 'Stop'}
            <span className="chat-key composer-key" aria-hidden="true">
              Esc Esc
            </span>
          </button>
        )}
        {props.onLeave && (
          <button type="button" className="chat-button" onClick={props.onLeave}>
            Cancel
          </button>
        )}
        <button
          type="submit"
          className="chat-button chat-button-primary"
          aria-disabled={!canSend}
          title={canSend ? undefined : (props.filesReason ?? 'Write something first')}
        >
          <Icon name={busy ? 'queue' : 'send'} />
          {busy ? 'Queue' : 'Send'}
        </button>
      </div>
    </form>
  );
}

interface ClosedComposerProps {
  readonly reason: ClosedReason;
  readonly kept: boolean;
  readonly caret: CaretRef;
}

function ClosedComposer({ reason, kept, caret }: ClosedComposerProps): ReactNode {
  const ref = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const section = ref.current;
    if (caret.current) section?.focus({ preventScroll: true });
    return () => {
      // Who went elsewhere meanwhile is not taken away from there.
      if (!section?.contains(document.activeElement)) caret.current = undefined;
      else caret.current ??= [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
    };
  }, [caret]);
  return (
    <section ref={ref} className="composer-closed" aria-label="Message" tabIndex={-1}>
      <Icon name={reason.icon ?? 'lock'} className="tone-warn" />
      <div>
        <p className="composer-closed-title">{visible(reason.title)}</p>
        <p>
          {visible(reason.detail)}
          {kept && ' Your text is kept.'}
        </p>
      </div>
      {reason.onCommand && (
        <button type="button" className="chat-button chat-button-small" onClick={reason.onCommand}>
          Type a command
        </button>
      )}
      {reason.action && (
        <button type="button" className="chat-button chat-button-small" onClick={reason.action.onAction}>
          {reason.action.label}
        </button>
      )}
    </section>
  );
}

/** A keyboard on the screen: Enter makes a line there, because there is no Shift+Enter to do it. */
function onTouch(): boolean {
  return window.matchMedia('(pointer: coarse)').matches;
}

/** As high as what is written needs, also after the page has become wider or narrower. */
function useOwnHeight(ref: { readonly current: HTMLTextAreaElement | null }, value: string): void {
  const fit = useCallback(() => {
    const text = ref.current;
    if (!text) return;
    text.style.height = 'auto';
    text.style.height = `${text.scrollHeight}px`;
  }, [ref]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: its height follows what is written
  useLayoutEffect(fit, [fit, value]);
  useEffect(() => {
    const text = ref.current;
    if (!text) return undefined;
    let width = text.clientWidth;
    const observer = new ResizeObserver(() => {
      // Its own height is our doing.
      if (text.clientWidth === width) return;
      width = text.clientWidth;
      fit();
    });
    observer.observe(text);
    window.addEventListener('resize', fit);
    return () => {
      observer.disconnect();
      window.removeEventListener('resize', fit);
    };
  }, [ref, fit]);
}

/** Where the keyboard lies over the page instead of making it smaller, the composer moves up by what it covers. */
function useKeyboardInset(ref: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const view = window.visualViewport;
    if (!view) return undefined;
    const follow = () => {
      // A pinch makes the view smaller, too, and is no keyboard.
      const covered = view.scale > 1.01 ? 0 : Math.max(0, window.innerHeight - view.height - view.offsetTop);
      ref.current?.style.setProperty('--keyboard', `${Math.round(covered)}px`);
    };
    view.addEventListener('resize', follow);
    view.addEventListener('scroll', follow);
    return () => {
      view.removeEventListener('resize', follow);
      view.removeEventListener('scroll', follow);
    };
  }, [ref]);
}
