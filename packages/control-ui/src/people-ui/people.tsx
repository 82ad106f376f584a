// What extensions ask, as dialogs of the session that is open and as notices elsewhere; and what they show around a conversation.
// All of it is text: the page draws the frame with the name of the extension, and no extension can change it.
import { type UiQuestion, type UiReply, type UiShown, visible } from '@tenon/protocol';
import { widgetBlocks } from '@tenon/protocol/ui';
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { ScrollBox } from '../chat/scroll-box.tsx';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useDelay, useNow } from '../hooks/use-browser.ts';
import { navigate } from '../hooks/use-route.ts';
import { Icon } from '../icons.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Block } from '../plugin-ui/blocks.tsx';
import { Guarded } from '../plugin-ui/plugin-card.tsx';
import { may } from '../state/app-state.ts';
import { sessionTitle } from '../state/session-words.ts';
import { troubleOf } from '../state/trouble.ts';
import { askerOf, withoutQuestion } from './follow.ts';
import '../plugin-ui/plugin-ui.later.css';
import './people.later.css';

/** One at a time, the oldest first; what is asked in another session is told at the edge of the page. */
export function Questions({ sessionKey }: { readonly sessionKey: string | undefined }): ReactNode {
  const questions = useApp((state) => state.people.questions);
  // Without a connection no answer would arrive, and nobody is kept from reading on.
  const mayAnswer = useApp((state) => may(state, 'operator.write') && state.connection.kind === 'online');
  useQuestionToasts(mayAnswer ? questions : NONE, sessionKey);
  const question = mayAnswer ? questions.find((each) => each.sessionKey === sessionKey) : undefined;
  return question && <QuestionDialog key={question.id} question={question} />;
}

const NONE: readonly UiQuestion[] = [];
const TOAST = 'asked:';

function useQuestionToasts(questions: readonly UiQuestion[], sessionKey: string | undefined): void {
  const { store, toasts } = usePage();
  const known = useRef(new Set<string>());
  useEffect(() => {
    const elsewhere = questions.filter((each) => each.sessionKey !== sessionKey);
    const waiting = new Set(elsewhere.map(({ id }) => TOAST + id));
    toasts.closeAbout((about) => about.startsWith(TOAST) && !waiting.has(about));
    for (const { id, prompt, sessionKey: key, expiresAt, ...asker } of elsewhere) {
      if (known.current.has(id)) continue;
      toasts.say({
        tone: 'info',
        icon: 'joint',
        title: `${askerOf(asker)} asks: ${prompt.split('\n', 1)[0]!.slice(0, 120)}`,
        detail: sessionTitle(store.get().sessions.byKey.get(key)),
        action: { label: 'Open', run: () => navigate({ view: 'chat', sessionKey: key }) },
        about: TOAST + id,
        until: expiresAt,
      });
    }
    known.current = new Set(questions.map(({ id }) => id));
  }, [questions, sessionKey, toasts, store]);
}

/** Whoever presses Enter in the moment in which it opens has not read it. */
const READ_MS = 300;

function QuestionDialog({ question }: { readonly question: UiQuestion }): ReactNode {
  const page = usePage();
  const [pending, setPending] = useState<string>();
  const [failed, setFailed] = useState<string>();
  const isRead = useDelay(READ_MS);
  const { id, prompt, expiresAt } = question;
  const [title = '', ...more] = prompt.split('\n');

  function answer(reply: UiReply, label: string): void {
    if (pending !== undefined || !isRead) return;
    setPending(label);
    page
      .link()
      .call('ui.answer', { id, reply })
      .then(
        () => page.store.update((state) => withoutQuestion(state, id)),
        (error: unknown) => {
          const { message, code } = troubleOf(error);
          setPending(undefined);
          if (code !== 'GONE' && code !== 'NOT_FOUND') return setFailed(code === undefined ? message : `${message} (${code})`);
          page.toasts.say({
            tone: 'info',
            icon: 'joint',
            title: `${askerOf(question)}: somebody else has answered, or nobody waits any more`,
          });
          page.store.update((state) => withoutQuestion(state, id));
        },
      );
  }

  const dismiss = () => answer({ cancelled: true }, 'Dismiss');
  return (
    <Dialog title={title} onClose={dismiss} className={`people-dialog${isRead ? ' people-ready' : ''}`} asks>
      <p className="plugin-notch people-notch">
        <Icon name="joint" size={14} /> <b>{askerOf(question)}</b> <span>extension asks</span>
      </p>
      {more.length > 0 && <p className="dialog-text people-text">{more.join('\n')}</p>}
      <Answers question={question} pending={pending} onAnswer={answer} onDismiss={dismiss} />
      {failed !== undefined && (
        <p className="field-error" role="alert">
          <Icon name="x-circle" size={14} /> {failed}
        </p>
      )}
      <TimeLeft until={expiresAt} />
    </Dialog>
  );
}

