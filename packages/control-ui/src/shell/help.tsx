// The keyboard map.
import type { ReactNode } from 'react';
import { usePreferences } from '../hooks/use-browser.ts';
import { Button, Kbd } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { keyboardMap } from '../state/shortcuts.ts';

export function Help({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { preferences, set } = usePreferences();
  return (
    <Dialog title="Keyboard map" onClose={onClose} className="dialog-wide">
      <div className="help-groups">
        {keyboardMap.map((group) => (
          <section key={group.title} aria-label={group.title}>
            <h3>{group.title}</h3>
            <dl>
              {group.rows.map((row) => (
                <div key={row.what} className={preferences.singleKeys || row.always ? '' : 'help-off'}>
                  <dt>
                    {row.keys.map((key, index) => (
                      <Kbd key={`${key}${index === 0 ? '' : ' again'}`}>{key}</Kbd>
                    ))}
                  </dt>
                  <dd>
                    {row.what}
                    {!preferences.singleKeys && !row.always && ' (switched off)'}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div className="dialog-foot">
        <Button look="primary" onClick={onClose}>
          Close
        </Button>
        <Button look="quiet" onClick={() => set({ singleKeys: !preferences.singleKeys })}>
          {preferences.singleKeys ? 'Switch single keys off' : 'Switch single keys on'}
        </Button>
      </div>
    </Dialog>
  );
}
