// The way in. A link from the terminal needs nothing typed; a token can be pasted. Neither ever stands in an address.
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useApp, usePage } from '../hooks/page-context.ts';
import { Icon, Mark } from '../icons.tsx';
import { Button } from '../parts/button.tsx';
import { Words } from '../parts/states.tsx';
import type { Trouble } from '../state/trouble.ts';

const LINK_COMMAND = 'npx tenon ui';

export function SignIn({ offline, onRetry }: { readonly offline?: boolean; readonly onRetry?: () => void }): ReactNode {
  const page = usePage();
  const connection = useApp((state) => state.connection);
  const error = connection.kind === 'signed-out' || connection.kind === 'offline' ? connection.error : undefined;
  const [token, setToken] = useState('');
  const [keep, setKeep] = useState(true);
  const [shown, setShown] = useState(false);
  const [missing, setMissing] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const [inputId, errorId] = [useId(), useId()];
  // A link that is no longer good says nothing about a token that nobody has typed.
  const isLink = !missing && connection.kind === 'signed-out' && connection.refused === 'link' && error !== undefined;
  const words = missing ? { message: 'Paste the token first. `tenon token new` makes one.' } : error;

  const isWrong = words !== undefined && !isLink;

  useEffect(() => {
    document.title = 'Sign in · Tenon';
  }, []);

  function submit(event: FormEvent): void {
    event.preventDefault();
    const given = token.trim();
    setMissing(given === '');
    if (given === '') input.current?.focus();
    else page.signInWithToken(given, keep);
  }

  return (
    <main className="sign-in">
      <header className="sign-in-head">
        <Mark size={36} />
        <div>
          <h1>Sign in to Tenon</h1>
          <p className="meta">on {location.host}</p>
        </div>
      </header>
      <div className="sign-in-card">
        <h2>With the link from the terminal</h2>
        <p className="sign-in-text">Run this where the gateway runs. It prints a link that works once.</p>
        <CommandLine command={LINK_COMMAND} />
        {isLink && words && (
          <div role="alert">
            <ErrorWords error={words} />
          </div>
        )}
        <p className="sign-in-or">
          <span>or</span>
        </p>
        <form onSubmit={submit}>
          <label htmlFor={inputId}>Access token</label>
          <div className={`field${isWrong ? ' field-bad' : ''}`}>
            <Icon name="key" />
            <input
              ref={input}
              id={inputId}
              type={shown ? 'text' : 'password'}
              value={token}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={512}
              aria-invalid={isWrong}
              aria-describedby={isWrong ? errorId : undefined}
              onChange={(event) => {
                setToken(event.target.value);
                setMissing(false);
              }}
            />
            <button type="button" className="btn btn-quiet btn-small" aria-pressed={shown} onClick={() => setShown(!shown)}>
              {shown ? 'Hide' : 'Show'}
              <span className="visually-hidden"> the token</span>
            </button>
          </div>
          {!isLink && (
            <div id={errorId} role="alert">
              {words && <ErrorWords error={words} />}
            </div>
          )}
          <label className="check">
            <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.target.checked)} />
            Keep me signed in on this browser
          </label>
          <button type="submit" className="btn btn-primary sign-in-go">
            Sign in
          </button>
          {offline && onRetry && (
            <Button icon="retry" className="sign-in-go" onClick={onRetry}>
              Try again
            </Button>
          )}
        </form>
      </div>
      <p className="sign-in-note">
        <Icon name="lock" size={14} />
        <span>The token is never put into an address. Signing out clears everything that this browser kept.</span>
      </p>
    </main>
  );
}

function ErrorWords({ error }: { readonly error: Trouble }): ReactNode {
  return (
    <p className="field-error">
      <Icon name="x-circle" size={14} />
      <span>
        <Words text={error.message} />
        {error.code && <code className="field-code"> {error.code}</code>}
      </span>
    </p>
  );
}

function CommandLine({ command }: { readonly command: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  return (
    <div className="command-line">
      <code>
        <span aria-hidden="true">$ </span>
        {command}
      </code>
      <Button
        small
        look="quiet"
        icon={copied ? 'check' : 'copy'}
        onClick={() => {
          void navigator.clipboard?.writeText(command).then(
            () => setCopied(true),
            () => setCopied(false),
          );
        }}
      >
        {copied ? 'Copied' : 'Copy'}
        <span className="visually-hidden"> the command</span>
      </Button>
    </div>
  );
}
