// What a plugin asks for and what it was granted, each with a switch for who may decide.
import type { ReactNode } from 'react';
import { type PluginInfo, visible } from '@tenon/protocol';
import { VisibleText } from '../chat/visible-text.tsx';
import { UnconfinedRow, WideTag } from './enable-dialog.tsx';
import { unconfinedNote } from './extension-words.ts';
import type { PluginActions } from './plugin-actions.ts';
import { grantCount, grantWords } from './plugin-words.ts';

interface GrantsProps {
  readonly plugin: PluginInfo;
  /** Undefined: this person may only look. */
  readonly actions: PluginActions | undefined;
  readonly busy: string | undefined;
}

export function GrantsCard({ plugin, actions, busy }: GrantsProps): ReactNode {
  // Of one that is off nothing holds; it is decided when it is enabled.
  const isDecided = plugin.enabled && plugin.state !== 'changed';
  const open = unconfinedNote(plugin);
  return (
    <section className="card" aria-labelledby="grants-title">
      <div className="card-head">
        <h2 id="grants-title">Grants</h2>
        <p className="meta">
          {plugin.asked.length === 0 ? '' : isDecided ? `${grantCount(plugin)} on` : `asks for ${plugin.asked.length}`}
        </p>
      </div>
      {plugin.asked.length === 0 && open === undefined ? (
        <p className="card-empty">It asks for nothing.</p>
      ) : (
        <ul className="rows">
          {open !== undefined && <UnconfinedRow note={open} />}
          {plugin.asked.map((grant) => (
            <GrantRow
              key={grant}
              grant={grant}
              on={plugin.granted.includes(grant)}
              isDecided={isDecided}
              waits={busy === grant}
              onChange={actions && isDecided ? (on) => void (on ? actions.grant(plugin, grant) : actions.revoke(plugin, grant)) : undefined}
            />
          ))}
        </ul>
      )}
      {plugin.asked.length > 0 && actions && (
        <p className="meta card-note">
          {isDecided ? 'Taking a grant back holds at once. Giving one loads the plugin anew.' : 'You decide about each when you enable it.'}
        </p>
      )}
    </section>
  );
}

interface RowProps {
  readonly grant: string;
  readonly on: boolean;
  readonly isDecided: boolean;
  readonly waits: boolean;
  readonly onChange: ((on: boolean) => void) | undefined;
}

function GrantRow({ grant, on, isDecided, waits, onChange }: RowProps): ReactNode {
  const { meaning, wide } = grantWords(grant);
  return (
    <li className="grant-row">
      <span className="row-text">
        <span className="grant-name">
          <code>
            <VisibleText text={grant} />
          </code>
          {wide && <WideTag />}
          {isDecided && !on && <span className="grant-tag">asked, off</span>}
        </span>
        <span className="row-line row-line-wrap">
          <VisibleText text={meaning} />
        </span>
      </span>
      {onChange ? (
        <label className="grant-switch">
          <span className="visually-hidden">Grant {visible(grant)}</span>
          <input
            type="checkbox"
            role="switch"
            aria-checked={on}
            className="switch"
            checked={on}
            aria-busy={waits}
            onChange={(event) => !waits && onChange(event.target.checked)}
          />
        </label>
      ) : (
        isDecided && <span className="row-end">{on ? 'granted' : 'not granted'}</span>
      )}
    </li>
  );
}
