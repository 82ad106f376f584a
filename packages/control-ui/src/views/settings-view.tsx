// What the person chooses on this browser, who they are here, and the way out.
import { type ReactNode, useState } from 'react';
import { useApp } from '../hooks/page-context.ts';
import { usePreferences } from '../hooks/use-browser.ts';
import { Icon, type IconName } from '../icons.tsx';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/dialog.tsx';
import type { Theme } from '../state/preferences.ts';

const themes: readonly { readonly value: Theme; readonly label: string; readonly icon: IconName }[] = [
  { value: 'system', label: 'As the system', icon: 'monitor' },
  { value: 'light', label: 'Light', icon: 'sun' },
  { value: 'dark', label: 'Dark', icon: 'moon' },
];

export function SettingsView({ onSignOut }: { readonly onSignOut: () => void }): ReactNode {
  const identity = useApp((state) => state.identity);
  const [asked, setAsked] = useState(false);
  return (
    <div className="page-view">
      <header className="bar">
        <div className="bar-title">
          <h1 tabIndex={-1}>Settings</h1>
        </div>
      </header>
      <div className="page-body page-body-narrow">
        <PreferencesCard />
        <section className="card" aria-labelledby="you-title">
          <div className="card-head">
            <h2 id="you-title">You on this gateway</h2>
          </div>
          <dl className="facts-list">
            <div>
              <dt>Signed in as</dt>
              <dd>
                <code>{identity?.principal}</code>
              </dd>
            </div>
            <div>
              <dt>May do</dt>
              <dd>{[...(identity?.scopes ?? [])].join(', ') || 'nothing'}</dd>
            </div>
            <div>
              <dt>Gateway</dt>
              <dd>
                Tenon {identity?.version} on {location.host}
              </dd>
            </div>
          </dl>
          <div className="card-foot">
            <Button icon="sign-out" onClick={() => setAsked(true)}>
              Sign out
            </Button>
            <p className="meta">Clears everything that this browser kept.</p>
          </div>
        </section>
      </div>
      {asked && (
        <Confirm title={`Sign out of ${location.host}?`} action="Sign out" onClose={() => setAsked(false)} onConfirm={onSignOut}>
          <p>
            This browser forgets its token, what you typed and your choices here. <code>npx tenon ui</code> prints a link to come back.
          </p>
        </Confirm>
      )}
    </div>
  );
}

function PreferencesCard(): ReactNode {
  const { preferences, set } = usePreferences();
  return (
    <section className="card" aria-labelledby="look-title">
      <div className="card-head">
        <h2 id="look-title">This browser</h2>
      </div>
      <fieldset className="setting">
        <legend>Theme</legend>
        <div className="segments">
          {themes.map((theme) => (
            <label key={theme.value} className="segment">
              <input
                type="radio"
                name="theme"
                value={theme.value}
                checked={preferences.theme === theme.value}
                onChange={() => set({ theme: theme.value })}
              />
              <span>
                <Icon name={theme.icon} />
                {theme.label}
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <Switch
        label="Single-key shortcuts"
        text="Keys such as n, g a and ? work without Ctrl. Ctrl K always works."
        on={preferences.singleKeys}
        onChange={(singleKeys) => set({ singleKeys })}
      />
      <Switch
        label="Quiet for screen readers"
        text="Answers are not read out as they come. Approvals still are."
        on={preferences.quiet}
        onChange={(quiet) => set({ quiet })}
      />
    </section>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly text: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}

function Switch({ label, text, on, onChange }: SwitchProps): ReactNode {
  return (
    <label className="setting setting-switch">
      <span className="row-text">
        <span className="row-title">{label}</span>
        <span className="row-line row-line-wrap">{text}</span>
      </span>
      <input
        type="checkbox"
        role="switch"
        aria-checked={on}
        className="switch"
        checked={on}
        onChange={(event) => onChange(event.target.checked)}
      />
    </label>
  );
}
