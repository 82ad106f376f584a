// A conversation in which nothing was said yet: what is ready, and what can be asked.
import type { ReactNode } from 'react';
import { useApp } from '../hooks/page-context.ts';
import { useMedia, usePreferences } from '../hooks/use-browser.ts';
import { Icon, type IconName, Mark } from '../icons.tsx';
import { Button, Kbd, Pill } from '../parts/button.tsx';

/** Each shows something else of the demo model: an answer, a tool that reads, a tool that asks first, the way to a real model. */
const examples = ['What are you?', 'List the files', 'Write a note: water the plants', 'How do I add a real model?'];

export function FirstRun({ agent, onExample }: { readonly agent: string; readonly onExample: (text: string) => void }): ReactNode {
  const isFirst = useApp((state) => state.sessions.loaded.kind === 'ready' && state.sessions.byKey.size === 0);
  const models = useApp((state) => state.models);
  const mayWrite = useApp((state) => state.identity?.scopes.has('operator.write') === true && state.connection.kind === 'online');
  const { singleKeys } = usePreferences().preferences;
  // A phone has neither Shift+Enter nor a map.
  const hasKeys = !useMedia('(pointer: coarse)') && isFirst;
  const hasOwnModel = models.kind === 'ready' && models.value.some((model) => model.id !== 'demo' && model.usable);
  const isDemo = models.kind === 'ready' && !hasOwnModel;
  return (
    <div className="first-run">
      <div className="first-run-box">
        <Mark size={38} />
        <p className="first-run-title">Say something to start</p>
        <p className="first-run-text">
          {isDemo
            ? 'The demo model answers without a key, so you can try everything now and connect your own model when you like.'
            : `${agent} answers here. What it may do without a question is chosen below.`}
        </p>
        {isFirst && (
          <ul className="steps">
            <Step icon="check" tone="ok" title="The gateway runs" text={`This page reached it on ${location.host}`}>
              <Pill icon="check-circle" tone="ok" bare>
                Done
              </Pill>
            </Step>
            <Step icon="chat" tone="accent" title="First message" text="Type below, or take one of the examples">
              <Pill icon="chevron-right" tone="accent" bare>
                Next
              </Pill>
            </Step>
            <Step icon="model" tone="plain" title="Connect a model" text="Any OpenAI-compatible address, or a provider key, in tenon.toml">
              {hasOwnModel ? (
                <Pill icon="check-circle" tone="ok" bare>
                  Done
                </Pill>
              ) : (
                <Button
                  small
                  reason={mayWrite ? undefined : 'This needs operator.write'}
                  onClick={() => onExample('How do I add a real model?')}
                >
                  Show me how
                </Button>
              )}
            </Step>
          </ul>
        )}
        <p className="meta">Examples</p>
        <ul className="examples">
          {examples.map((text) => (
            <li key={text}>
              <Button reason={mayWrite ? undefined : 'This needs operator.write'} onClick={() => onExample(text)}>
                {text}
              </Button>
            </li>
          ))}
        </ul>
        {hasKeys && (
          <p className="meta first-run-keys">
            Enter sends, Shift+Enter makes a new line.
            {singleKeys && (
              <>
                {' '}
                Press <Kbd>?</Kbd> outside the box for the keyboard map.
              </>
            )}
          </p>
        )}
      </div>
    </div>
  );
}

interface StepProps {
  readonly icon: IconName;
  readonly tone: 'ok' | 'accent' | 'plain';
  readonly title: string;
  readonly text: string;
  readonly children: ReactNode;
}

function Step({ icon, tone, title, text, children }: StepProps): ReactNode {
  return (
    <li className="step">
      <span className={`tile tile-${tone}`}>
        <Icon name={icon} />
      </span>
      <div className="step-text">
        <p className="row-title">{title}</p>
        <p className="meta">{text}</p>
      </div>
      {children}
    </li>
  );
}
