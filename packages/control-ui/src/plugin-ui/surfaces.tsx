// Where plugins show something around a conversation: the panel beside it, the bar above the composer, chips in it, the line
// below it, and what they need a person for. Cards inside the conversation are rows of the transcript.
import { type EventPayload, isActive, type PluginExtension, type UiDescriptor, visible } from '@tenon/protocol';
import { shownBlocks, type ShownBlock } from '@tenon/protocol/ui';
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { useApp, usePage } from '../hooks/page-context.ts';
import { widths } from '../hooks/use-browser.ts';
import { Icon } from '../icons.tsx';
import { IconButton } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { may } from '../state/app-state.ts';
import { ActionForm } from './action-form.tsx';
import { withoutRequired } from './follow.ts';
import { Buttons, type CardProps, Guarded, nameOf, PluginCard, SaidLine, SentCommand, titleOf, usePressReason } from './plugin-card.tsx';
import { type Control, type Pressing, usePress } from './use-press.ts';
import './plugin-ui.later.css';

export { PluginCard } from './plugin-card.tsx';

interface SurfaceProps {
  readonly sessionKey: string | undefined;
}

function useActive(sessionKey: string | undefined, surface: UiDescriptor['surface']): readonly UiDescriptor[] {
  const active = useApp((state) => state.pluginUi.byKey.get(sessionKey ?? '')?.active);
  return (active ?? []).filter((descriptor) => descriptor.surface === surface);
}

export function SessionPanel({ sessionKey, onClose }: SurfaceProps & { readonly onClose: () => void }): ReactNode {
  const ref = useRef<HTMLElement>(null);
  // Over the conversation, it has the focus while it is open; who closes it is back at the button that opens it.
  useLayoutEffect(() => {
    const panel = ref.current;
    if (!matchMedia(widths.wide).matches) panel?.querySelector('button')?.focus();
    return () => {
      if (panel?.contains(document.activeElement)) document.querySelector<HTMLElement>('.bar [aria-expanded]:last-of-type')?.focus();
    };
  }, []);
  return (
    <aside
      ref={ref}
      className="plugin-panel"
      aria-label="Panels of plugins"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        onClose();
      }}
    >
      <header className="plugin-panel-head">
        <h2>Panels</h2>
        <IconButton icon="x" label="Close the panels" onClick={onClose} />
      </header>
      <div className="plugin-panel-body">
        {useActive(sessionKey, 'session').map((descriptor) => (
          <PluginCard key={nameOf(descriptor)} descriptor={descriptor} sessionKey={sessionKey} />
        ))}
      </div>
    </aside>
  );
}

/** Above the composer: what plugins need a person for, and what they show there. */
export function InputBars({ sessionKey }: SurfaceProps): ReactNode {
  const bars = useActive(sessionKey, 'chat-input-bar');
  return (
    <div className="plugin-bars">
      <Needs sessionKey={sessionKey} />
      {bars.map((descriptor) => (
        <PluginCard key={nameOf(descriptor)} descriptor={descriptor} sessionKey={sessionKey} />
      ))}
    </div>
  );
}

/** Of the plugin's own page; what it shows and does is about a session, the one that was open last. */
export function PluginSettings({ pluginId, sessionKey }: SurfaceProps & { readonly pluginId: string }): ReactNode {
  const own = useActive(sessionKey, 'settings').filter((descriptor) => descriptor.pluginId === pluginId);
  return own.map((descriptor) => <PluginCard key={nameOf(descriptor)} descriptor={descriptor} sessionKey={sessionKey} />);
}

export function Chips({ sessionKey }: SurfaceProps): ReactNode {
  return useActive(sessionKey, 'chat-input-toolbar-chip').map((descriptor) => (
    <Guarded key={nameOf(descriptor)} name={descriptor.pluginId}>
      <Chip descriptor={descriptor} sessionKey={sessionKey} />
    </Guarded>
  ));
}

