// The consent to a plugin: its files as they are now and what of them has changed since they were trusted, each right that it asks
// for, one by one, and what its tools say. All rights are off at first; one that was granted before is on.
import { type ReactNode, useCallback, useRef, useState } from 'react';
import { type PluginInfo, visible } from '@tenon/protocol';
import { plural } from '../chat/format.ts';
import { VisibleText } from '../chat/visible-text.tsx';
import { usePage } from '../hooks/page-context.ts';
import { Icon } from '../icons.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Skeleton } from '../parts/states.tsx';
import type { PluginActions } from './plugin-actions.ts';
import { type Changes, hasChanged, isExtension, reachWords, shortHash, unconfinedNote } from './extension-words.ts';
import { ChangeBanner, FileChanges, ToolTexts } from './plugin-changes.tsx';
import { grantWords } from './plugin-words.ts';
import { useAsked } from './use-asked.ts';

interface EnableProps {
  readonly plugin: PluginInfo;
  readonly actions: PluginActions;
  readonly onClose: () => void;
}

export function EnableDialog({ plugin, actions, onClose }: EnableProps): ReactNode {
  const page = usePage();
  const { id } = plugin;
  const isChanged = plugin.state === 'changed';
  const readChanges = useCallback(async () => {
    // The gateway looks at its files and its manifest anew; what is asked next is about those.
    const { plugin: now } = await page.link().call('plugins.get', { id, files: true });
    return { changes: await page.link().call('plugins.changes', { id }), reach: now.process ? reachWords(now.process.reach) : [] };
  }, [page, id]);
  const answer = useAsked(readChanges, undefined).answer;
  // The first answer: what is enabled are the files that are there when this is opened, and no others that take their place meanwhile.
  const first = useRef<{ changes: Changes; reach: readonly string[] }>(undefined);
  if (answer.kind === 'ready') first.current ??= answer.value;
  const { changes, reach = [] } = first.current ?? {};
  const [chosen, setGiven] = useState<ReadonlySet<string>>();
  const asked = changes?.asked ?? plugin.asked;
  const held = changes?.held ?? plugin.granted;
  const given = chosen ?? new Set(asked.filter((grant) => held.includes(grant)));
  const open = unconfinedNote(plugin);
  const name = visible(plugin.name);
  const all = given.size === asked.length;
  const left = asked.length - given.size;
  const verb = isChanged ? 'Accept' : 'Enable';
  const button =
    asked.length === 0 ? verb : given.size === 0 ? `${verb} without grants` : `${verb} with ${given.size} of ${asked.length} grants`;
  const waits = answer.kind === 'failed' ? 'Its files could not be read' : changes ? unfit(changes, plugin) : 'Its files are being read';
  return (
    <Dialog
      title={isChanged ? `Accept the changes of ${name}?` : `Enable ${name}?`}
      onClose={onClose}
      className="dialog-wide dialog-consent"
    >
      <div className="consent-body">
        <div className="dialog-text">
          <TrustWords plugin={plugin} />
        </div>
        {!changes && answer.kind === 'loading' && <Skeleton lines={3} label="Its files are being read" />}
        {changes && <Since changes={changes} />}
        {open !== undefined && (
          <ul className="consent-list consent">
            <UnconfinedRow note={open} />
          </ul>
        )}
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
                  isNew={changes?.trustedHash !== undefined && changes.grants.added.includes(grant)}
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
        {changes && changes.grants.removed.length > 0 && (
          <p className="meta consent-left">
            No longer asked for: <VisibleText text={changes.grants.removed.join(', ')} />
          </p>
        )}
        {reach.length > 0 && (
          <p className="consent-left">
            Outside of its own files it asks to <VisibleText text={reach.join('; ')} />.
          </p>
        )}
        {left > 0 && (
          <p className="meta consent-left">
            What it registers without its grant is refused, and shown as such. You can turn each grant on and off later.
          </p>
        )}
        {changes && isExtension(plugin) && <AgentReads changes={changes} />}
      </div>
      <div className="dialog-foot consent-foot">
        {changes?.treeHash !== undefined && plugin.origin !== 'bundled' && (
          <p className="consent-tree">
            You decide for these files only: <code title={changes.treeHash}>{shortHash(changes.treeHash)}</code>
          </p>
        )}
        <Button look="quiet" data-first={asked.length === 0 ? '' : undefined} onClick={onClose}>
          {isChanged ? 'Keep it stopped' : 'Cancel'}
        </Button>
        <Button
          look="primary"
          reason={waits}
          onClick={() => {
            onClose();
            void actions.enable(plugin, [...given], changes?.treeHash);
          }}
        >
          {button}
        </Button>
      </div>
    </Dialog>
  );
}

