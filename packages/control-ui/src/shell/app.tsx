// Who is here: somebody who has to sign in, or somebody at work. What the person chose on this browser is held here.
import { type ReactNode, useMemo, useState } from 'react';
import { PageContext, useApp, usePage } from '../hooks/page-context.ts';
import { PreferencesContext, type PreferencesState } from '../hooks/use-browser.ts';
import type { Page } from '../state/page.ts';
import { applyTheme, defaultPreferences, type Preferences, readPreferences, writePreferences } from '../state/preferences.ts';
import { Skeleton } from '../parts/states.tsx';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';

const shelf = {
  getItem: (key: string) => localStorage.getItem(key),
  setItem: (key: string, value: string) => localStorage.setItem(key, value),
};

export function App({ page }: { readonly page: Page }): ReactNode {
  const [preferences, setPreferences] = useState<Preferences>(() => readPreferences(shelf));
  const state = useMemo<PreferencesState>(
    () => ({
      preferences,
      set(change) {
        const next = { ...preferences, ...change };
        setPreferences(next);
        writePreferences(shelf, next);
        applyTheme(next.theme, document.documentElement);
      },
    }),
    [preferences],
  );
  return (
    <PageContext value={page}>
      <PreferencesContext value={state}>
        <Entrance
          onSignedOut={() => {
            setPreferences(defaultPreferences);
            applyTheme(defaultPreferences.theme, document.documentElement);
          }}
        />
      </PreferencesContext>
    </PageContext>
  );
}

function Entrance({ onSignedOut }: { readonly onSignedOut: () => void }): ReactNode {
  const page = usePage();
  const kind = useApp((state) => state.connection.kind);
  const isKnown = useApp((state) => state.identity !== undefined);
  if (kind === 'signed-out') return <SignIn />;
  if (isKnown) {
    return (
      <Shell
        onSignOut={() => {
          void page.signOut();
          onSignedOut();
        }}
      />
    );
  }
  return <FirstConnection />;
}

/** The first connection of this page: quick, or something is wrong and is said. */
function FirstConnection(): ReactNode {
  const page = usePage();
  const connection = useApp((state) => state.connection);
  if (connection.kind === 'offline') return <SignIn offline onRetry={() => page.link().retry()} />;
  return (
    <main className="first-connection">
      <h1 className="visually-hidden">Tenon</h1>
      <Skeleton lines={4} label="Connecting to the gateway" />
    </main>
  );
}
