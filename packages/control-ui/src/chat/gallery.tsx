// Every part of a conversation in every state, with nothing behind it. The browser tests open it; the page does not contain it.
import type { Approval, Decision, PermissionMode, ThinkingLevel } from '@tenon/protocol';
import { type ReactNode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { ApprovalCard } from './approval-card.tsx';
import { Composer } from './composer.tsx';
import { approval, commands, conversation, every, hostile, models, NOW, streamed, waiting } from './samples.ts';
import { StatusLine } from './status-line.tsx';
import { Transcript } from './transcript.tsx';
import type { ClosedReason, TranscriptItem } from './types.ts';

export type View =
  | { readonly name: 'streamed' | 'waiting' | 'every' | 'inbox' | 'composers' }
  | { readonly name: 'items'; readonly items: readonly TranscriptItem[]; readonly hasOlder?: boolean; readonly quiet?: boolean }
  | { readonly name: 'hostile'; readonly texts: readonly string[] };

/** What the tests hold: they say what is shown and read what was called back. */
export interface Gallery {
  show(view: View): void;
  setNow(now: number): void;
  set(change: Partial<Controls>): void;
  readonly calls: string[];
  readonly now: number;
}

interface Controls {
  readonly value: string;
  readonly busy: boolean;
  readonly fileCount: number;
  readonly closed: ClosedReason | undefined;
  readonly refused: readonly string[];
  readonly filesReason: string | undefined;
}

const START: Controls = { value: '', busy: false, fileCount: 0, closed: undefined, refused: [], filesReason: undefined };

export function startGallery(root: HTMLElement): Gallery {
  const calls: string[] = [];
  let update: (change: { view?: View; now?: number; controls?: Partial<Controls> }) => void = () => undefined;
  function Root(): ReactNode {
    const [view, setView] = useState<View>({ name: 'streamed' });
    const [now, setNow] = useState(NOW);
    const [controls, setControls] = useState(START);
    useEffect(() => {
      update = (change) => {
        if (change.view) setView(change.view);
        if (change.now !== undefined) setNow(change.now);
        if (change.controls) setControls((before) => ({ ...before, ...change.controls }));
      };
    }, []);
    return <Shown {...{ view, now, controls, calls, change: (change) => setControls((before) => ({ ...before, ...change })) }} />;
  }
  createRoot(root).render(<Root />);
  return { show: (view) => update({ view }), setNow: (now) => update({ now }), set: (controls) => update({ controls }), calls, now: NOW };
}

/** As the gateway would answer. */
async function completions(text: string) {
  const lines = ['/model demo', '/model default'].map((line) => ({ text: line, description: 'A model' }));
  return lines.filter((line) => line.text.startsWith(text));
}

interface ShownProps {
  readonly view: View;
  readonly now: number;
  readonly controls: Controls;
  readonly calls: string[];
  readonly change: (change: Partial<Controls>) => void;
}

function Shown({ view, now, controls, calls, change }: ShownProps): ReactNode {
  const [permissions, setPermissions] = useState<PermissionMode>('ask');
  const [model, setModel] = useState('qwen3-coder-30b');
  const [thinking, setThinking] = useState<ThinkingLevel>('medium');
  const says = (what: string) => calls.push(what);
  const decide = (asked: Approval, decision: Decision) => void says(`decide ${asked.id} ${decision}`);
  if (view.name === 'inbox') {
    return (
      <main className="gallery gallery-inbox">
        <h1>Approvals</h1>
        <h2>Waiting</h2>
        <ApprovalCard
          approval={approval()}
          now={now}
          onDecide={decide}
          variant="detail"
          session={{ title: 'Renew the edge-2 certificate', onOpen: () => says('open') }}
        />
      </main>
    );
  }
  const items =
    view.name === 'streamed'
      ? streamed
      : view.name === 'waiting'
        ? waiting
        : view.name === 'every'
          ? every
          : view.name === 'items'
            ? view.items
            : view.name === 'hostile'
              ? view.texts.flatMap((text, index) => hostile(text, `h${index}-`))
              : conversation;
  const text = view.name === 'hostile' ? view.texts[0] : undefined;
  return (
    <main className={view.name === 'hostile' || view.name === 'every' ? 'gallery gallery-tall' : 'gallery'}>
      <h1>Renew the edge-2 certificate</h1>
      <h2>Conversation</h2>
      <Transcript
        items={items}
        now={now}
        hasOlder={view.name === 'items' && view.hasOlder === true}
        quiet={view.name === 'items' && view.quiet === true}
        onLoadOlder={() => says('older')}
        onDecide={decide}
        onCopy={(copied) => says(`copy ${copied}`)}
        onFork={(id) => says(`fork ${id}`)}
        onRewind={(id) => says(`rewind ${id}`)}
        onRetry={(item) => says(`retry ${item.key}`)}
        onUnqueue={(item) => says(`unqueue ${item.key}`)}
      />
      <div className="gallery-dock">
        <Composer
          value={controls.value}
          onChange={(value) => change({ value })}
          onSend={() => {
            says(`send ${controls.value}`);
            change({ value: '', fileCount: 0 });
          }}
          onStop={() => says('stop')}
          onEditLast={() => change({ value: 'the last one' })}
          busy={controls.busy || view.name === 'streamed' || view.name === 'waiting'}
          waitingForApproval={view.name === 'waiting'}
          queuedCount={view.name === 'every' ? 1 : 0}
          disabledReason={
            controls.closed ??
            (text === undefined ? undefined : { title: text, detail: text, action: { label: text, onAction: () => says('act') } })
          }
          placeholder={view.name === 'waiting' ? 'Message main, sent after your decision' : 'Message main'}
          commands={commands}
          onComplete={completions}
          models={models}
          model={model}
          onModel={setModel}
          thinking={thinking}
          onThinking={setThinking}
          permissions={permissions}
          onPermissions={setPermissions}
          fileCount={controls.fileCount}
          refused={controls.refused}
          filesReason={controls.filesReason}
          onFiles={(files) => {
            says(`files ${files.map(({ name }) => name).join()}`);
            change({ fileCount: controls.fileCount + files.length });
          }}
        />
        {text !== undefined && <HostileComposer text={text} />}
        <StatusLine
          parts={
            text === undefined
              ? [
                  { key: 'a', name: 'cert-watch', text: 'next check 14:00' },
                  { key: 'b', name: 'git-guard', text: '2 repositories' },
                ]
              : [{ key: 'a', name: text, text }]
          }
          usage={text ?? '12.4k tokens · 0.03 €'}
        />
        {view.name === 'composers' && (
          <Composer
            {...{ value: 'kept', onChange: () => undefined, onSend: () => undefined, busy: false, placeholder: 'Message main', commands }}
            disabledReason={{
              title: 'Not connected',
              detail: 'Next try in 4 s.',
              icon: 'offline',
              action: { label: 'Try now', onAction: () => says('try') },
            }}
          />
        )}
      </div>
    </main>
  );
}

function HostileComposer({ text }: { readonly text: string }): ReactNode {
  return (
    <Composer
      value="/"
      onChange={() => undefined}
      onSend={() => undefined}
      busy={false}
      placeholder={text}
      commands={[{ name: text, usage: text, summary: text, scope: text, source: 'plugin' }]}
      models={[{ ...models[0]!, id: text, reason: text, usable: false }]}
      model={`${text} `}
      onModel={() => undefined}
      onFiles={() => undefined}
      refused={[text]}
      filesReason={text}
    />
  );
}