function unfit({ treeHash }: Changes, { origin }: PluginInfo): string | undefined {
  return treeHash === undefined && origin !== 'bundled' ? 'Its files cannot be used as they are' : undefined;
}

function TrustWords({ plugin }: { readonly plugin: PluginInfo }): ReactNode {
  if (plugin.origin === 'bundled') return <p>It is part of Tenon and runs inside the gateway.</p>;
  if (!isExtension(plugin))
    return (
      <p>
        You trust its files as they are now. It runs inside the gateway and is not sandboxed: the grants say what it may do through Tenon,
        not what its code can reach. A later change of any file stops it until you decide again.
      </p>
    );
  return (
    <p>
      You trust its files as they are now. It runs as a process of its own, from a copy of exactly these files,{' '}
      {plugin.process?.sandboxed
        ? 'in a sandbox: of the machine it reaches what you grant, and nothing else.'
        : 'and no sandbox holds it here: the grants say what it may do through Tenon, not what its code can reach.'}{' '}
      A later change of any file, of what it asks for or of what its tools say stops it until you decide again.
    </p>
  );
}

/** What was trusted before, beside what is there now; of one that was never trusted, its files. */
function Since({ changes }: { readonly changes: Changes }): ReactNode {
  if (changes.trustedHash === undefined) {
    const count = changes.files.filter(({ path }) => !path.endsWith('/')).length + (changes.moreFiles ?? 0);
    if (count === 0) return null;
    return (
      <details className="consent consent-files">
        <summary>{plural(count, 'file')}, all new: nothing of it has run</summary>
        <FileChanges changes={changes} />
      </details>
    );
  }
  if (!hasChanged(changes)) return <p className="meta consent-left">Its files are those that you trusted before.</p>;
  return (
    <>
      <ChangeBanner changes={changes} />
      {(changes.files.length > 0 || changes.filesUnknown) && (
        <section className="consent" aria-labelledby="consent-files-title">
          <h3 id="consent-files-title">Files since trust</h3>
          <FileChanges changes={changes} />
        </section>
      )}
    </>
  );
}

function AgentReads({ changes: { tools } }: { readonly changes: Changes }): ReactNode {
  return (
    <section className="consent" aria-labelledby="consent-tools-title">
      <h3 id="consent-tools-title">What the agent will read</h3>
      {tools.length === 0 ? (
        <p className="meta consent-left">
          What its tools say is known when it has run once. It is kept then, and a later change of it stops the extension.
        </p>
      ) : (
        <ToolTexts tools={tools} />
      )}
    </section>
  );
}

interface ConsentRowProps {
  readonly grant: string;
  /** It was not asked for when its files were trusted. */
  readonly isNew: boolean;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}

function ConsentRow({ grant, isNew, on, onChange }: ConsentRowProps): ReactNode {
  const { meaning, wide } = grantWords(grant);
  return (
    <li>
      <label className={isNew ? 'grant-row grant-row-new' : 'grant-row'}>
        <span className="row-text">
          <span className="grant-name">
            <code>
              <VisibleText text={grant} />
            </code>
            {isNew && <span className="grant-tag grant-tag-warn">New</span>}
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

/** Not a grant, and wider than any. */
export function UnconfinedRow({ note }: { readonly note: string }): ReactNode {
  return (
    <li className="grant-row grant-row-new">
      <Icon name="shield-off" />
      <span className="row-text">
        <span className="grant-name">
          Runs unconfined, with your rights
          <WideTag />
        </span>
        <span className="row-line row-line-wrap">
          <VisibleText text={note} />
        </span>
      </span>
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