function Chip({ descriptor, sessionKey }: CardProps): ReactNode {
  const { pluginId, label, description, options, actions = [] } = descriptor;
  const extensions = useApp((state) => state.pluginUi.byKey.get(sessionKey ?? '')?.extensions) ?? [];
  const reason = usePressReason();
  const pressing = usePress(pluginId, sessionKey);
  const words = shownBlocks(descriptor, extensions).map(inWords).filter(Boolean).join(' · ');
  useSaidElsewhere(pluginId, pressing);
  const title = visible(description ?? label);
  const shown = actions.filter((action) => isActive(pluginId, action.when, extensions));
  if (options && options.length > 0) {
    const met = options.findIndex(({ when }) => when !== undefined && isActive(pluginId, when, extensions));
    const current = met >= 0 ? met : options.findIndex(({ when }) => when === undefined);
    return (
      <span className="picker plugin-chip plugin-switch" data-descriptor={nameOf(descriptor)} title={title}>
        <Icon
          name={pressing.pending === undefined ? 'joint' : 'spinner'}
          size={14}
          className={pressing.pending === undefined ? '' : 'turning'}
        />
        <bdi className="plugin-switch-text" aria-hidden="true">
          {visible(options[current]?.label ?? label)}
        </bdi>
        <span className="plugin-hint" aria-hidden="true">
          {pluginId}
        </span>
        <select
          aria-label={`${visible(label)}, ${pluginId}`}
          aria-disabled={reason !== undefined || pressing.pending !== undefined}
          value={String(current)}
          onChange={(event) => {
            const option = options[Number(event.target.value)];
            if (option && reason === undefined) pressing.press({ ...option.action, label: option.label });
          }}
        >
          {current < 0 && <option value="-1">{visible(label)}</option>}
          {options.map((option, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the position is what an option is known by
            <option key={index} value={String(index)} disabled={option.action.unavailable !== undefined}>
              {visible(option.label)}
              {option.action.command === undefined ? '' : ` (${visible(option.action.command)})`}
            </option>
          ))}
        </select>
        <Icon name="chevrons-up-down" size={14} />
        <AskElsewhere pressing={pressing} />
      </span>
    );
  }
  return (
    <span className="plugin-chip plugin-chip-buttons" data-descriptor={nameOf(descriptor)} title={title}>
      {shown.length === 0 ? (
        <span className="plugin-chip-text">
          <Icon name="joint" size={14} /> {visible(label)} {words !== '' && <span className="plugin-hint">{visible(words)}</span>}
        </span>
      ) : (
        shown.map((action, index) => (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: labels of a plugin may be the same
            key={index}
            type="button"
            className="chat-button chat-button-small"
            title={titleOf(action)}
            aria-disabled={reason !== undefined || action.unavailable !== undefined || pressing.pending !== undefined}
            onClick={() => {
              if (reason === undefined && action.unavailable === undefined) pressing.press(action);
            }}
          >
            <Icon
              name={pressing.pending === action.label ? 'spinner' : 'joint'}
              size={14}
              className={pressing.pending === action.label ? 'turning' : ''}
            />
            <bdi>{visible(action.label)}</bdi>
            <SentCommand command={action.command} />
            {index === 0 && words !== '' && <span className="plugin-hint">{visible(words)}</span>}
          </button>
        ))
      )}
      <AskElsewhere pressing={pressing} />
    </span>
  );
}

/** The line below the composer. */
export function StatusParts({ sessionKey }: SurfaceProps): ReactNode {
  return useActive(sessionKey, 'status').map((descriptor) => (
    <Guarded key={nameOf(descriptor)} name={descriptor.pluginId}>
      <StatusPart descriptor={descriptor} sessionKey={sessionKey} />
    </Guarded>
  ));
}

function StatusPart({ descriptor, sessionKey }: CardProps): ReactNode {
  const { pluginId, label, actions = [] } = descriptor;
  const extensions = useApp((state) => state.pluginUi.byKey.get(sessionKey ?? '')?.extensions) ?? [];
  const reason = usePressReason();
  const pressing = usePress(pluginId, sessionKey);
  useSaidElsewhere(pluginId, pressing);
  const words = shownBlocks(descriptor, extensions).map(inWords).filter(Boolean).join(' · ');
  const shown = actions.filter((action) => isActive(pluginId, action.when, extensions));
  return (
    <span className="status-part" data-descriptor={nameOf(descriptor)}>
      <Icon name="joint" size={14} />
      <b>{pluginId}</b>
      <bdi>{visible(words === '' ? label : words)}</bdi>
      {shown.map((action: Control, index) => (
        <button
          // biome-ignore lint/suspicious/noArrayIndexKey: labels of a plugin may be the same
          key={index}
          type="button"
          className="chat-link"
          title={titleOf(action)}
          aria-disabled={reason !== undefined || action.unavailable !== undefined || pressing.pending !== undefined}
          onClick={() => {
            if (reason === undefined && action.unavailable === undefined) pressing.press(action);
          }}
        >
          {visible(action.label)}
          <SentCommand command={action.command} />
        </button>
      ))}
      <AskElsewhere pressing={pressing} />
    </span>
  );
}