interface AnswersProps {
  readonly question: UiQuestion;
  readonly pending: string | undefined;
  readonly onAnswer: (reply: UiReply, label: string) => void;
  readonly onDismiss: () => void;
}

function Answers(props: AnswersProps): ReactNode {
  const { kind } = props.question;
  return kind === 'confirm' ? (
    <ConfirmAnswers {...props} />
  ) : kind === 'select' ? (
    <SelectAnswers {...props} />
  ) : (
    <InputAnswers {...props} />
  );
}

function ConfirmAnswers({ pending, onAnswer, onDismiss }: AnswersProps): ReactNode {
  return (
    <div className="dialog-foot">
      <Button look="primary" onClick={() => onAnswer({ confirmed: true }, 'Yes')}>
        {pending === 'Yes' ? 'Sending' : 'Yes'}
      </Button>
      <Button onClick={() => onAnswer({ confirmed: false }, 'No')}>No</Button>
      <Dismiss onDismiss={onDismiss} />
    </div>
  );
}

function Dismiss({ onDismiss }: Pick<AnswersProps, 'onDismiss'>): ReactNode {
  return (
    <Button look="quiet" onClick={onDismiss}>
      Dismiss
    </Button>
  );
}

function SelectAnswers({ question, pending, onAnswer, onDismiss }: AnswersProps): ReactNode {
  const { options = [], prompt } = question;
  const name = useId();
  const [chosen, setChosen] = useState<number>();
  const value = chosen === undefined ? undefined : options[chosen];
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        if (value !== undefined) onAnswer({ value }, 'Choose');
      }}
    >
      <fieldset className="people-options">
        <legend className="visually-hidden">{prompt}</legend>
        {options.map((option, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an option is known by its place
          <label key={index} className="people-option">
            <input
              type="radio"
              name={name}
              checked={chosen === index}
              onChange={() => setChosen(index)}
              {...(index === 0 ? { 'data-first': '' } : {})}
            />
            <bdi>{visible(option)}</bdi>
          </label>
        ))}
      </fieldset>
      <div className="dialog-foot">
        <Button type="submit" look="primary" reason={value === undefined ? 'Choose one first' : undefined}>
          {pending === 'Choose' ? 'Sending' : 'Choose'}
        </Button>
        <Dismiss onDismiss={onDismiss} />
      </div>
    </form>
  );
}

function InputAnswers({ question, pending, onAnswer, onDismiss }: AnswersProps): ReactNode {
  const [text, setText] = useState(question.default ?? '');
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        onAnswer({ text }, 'Send');
      }}
    >
      <div className="field people-field">
        <input
          aria-label={question.prompt}
          data-first=""
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <div className="dialog-foot">
        <Button type="submit" look="primary">
          {pending === 'Send' ? 'Sending' : 'Send'}
        </Button>
        <Dismiss onDismiss={onDismiss} />
      </div>
    </form>
  );
}

function TimeLeft({ until }: { readonly until: number }): ReactNode {
  const now = useNow(true);
  const seconds = Math.max(0, Math.ceil((until - now) / 1_000));
  const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return (
    <p className="meta people-time">
      <Icon name="clock" size={14} /> <span aria-hidden="true">{left} left.</span> No answer counts as dismissed.
    </p>
  );
}

/** Above the composer: the widgets of extensions in this session. */
export function Widgets({ shown }: { readonly shown: readonly UiShown[] }): ReactNode {
  return shown.map((each) => (
    <Guarded key={`${each.via ?? ''} ${each.extension}`} name={each.extension}>
      <Widget shown={each} />
    </Guarded>
  ));
}

function Widget({ shown }: { readonly shown: UiShown }): ReactNode {
  const blocks = widgetBlocks(shown.widget);
  if (blocks.length === 0) return null;
  const name = askerOf(shown);
  return (
    <section className="plugin-card people-widget" aria-label={`Widget of ${name}`}>
      <p className="plugin-notch">
        <Icon name="joint" size={14} /> <b>{name}</b> <span>extension widget</span>
      </p>
      <ScrollBox className="people-blocks" label={`Widget of ${name}`}>
        {blocks.map((block, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a block is known by its place
          <Block key={index} block={block} pending={undefined} reason={undefined} onPress={() => undefined} />
        ))}
      </ScrollBox>
    </section>
  );
}

/** In the line below the composer. */
export function Statuses({ shown }: { readonly shown: readonly UiShown[] }): ReactNode {
  return shown.flatMap((each) =>
    each.status === undefined ? (
      []
    ) : (
      <span key={`${each.via ?? ''} ${each.extension}`} className="status-part" role="status">
        <Icon name="joint" size={14} />
        <b>{askerOf(each)}</b>
        <bdi>{visible(each.status)}</bdi>
      </span>
    ),
  );
}
