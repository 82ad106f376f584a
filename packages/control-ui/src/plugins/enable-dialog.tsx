// The consent to a plugin: its files as they are now, and each right that it asks for, one by one. All are off at first; one
// that was granted before is on.
import { type ReactNode, useCallback, useRef, useState } from 'react';
import { type PluginInfo, visible } from '@tenon/protocol';
import { VisibleText } from '../chat/visible-text.tsx';
import { usePage } from '../hooks/page-context.ts';
import { Icon } from '../icons.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import type { PluginActions } from './plugin-actions.ts';
import { grantWords } from './plugin-words.ts';
import { useAsked } from './use-asked.ts';

interface EnableProps {
  readonly plugin: PluginInfo;
  readonly actions: PluginActions;
  readonly onClose: () => void;
}

export function EnableDialog({ plugin, actions, onClose }: EnableProps): ReactNode {
  const [given, setGiven] = useState<ReadonlySet<string>>(() => new Set(plugin.asked.filter((grant) => plugin.granted.includes(grant))));
  const page = usePage();
  const { id } = plugin;
  const readFiles = useCallback(async () => (await page.link().call('plugins.get', { id, files: true })).plugin.treeHash, [page, id]);
  // The first answer: what is enabled are the files that are there when this is opened, and no others that take their place meanwhile.
  const files = useAsked(readFiles, undefined).answer;
  const shown = useRef<string>(undefined);
  if (files.kind === 'ready') shown.current ??= files.value;
  const asked = plugin.asked;
  const name = visible(plugin.name);
  const all = given.size === asked.length;
  const left = asked.length - given.size;
  const button =
    asked.length === 0 ? 'Enable' : given.size === 0 ? 'Enable without grants' : `Enable with ${given.size} of ${asked.length} grants`;
  return (
    <Dialog
      title={`${plugin.state === 'changed' ? 'Trust the changed files of' : 'Enable'} ${name}?`}
      onClose={onClose}
      className="dialog-wide"
    >
      <div className="dialog-text">
        {plugin.origin === 'bundled' ? (
          <p>It is part of Tenon and runs inside the gateway.</p>
        ) : (
          <p>
            You trust its files as they are now. It runs inside the gateway and is not sandboxed: the grants say what it may do through
            Tenon, not what its code can reach. A later change of any file stops it until you decide again.
          </p>
        )}
      </div>
      {asked.length === 0 ? (
        <p className="plugins-note">It asks for no grants.</p>
      ) : (
        <section className="consent" aria-labelledby="consent-title">
          <div className="consent-head">
            <h3 id="consent-title">Grants that it asks for</h3>
            <Button small look="quiet" data-first="" onClick={() => setGiven(all ? new Set() : new Set(asked))}>
              {all ? 'Turn all off' : 'Turn all on'}
            </Button>
          </div>
          <ul className="consent-list">
            {asked.map((grant) => (
              <ConsentRow
                key={grant}
                grant={grant}
                on={given.has(grant)}
                onChange={(on) => {
                  const next = new Set(given);
                  if (on) next.add(grant);
                  else next.delete(grant);
                  setGiven(next);
                }}
              />
            ))}
          </ul>
        </section>
      )}
      {left > 0 && (
        <p className="meta consent-left">
          What it registers without its grant is refused, and shown as such. You can turn each grant on and off later.
        </p>
      )}
      <div className="dialog-foot">
        <Button
          look="primary"
          reason={files.kind === 'ready' ? undefined : files.kind === 'failed' ? 'Its files could not be read' : 'Its files are being read'}
          onClick={() => {
            onClose();
            void actions.enable(plugin, [...given], shown.current);
          }}
        >
          {button}
        </Button>
        <Button look="quiet" data-first={asked.length === 0 ? '' : undefined} onClick={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}

function ConsentRow({
  grant,
  on,
  onChange,
}: {
  readonly grant: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}): ReactNode {
  const { meaning, wide } = grantWords(grant);
  return (
    <li>
      <label className="grant-row">
        <span className="row-text">
          <span className="grant-name">
            <code>
              <VisibleText text={grant} />
            </code>
            {wide && <WideTag />}
          </span>
          <span className="row-line row-line-wrap">
            <VisibleText text={meaning} />
          </span>
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
    </li>
  );
}

export function WideTag(): ReactNode {
  return (
    <span className="grant-tag grant-tag-warn">
      <Icon name="warning" size={12} /> Wide
    </span>
  );
}