/** Where there is no room for a form. */
function AskElsewhere({ pressing }: { readonly pressing: Pressing }): ReactNode {
  const { asking, said, pending } = pressing;
  if (!asking) return null;
  return (
    <Dialog title={visible(asking.control.label)} onClose={pressing.cancel}>
      <ActionForm asking={asking} pending={pending !== undefined} onSubmit={pressing.submit} onCancel={pressing.cancel} />
      <SaidLine said={said} />
    </Dialog>
  );
}

/** Where there is no room for an answer: what failed is told at the edge of the page. */
function useSaidElsewhere(pluginId: string, { said, asking }: Pressing): void {
  const { toasts } = usePage();
  useEffect(() => {
    if (said?.tone === 'bad' && !asking) toasts.say({ tone: 'bad', title: `${pluginId} did not do it`, detail: visible(said.text) });
  }, [said, asking, pluginId, toasts]);
}

/** A block as a few words. */
function inWords(block: ShownBlock): string {
  const about = block.label === undefined ? '' : `${block.label} `;
  switch (block.kind) {
    case 'markdown':
    case 'text':
    case 'status':
    case 'progress':
      return about + block.text.split('\n', 1)[0]!.slice(0, 120);
    case 'key-value':
      return (
        about +
        block.rows
          .map(([name, value]) => `${name} ${value}`)
          .join(', ')
          .slice(0, 120)
      );
    case 'list': {
      const open = block.items.filter(({ done }) => done !== true).length;
      return `${about}${open} of ${block.items.length}`;
    }
    case 'table':
      return `${about}${block.rows.length} rows`;
    case 'diff':
      return `${about}${block.lines.length} lines`;
  }
}

type Need = EventPayload<'action.required'>;

/** What plugins need a person for in this session, unless a control that does the same stands there already. */
function Needs({ sessionKey }: SurfaceProps): ReactNode {
  const required = useApp((state) => state.pluginUi.required);
  const active = useApp((state) => state.pluginUi.byKey.get(sessionKey ?? '')?.active) ?? [];
  const extensions = useApp((state) => state.pluginUi.byKey.get(sessionKey ?? '')?.extensions) ?? [];
  const shown = required.filter((need) => need.sessionKey === sessionKey && !isOffered(need, active, extensions));
  return shown.map((need) => <NeedNotice key={need.id} need={need} />);
}

const CARDS: readonly string[] = ['session', 'chat-message', 'chat-input-bar'];

function isOffered({ pluginId, actions = [] }: Need, active: readonly UiDescriptor[], extensions: readonly PluginExtension[]): boolean {
  const offered = active
    .filter((each) => each.pluginId === pluginId && CARDS.includes(each.surface))
    .flatMap((each) => (each.actions ?? []).filter(({ when }) => isActive(pluginId, when, extensions)));
  return actions.length > 0 && actions.every(({ actionId }) => offered.some((each) => each.actionId === actionId));
}

function NeedNotice({ need }: { readonly need: Need }): ReactNode {
  const page = usePage();
  const id = useId();
  const reason = usePressReason();
  const pressing = usePress(need.pluginId, need.sessionKey);
  const mayDismiss = useApp((state) => may(state, 'operator.write'));
  function close(): void {
    page.store.update((state) => withoutRequired(state, (each) => each.id === need.id));
    // For everybody, where this person may; otherwise only here, until the page is loaded again.
    if (mayDismiss)
      page
        .link()
        .call('actions.dismiss', { id: need.id })
        .catch((error: unknown) => page.toasts.fail('It could not be put away', error));
  }
  return (
    <section className="plugin-card plugin-need" aria-labelledby={id}>
      <p className="plugin-notch">
        <Icon name="joint" size={14} /> <b>{need.pluginId}</b> <span>needs you</span>
      </p>
      <div className="plugin-need-row">
        <div className="plugin-need-title" role="alert">
          <h3 id={id}>
            <bdi>{visible(need.title)}</bdi>
          </h3>
        </div>
        {!pressing.asking && (
          <Buttons small actions={need.actions ?? []} pending={pressing.pending} reason={reason} onPress={pressing.press} />
        )}
        <IconButton icon="x" label={`Close: ${visible(need.title)}`} onClick={close} />
      </div>
      {pressing.asking && (
        <ActionForm
          asking={pressing.asking}
          pending={pressing.pending !== undefined}
          onSubmit={pressing.submit}
          onCancel={pressing.cancel}
        />
      )}
      <SaidLine said={pressing.said} />
    </section>
  );
}
