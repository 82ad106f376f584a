// What has changed about a plugin since somebody trusted it: its files one by one, what it asks for, and what its tools say to
// the agent, before and after. All of it is text of others.
import type { ReactNode } from 'react';
import { exactTime, plural, shortTime } from '../chat/format.ts';
import { VisibleText } from '../chat/visible-text.tsx';
import { useNow } from '../hooks/use-browser.ts';
import { Icon } from '../icons.tsx';
import { type Changes, changeSummary, fileLooks, hasChanged, type ToolChange } from './extension-words.ts';

/** The heading of it, for whoever decides. */
export function ChangeBanner({ changes }: { readonly changes: Changes }): ReactNode {
  const now = useNow(true, 30_000);
  const { acceptedAt, acceptedBy, grants } = changes;
  return (
    <div className="change-banner">
      <Icon name="warning" />
      <div>
        <p className="change-banner-title">
          {grants.added.length > 0 ? 'It asks for more than you trusted' : 'It is not what you trusted'}
          {acceptedAt !== undefined && (
            <>
              {' '}
              <time dateTime={new Date(acceptedAt).toISOString()} title={exactTime(acceptedAt)}>
                ({shortTime(acceptedAt, now)}
              </time>
              {acceptedBy === undefined ? ')' : <>, {<VisibleText text={acceptedBy} />})</>}
            </>
          )}
        </p>
        <p>{changeSummary(changes)}. Nothing of it runs until you accept.</p>
      </div>
    </div>
  );
}

export function FileChanges({ changes }: { readonly changes: Changes }): ReactNode {
  const { moreFiles = 0, filesUnknown } = changes;
  // That its own folder is new says nothing.
  const files = changes.files.filter(({ path, change }) => path !== './' || change !== 'added');
  return (
    <>
      {filesUnknown && <p className="change-note">Its files are others than those that were trusted. Which, was not kept.</p>}
      {files.length > 0 && (
        <ul className="change-files">
          {files.map(({ path, change }) => {
            const { icon, words, tone } = fileLooks[change];
            return (
              <li key={path} className="change-file">
                <Icon name={icon} size={14} className={`tone-${tone}`} />
                <code>
                  <VisibleText text={path} />
                </code>
                <span className="grant-tag">{change === 'added' && path.endsWith('/') ? 'new folder' : words}</span>
              </li>
            );
          })}
          {moreFiles > 0 && <li className="change-more">and {plural(moreFiles, 'file')} more</li>}
        </ul>
      )}
    </>
  );
}

/** What the agent is told, of every tool that is known. */
export function ToolTexts({ tools }: { readonly tools: readonly ToolChange[] }): ReactNode {
  const ordered = [...tools].sort((a, b) => rank(a) - rank(b));
  return (
    <ul className="tool-texts">
      {ordered.map((tool) => (
        <li key={tool.name}>
          <span className="grant-name">
            <code>
              <VisibleText text={tool.name} />
            </code>
            {tool.change !== 'same' && (
              <span className={tool.change === 'added' ? 'grant-tag' : 'grant-tag grant-tag-warn'}>{toolTags[tool.change]}</span>
            )}
          </span>
          <ToolText tool={tool} />
        </li>
      ))}
    </ul>
  );
}

const toolTags = { added: 'New', changed: 'Text changed', removed: 'Gone' } as const;

function rank({ change }: ToolChange): number {
  return change === 'changed' ? 0 : change === 'same' ? 2 : 1;
}

const parts = { description: 'Description', parameters: 'Parameters', risk: 'Risk' } as const;
type Part = keyof typeof parts;

function ToolText({ tool: { change, before, after } }: { readonly tool: ToolChange }): ReactNode {
  const said = after ?? before;
  if (change !== 'changed' || !before || !after)
    return (
      <p className="tool-text">
        <VisibleText text={said?.description ?? ''} keep={'\n'} />
      </p>
    );
  const differing = (Object.keys(parts) as Part[]).filter((part) => before[part] !== after[part]);
  return differing.map((part) => (
    <dl key={part} className="tool-diff">
      <dt>{parts[part]}, as you trusted it</dt>
      <dd className="tool-was">
        <del>
          <VisibleText text={before[part]} keep={'\n'} />
        </del>
      </dd>
      <dt>{parts[part]}, as it is now</dt>
      <dd className="tool-is">
        <ins>
          <VisibleText text={after[part]} keep={'\n'} />
        </ins>
      </dd>
    </dl>
  ));
}

/** On the page of the plugin. Nothing where nothing has changed. */
export function ChangesCard({ changes, isStopped }: { readonly changes: Changes; readonly isStopped: boolean }): ReactNode {
  if (!hasChanged(changes)) return null;
  const texts = changes.tools.filter(({ change }) => change === 'changed');
  return (
    <section className="card" aria-labelledby="changes-title">
      <div className="card-head">
        <h2 id="changes-title">Changed since trust</h2>
        <p className="meta">{changeSummary(changes)}</p>
      </div>
      <div className="changes">
        {!isStopped && (
          <p className="change-note">
            What runs is the copy of the files that you trusted. When it is loaded the next time, it stops until you accept this.
          </p>
        )}
        <FileChanges changes={changes} />
        <GrantChanges changes={changes} />
        {texts.length > 0 && <ToolTexts tools={texts} />}
      </div>
    </section>
  );
}

function GrantChanges({ changes: { grants } }: { readonly changes: Changes }): ReactNode {
  if (grants.added.length + grants.removed.length === 0) return null;
  return (
    <ul className="change-files" aria-label="Grants">
      {grants.added.map((grant) => (
        <li key={grant} className="change-file">
          <Icon name="plus" size={14} className="tone-warn" />
          <code>
            <VisibleText text={grant} />
          </code>
          <span className="grant-tag grant-tag-warn">new grant</span>
        </li>
      ))}
      {grants.removed.map((grant) => (
        <li key={grant} className="change-file">
          <Icon name="minus" size={14} />
          <code>
            <VisibleText text={grant} />
          </code>
          <span className="grant-tag">no longer asked for</span>
        </li>
      ))}
    </ul>
  );
}
